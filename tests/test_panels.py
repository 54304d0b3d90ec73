"""Pictures with controls: their numbers are right, and they say them in text. The page's part is in tests/browser."""

import json
import re

import pytest

import specdec_lab as sd
from specdec_lab import theory
from specdec_lab.errors import LabError
from specdec_lab.measure.serving import StepCosts, always, never
from specdec_lab.show import loadlab, sandbox, speedup
from specdec_lab.show.page import as_text

BENDS_AT_16 = StepCosts(
    {(n, g): 0.02 * max(1.0, n * (g + 1) / 16) for n in (1, 2, 4, 8, 16, 32, 64) for g in (0, 1, 2, 4)}, join=0.02
)
MACHINES = {"bends at 16 rows": (BENDS_AT_16, [0, 1, 2, 4, 4]), "a flat one": (StepCosts({(1, 0): 1, (1, 4): 1}), [4])}


def test_without_a_kernel_the_start_stands_there_as_picture_and_as_text():
    shown = ((sd.sandbox(), "Accepted in all: 0.800"), (sd.speedup_explorer(), "S = 2.18"))
    for widget, said in (*shown, (sd.load_lab(MACHINES), "With γ = 4 a round writes 3.20 tokens")):
        assert "<svg" in widget.picture() and said in widget.text()
        assert len(widget.picture()) < 50_000 and len(json.dumps(widget.data)) < 40_000


def test_the_explorer_begins_with_the_machine_that_it_is_given():
    explorer = sd.speedup_explorer({"here": speedup.passes({1: 1.0, 5: 2.0})}, c=0.2, o=0.1)
    assert list(explorer.data["machines"]) == ["here", "a pass costs the same, however wide"]
    assert "4·0.20 + 2.00 + 0.10 = 2.90 plain steps" in explorer.text()
    timed = sd.speedup_explorer({"here": {1: [0.9, 1.0, 1.1], 5: [2.0, 2.0, 5.0]}}, c=0.2, o=0.1)
    assert timed.data["machines"] == explorer.data["machines"]


@pytest.mark.parametrize("rule", theory.RULES)
def test_the_sandbox_says_what_the_rule_does(rule):
    text = as_text(sandbox.picture((0.5, 0.3, 0.2), (0.7, 0.1, 0.2), rule))
    assert ("What comes out is p:" in text) == (not rule.startswith("bug"))
    assert "the α of the rule: 0.800" in text
    assert sandbox.normalised([1, 1, 2]) == [0.25, 0.25, 0.5] and sandbox.normalised([0, 0, 0]) == [1 / 3] * 3
    if "draw from p" in rule:
        assert re.search(r"on +0.500 +0.700 +0.714 +0.500 +0.500 +0.600", text)  # its last number is what comes out
        assert "0.160" in text and "0.240" in text


def test_the_explorer_says_the_speed_up():
    text = as_text(speedup.picture(0.8, 3, 0.3, 0.0, speedup.FLAT))
    assert "E = 2.95" in text and "S = 1.55" in text and "best γ here is 3" in text
    assert "No γ is worth it" in as_text(speedup.picture(0.1, 3, 0.5, 0.1, speedup.FLAT))
    assert "Even α = 1 would lose" in as_text(speedup.picture(0.1, 1, 1.0, 0.1, [1.0, 2.0] + [2.0] * 9))


def test_measured_passes_become_v():
    v = speedup.passes({1: 2.0, 3: 4.0, 11: 8.0})
    assert v[:3] == [1.0, 1.5, 2.0] and v[10:] == [4.0]
    assert speedup.passes({1: 1.0})[10] == 1.0


def test_the_load_lab_says_where_drafting_begins_to_lose():
    costs, _ = MACHINES["bends at 16 rows"]
    assert costs.crossover(4, tokens=3.2) == 11  # 11 · 5 / 16 = 3.4 steps for 3.2 tokens
    flat, _ = MACHINES["a flat one"]
    assert flat.crossover(4, tokens=5.0) is None
    text = loadlab.load_lab(MACHINES).text()
    assert (
        "With γ = 4 a round writes 3.20 tokens" in text
        and "with 11 texts or more, so many drafts no longer pay" in text
    )


def rows_at(load: int) -> dict[str, list[str]]:
    """The table at a load, by policy; “mine” never drafts."""
    policies = {"never": never, "always": always(4), "mine": lambda texts, last: 0}
    text = as_text(loadlab.picture(*MACHINES["bends at 16 rows"], load, 4, policies, False))
    assert "What “mine” did" in text
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if len(line.split()) >= 7}


def test_the_load_lab_shows_all_policies_on_the_same_arrivals_and_ones_own_last():
    full, idle = rows_at(100), rows_at(5)
    assert full["never"] == full["mine"]
    assert float(full["always"][0]) > 1.5 * float(full["never"][0])  # mean ms a token at full load
    assert float(idle["always"][0]) < 0.6 * float(idle["never"][0])


def test_a_policy_that_asks_for_what_was_not_measured_is_told_so():
    with pytest.raises(LabError, match="With 1 texts the policy “mine” wants γ = 3, which was not measured"):
        loadlab.load_lab(MACHINES, {"mine": lambda texts, last: 3})
