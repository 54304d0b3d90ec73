"""Sandbox, Speed-up Explorer and plots, driven by mouse and by keyboard."""

import pytest
from driving import focus_where, run_cells, violations


def test_panels_and_plots(page, course):
    """The sandbox by keyboard and by mouse, the explorer's slider, and a plot."""
    cells = (
        "import specdec_lab as sd",
        "sd.Sandbox()",
        "sd.SpeedupExplorer()",
        'sd.Plot("a plot", [sd.Line("one", [(1, 1), (2, 3)], spread=[(0.5, 2), (2, 4)])], "x", "y")',
    )
    run_cells(page, course / "lessons" / "panels.ipynb", cells)
    outputs = page.locator(".jp-Cell-outputArea")
    sandbox, explorer, plot = (outputs.nth(i) for i in (1, 2, 3))

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
    # The map by its arrow keys: from the row of 0.75 to that of 0.65, and back to γ = 4.
    focus_where(page, "e => e.classList.contains('sdl-heat')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    shown.get_by_text("The speed-up by γ, at α = 0.65").first.wait_for()
    page.keyboard.press("x")  # in JupyterLab's own commands: cut the cell
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells)

    assert violations(page, within=".sdl-explorer") == []

    plot.locator(".plotly .scatterlayer .trace").first.wait_for()
    assert page.outside == []
