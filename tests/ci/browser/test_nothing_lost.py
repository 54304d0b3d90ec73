"""What a learner enters in JupyterLab is kept, or said not to be: beside a busy kernel, after a restart, the next day, and in
two notebooks at once.
"""

import re

import nbformat
import pytest
from driving import STARTING, end_kernels, idle, keep_guess, run_all, write_cells

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import items

IMPORT = "import specdec_lab as sd"
RACE = "import time; print('racing'); time.sleep(12); print('done')"
NOT_KEPT = "Not kept yet"
KEPT = "Kept."
CALLED_KEPT = re.compile("^Kept|✓ kept")
NOTHING_WAITS = "!Object.keys(localStorage).some((key) => key.startsWith('specdec-lab waiting'))"
STATES = "application/vnd.jupyter.widget-state+json"


@pytest.fixture
def lab(page, course):
    """Opens a notebook of some cells, or again the one of this name, and answers when its kernel is there."""

    def open_(name: str, *cells: str) -> None:
        if cells:
            write_cells(course / "lessons" / f"{name}.ipynb", cells)
        page.open(f"lessons/{name}.ipynb")

    return open_


def run_cell(page, number: int) -> None:
    page.locator(".jp-CodeCell").nth(number).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")


def restart(page) -> None:
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.locator(".lm-Menu-itemLabel").get_by_text("Restart Kernel…", exact=True).click()
    page.locator(".jp-Dialog button.jp-mod-warn").click()
    idle(page)


def guess_of(page, number: int = 0):
    return page.locator(".sdl-explorer[aria-label='Your guess']").nth(number)


def outcome_of(page):
    return page.locator(".sdl-explorer[aria-label='What came of the guess']")


def kept(name: str) -> dict:
    """The guess of a claim in the ledger, or nothing."""
    return Ledger().claim(f"77.{name}").get("guess") or {}


def test_a_guess_beside_a_busy_kernel_is_kept(page, lab):
    """At once, and so in time: before the outcome."""
    lab("busy", IMPORT, 'sd.guess("77.busy", "How many?")', RACE, 'sd.outcome("77.busy", 2.0)')
    run_all(page)
    page.get_by_text("racing", exact=True).wait_for(timeout=STARTING)
    keep_guess(page, "3")
    guess_of(page).get_by_text(KEPT).wait_for(timeout=5_000)
    assert page.get_by_text("done", exact=True).count() == 0, "the kernel was not busy any more"
    outcome_of(page).get_by_text("1.5 times too high").wait_for()
    assert page.get_by_text("It was made when").count() == 0
    assert kept("busy")["value"] == 3 and kept("busy")["after_outcome"] is False


def test_after_a_restart_the_next_run_keeps(page, lab):
    """And nothing is called kept before it."""
    lab("restarted", IMPORT, 'sd.guess("77.restart", "How many?")', 'sd.quiz("01")')
    run_all(page)
    guess_of(page).wait_for(timeout=STARTING)
    first = page.get_by_role("group", name="Question 1 of 2.")
    first.wait_for()
    item = items("01")[0]["id"]
    before = Ledger().attempts(item)  # of other tests
    restart(page)
    keep_guess(page, "3")
    guess_of(page).get_by_text("Noted").wait_for()
    guess_of(page).get_by_text(NOT_KEPT).wait_for()
    first.get_by_role("button", name="show the choices").click()
    first.locator("input[type=radio]").first.check()
    first.get_by_label("sure", exact=True).check()
    first.get_by_role("button", name="check").click()
    page.locator(".sdl-explorer[aria-label='Quiz']").get_by_text(NOT_KEPT).wait_for()
    assert not kept("restart") and Ledger().attempts(item) == before
    assert page.get_by_text(KEPT).count() == 0

    run_cell(page, 0)
    run_cell(page, 1)
    guess_of(page).get_by_text(KEPT).wait_for(timeout=STARTING)
    assert guess_of(page).get_by_label("your guess").input_value() == "3"
    assert kept("restart")["value"] == 3
    run_cell(page, 2)
    page.get_by_role("group", name="Question 2 of 2.").wait_for()  # the answer stands there again
    page.wait_for_function(NOTHING_WAITS)
    assert len(Ledger().attempts(item)) == len(before) + 1


def test_a_notebook_opened_the_next_day_is_live(page, lab, jupyter, course):
    """And keeps what is entered."""
    lab("next_day", IMPORT, 'sd.guess("77.day", "How many?")')
    run_all(page)
    guess_of(page).wait_for(timeout=STARTING)
    page.keyboard.press("Control+s")
    path = course / "lessons" / "next_day.ipynb"
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
    for _ in range(50):
        if STATES in nbformat.read(path, as_version=4).metadata.get("widgets", {}):
            break
        page.wait_for_timeout(200)
    else:
        pytest.fail("the widgets were not saved")
    end_kernels(page, jupyter)
    lab("next_day")
    guess_of(page).wait_for()
    assert page.get_by_text("Error displaying widget").count() == 0
    keep_guess(page, "4")
    guess_of(page).get_by_text(NOT_KEPT).wait_for()
    assert not kept("day")
    run_all(page)
    guess_of(page).get_by_text(KEPT).wait_for(timeout=STARTING)
    assert kept("day")["value"] == 4


