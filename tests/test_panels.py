"""Every picture with controls, over the whole range of each control: it draws, its numbers are right, it says them in text."""

import itertools
import json
import re

import pytest

import specdec_lab as sd
from specdec_lab import theory
from specdec_lab.errors import LabError
from specdec_lab.measure.serving import StepCosts, always, never
from specdec_lab.show import loadlab, sandbox, speedup
from specdec_lab.show.page import as_text
from specdec_lab.show.panel import Panel, choice, slider, tick

BENDS_AT_16 = StepCosts(
    {(n, g): 0.02 * max(1.0, n * (g + 1) / 16) for n in (1, 2, 4, 8, 16, 32, 64) for g in (0, 1, 2, 4)}, join=0.02
)
MACHINES = {"bends at 16 rows": (BENDS_AT_16, [0, 1, 2, 4, 4]), "a flat one": (StepCosts({(1, 0): 1, (1, 4): 1}), [4])}

PANELS = {"load": lambda: loadlab.load_lab(dict(list(MACHINES.items())[:1]))}


def settings(control) -> list:
    """The ends and the middle of a slider; every choice of a menu."""
    if hasattr(control, "options"):
        return [value for _, value in control._options_full]
    if hasattr(control, "min"):
        return [control.min, control.value, control.max]
    return [False, True]


@pytest.mark.parametrize("name", PANELS)
def test_every_end_of_every_control_draws(name):
    panel = PANELS[name]()
    assert isinstance(panel, Panel)
    start = panel.picture.value
    for key, control in panel.controls.items():
        for value in settings(control):
            control.value = value
            assert panel.picture.value == panel.draw(**panel.values())
            assert "nan" not in panel.text().lower()
            assert len(panel.text()) > 100, key
    assert panel.picture.value != start


@pytest.mark.parametrize("name", PANELS)
def test_all_sliders_at_their_ends_together(name):
    panel = PANELS[name]()
    sliders = {k: c for k, c in panel.controls.items() if hasattr(c, "min")}
    for ends in itertools.product(*((c.min, c.max) for c in sliders.values())):
        html = panel.draw(**{**panel.values(), **dict(zip(sliders, ends))})
        assert "nan" not in html.lower()


def test_a_picture_that_fails_makes_its_control_fail():
    """ipywidgets would only log it; nobody would notice."""
    panel = Panel(lambda x: f"{1 / (2 - x):.1f}", {"x": slider("x", 1, 0, 3, 1)}, "broken at 2")
    panel.controls["x"].value = 3
    with pytest.raises(ZeroDivisionError):
        panel.controls["x"].value = 2


def test_without_a_kernel_the_start_stands_there_as_picture_and_as_text():
    panel = PANELS["load"]()
    data = panel._repr_mimebundle_()
    assert set(data) >= {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    for widget, said in ((sd.sandbox(), "Accepted in all: 0.800"), (sd.speedup_explorer(), "S = 2.18")):
        assert "<svg" in widget.picture() and said in widget.text()
        assert len(widget.picture()) < 50_000 and len(json.dumps(widget.data)) < 20_000


def test_the_explorer_begins_with_the_machine_that_it_is_given():
    explorer = sd.speedup_explorer({"here": speedup.passes({1: 1.0, 5: 2.0})}, c=0.2, o=0.1)
    assert list(explorer.data["machines"]) == ["here", "a pass costs the same, however wide"]
    assert "4·0.20 + 2.00 + 0.10 = 2.90 plain passes" in explorer.text()


def test_controls_have_names_and_kinds():
    assert slider("a", 4, 1, 10, 1).value == 4
    assert isinstance(slider("a", 4, 1, 10, 1).value, int)
    assert slider("a", 0.5, 0, 1, 0.01).value == 0.5
    assert choice("b", {"x": 1, "y": 2}).value == 1
    assert choice("b", {"x": 1, "y": 2}, 2).value == 2
    assert tick("c").value is False
    assert as_text("<div>a &lt; b</div><p>c</p>") == "a < b\nc"


@pytest.mark.parametrize("rule", theory.RULES)
def test_the_sandbox_says_what_the_rule_does(rule):
    text = as_text(sandbox.picture((0.5, 0.3, 0.2), (0.7, 0.1, 0.2), rule))
    assert ("What comes out is p:" in text) == (not rule.startswith("bug"))
    assert "the α of the rule: 0.800" in text
    if "draw from p" in rule:
        assert re.search(r"on +0.500 +0.700 +0.714 +0.500 +0.500 +0.600", text)  # its last number is what comes out
        assert "0.160" in text and "0.240" in text


def test_weights_become_probabilities():
    assert sandbox.normalised([1, 1, 2]) == [0.25, 0.25, 0.5]
    assert sandbox.normalised([0, 0, 0]) == [1 / 3] * 3


def test_the_explorer_says_the_speed_up():
    text = as_text(speedup.picture(0.8, 3, 0.3, 0.0, speedup.FLAT))
    assert "E = 2.95" in text
    assert "S = 1.55" in text
    assert "best γ here is 3" in text
    assert "No γ is worth it" in as_text(speedup.picture(0.1, 3, 0.5, 0.1, speedup.FLAT))
    assert "Even α = 1 would lose" in as_text(speedup.picture(0.1, 1, 1.0, 0.1, [1.0, 2.0] + [2.0] * 9))


def test_measured_passes_become_v():
    v = speedup.passes({1: 2.0, 3: 4.0, 11: 8.0})
    assert v[:3] == [1.0, 1.5, 2.0]
    assert v[10] == 4.0
    assert len(v) == 11
    assert speedup.passes({1: 1.0})[10] == 1.0


def test_the_load_lab_says_where_drafting_begins_to_lose():
    costs, _ = MACHINES["bends at 16 rows"]
    assert costs.crossover(4, tokens=3.2) == 11  # 11 · 5 / 16 = 3.4 steps for 3.2 tokens
    flat, _ = MACHINES["a flat one"]
    assert flat.crossover(4, tokens=5.0) is None
    text = loadlab.load_lab(MACHINES).text()
    assert "With γ = 4 a round writes 3.20 tokens" in text and "with 11 texts or more, drafting no longer pays" in text


def test_the_load_lab_shows_three_policies_on_the_same_arrivals_and_ones_own_last():
    panel = loadlab.load_lab(MACHINES, {"mine": lambda texts, last: 0})
    panel.controls["load"].value = 100
    rows = {line.split()[0]: line.split()[1:] for line in panel.text().splitlines() if len(line.split()) >= 7}
    assert rows["never"] == rows["mine"]
    assert float(rows["always"][0]) > 1.5 * float(rows["never"][0])  # mean ms a token at full load
    assert "What “mine” did" in panel.text()
    panel.controls["load"].value = 5
    rows = {line.split()[0]: line.split()[1:] for line in panel.text().splitlines() if len(line.split()) >= 7}
    assert float(rows["always"][0]) < 0.6 * float(rows["never"][0])


def test_a_policy_that_asks_for_what_was_not_measured_is_told_so():
    with pytest.raises(LabError, match="was not measured"):
        loadlab.load_lab(MACHINES, {"mine": lambda texts, last: 3})
    assert always(2)(9, 0) == 2 and never(1, 4) == 0
