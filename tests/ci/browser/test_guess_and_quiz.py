"""Guess, outcome and quiz on the static site, and the way to the notebooks and back.

The same in JupyterLab: tests/test_walk.py, and test_nothing_lost.
"""

import json
import re

import pytest
from driving import KEPT, PHONE, focus_where, keep_guess, open_file_menu, press_button
from pages import page_with

import specdec_lab as sd
from specdec_lab.cli import main
from specdec_lab.course.ledger import Ledger, merge
from specdec_lab.course.quiz import MISCONCEPTIONS, items

ITEM = items("04")[0]["id"]
CHOICES = items("04")[0]["versions"][0]["choices"]
WRONG = next(c["text"] for c in CHOICES if c["misconception"] == 3)
RIGHT = next(c["text"] for c in CHOICES if c["right"])
FOCUSED = "document.activeElement.closest('label')?.innerText.trim()"


@pytest.fixture(scope="module")
def lesson(site, tmp_path_factory):
    """A page of the site with all three."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path_factory.mktemp("author") / "ledger.json"))
        guess = sd.guess("09.a", "How many tokens?", "tokens", most=5)
        path = site / page_with(site, guess, sd.outcome("09.a", 1.5, (1.25, 1.75), 1.4), sd.quiz("04"))
    yield path
    path.unlink()


def parts(page):
    """Guess, outcome, and the two questions of the quiz."""
    names = "Your guess", "What came of the guess", "Question 1 of 2.", "Question 2 of 2."
    return tuple(page.get_by_role("group", name=name) for name in names)


def choose(page, text: str) -> None:
    """By keyboard: on to the next group of choices, and down to this one."""
    focus_where(page, "e => e.type == 'radio'")
    page.keyboard.press("Space")
    for _ in range(4):
        if page.evaluate(FOCUSED) == text:
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"{text} cannot be chosen by keyboard")


def test_guess_outcome_and_quiz(from_disk, lesson):
    """By keyboard, a few steps by mouse."""
    page = from_disk(lesson)
    guess, outcome, first, second = parts(page)
    assert not outcome.is_visible()  # it would give the answer away
    page.get_by_role("button", name="show the results without a guess").click()
    page.locator(".skipped > summary").click()  # folded, and there to be made after all

    # A guess: a word first, then a number with a comma. It is kept, and then fixed.
    outcome.locator(".sdl-big").wait_for()
    assert outcome.get_by_text("your guess").count() == 0
    assert outcome.locator(".sdl-big").inner_text() == "1.5"
    for slip, said in (("many", "“many”"), ("-3", "negative"), ("27", "more than 5")):  # none is fixed for ever
        keep_guess(page, slip)
        guess.get_by_text(said).wait_for()
    guess.get_by_label("your guess").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("2,7")
    page.keyboard.press("Tab")
    page.keyboard.type("twice and a bit")
    press_button(page, "keep your guess")
    guess.get_by_text("Kept.").wait_for()
    assert not guess.get_by_label("your guess").is_editable()
    assert page.evaluate("document.activeElement.innerText") == "✓ kept"  # the keyboard keeps its place

    # What came of it; then the line and the second guess.
    outcome.get_by_text("1.8 times too high").wait_for()
    outcome.get_by_text("what had you assumed").click()
    outcome.get_by_label("what I had assumed").focus()
    page.keyboard.type("that reading is free")
    press_button(page, "keep this line")
    outcome.get_by_text("Kept.", exact=True).wait_for()
    outcome.get_by_label("second guess").fill("1.6")
    outcome.get_by_role("button", name="keep second guess").click()
    outcome.get_by_text("Your second guess was right").wait_for()

    # The first question by mouse: the choices come after one's own words, and a wrong one has its reason.
    assert not first.get_by_text(RIGHT).is_visible() and not second.is_visible()
    first.get_by_label("recall").fill("up to the miss")
    first.get_by_role("button", name="show the choices").click()
    assert first.locator("input[type=radio]:checked").count() == 0
    first.get_by_label(WRONG).check()
    first.get_by_role("button", name="check").click()
    first.get_by_role("status").get_by_text("how sure").wait_for()  # asked for, before anything is told
    first.get_by_label("sure", exact=True).check()
    first.get_by_role("button", name="check").click()
    first.get_by_role("button", name="checked").click(force=True)  # a second press counts nothing
    first.get_by_text("✗ Not yet.").wait_for()
    assert MISCONCEPTIONS[3] in first.inner_text()

    # Again, by keyboard: shuffled, and nothing is chosen.
    press_button(page, "again")
    assert first.locator("input[type=radio]:checked").count() == 0
    first.get_by_label("recall").focus()
    choose(page, RIGHT)
    choose(page, "think so")
    press_button(page, "check")
    first.get_by_text("✓ Right.").wait_for()

    # The next question has come: a number, and other numbers on a retry. Both count as they were answered at first.
    before = second.locator("p").inner_text()
    assert page.get_by_text("of 2 right at the first attempt").count() == 0
    focus_where(page, "e => e.placeholder == 'a number'")
    page.keyboard.type("0")
    choose(page, "guess")
    press_button(page, "check")
    second.get_by_text("Press “again”").wait_for()
    page.get_by_text("0 of 2 right at the first attempt").wait_for()
    press_button(page, "again")
    assert second.locator("p").inner_text() != before

    ledger = until(page, lambda: page.evaluate(KEPT), lambda ledger: len(ledger["quiz"]) == 2)
    claim = ledger["claims"]["09.a"]
    assert (claim["guess"]["value"], claim["guess"]["reason"]) == (2.7, "twice and a bit")
    assert (claim["assumed"], claim["revision"]["value"]) == ("that reading is free", 1.6)
    assert [(a["right"], a["misconception"], a["said"], a["confidence"]) for a in ledger["quiz"][ITEM]] == [
        (False, 3, "up to the miss", "sure"),
        (True, None, "up to the miss", "think so"),
    ]
    (number,) = ledger["quiz"][items("04")[1]["id"]]
    assert (number["chosen"], number["right"], number["confidence"]) == (0, False, "guess")


def until(page, read, wanted):
    """What is read as soon as it is as wanted, within 20 seconds."""
    for _ in range(100):
        if wanted(found := read()):
            return found
        page.wait_for_timeout(200)
    raise AssertionError(found)


def by_touch(page) -> None:
    """A guess, and a wrong answer to the first question."""
    guess, _, first, _ = parts(page)
    guess.get_by_label("your guess").tap()
    page.keyboard.type("2.7")
    guess.get_by_role("button").tap()
    first.get_by_role("button", name="show the choices").tap()
    first.get_by_text(WRONG).tap()
    first.get_by_text("sure", exact=True).tap()
    first.get_by_role("button", name="check").tap()
    first.get_by_text("✗ Not yet.").wait_for()


def check_shown(page) -> None:
    """What `by_touch` entered stands there."""
    guess, outcome, first, second = parts(page)
    first.get_by_text("✗ Not yet.").wait_for()
    assert guess.get_by_label("your guess").input_value() == "2.7"
    assert not guess.get_by_label("your guess").is_editable()
    assert "1.8 times too high" in outcome.inner_text()
    assert first.get_by_label(WRONG).is_checked() and first.get_by_label("sure", exact=True).is_checked()
    assert second.is_visible()


def counts(page) -> list[int]:
    """Guesses, answers, and those right at the first attempt, as the progress says."""
    said = re.search(r"Guesses: (\d+)\D+(\d+)\D+(\d+)", page.inner_text("#progress"))
    return [int(n) for n in said.groups()]


def test_progress_goes_to_the_notebooks_and_back(from_disk, lesson, tmp_path, capsys):
    """From a phone, after a reload."""
    page = from_disk(lesson, **PHONE)
    by_touch(page)
    page.reload()
    check_shown(page)

    # To the notebooks: once, and not twice.
    open_file_menu(page)
    assert counts(page) == [1, 1, 0]
    with page.expect_download() as download:
        page.get_by_role("button", name="save to a file").tap()
    download.value.save_as(tmp_path / "progress.json")
    notebooks = ["progress", "--ledger", str(tmp_path / "ledger.json")]
    for said in ("2 entries", "nothing"):
        assert main([*notebooks, "--import", str(tmp_path / "progress.json")]) == 0
        assert said in capsys.readouterr().out
    ledger = Ledger(tmp_path / "ledger.json")
    assert ledger.claim("09.a")["guess"]["value"] == 2.7
    assert [a["chosen"] for a in ledger.attempts(ITEM)] == [WRONG]

    # And back, into another browser: what is done here and there comes together.
    ledger.assume("09.a", "from the notebook")
    assert main([*notebooks, "--export", str(tmp_path / "back.json")]) == 0
    other = from_disk(lesson, **PHONE)
    open_file_menu(other)
    for _ in range(2):
        other.get_by_label("read a file").set_input_files(tmp_path / "back.json")
        other.get_by_text("Read back.json.").wait_for()
    check_shown(other)
    assert other.get_by_label("what I had assumed").input_value() == "from the notebook"
    assert other.evaluate(KEPT) == json.loads((tmp_path / "back.json").read_text(encoding="utf-8"))
    other.on("dialog", lambda dialog: dialog.accept())
    other.get_by_role("button", name="forget all").tap()
    other.get_by_role("button", name="show the results without a guess").wait_for()
    assert parts(other)[0].get_by_label("your guess").is_editable()


def ledger_of(schema: int = 1, **sections) -> str:
    return json.dumps({"schema": schema, "claims": {}, "quiz": {}} | sections)


WRONG_FILES = {
    "no JSON": "no progress file",
    '{"cells": [], "nbformat": 4}': "no progress file",
    ledger_of(claims={"a": {"guess": {"value": "three"}}}): "no progress file",
    ledger_of(quiz={"a": [{}]}): "no progress file",
    ledger_of(schema=2): "newer version",
}


def test_a_wrong_file_is_named_and_changes_nothing(from_disk, lesson, tmp_path):
    page = from_disk(lesson)
    open_file_menu(page)
    for n, (content, said) in enumerate(WRONG_FILES.items()):
        file = tmp_path / f"wrong {n}.json"
        file.write_text(content, encoding="utf-8")
        page.get_by_label("read a file").set_input_files(file)
        page.get_by_text(re.compile(f"{file.name} is .*{said}")).wait_for()
        assert page.evaluate(KEPT) is None


def test_all_works_where_the_browser_keeps_nothing(from_disk, lesson):
    refuse = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('', 'SecurityError'); } });"
    )
    page = from_disk(lesson, before=refuse, **PHONE)
    by_touch(page)
    check_shown(page)
    assert "This browser keeps nothing" in parts(page)[0].inner_text()
    open_file_menu(page)
    assert counts(page) == [1, 1, 0]


def test_two_pages_at_once_lose_nothing(from_disk, lesson):
    page = from_disk(lesson)
    other = page.context.new_page()
    other.goto(page.url)
    keep_guess(page, "3")
    other.get_by_text("2 times too high").wait_for(timeout=20_000)  # it heard of it
    parts(other)[1].get_by_text("what had you assumed").click()
    parts(other)[1].get_by_label("what I had assumed").fill("a line")
    parts(other)[1].get_by_role("button", name="keep this line").click()
    claim = until(page, lambda: page.evaluate(KEPT)["claims"]["09.a"], lambda claim: "assumed" in claim)
    assert (claim["guess"]["value"], claim["assumed"]) == (3, "a line")


def test_a_file_is_read_as_by_a_notebook(from_disk, lesson, tmp_path):
    """Two programs, one rule: what only the file has is added, and what is in both stays."""

    def ledger(day: int, value: float, *more: str) -> dict:
        when = f"2026-03-0{day}T10:00:00+00:00"
        one = {"value": value, "reason": "", "when": when, "after_outcome": False}
        verdict = {"points": value, "status": "right"}
        part = {"tries": day, "best": verdict, "last": verdict}
        claim = {"question": f"q{day}", "unit": "", "guess": one, "measured": [{"value": value, "when": when}]}
        attempt = {"when": when, "right": day > 1, "misconception": None}
        claims, quiz, parts = (dict.fromkeys(("both", *more), x) for x in (claim, [attempt], part))
        return {"schema": 1, "claims": claims, "quiz": quiz, "parts": parts}

    mine, theirs = ledger(2, 1.0, "a"), ledger(1, 3.0, "b")
    theirs["claims"]["both"] = theirs["claims"]["both"] | {"revision": {"value": 5.0}, "assumed": "a line"}
    (tmp_path / "theirs.json").write_text(json.dumps(theirs), encoding="utf-8")
    page = from_disk(lesson, before=f"localStorage.setItem('specdec-lab ledger', {json.dumps(json.dumps(mine))})")
    open_file_menu(page)
    page.get_by_label("read a file").set_input_files(tmp_path / "theirs.json")
    page.get_by_text("Read theirs.json.").wait_for()
    mine = json.loads(json.dumps(mine))  # nothing shared
    assert merge(mine, theirs) == 8
    assert page.evaluate(KEPT) == mine
