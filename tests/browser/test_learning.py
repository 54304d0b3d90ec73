"""Guesses, quizzes and exercises, driven by mouse and by keyboard."""

from driving import focus_where, press_button, run_cells, screenshot


def test_guess_outcome_and_quiz(page, course):
    """A notebook that only holds these: Run All, then a guess by keyboard and a quiz by both."""
    from specdec_lab.course.ledger import Ledger
    from specdec_lab.course.quiz import items

    cells = (
        "import specdec_lab as sd",
        'sd.guess("09.a", "How many tokens?", "tokens")',
        'sd.outcome("09.a", 1.5, (1.25, 1.75), 1.4)',
        'sd.quiz("02")',
    )
    run_cells(page, course / "lessons" / "guess_and_quiz.ipynb", cells)

    # Run All came through without a guess, and nothing waits.
    page.get_by_text("There was no guess to compare with.").wait_for()
    outputs = page.locator(".jp-Cell-outputArea")
    guess, outcome, quiz = (outputs.nth(i) for i in (1, 2, 3))
    assert guess.get_by_label("your guess").input_value() == ""

    # A guess by keyboard: a word first, then a number with a comma. It is kept, and then fixed.
    guess.get_by_label("your guess").focus()
    page.keyboard.type("many")
    press_button(page, "keep your guess")
    guess.get_by_text("“many” is not a number").wait_for()
    guess.get_by_label("your guess").focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("2,7")
    page.keyboard.press("Tab")
    page.keyboard.type("twice and a bit")
    press_button(page, "keep your guess")
    guess.get_by_text("Kept: it does not change any more.").wait_for()
    assert guess.get_by_label("your guess").is_disabled()
    assert page.evaluate("document.activeElement.innerText") == "keep your guess"  # the keyboard keeps its place
    assert Ledger().claim("09.a")["guess"]["value"] == 2.7
    screenshot(guess, "guess")

    # The cell of the outcome again, by keyboard; then the line and the second guess.
    page.locator(".jp-CodeCell").nth(2).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    page.get_by_text("Your guess was 1.8 times too high. It was made when").wait_for()
    outcome.get_by_label("what I had assumed").focus()
    page.keyboard.type("that reading is free")
    press_button(page, "keep this line")
    outcome.get_by_text("Kept.").wait_for()
    outcome.get_by_label("second guess").fill("1.6")
    outcome.get_by_role("button", name="keep second guess").click()
    outcome.get_by_text("Your second guess was right: it lies in the interval").wait_for()
    claim = Ledger().claim("09.a")
    assert (claim["assumed"], claim["revision"]["value"]) == ("that reading is free", 1.6)
    screenshot(outcome, "outcome")

    # The first question by mouse: the choices come after one's own words, and a wrong one has its reason.
    item = items("02")[0]
    wrong = next(c for c in item.choices if c.misconception == 1)
    right = next(c for c in item.choices if c.right)
    assert not quiz.get_by_text(right.text).is_visible()
    quiz.get_by_label("recall").fill("up to the miss")
    quiz.get_by_role("button", name="show the choices").click()
    assert quiz.locator("input[type=radio]:checked").count() == 0
    quiz.get_by_label(wrong.text).check()
    quiz.get_by_label("sure", exact=True).check()
    screenshot(quiz, "quiz-choices")
    quiz.get_by_role("button", name="check").click()
    quiz.get_by_text("✗ Not yet.").wait_for()
    assert "a draft that agrees after a miss still counts" in quiz.inner_text()
    screenshot(quiz, "quiz-wrong")

    # Again, by keyboard: shuffled, and nothing is chosen.
    press_button(page, "again")
    page.wait_for_function("document.querySelectorAll('.widget-radio input:checked').length == 0")
    focus_where(page, f"e => e.closest('label')?.innerText.trim() == '{right.text}'", backwards=True)
    page.keyboard.press("Space")
    focus_where(page, "e => e.closest('label')?.innerText.trim() == 'think so'")
    page.keyboard.press("Space")
    press_button(page, "check")
    quiz.get_by_text("✓ Right.").wait_for()
    attempts = Ledger().attempts(item.id)
    assert [(a["right"], a["misconception"], a["said"]) for a in attempts] == [
        (False, 1, "up to the miss"),
        (True, None, "up to the miss"),
    ]

    # The next question has come: a number, by keyboard, and other numbers on a retry.
    asked = quiz.get_by_text("Question 2 of 6.").locator("..")
    before = asked.inner_text()
    focus_where(page, "e => e.placeholder == 'a number'")
    page.keyboard.type("0")
    focus_where(page, "e => e.type == 'radio'")
    page.keyboard.press("Space")
    press_button(page, "check")
    quiz.get_by_text("Press “again” for other numbers.").wait_for()
    screenshot(quiz, "quiz-number")
    press_button(page, "again")
    page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(cells), (
        "a key meant for the widget reached the notebook"
    )
    assert page.outside == []


ENTRIES = """def entries(drafts, choices):
    accepted = 0
    while accepted < len(drafts) and drafts[accepted] == choices[accepted]:
        accepted += 1
    return len(drafts) + 1, accepted + {more}
"""


def test_an_exercise_by_keyboard(page):
    """Untouched it runs through; then a wrong answer is named, and a right one earns its points."""
    page.run("exercises/02_draft_then_verify.ipynb")
    active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    page.get_by_text("· 2.loop").wait_for()
    page.keyboard.press("Escape")

    def go_to(text: str) -> None:
        for _ in range(80):
            if text in active.inner_text():
                return
            page.keyboard.press("ArrowUp")
        raise AssertionError(f"{text} cannot be reached by keyboard")

    for more, said in ((0, "One more may stay"), (1, "2 of 2 points")):
        go_to("def entries(")
        page.keyboard.press("Enter")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(ENTRIES.format(more=more))
        page.keyboard.press("Shift+Enter")
        page.keyboard.press("Shift+Enter")
        page.get_by_text(said).wait_for()
        page.keyboard.press("Escape")
        screenshot(page, f"exercise-{more}")
    assert page.outside == []
