"""Pictures with controls: their numbers are right, and they say them in text. The page's part is in tests/browser."""

import pytest

import specdec_lab as sd
from specdec_lab.errors import LabError
from specdec_lab.measure.serving import StepCosts
from specdec_lab.show import loadlab, widgets

BENDS_AT_16 = StepCosts(
    {(n, g): 0.02 * max(1.0, n * (g + 1) / 16) for n in (1, 2, 4, 8, 16, 32, 64) for g in (0, 1, 2, 4)}, join=0.02
)
MACHINES = {"bends at 16 rows": (BENDS_AT_16, [0, 1, 2, 4, 4]), "a flat one": (StepCosts({(1, 0): 1, (1, 4): 1}), [4])}


def test_the_explorer_begins_with_the_machine_that_it_is_given():
    explorer = sd.SpeedupExplorer({"here": widgets.passes({1: 1.0, 5: 2.0})}, c=0.2, o=0.1)
    assert list(explorer.data["machines"]) == ["here", "a pass costs the same, however wide"]
    assert explorer.data["start"] == {"alpha": 0.75, "gamma": 4, "c": 0.2, "o": 0.1, "machine": "here"}
    timed = sd.SpeedupExplorer({"here": {1: [0.9, 1.0, 1.1], 5: [2.0, 2.0, 5.0]}}, c=0.2, o=0.1)
    assert timed.data["machines"] == explorer.data["machines"]


def test_measured_passes_become_v():
    v = widgets.passes({1: 2.0, 3: 4.0, 11: 8.0})
    assert v[:3] == [1.0, 1.5, 2.0] and v[10:] == [4.0]
    assert widgets.passes({1: 1.0})[10] == 1.0


def test_the_load_lab_says_where_drafting_begins_to_lose():
    costs, _ = MACHINES["bends at 16 rows"]
    assert costs.crossover(4, tokens=3.2) == 11  # 11 · 5 / 16 = 3.4 steps for 3.2 tokens
    flat, _ = MACHINES["a flat one"]
    assert flat.crossover(4, tokens=5.0) is None
    here = loadlab.LoadLab(MACHINES).data["machines"]
    assert here["bends at 16 rows"]["tokens"][4] == 3.2  # with γ = 4 a round writes so many
    assert here["bends at 16 rows"]["limits"][4] == 11 and here["a flat one"]["limits"][4] is None


def test_a_policy_that_wants_what_was_not_measured():
    with pytest.raises(LabError, match="With 1 texts the policy “mine” wants γ = 3, which was not measured"):
        loadlab.LoadLab(MACHINES, {"mine": lambda texts, last: 3})
