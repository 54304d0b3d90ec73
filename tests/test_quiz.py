"""The quizzes: what a page gets to ask, and what it gives back; how it asks and judges is in `browser/`."""

import json
import re

import pytest

import specdec_lab as sd
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.quiz import Choices, items, lessons
from specdec_lab.errors import LabError
from specdec_lab.show.live import STORED
from specdec_lab.show.page import as_text
from specdec_lab.show.quiz import marked_up

EVERY = [item for lesson in lessons() for item in items(lesson)]
pytestmark = pytest.mark.usefixtures("fresh_ledger")


def test_a_page_gets_all_choices_or_a_handful_of_numbers_the_same_at_every_call():
    for item in EVERY:
        versions = item.versions()
        assert [v.question for v in versions] == [v.question for v in item.versions()]
        if item.problem:
            assert len({v.question for v in versions}) == len(versions) == 6  # a retry has fresh numbers
        else:
            assert set(versions[0].choices) == set(item.choices) and versions[0].question == item.question
    firsts = [item.versions()[0].choices[0].right for item in EVERY if item.choices]
    assert 0.1 < sum(firsts) / len(firsts) < 0.5  # in the files the right choice stands first


def test_a_lesson_without_a_quiz_is_one_sentence():
    for lesson in ("09", "1", "", "../quiz/01"):
        with pytest.raises(LabError, match=r"There is no quiz for lesson .*: choose one of 00, 01, 02"):
            sd.quiz(lesson)


def attempt(right: bool, **more) -> dict:
    """An answer as quiz.js gives it."""
    new = {"when": "2026-01-01T00:00:00+00:00", "question": "?", "said": "my words", "chosen": "a choice"}
    return {**new, "right": right, "confidence": "sure", "misconception": None, **more}


def test_every_attempt_is_written_once():
    """The page sends all attempts each time; two that came while the kernel was busy come together."""
    quiz = sd.quiz("02")
    first, second = quiz.data["ledger"]["ids"][:2]
    wrong, right, number = attempt(False, misconception=1), attempt(True), attempt(True, chosen=3)
    quiz.set_state({"state": {first: [wrong]}})
    quiz.set_state({"state": {first: [wrong, right, right], second: [number]}})
    quiz.set_state({"state": {first: [wrong, right, right], second: [number, wrong]}})
    assert Ledger().read()["quiz"] == {first: [wrong, right, right], second: [number, wrong]}
    again = sd.quiz("02")  # the cell is run again: asked again, and written behind the others
    assert again.state == {}
    again.set_state({"state": {second: [right]}})
    assert Ledger().attempts(second) == [number, wrong, right]


@pytest.mark.parametrize("lesson", lessons())
def test_without_a_kernel_the_questions_stand_there_with_their_answers_folded(lesson):
    quiz = sd.quiz(lesson)
    beliefs = re.findall(r'"(?:misconception|belief)": (\d+)', json.dumps(quiz.data["items"]))
    assert quiz.data["beliefs"] == {n: MISCONCEPTIONS[int(n)] for n in {*beliefs}}  # each that an answer may show
    data = quiz.stored()
    assert set(data) == {STORED, "text/html", "text/plain"}
    html, text = data["text/html"], data["text/plain"]
    assert (quiz.picture(), text) == (sd.quiz(lesson).picture(), sd.quiz(lesson).text())  # the same at every build
    assert len(json.dumps(data)) < 50_000
    assert "<script" not in html
    assert html.count("<details ") == html.count("</details>") == len(quiz.items)
    open_part = as_text(re.sub(r"<details .*?</details>", "", html))
    asked, told = text.split("\nAnswers\n")
    for item, (_, page) in zip(quiz.items, quiz.pages()):
        posed = item.versions()[0]
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