def test_two_notebooks_at_once_lose_nothing(page, lab):
    for name in ("one", "other"):
        lab(name, IMPORT, 'sd.guess("77.two", "How many?")', f'sd.guess("77.{name}", "And here?")')
        run_all(page)
        guess_of(page, 1).wait_for(timeout=STARTING)
    other = Ledger()
    other.guess("77.two", 5.0)  # in the first notebook, meanwhile
    other.guess("77.one", 6.0)
    keep_guess(page, "7", 0)
    guess_of(page, 0).get_by_text("entered elsewhere").wait_for()
    assert guess_of(page, 0).get_by_label("your guess").input_value() == "5"
    keep_guess(page, "8", 1)
    guess_of(page, 1).get_by_text(KEPT).wait_for()
    assert [kept(name)["value"] for name in ("two", "one", "other")] == [5, 6, 8]


def test_each_entry_of_an_outcome_waits_by_itself(page, lab):
    """A line that was changed, and a second guess: none of them is called kept because another one waits, or was kept."""
    lab("outcome", IMPORT, 'sd.guess("77.out", "How many?")', 'sd.outcome("77.out", 2.0)')
    Ledger().guess("77.out", 3.0)
    run_all(page)
    outcome = outcome_of(page)
    line = outcome.get_by_label("what I had assumed")
    outcome.get_by_text("what had you assumed").click(timeout=STARTING)
    line.fill("old")
    outcome.get_by_role("button", name="keep this line").click()
    outcome.get_by_text("Kept.", exact=True).wait_for()
    restart(page)
    line.fill("new")
    outcome.get_by_role("button", name="keep this line").click()
    outcome.get_by_label("second guess").fill("5")
    outcome.get_by_role("button", name="keep second guess").click()
    outcome.get_by_text(NOT_KEPT).nth(1).wait_for()
    assert outcome.get_by_text(CALLED_KEPT).count() == 0
    claim = Ledger().claim("77.out")
    assert claim["assumed"] == "old" and "revision" not in claim

    # As in another tab of the browser, which has no memory of this one: what waited is still there.
    page.evaluate("sessionStorage.clear()")
    lab("outcome")
    run_all(page)
    outcome.get_by_text("2.5 times too high").wait_for(timeout=STARTING)
    page.wait_for_function(NOTHING_WAITS)
    claim = Ledger().claim("77.out")
    assert (claim["assumed"], claim["revision"]["value"], claim["guess"]["value"]) == ("new", 5, 3)
    assert line.input_value() == "new"


def test_what_the_browser_cannot_store_the_page_keeps(page, lab):
    """And half a character stops nothing."""
    page.add_init_script("""const set = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, value) {
            if (key.startsWith("specdec-lab waiting")) throw new DOMException("full", "QuotaExceededError");
            return set.call(this, key, value);
        };""")
    lab("full", IMPORT, 'sd.guess("77.full", "How many?")', 'sd.guess("77.after", "And here?")')
    run_all(page)
    guess_of(page, 1).wait_for(timeout=STARTING)
    restart(page)
    guess_of(page).get_by_label("because").evaluate("e => { e.value = 'half \\ud83d end'; }")
    keep_guess(page, "3")
    keep_guess(page, "4", 1)
    guess_of(page, 1).get_by_text(NOT_KEPT).wait_for()
    run_all(page)
    guess_of(page, 1).get_by_text(KEPT).wait_for(timeout=STARTING)
    guess_of(page).get_by_text(KEPT).wait_for()
    found = [(kept(name)["value"], kept(name)["reason"]) for name in ("full", "after")]
    assert found == [(3, "half \ufffd end"), (4, "")]


def test_an_unwritable_ledger_is_never_called_kept(page, lab, tmp_path):
    """Nor where the notebook is opened by somebody who did not enter it."""
    (tmp_path / "folder").mkdir()
    setting = f"import os; os.environ['SPECDEC_LAB_LEDGER'] = {str(tmp_path / 'folder')!r}"
    lab("unwritable", setting, IMPORT, 'sd.guess("77.folder", "How many?")')
    run_all(page)
    guess_of(page).wait_for(timeout=STARTING)
    keep_guess(page, "3")
    guess_of(page).get_by_text(NOT_KEPT).wait_for()
    page.evaluate("localStorage.clear()")
    run_cell(page, 2)
    guess_of(page).get_by_text("cannot be used").wait_for()
    assert guess_of(page).get_by_label("your guess").input_value() == "3"
    assert page.get_by_text(CALLED_KEPT).count() == 0
