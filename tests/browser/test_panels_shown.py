"""Sandbox, Speed-up Explorer and plots, driven by mouse and by keyboard."""

import pytest
from driving import focus_where, run_cells, violations


def test_panels_and_plots(page, course):
    """The sandbox by keyboard and by mouse, the explorer's slider, and a plot."""
    cells = (
        "import specdec_lab as sd",
        "sd.sandbox()",
        "sd.speedup_explorer()",
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
    slider = sandbox.locator("input[type=range]").first
    slider.click(position={"x": 3, "y": 8})
    assert int(slider.input_value()) < 10

    # A bar, pulled: q of “by”, from 0.1 up to about 0.6; the others share the rest, and the sliders follow.
    box = shown.locator("svg").first.bounding_box()
    x, foot, scale = box["x"] + (10 + 96 + 15) * box["width"] / 298, 156, box["width"] / 298
    page.mouse.move(x, box["y"] + (foot - 0.1 * 150) * scale)
    page.mouse.down()
    page.mouse.move(x, box["y"] + (foot - 0.6 * 150) * scale, steps=4)
    page.mouse.up()
    page.mouse.move(x, box["y"])  # let go
    outputs = [float(x) for x in sandbox.locator("output").all_inner_texts()]
    assert outputs[3] == pytest.approx(0.6, abs=0.02) and sum(outputs[1::2]) == pytest.approx(1, abs=0.002)

    # By keyboard: the same slider; another rule, by the first letters of its name.
    slider.focus()
    for key in ("End", *["ArrowLeft"] * 49):
        page.keyboard.press(key)
    assert slider.input_value() == "51"
    shown.get_by_text("0.510").first.wait_for()
    assert sandbox.locator("output").all_inner_texts()[::2] == ["0.510", "0.245", "0.245"]  # the others share the rest
    sandbox.get_by_label("rule").focus()
    page.keyboard.press("Home")
    shown.get_by_text("What comes out is p:").wait_for()

    shown = explorer.locator(".sdl-picture")
    shown.get_by_text("S = 2.18").wait_for()
    focus_where(page, "e => e.ariaLabel == 'γ, drafts a round'")
    page.keyboard.press("ArrowRight")
    shown.get_by_text("α = 0.75, γ = 5: E = 3.29").wait_for()
    page.keyboard.press("x")  # in JupyterLab's own commands: cut the cell
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells)

    assert violations(page, within=".sdl-explorer") == []

    plot.locator(".plotly .scatterlayer .trace").first.wait_for()
    assert page.outside == []
