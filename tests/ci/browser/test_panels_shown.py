"""What is moved by sliders, and what is drawn by plotly, in JupyterLab: by mouse and by keyboard.

Each widget by itself is driven on the site: test_site, test_gallery, test_load_lab.
"""

import pytest
from driving import focus_where, run_cells


def test_a_panel_and_a_plot(page, course):
    cells = (
        "import specdec_lab as sd",
        "sd.Sandbox()",
        'sd.Plot("a plot", [sd.Line("one", [(1, 1), (2, 3)], spread=[(0.5, 2), (2, 4)])], "x", "y")',
    )
    run_cells(page, course / "lessons" / "panels.ipynb", cells)
    sandbox, plot = (page.locator(".jp-Cell-outputArea").nth(i) for i in (1, 2))
    shown = sandbox.locator(".sdl-picture")
    shown.get_by_text("What comes out is p:").wait_for()
    sandbox.get_by_label("rule").select_option("bug: after a rejection, draw from p")
    shown.get_by_text("The largest difference is 0.140.").wait_for()

    def numbers(which: str) -> list[float]:
        """p or q, as its three sliders say it."""
        grips = sandbox.get_by_role("slider", name=f"{which}, ").all()
        return [float(grip.get_attribute("aria-valuetext")) for grip in grips]

    # A bar, pulled: q of “by”, from 0.1 up to about 0.6; the others share the rest, and the sliders follow.
    box = shown.locator(".sdl-bars").bounding_box()
    held = sandbox.get_by_role("slider", name="q, draft: “by”").bounding_box()
    x, scale = held["x"] + held["width"] / 2, box["width"] / 376
    page.mouse.move(x, held["y"] + 5)
    page.mouse.down()
    page.mouse.move(x, held["y"] + 5 - 0.5 * 184 * scale, steps=4)
    page.mouse.up()
    page.mouse.move(x, box["y"])  # let go
    assert numbers("q")[1] == pytest.approx(0.6, abs=0.02) and sum(numbers("q")) == pytest.approx(1, abs=0.002)

    # By keyboard: a grip.
    focus_where(page, "e => e.ariaLabel == 'p, target: “on”'", backwards=True)
    for key in ("Home", "End", *["ArrowDown"] * 49):
        page.keyboard.press(key)
    assert numbers("p") == [0.51, 0.245, 0.245]  # the others share the rest
    page.keyboard.press("x")  # in JupyterLab's own commands: cut the cell
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells)

    plot.locator(".plotly .scatterlayer .trace").first.wait_for()
    assert page.outside == []
