"""One short walk in a real browser: what a reader does in JupyterLab is judged, shown and kept.

All else that runs in a page is in tests/ci/browser: `make widgets`.
"""

import pytest
from driving import chromium, jupyterlab, keep_guess, notebook_page, run_cells

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import items

pytestmark = pytest.mark.slow
CELLS = (
    "import specdec_lab as sd",
    'sd.round_by_hand("Last night", "the cat sat on a", "the cat sat by a .")',
    'sd.guess("09.a", "How many tokens?", "tokens", most=5)',
    'sd.outcome("09.a", 1.5, (1.25, 1.75), 1.4)',
    'sd.quiz("01")',
)


def test_a_round_a_guess_and_a_question(tmp_path, fresh_ledger):
    item = items("01")[0]
    right = next(choice["text"] for choice in item["versions"][0]["choices"] if choice["right"])
    course = tmp_path / "lab" / "course"
    with chromium() as browser, jupyterlab(course) as jupyter, notebook_page(browser, jupyter) as page:
        run_cells(page, course / "lessons" / "walk.ipynb", CELLS)
        explorer = page.locator('.sdl-explorer[aria-label="Round Explorer"]')
        assert explorer.locator("[data-happened]").count() == 0  # nothing is given away
        explorer.locator(".sdl-token").nth(3).click()
        explorer.get_by_text("✓ Right.", exact=True).wait_for()
        marks = explorer.locator("[data-happened]").evaluate_all("all => all.map(e => e.dataset.happened)")
        assert marks == [*["accepted"] * 3, "rejected", "discarded", "corrected"]

        keep_guess(page, "2,7")
        page.locator(".jp-CodeCell").nth(3).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.get_by_text("1.8 times too high").wait_for()

        first = page.get_by_role("group", name="Question 1 of 2.")
        first.get_by_role("button", name="show the choices").click()
        first.get_by_label(right).check()
        first.get_by_label("think so").check()
        first.get_by_role("button", name="check").click()
        first.get_by_text("✓ Right.").wait_for()
        page.get_by_role("group", name="Question 2 of 2.").wait_for()
        ledger = Ledger().read()
        assert ledger["claims"]["09.a"]["guess"]["value"] == 2.7
        assert [attempt["right"] for attempt in ledger["quiz"][item["id"]]] == [True]
        assert page.outside == []
