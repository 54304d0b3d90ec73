"""The quizzes: how they ask and judge, and the widget's logic; the browser is in `browser/`."""

import itertools
import json
import re
from random import Random

import pytest
from clicks import WIDGET, press

import specdec_lab as sd
from specdec_lab.course import problems
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.problems import PROBLEMS, Problem, pose_problem
from specdec_lab.course.quiz import CONFIDENCE, Choices, answer, feedback, items, lessons
from specdec_lab.errors import LabError
from specdec_lab.formats import short
from specdec_lab.show.page import as_text
from specdec_lab.show.quiz import ItemView, marked_up

EVERY = [item for lesson in lessons() for item in items(lesson)]
WITH_CHOICES = [item for item in EVERY if item.choices]
pytestmark = pytest.mark.usefixtures("fresh_ledger")


def test_choices_are_shuffled_and_judged_by_what_they_say():
    item = WITH_CHOICES[0]
    orders = set()
    for seed in range(40):
        posed = item.pose(Random(seed))
        orders.add(tuple(c.text for c in posed.choices))
        for i, c in enumerate(posed.choices):
            assert posed.judge(i) == problems.Judged(c.right, c.reason, c.misconception)
        assert set(posed.choices) == set(item.choices)
    assert len(orders) > 10


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_retry_has_fresh_numbers(name):
    rng, before = Random(0), None
    for _ in range(30):
        problem = pose_problem(name, rng, before)
        assert before is None or problem.question != before.question
        before = problem


def test_a_lesson_without_a_quiz_is_one_sentence():
    for lesson in ("09", "1", "", "../quiz/01"):
        with pytest.raises(LabError, match=r"There is no quiz for lesson .*: choose one of 00, 01, 02"):
            sd.quiz(lesson)


def test_attempts_are_kept_with_what_was_asked_and_said():
    item = next(i for i in items("02") if i.id == "02.bonus")
    posed = item.pose(Random(1))
    for i, confidence in zip(range(4), itertools.cycle(CONFIDENCE)):
        answer(Ledger(), item, posed, i, confidence, "the target, I think")
    kept = Ledger().attempts("02.bonus")
    assert [a["chosen"] for a in kept] == [c.text for c in posed.choices]
    assert [a["right"] for a in kept] == [c.right for c in posed.choices]
    assert [a["misconception"] for a in kept] == [c.misconception for c in posed.choices]
    assert {a["said"] for a in kept} == {"the target, I think"}
    assert [a["confidence"] for a in kept] == ["guess", "think so", "sure", "guess"]
    numeric = next(i for i in items("04") if i.problem == "tokens_per_pass")
    posed = numeric.pose(Random(1))
    assert answer(Ledger(), numeric, posed, posed.answer - 1, "sure").belief == 6
    (kept,) = Ledger().attempts(numeric.id)
    assert (kept["question"], kept["chosen"]) == (posed.question, posed.answer - 1)


def test_feedback_names_the_mistake_and_minds_the_confidence():
    wrong = problems.Judged(False, "The reason.", 7)
    assert feedback(wrong, "guess") == [
        "Not yet. The reason.",
        "The belief behind this is common, and wrong: “tokens per pass is the speed-up”.",
    ]
    assert len(feedback(wrong, "sure")) == 3
    right = problems.Judged(True, "The reason.")
    assert feedback(right, "sure") == ["Right. The reason."]
    assert len(feedback(right, "guess")) == 2


# The widget


def view_of(item, checked=lambda right: None) -> ItemView:
    return ItemView(item, "Question 1 of 1.", Ledger(), Random(0), checked)


@pytest.mark.parametrize("item", WITH_CHOICES, ids=lambda item: item.id)
def test_every_choice_with_every_confidence(item):
    results = []
    view = view_of(item, results.append)
    assert view.answering.layout.display == "none"
    view.words.value = "my words"
    press(view.ready)
    assert view.answering.layout.display is None
    for i, confidence in itertools.product(range(len(item.choices)), CONFIDENCE):
        choice = view.posed.choices[i]
        assert view.choices.options[i] == (choice.text, i)
        view.choices.value, view.confidence.value = i, confidence
        press(view.check)
        shown = as_text(view.feedback.value)
        assert shown.startswith("✓ Right." if choice.right else "✗ Not yet.")
        assert as_text(marked_up(choice.reason)) in shown
        if choice.misconception:
            assert MISCONCEPTIONS[choice.misconception] in shown
        attempts = len(Ledger().attempts(item.id))
        press(view.check)  # a second press counts nothing
        assert len(Ledger().attempts(item.id)) == attempts == len(results)
        press(view.again)
        assert (view.choices.value, view.confidence.value, view.feedback.value) == (None, None, "")
    assert Ledger().attempts(item.id)[0]["said"] == "my words"
    assert results.count(True) == len(CONFIDENCE)


