"""Arguments that a learner gets wrong in the calls that come first: a sentence each; and whatever comes, generated."""

import json
import math
import string
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from specdec_grader.coerce import to_builtin
from specdec_grader.learner.plain_data import Broken, unpack
from specdec_grader.notebook import calls, is_only_checks, read_cells
from tiny import TinyModel

import specdec_lab as sd
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.errors import LabError
from specdec_lab.formats import escaped, printable
from specdec_lab.lab import Lab
from specdec_lab.measure import endpoint

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def lab() -> Lab:
    return Lab(TinyModel(8, 1), None, frozenset())


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
    (lambda lab: sd.Plot("a", [sd.Line("b", [])], "x", "y"), "needs a line, and each line a point"),
    (lambda lab: sd.Keep(top=-1), "top is -1"),
    (lambda lab: sd.load(device=torch.device("mps")), "no mps device"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_what_is_wrong_is_named(fresh_ledger, lab, call, said):
    with pytest.raises(LabError, match=said):
        call(lab)


def test_numbers_of_other_libraries_are_numbers(lab):
    for gamma in (np.int64(2), torch.tensor(2)):
        assert len(lab.speculative([1, 2, 1], gamma=gamma, max_new_tokens=4).tokens) == 4
    assert lab.plain(torch.tensor([1, 2]), max_new_tokens=4).tokens == lab.plain([True, 2], max_new_tokens=4).tokens


# Whatever comes. Each function below may raise a LabError or a ValueError with a sentence, and nothing else.

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
KEYS = st.sampled_from(["messages", "role", "content", "prompt", "id", "kind", "body", "request", "conversations", "from", "value", "tools",
                        "cells", "source", "metadata", "nbgrader", "cell_type", "grade_id", "schema", "claims", "quiz", "parts", "best", "points",
                        "status", "tries", "set", "tuple", "dict", "dice", "lent", "object"]) | st.text(max_size=5)  # fmt: skip
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)


def is_notebook(path: Path) -> None:
    for cell in read_cells(path):
        list(calls(cell.source)), is_only_checks(cell.source)  # they raise nothing


@pytest.mark.parametrize("read", [is_notebook])
@FEW
@given(data=JSON, indent=st.sampled_from([None, 1]))
def test_any_json_is_read_or_refused_in_a_sentence(tmp_path_factory, read, data, indent):
    path = tmp_path_factory.mktemp("j") / ("n.ipynb" if read is is_notebook else "t.json")
    data = {"cells": data} if read is is_notebook and isinstance(data, list) else data
    path.write_text(json.dumps(data, indent=indent), encoding="utf-8")
    try:
        read(path)
    except LabError as e:
        assert str(e) and "\n" not in str(e)


@FEW
@given(data=JSON)
def test_any_message_of_a_learners_process_is_unpacked_or_broken(data):
    with suppress(Broken):
        unpack(data, lambda sent: None)


@FEW
@given(text=st.text(alphabet=string.printable + "é\u202e\x1b", max_size=200))
def test_any_text_is_shown_on_one_line_and_moves_no_cursor(text):
    assert printable(text).isprintable() and "\n" not in escaped(text)
    list(calls(text)), endpoint.counters(text)  # they raise nothing


@FEW
@given(value=st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=10))
def test_plain_data_stays_as_it_is(value):
    def same(a, b):
        if isinstance(a, float) and math.isnan(a):
            return math.isnan(b)
        return type(a) is type(b) and (all(map(same, a, b)) if isinstance(a, list | tuple) else a == b)

    assert same(to_builtin(value), value)
