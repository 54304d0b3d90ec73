"""What is moved by sliders, what is drawn by plotly, and the card of a check, in JupyterLab.

Each widget by itself is driven on the site: test_site, test_gallery, test_load_lab.
"""

import pytest
from driving import focus_where, run_cells


def test_a_panel_a_plot_and_a_check(page, course):
    cells = (
        "import specdec_lab as sd",
        "sd.Sandbox()",
        'sd.Plot("a plot", [sd.Line("one", [(1, 1), (2, 3)], spread=[(0.5, 2), (2, 4)])], "x", "y")',
        "from specdec_grader import check\ncheck('1.bytes', lambda *given: 0.0)",
    )
    run_cells(page, course / "lessons" / "panels.ipynb", cells)
    sandbox, plot = (page.locator(".jp-Cell-outputArea").nth(i) for i in (1, 2))
    grips = sandbox.get_by_role("slider", name="q, ")

    # A bar, pulled: q of “by”, from 0.1 up to about 0.6; the others share the rest, and the sliders follow.
    box, held = (x.bounding_box() for x in (sandbox.locator(".sdl-bars"), grips.nth(1)))
    x, scale = held["x"] + held["width"] / 2, box["width"] / 376
    page.mouse.move(x, held["y"] + 5)
    page.mouse.down()
    page.mouse.move(x, held["y"] + 5 - 0.5 * 184 * scale, steps=4)
    page.mouse.up()
    page.mouse.move(x, box["y"])  # let go
    q = [float(grip.get_attribute("aria-valuetext")) for grip in grips.all()]
    assert q[1] == pytest.approx(0.6, abs=0.02) and sum(q) == pytest.approx(1, abs=0.002)

    focus_where(page, "e => e.ariaLabel == 'p, target: “on”'", backwards=True)
    page.keyboard.press("x")  # in JupyterLab's own commands: cut the cell
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells)
    plot.locator(".plotly .scatterlayer .trace").first.wait_for()
    page.get_by_text("✗ 1.bytes").wait_for()
    assert page.locator(".sdl-points").count() == 1
    assert not page.locator(".jp-OutputArea-child:has(.sdl-points)").is_visible()  # the number is for a grader
    assert page.outside == []
