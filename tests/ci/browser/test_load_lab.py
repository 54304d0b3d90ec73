"""The Load Lab, by mouse and by keyboard."""

import specdec_lab as sd
from specdec_lab.measure.serving import StepCosts


def measured(seconds: float) -> dict:
    """A machine whose step takes as many seconds, until its rows are more than 16."""
    costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) * seconds for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
    return {"computed": (costs, [4, 2, 0, 4, 1])}


def test_from_low_load_to_overload(visit, made):
    """By keyboard; bursts, and a limit that is too high, by mouse."""
    page = visit(made(sd.LoadLab(measured(0.02), {"mine": lambda texts, last: 4 if texts <= 6 else 0})))
    lab = page.get_by_role("group", name="Load Lab")
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
    lab.get_by_text("set “on and off”").click()
    assert mean("on and off") < mean("always")
    lab.get_by_label("on and off: off above").fill("32")
    lab.get_by_label("and on again up to").fill("33")
    assert mean("on and off") == mean("always")
    page.reload()
    assert page.get_by_label("arrivals in bursts").is_checked()
