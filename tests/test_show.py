"""What the marks, the explorers' data and the panels say; the browser is in `browser/`."""

import json

import pytest
from tiny import raced, trace_of

import specdec_lab as sd
from specdec_lab.engine.decode import Keep, Stops
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.measure.serving import StepCosts
from specdec_lab.show import loadlab, widgets
from specdec_lab.show.explorer import explorer_data, race_data


def words(ids):
    return "".join(f"w{i} " for i in ids)


@pytest.fixture
def data() -> dict:
    trace = trace_of(keep=Keep(top=3), uniforms=Uniforms(2, 3), stops=Stops(60))
    assert {r.emitted.kind for r in trace.rounds if r.emitted} == {"corrected", "bonus"}
    return explorer_data(trace, words, "a title")


def test_explorer_data_is_plain_and_complete(data):
    assert json.loads(json.dumps(data)) == data
    for r in data["rounds"]:
        assert set(r) == {"drafted", "emitted", "before", "stop", "after_top"}
        assert r["after_top"]
        for d in r["drafted"]:
            assert d["p_top"] and d["q_top"] and 0 <= d["overlap"] <= 1 + 1e-9
    assert not data["greedy"]
    first = data["rounds"][0]
    accepted = [d["id"] for d in first["drafted"] if d["status"] == "accepted"]
    assert data["rounds"][1]["before"].endswith(words([0, 1, *accepted, first["emitted"]["id"]]))


def test_a_run_without_rounds_is_one_sentence():
    with pytest.raises(LabError, match="no round to show"):
        explorer_data(Trace([0]), words, "t")


def test_a_round_by_hand_is_judged_by_the_greedy_rule():
    (first,) = sd.round_by_hand("Last night", "the cat sat on a", "the cat sat by a .").data["rounds"]
    assert [d["status"] for d in first["drafted"]] == ["accepted"] * 3 + ["rejected", "discarded"]
    assert (first["emitted"]["text"], first["emitted"]["kind"]) == (" by", "corrected")
    (whole,) = sd.round_by_hand("We", "go home", "go home now").data["rounds"]
    assert [d["status"] for d in whole["drafted"]] == ["accepted"] * 2 and whole["emitted"]["kind"] == "bonus"
    with pytest.raises(LabError, match="2 drafts and 2 words of the target"):
        sd.round_by_hand("We", "go home", "go home")


def test_a_race_that_was_interrupted_is_one_sentence():
    with pytest.raises(LabError, match="interrupted before its first round"):
        race_data(Trace([0]), raced().speculative, str, "", "")


BENDS_AT_16 = StepCosts(
    {(n, g): 0.02 * max(1.0, n * (g + 1) / 16) for n in (1, 2, 4, 8, 16, 32, 64) for g in (0, 1, 2, 4)}, join=0.02
)
MACHINES = {"bends at 16 rows": (BENDS_AT_16, [0, 1, 2, 4, 4]), "a flat one": (StepCosts({(1, 0): 1, (1, 4): 1}), [4])}


def test_the_explorer_begins_with_the_machine_that_it_is_given():
    explorer = sd.SpeedupExplorer({"here": widgets.passes({1: 1.0, 5: 2.0})}, c=0.2, o=0.1)
    assert list(explorer.data["machines"]) == ["here", "a pass costs the same, however wide"]
    assert explorer.data["start"] == {"alpha": 0.75, "gamma": 4, "c": 0.2, "o": 0.1, "machine": "here"}
    assert widgets.passes({1: 2.0, 3: 4.0, 11: 3.0})[:5] == [1.0, 1.5, 2.0, 2.0, 2.0]  # it never falls
    timed = sd.SpeedupExplorer({"here": {1: [0.9, 1.0, 1.1], 5: [2.0, 2.0, 5.0]}}, c=0.2, o=0.1)
    assert timed.data["machines"] == explorer.data["machines"]


def test_a_policy_that_wants_what_was_not_measured():
    with pytest.raises(LabError, match="With 1 texts the policy “mine” wants γ = 3, which was not measured"):
        loadlab.LoadLab(MACHINES, {"mine": lambda texts, last: 3})