@pytest.mark.parametrize("item", [i for i in EVERY if i.problem], ids=lambda item: item.id)
def test_every_number_that_a_problem_knows(item):
    view = view_of(item)
    assert view.answering.layout.display is None
    for _ in range(10):
        problem = view.posed
        values = [problem.answer, *(result for m in problem.mistakes for result in m.results), -1.0]
        for value in values:
            view.number.value, view.confidence.value = short(value).replace(".", ","), "sure"
            press(view.check)
            shown = as_text(view.feedback.value)
            assert shown.startswith("✓ Right." if value == problem.answer else "✗ Not yet.")
            assert problem.shown.removesuffix(problem.unit).strip() in shown
            view.done = False
        press(view.again)
        assert view.posed.question != problem.question
        assert (view.number.value, view.feedback.value) == ("", "")
        assert view.unit.value == view.posed.unit


def test_what_is_missing_is_one_sentence_and_no_attempt():
    view = view_of(WITH_CHOICES[0])
    press(view.check)
    assert as_text(view.feedback.value) == "Choose one of the answers first."
    view.choices.value = 0
    press(view.check)
    assert as_text(view.feedback.value) == "Say how sure you are, too."
    view = view_of(next(i for i in EVERY if i.problem))
    shown = {"": "still missing", "many": "is not a number", "1,500": "two readings", "3": "how sure"}
    for typed, said in shown.items():
        view.number.value = typed
        press(view.check)
        assert said in as_text(view.feedback.value)
    assert Ledger().read()["quiz"] == {}


def test_a_ledger_that_cannot_be_written_is_said_beside_the_feedback(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path / "file" / "ledger.json"))
    view = view_of(WITH_CHOICES[0])
    view.choices.value, view.confidence.value = 0, "sure"
    press(view.check)
    assert "cannot be used" in view.feedback.value


def answered(view, right: bool, confidence: str) -> None:
    if isinstance(view.posed, Problem):
        view.number.value = repr(view.posed.answer if right else -1.0)
    else:
        view.choices.value = next(i for i, c in enumerate(view.posed.choices) if c.right == right)
    view.confidence.value = confidence
    press(view.check)


@pytest.mark.parametrize("lesson", lessons())
def test_items_come_one_after_the_other(lesson):
    quiz = sd.quiz(lesson)
    for i, view in enumerate(quiz.views):
        assert [child for child in quiz.shown.children] == [v.box for v in quiz.views[: i + 1]]
        assert quiz.result.value == ""
        answered(view, right=i != 1, confidence="sure")  # one wrong answer
    second = quiz.views[1]  # right at the second attempt, which does not count as the first
    press(second.again)
    answered(second, right=True, confidence="guess")
    assert Ledger().attempts(second.item.id)[-1]["right"]
    n = len(quiz.views)
    assert as_text(quiz.result.value) == f"{n - 1} of {n} right at the first attempt."
    assert set(Ledger().read()["quiz"]) == {item.id for item in items(lesson)}


def test_a_handler_that_raises_is_seen_by_these_tests(monkeypatch):
    view = view_of(WITH_CHOICES[0])
    monkeypatch.setattr(view, "chosen", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        press(view.check)


@pytest.mark.parametrize("lesson", lessons())
def test_without_a_kernel_the_questions_stand_there_with_their_answers_folded(lesson):
    quiz = sd.quiz(lesson)
    data = quiz._repr_mimebundle_()
    assert set(data) == {WIDGET, "text/html", "text/plain"}
    html, text = data["text/html"], data["text/plain"]
    assert (html, text) == (sd.quiz(lesson).html(), sd.quiz(lesson).text())  # the same at every build
    assert len(json.dumps(data)) < 50_000
    assert "<script" not in html
    assert html.count("<details ") == html.count("</details>") == len(quiz.items)
    open_part = as_text(re.sub(r"<details .*?</details>", "", html))
    asked, told = text.split("\nAnswers\n")
    for item, (_, page) in zip(quiz.items, quiz.pages()):
        posed = item.pose(Random(item.id))
        assert as_text(page) in told
        if isinstance(posed, Choices):
            for c in posed.choices:
                assert c.text in open_part and c.text in asked
                assert as_text(marked_up(c.reason)) not in open_part
        else:
            assert posed.question in open_part and posed.how not in open_part
            assert posed.how in told


def test_text_of_items_cannot_become_markup():
    assert marked_up("a < b and `x > y`") == "a &lt; b and <code>x &gt; y</code>"
