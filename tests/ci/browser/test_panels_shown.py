"""What is moved by sliders, and what runs by itself, in JupyterLab: by mouse and by keyboard."""

import pytest
from driving import focus_where, run_cells, violations

RACE = """
from specdec_lab.show.explorer import RaceWidget
rounds = [{"drafted": [{"text": " a", "status": "accepted"}] * 2, "emitted": {"text": " b", "kind": "bonus"}}] * 4
plain = {"tokens": [" a", " a", " b"] * 4, "seconds": [0.05] * 12}
RaceWidget({"title": "a race", "hardware": "no machine", "greedy": True, "plain": plain, "rounds": rounds, "seconds": [0.06] * 4})
"""
LOAD_LAB = """
from specdec_lab.measure.serving import StepCosts
costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) / 50 for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
sd.LoadLab({"computed": (costs, [4, 2, 0, 4, 1])})
"""


def test_panels_and_plots(page, course):
    """The sandbox by keyboard and by mouse, the explorer's slider, a race, the Load Lab, and a plot."""
    cells = (
        "import specdec_lab as sd",
        "sd.Sandbox()",
        "sd.SpeedupExplorer()",
        RACE,
        LOAD_LAB,
        'sd.Plot("a plot", [sd.Line("one", [(1, 1), (2, 3)], spread=[(0.5, 2), (2, 4)])], "x", "y")',
    )
    run_cells(page, course / "lessons" / "panels.ipynb", cells)
    outputs = page.locator(".jp-Cell-outputArea")
    sandbox, explorer, race, load_lab, plot = (outputs.nth(i) for i in range(1, 6))

    # By mouse: a wrong rule; a slider, which the table follows.
    shown = sandbox.locator(".sdl-picture")
    shown.get_by_text("What comes out is p:").wait_for()
    sandbox.get_by_label("rule").select_option("bug: after a rejection, draw from p")
    shown.get_by_text("The largest difference is 0.140.").wait_for()

    def numbers(which: str) -> list[float]:
        """p or q, as its three sliders say it."""
        grips = sandbox.get_by_role("slider", name=f"{which}, ").all()
        return [float(grip.get_attribute("aria-valuetext")) for grip in grips]

    # A bar, pulled: q of “by”, from 0.1 up to about 0.6; the others share the rest, and the sliders follow.
    box, held = (
        shown.locator(".sdl-bars").bounding_box(),
        sandbox.get_by_role("slider", name="q, draft: “by”").bounding_box(),
    )
    x, scale = held["x"] + held["width"] / 2, box["width"] / 376
    page.mouse.move(x, held["y"] + 5)
    page.mouse.down()
    page.mouse.move(x, held["y"] + 5 - 0.5 * 184 * scale, steps=4)
    page.mouse.up()
    page.mouse.move(x, box["y"])  # let go
    assert numbers("q")[1] == pytest.approx(0.6, abs=0.02) and sum(numbers("q")) == pytest.approx(1, abs=0.002)
    # A press on the bar itself sets it to where it was pressed.
    page.mouse.click(x, box["y"] + (22 + 0.7 * 184) * scale)
    assert numbers("q")[1] == pytest.approx(0.3, abs=0.02)

    # By keyboard: a grip; another rule, by the first letters of its name.
    focus_where(page, "e => e.ariaLabel == 'p, target: “on”'", backwards=True)
    for key in ("Home", "End", *["ArrowDown"] * 49):
        page.keyboard.press(key)
    assert numbers("p") == [0.51, 0.245, 0.245]  # the others share the rest
    shown.get_by_text("the numbers").click()
    shown.get_by_text("0.510").first.wait_for()
    sandbox.get_by_label("rule").focus()
    page.keyboard.press("Home")
    shown.get_by_text("What comes out is p:").wait_for()

    shown = explorer.locator(".sdl-picture")
    shown.get_by_text("2.18×").first.wait_for()
    focus_where(page, "e => e.ariaLabel == 'γ, drafts a round'")
    page.keyboard.press("ArrowRight")
    shown.get_by_text("A round writes 3.29 tokens").wait_for()
    shown.locator(".sdl-heat tr").filter(has_text="0.65").locator("td").nth(3).click()
    shown.get_by_text("The speed-up by γ, at α = 0.65").first.wait_for()

    # A race by its keys, and the load of the Load Lab; on the site they are driven to their ends.
    race.get_by_role("button", name="a pass on").focus()
    steps = []
    for key in ("Enter", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        steps.append(float(race.locator(".sdl-where").inner_text().split()[0]))
    assert 0 < steps[0] < steps[1] < steps[2] and steps[3] == steps[1]
    times = load_lab.locator(".sdl-times")
    load_lab.get_by_label("load, % of plain").focus()
    page.keyboard.press("Home")
    before = times.all_inner_texts()
    page.keyboard.press("End")
    assert times.all_inner_texts() != before
    page.keyboard.press("x")  # in JupyterLab's own commands: cut the cell
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells)

    assert violations(page, within=".sdl-explorer") == []

    plot.locator(".plotly .scatterlayer .trace").first.wait_for()
    assert page.outside == []
