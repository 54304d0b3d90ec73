"""The Load Lab, by mouse and by keyboard: in JupyterLab and on the static site by the same test."""

import pytest
from driving import run_cells

import specdec_lab as sd
from specdec_lab.measure.serving import StepCosts

LOAD_LAB = """
from specdec_lab.measure.serving import StepCosts
costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) / 50 for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
widget = sd.LoadLab({"computed": (costs, [4, 2, 0, 4, 1])}, {"mine": lambda texts, last: 4 if texts <= 6 else 0})
"""


def drive(page, lab) -> None:
    """From low load to overload by keyboard; bursts, and a limit that is too high, by mouse."""
    shown = lab.locator(".sdl-picture").first
    shown.get_by_text("what is served").click()
    shown.get_by_text("3.20 tokens").wait_for()

    def mean(policy: str) -> float:
        """Milliseconds a token that the table shows for this policy."""
        return float(shown.get_by_role("row", name=policy).locator("td").nth(1).inner_text())

    load = lab.get_by_label("load, % of plain")
    load.focus()
    page.keyboard.press("Home")
    assert mean("by load") == mean("always") < 0.7 * mean("never")
    page.keyboard.press("End")
    assert mean("always") > 1.3 * mean("never")
    assert mean("mine") < mean("always")
    assert mean("by load") < mean("always")
    assert "120" in load.locator("..").inner_text()

    lab.get_by_label("arrivals in bursts").check()
    limited = mean("on and off")
    shown.get_by_text("at most 10 texts").wait_for()
    lab.get_by_text("set “on and off”").click()
    lab.get_by_label("and on again up to").fill("4")
    shown.get_by_text("at most 3 run").wait_for()
    lab.get_by_label("on and off: off above").fill("32")
    lab.get_by_label("and on again up to").fill("33")
    assert mean("on and off") > 1.2 * limited
    assert mean("on and off") == mean("always")


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
def test_bars_are_as_long_as_their_numbers(visit, made, seconds):
    """And their scale never shrinks."""
    costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) * seconds for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
    page = visit(made(sd.LoadLab({"computed": (costs, [4, 2, 0, 4, 1])})))
    lab, unit = page.get_by_role("group", name="Load Lab"), []
    lab.get_by_label("load, % of plain").focus()
    for key in ("Home", "End", "Home"):
        page.keyboard.press(key)
        said = [float(text.split("×")[0]) for text in lab.locator(".sdl-times b").all_inner_texts()]
        long = lab.locator(".sdl-times i").evaluate_all("all => all.map((bar) => bar.getBoundingClientRect().width)")
        assert said[0] == 1 and len(set(said)) > 1
        assert [x / long[0] for x in long] == pytest.approx(said, abs=0.02)
        unit.append(long[0])
    assert unit[0] >= unit[1] == unit[2]
