"""Sandbox, Speed-up Explorer, plots and Load Lab, driven by mouse and by keyboard."""

from driving import focus_where, run_cells, screenshot, violations


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
    screenshot(sandbox, "sandbox-bug")
    slider = sandbox.locator("input[type=range]").first
    slider.click(position={"x": 3, "y": 8})
    assert int(slider.input_value()) < 10

    # By keyboard: the same slider; another rule, by the first letters of its name.
    slider.focus()
    for key in ("End", *["ArrowLeft"] * 49):
        page.keyboard.press(key)
    assert slider.input_value() == "51"
    shown.get_by_text("0.505").first.wait_for()  # 51 of 101
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
    screenshot(explorer, "speedup-explorer")

    assert violations(page, within=".sdl-explorer") == []

    plot.locator(".plotly .scatterlayer .trace").first.wait_for()
    screenshot(plot, "plot")
    assert page.outside == []


LOAD_LAB = """
from specdec_lab.measure.serving import StepCosts
costs = StepCosts({(b, g): max(1, b * (g + 1) / 16) / 50 for b in (1, 2, 4, 8, 16, 32) for g in (0, 4)})
sd.load_lab({"computed": (costs, [4, 2, 0, 4, 1])}, {"mine": lambda texts, last: 4 if texts <= 6 else 0})
"""


def test_the_load_lab(page, course):
    """By keyboard from low load to overload; by mouse, bursts, and a limit that is too high."""
    run_cells(page, course / "lessons" / "load.ipynb", ("import specdec_lab as sd", LOAD_LAB))
    lab = page.locator(".jp-Cell-outputArea").nth(1)
    lab.get_by_text("With γ = 4 a round writes 3.20 tokens").wait_for()

    def mean(policy: str) -> float:
        """Milliseconds a token that the table shows for this policy."""
        return float(lab.get_by_role("row", name=policy).locator("td").first.inner_text())

    def changed_by(act) -> None:
        """Do it, and wait for another table; a slider's own number changes before that."""
        before = lab.locator("table").inner_text()
        act()
        page.wait_for_function(
            "([e, before]) => e.querySelector('table').innerText != before", arg=[lab.element_handle(), before]
        )

    def to_its_end(slider: int) -> None:
        lab.locator(".noUi-handle").nth(slider).focus()
        page.keyboard.press("End")

    assert mean("always") < 0.7 * mean("never")
    changed_by(lambda: to_its_end(0))  # the load
    assert mean("always") > 1.3 * mean("never")
    assert mean("mine") < mean("always")
    screenshot(lab, "load-lab")

    changed_by(lambda: lab.get_by_label("arrivals in bursts").check())
    limited = mean("load-aware")
    changed_by(lambda: to_its_end(1))  # off above
    assert mean("load-aware") > 1.2 * limited
    screenshot(lab, "load-lab-wrong-limit")
    assert page.outside == []
