"""What a learner enters in JupyterLab is kept, or said not to be: beside a busy kernel, after a restart, the next day, and in
two notebooks at once.
"""

import json
import re

import nbformat
import pytest
from driving import address

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import items

from .conftest import STARTING

IMPORT = "import specdec_lab as sd"
RACE = "import time; print('racing'); time.sleep(12); print('done')"
NOT_KEPT = "Not kept yet. Is a cell still running?"
KEPT = "Kept. It cannot be changed now."
NOTHING_WAITS = "!Object.keys(localStorage).some((key) => key.startsWith('specdec-lab waiting'))"


@pytest.fixture
def lab(page, jupyter, course):
    """Opens a notebook of some cells, and answers when its kernel is there."""

    def open_(name: str, *cells: str, again: bool = False) -> None:
        path = course / "lessons" / f"{name}.ipynb"
        if not again:
            notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
            notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
            nbformat.write(notebook, path)
        page.goto(jupyter.replace("lessons/00_start_here.ipynb", f"lessons/{name}.ipynb") + "&reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=STARTING)

    return open_


def run_all(page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


def run_cell(page, number: int) -> None:
    page.locator(".jp-CodeCell").nth(number).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")


def restart(page) -> None:
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.locator(".lm-Menu-itemLabel").get_by_text("Restart Kernel…", exact=True).click()
    page.locator(".jp-Dialog button.jp-mod-warn").click()
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=STARTING)


def xsrf(page) -> dict[str, str]:
    """What Jupyter asks of whoever changes something."""
    return {"X-XSRFToken": next((c["value"] for c in page.context.cookies() if c["name"] == "_xsrf"), "")}


def guess_of(page, number: int = 0):
    return page.locator(".sdl-explorer[aria-label='Your guess']").nth(number)


def enter(page, value: str, number: int = 0) -> None:
    form = guess_of(page, number)
    form.get_by_label("your guess").fill(value)
    form.get_by_role("button", name="keep your guess").click()


def test_a_guess_beside_a_busy_kernel_is_kept_at_once_and_in_time(page, lab):
    lab("busy", IMPORT, 'sd.guess("77.busy", "How many?")', RACE, 'sd.outcome("77.busy", 2.0)')
    run_all(page)
    page.get_by_text("racing", exact=True).wait_for(timeout=STARTING)
    enter(page, "3")
    guess_of(page).get_by_text(KEPT).wait_for(timeout=5_000)
    assert page.get_by_text("done", exact=True).count() == 0, "the kernel was not busy any more"
    outcome = page.locator(".sdl-explorer[aria-label='What came of the guess']")
    outcome.get_by_text("Your guess was 1.5 times too high.").wait_for()
    assert page.get_by_text("It was made when").count() == 0
    claim = Ledger().claim("77.busy")
    assert claim["guess"]["value"] == 3 and claim["guess"]["after_outcome"] is False


def test_after_a_restart_nothing_is_called_kept_and_the_next_run_keeps_it(page, lab):
    lab("restarted", IMPORT, 'sd.guess("77.restart", "How many?")', 'sd.quiz("01")')
    run_all(page)
    guess_of(page).wait_for(timeout=STARTING)
    first = page.get_by_role("group", name="Question 1 of 3.")
    first.wait_for()
    item = items("01")[0].id
    before = Ledger().attempts(item)  # of other tests
    restart(page)
    enter(page, "3")
    guess_of(page).get_by_text("Noted").wait_for()
    guess_of(page).get_by_text(NOT_KEPT).wait_for()
    first.get_by_role("button", name="show the choices").click()
    first.locator("input[type=radio]").first.check()
    first.get_by_label("sure", exact=True).check()
    first.get_by_role("button", name="check").click()
    page.locator(".sdl-explorer[aria-label='Quiz']").get_by_text(NOT_KEPT).wait_for()
    assert Ledger().claim("77.restart").get("guess") is None and Ledger().attempts(item) == before
    assert page.get_by_text(KEPT).count() == 0

    run_cell(page, 0)
    run_cell(page, 1)
    guess_of(page).get_by_text(KEPT).wait_for(timeout=STARTING)
    assert guess_of(page).get_by_label("your guess").input_value() == "3"
    assert Ledger().claim("77.restart")["guess"]["value"] == 3
    run_cell(page, 2)
    page.get_by_role("group", name="Question 2 of 3.").wait_for()  # the answer stands there again
    page.wait_for_function(NOTHING_WAITS)
    assert len(Ledger().attempts(item)) == len(before) + 1


def test_a_notebook_opened_the_next_day_is_live_and_keeps_what_is_entered(page, lab, jupyter, course):
    lab("next_day", IMPORT, 'sd.guess("77.day", "How many?")')
    run_all(page)
    guess_of(page).wait_for(timeout=STARTING)
    page.keyboard.press("Control+s")
    path = course / "lessons" / "next_day.ipynb"
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
    for _ in range(50):
        if "widget-state" in path.read_text(encoding="utf-8"):
            break
        page.wait_for_timeout(200)
    assert (
        "application/vnd.jupyter.widget-state+json"
        in json.loads(path.read_text(encoding="utf-8"))["metadata"]["widgets"]
    )
    for kernel in page.request.get(address(jupyter, "api/kernels")).json():
        page.request.delete(address(jupyter, f"api/kernels/{kernel['id']}"), headers=xsrf(page))
    lab("next_day", again=True)
    guess_of(page).wait_for()
    assert page.get_by_text("Error displaying widget").count() == 0
    enter(page, "4")
    guess_of(page).get_by_text(NOT_KEPT).wait_for()
    assert Ledger().claim("77.day").get("guess") is None
    run_all(page)
    guess_of(page).get_by_text(KEPT).wait_for(timeout=STARTING)
    assert Ledger().claim("77.day")["guess"]["value"] == 4


def test_two_notebooks_at_once_lose_nothing(page, lab, jupyter):
    cells = (IMPORT, 'sd.guess("77.two", "How many?")', 'sd.guess("77.{}", "And here?")')
    lab("one", cells[0], cells[1], cells[2].format("one"))
    run_all(page)
    guess_of(page, 1).wait_for(timeout=STARTING)
    lab("other", cells[0], cells[1], cells[2].format("other"))
    run_all(page)
    guess_of(page, 1).wait_for(timeout=STARTING)
    other = Ledger()
    other.guess("77.two", 5.0)  # in the first notebook, meanwhile
    other.guess("77.one", 6.0)
    enter(page, "7", 0)
    guess_of(page, 0).get_by_text("There was one already, entered elsewhere: it stays.").wait_for()
    assert guess_of(page, 0).get_by_label("your guess").input_value() == "5"
    enter(page, "8", 1)
    guess_of(page, 1).get_by_text(KEPT).wait_for()
    assert [Ledger().claim(f"77.{x}")["guess"]["value"] for x in ("two", "one", "other")] == [5, 6, 8]


def test_after_a_restart_each_entry_of_an_outcome_waits_by_itself(page, lab):
    """A line that was changed, and a second guess: none of them is called kept because another one waits, or was kept."""
    ask, show = 'sd.guess("77.out", "How many?")', 'sd.outcome("77.out", 2.0)'
    lab("outcome", IMPORT, ask, show)
    Ledger().guess("77.out", 3.0)
    run_all(page)
    outcome = page.locator(".sdl-explorer[aria-label='What came of the guess']")
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
    assert outcome.get_by_text(re.compile("^Kept|✓ kept")).count() == 0
    claim = Ledger().claim("77.out")
    assert claim["assumed"] == "old" and "revision" not in claim

    # As in another tab of the browser, which has no memory of this one: what waited is still there.
    page.evaluate("sessionStorage.clear()")
    lab("outcome", again=True)
    run_all(page)
    outcome.get_by_text("Your second guess was 2.5 times too high.").wait_for(timeout=STARTING)
    page.wait_for_function(NOTHING_WAITS)
    claim = Ledger().claim("77.out")
    assert (claim["assumed"], claim["revision"]["value"], claim["guess"]["value"]) == ("new", 5, 3)
    assert line.input_value() == "new"


def test_what_the_browser_cannot_store_the_page_keeps_and_half_a_character_stops_nothing(page, lab):
    page.add_init_script("""const set = Storage.prototype.setItem;
        Storage.prototype.setItem = function (key, value) {
            if (key.startsWith("specdec-lab waiting")) throw new DOMException("full", "QuotaExceededError");
            return set.call(this, key, value);
        };""")
    cells = 'sd.guess("77.full", "How many?")', 'sd.guess("77.after", "And here?")'
    lab("full", IMPORT, *cells)
    run_all(page)
    guess_of(page, 1).wait_for(timeout=STARTING)
    restart(page)
    guess_of(page).get_by_label("because").evaluate("e => { e.value = 'half \\ud83d end'; }")
    enter(page, "3")
    enter(page, "4", 1)
    guess_of(page, 1).get_by_text(NOT_KEPT).wait_for()
    run_all(page)
    guess_of(page, 1).get_by_text(KEPT).wait_for(timeout=STARTING)
    guess_of(page).get_by_text(KEPT).wait_for()
    kept = [Ledger().claim(f"77.{name}")["guess"] for name in ("full", "after")]
    assert [(g["value"], g["reason"]) for g in kept] == [(3, "half \ufffd end"), (4, "")]


def test_a_ledger_that_cannot_be_written_is_never_called_kept(page, lab, tmp_path):
    """Nor where the notebook is opened by somebody who did not enter it."""
    (tmp_path / "folder").mkdir()
    setting = f"import os; os.environ['SPECDEC_LAB_LEDGER'] = {str(tmp_path / 'folder')!r}"
    lab("unwritable", setting, IMPORT, 'sd.guess("77.folder", "How many?")')
    run_all(page)
    guess_of(page).wait_for(timeout=STARTING)
    enter(page, "3")
    guess_of(page).get_by_text(NOT_KEPT).wait_for()
    page.evaluate("localStorage.clear()")
    run_cell(page, 2)
    guess_of(page).get_by_text("cannot be used").wait_for()
    assert guess_of(page).get_by_label("your guess").input_value() == "3"
    assert page.get_by_text(re.compile("^Kept|✓ kept")).count() == 0


def test_a_notebook_saved_after_a_restart_still_has_its_widgets(page, lab, course):
    lab("reopened", IMPORT, 'sd.quiz("01")', 'print("to the end")')
    run_all(page)
    page.get_by_text("to the end", exact=True).wait_for(timeout=STARTING)
    quiz = page.locator(".sdl-explorer[aria-label='Quiz']")
    quiz.wait_for()
    save(page)
    restart(page)
    save(page)
    held = nbformat.read(course / "lessons" / "reopened.ipynb", as_version=4).metadata.widgets
    assert held["application/vnd.jupyter.widget-state+json"]["state"]
    lab("reopened", again=True)
    quiz.wait_for()
    assert page.get_by_text("model not found").count() == 0


def save(page) -> None:
    page.locator(".jp-CodeCell").first.locator(".cm-content").click()
    with page.expect_response(lambda r: "/api/contents/" in r.url and r.request.method == "PUT"):
        page.keyboard.press("Control+s")
