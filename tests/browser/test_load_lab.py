"""The Load Lab, by mouse and by keyboard: in JupyterLab and on the static site by the same test."""

from operator import gt

import pytest
from driving import run_cells

import specdec_lab as sd
from specdec_lab.measure.serving import StepCosts

LOAD_LAB = """
from specdec_lab.measure.serving import StepCosts
costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) / 50 for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
widget = sd.load_lab({"computed": (costs, [4, 2, 0, 4, 1])}, {"mine": lambda texts, last: 4 if texts <= 6 else 0})
"""


def drive(page, lab) -> None:
    """From low load to overload by keyboard; bursts, and a limit that is too high, by mouse."""
    shown = lab.locator(".sdl-picture").first
    shown.get_by_text("what is served").click()
    shown.get_by_text("With γ = 4 a round writes 3.20 tokens").wait_for()

    def mean(policy: str) -> float:
        """Milliseconds a token that the table shows for this policy."""
        return float(shown.get_by_role("row", name=policy).locator("td").nth(1).inner_text())

    load = lab.get_by_label("load, % of plain")
    load.focus()
    page.keyboard.press("Home")
    assert mean("always") < 0.7 * mean("never")
    page.keyboard.press("End")
    assert mean("always") > 1.3 * mean("never")
    assert mean("mine") < mean("always")
    assert "120" in load.locator("..").inner_text()

    lab.get_by_label("arrivals in bursts").check()
    limited = mean("by load")
    shown.get_by_text("“by load” drafts while at most 8 texts run.").wait_for()
    lab.get_by_text("set “by load”").click()
    lab.get_by_label("and on again up to").fill("4")
    shown.get_by_text("Once it has stopped, it waits until at most 3 run.").wait_for()
    lab.get_by_label("by load: off above").fill("32")
    lab.get_by_label("and on again up to").fill("33")
    assert mean("by load") > 1.2 * limited
    assert mean("by load") == mean("always")


def test_in_jupyterlab(page, course):
    page.set_default_timeout(120_000)  # until its kernel has imported the course
    run_cells(page, course / "lessons" / "load.ipynb", ("import specdec_lab as sd", LOAD_LAB + "widget"))
    lab = page.get_by_role("group", name="Load Lab")
    lab.wait_for()
    page.set_default_timeout(20_000)
    drive(page, lab)
    assert page.outside == []


def test_on_the_site(visit, made):
    scope = {"sd": sd}
    exec(LOAD_LAB, scope)
    page = visit(made(scope["widget"]))
    drive(page, page.get_by_role("group", name="Load Lab"))
    page.reload()
    assert page.get_by_label("arrivals in bursts").is_checked()


@pytest.mark.parametrize("seconds", [1e-5, 30.0])
def test_one_axis_holds_all_loads_of_a_machine_of_any_speed(visit, made, seconds):
    costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) * seconds for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
    page = visit(made(sd.load_lab({"computed": (costs, [4, 2, 0, 4, 1])})))
    lab, ticks, dots = page.get_by_role("group", name="Load Lab"), [], []
    lab.get_by_label("load, % of plain").focus()
    for key in ("Home", "End"):
        page.keyboard.press(key)
        ticks.append(lab.locator(".sdl-wait em").all_inner_texts())
        dots.append(lab.locator(".sdl-wait b").evaluate_all("all => all.map((dot) => parseFloat(dot.style.left))"))
    assert len(ticks[0]) >= 2 and ticks[0] == ticks[1]
    assert all(0 <= x <= 100 for at in dots for x in at) and all(map(gt, dots[1], dots[0]))
