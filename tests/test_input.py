"""What comes from outside: files of prompts in every wrong shape, options that are none, and arguments that a learner gets
wrong in the calls that come first. Each is told in a sentence."""

import json
import math
import os
from contextlib import suppress

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specdec_grader.coerce import to_builtin
from specdec_grader.learner.plain_data import Broken, unpack
from specdec_grader.notebook import calls, is_only_checks, read_cells
from stand_ins import written
from tiny import TinyModel

import specdec_lab as sd
from specdec_lab import files
from specdec_lab.cli import main
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.errors import LabError
from specdec_lab.lab import Lab
from specdec_lab.measure.prompts import read_prompts, read_traffic

READERS = pytest.mark.parametrize("read", [read_prompts, read_traffic])


@READERS
@pytest.mark.parametrize("path", ["", "\0", "a" * 5000, "/dev/zero", ".", "~nobody/x", "no such file"])
def test_a_path_that_is_no_file_is_one_sentence(read, path):
    with pytest.raises(LabError, match="cannot be read"):
        read(path)


def test_a_file_that_is_too_large_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_TEXT_BYTES", 10)
    with pytest.raises(LabError, match="larger than"):
        read_prompts(written(tmp_path, "x" * 11))


NUMBERS = ("demo --alpha", "demo --temperature", "demo --top-p", "demo --min-p", "demo --repetition-penalty", "demo --gamma",
    "demo --max-new-tokens", "demo --seed", "bench --repeats", "bench --limit", "traffic x --at-once", "traffic x --repeats",
    "train eagle x --write", "train eagle x --tokens")  # fmt: skip


@pytest.mark.parametrize("value", ["nan", "inf", "1e400", "-inf", "", "x", "0x1", "9" * 5000])
def test_an_option_that_is_no_number_is_one_sentence(capsys, monkeypatch, value):
    """Also infinity, which no whole number is, and what has more digits than Python reads."""
    monkeypatch.setattr("specdec_lab.lab.load", lambda *_: Lab(TinyModel(5, seed=0), None, frozenset()))
    monkeypatch.setattr(Lab, "encode", lambda *_: [1, 2])
    for option in NUMBERS:
        *argv, name = option.split()
        argv += ["--drafter", "dial"] if "alpha" in name else []
        try:
            code = main([*argv, f"{name}={value}", "--device", "cpu"])
        except SystemExit as e:  # argparse's own way out
            code = e.code
        told = capsys.readouterr().err.strip().splitlines()
        assert code == 2 and "Traceback" not in "".join(told) and len(told[-1]) < 6000, option


NAMED = (
    ["demo", "--target"], ["demo", "--draft"], ["demo", "--drafter", "eagle", "--weights"], ["bench", "--prompts"], ["traffic"],
    ["course"], ["grade"], ["class-report"], ["train", "eagle"], ["train", "eagle", "builtin", "--folder"],
    ["train", "eagle", "builtin", "--start"], ["lab", "--dir"], ["progress", "--ledger"], ["progress", "--import"],
    ["progress", "--export"], ["doctor", "--target"],
)  # fmt: skip
ODD = {"": "is empty", "a" * 300: "", "a/" * 3000: ""}


@pytest.mark.usefixtures("loaded_once")
@pytest.mark.parametrize("argv", NAMED, ids=" ".join)
def test_what_no_file_is_called_and_what_is_none_is_one_sentence(capsys, tmp_path, argv):
    """Too long, a path through a file, and a pipe, for which nobody would wait."""
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, says in {**ODD, str(tmp_path / "file" / "inside"): "", str(tmp_path / "pipe"): ""}.items():
        assert main([*argv, name]) in (1, 2), name[:80]
        told = capsys.readouterr().err.strip().splitlines()
        assert "Traceback" not in "".join(told) and all(len(line) < 7000 for line in told), name[:80]
        assert not says or says in told[-1], name[:80]
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"] and not (tmp_path / "pipe").is_file()


# Calls

TINY = Lab(TinyModel(8, 1), None, frozenset())
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def returning(what):
    class Mine(Drafter):
        name = "mine"

        def drafting(self, *_):
            return what

    return Mine()


WRONG = [
    *((lambda lab, prompt=prompt: lab.plain(prompt), "A prompt is") for prompt in (5, None, ["a"], [1.5], {"a": 1})),
    (lambda lab: lab.speculative([1], 5), "this one is 5"),
    *((lambda lab, gamma=gamma: lab.speculative([1], gamma=gamma), "γ is") for gamma in (1.5, "x", None)),
    (lambda lab: lab.plain([1], stop_strings="the"), "list of texts"),
    (lambda lab: lab.speculative([1], verify=lambda *_: 5), "Verdict; this one returned 5"),
    (lambda lab: lab.speculative([1], sd.ReplayDrafter([10**9], 1.0)), r"proposed \[1000000000\]"),
    (lambda lab: lab.speculative([1], returning(None)), "Proposal; this one returned None"),
    (lambda lab: lab.speculative([1], returning(Proposal(["a"]))), r"proposed \['a'\]"),
    (lambda lab: sd.pass_times(lab.target, []), r"widths .* \[\]"),
    (lambda lab: lab.text([-1]), "from 0 on"),
    (lambda lab: sd.guess("00.x", "How many?", most=-1), "most is -1"),
    (lambda lab: sd.LoadLab({}), "needs a machine"),
    (lambda lab: sd.Plot("a", [], "x", "y"), "needs a line, and each line a point"),
    (lambda lab: sd.Keep(top=-1), "top is -1"),
    (lambda lab: sd.load(device=torch.device("mps")), "no mps device"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_what_is_wrong_is_named(fresh_ledger, call, said):
    with pytest.raises(LabError, match=said):
        call(TINY)


# Whatever comes. Each function below may raise a LabError or a ValueError with a sentence, and nothing else.

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
KEYS = st.sampled_from(["messages", "role", "content", "prompt", "id", "kind", "body", "request", "conversations", "from", "value", "tools",
                        "cells", "source", "metadata", "nbgrader", "cell_type", "grade_id", "schema", "claims", "quiz", "parts", "best", "points",
                        "status", "tries", "set", "tuple", "dict", "dice", "lent", "object"]) | st.text(max_size=5)  # fmt: skip
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)


@FEW
@given(data=JSON)
def test_any_json_is_a_notebook_or_refused_in_a_sentence(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("j") / "n.ipynb"
    path.write_text(json.dumps({"cells": data} if isinstance(data, list) else data), encoding="utf-8")
    try:
        for cell in read_cells(path):
            list(calls(cell.source)), is_only_checks(cell.source)  # they raise nothing
    except LabError as e:
        assert str(e) and "\n" not in str(e)


@FEW
@given(data=JSON)
def test_any_message_of_a_learners_process_is_unpacked_or_broken(data):
    with suppress(Broken):
        unpack(data, lambda sent: None)


@FEW
@given(value=st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=10))
def test_plain_data_stays_as_it_is(value):
    def same(a, b):
        if isinstance(a, float) and math.isnan(a):
            return math.isnan(b)
        return type(a) is type(b) and (all(map(same, a, b)) if isinstance(a, list | tuple) else a == b)

    assert same(to_builtin(value), value)
