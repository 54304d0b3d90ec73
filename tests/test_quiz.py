"""The quizzes: what they ask, with their keys; what a page gets to ask, and what it gives back.

How a page asks and judges is in `browser/`.
"""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

import specdec_lab as sd
from specdec_lab import theory
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import MISCONCEPTIONS, items, lessons
from specdec_lab.errors import LabError
from specdec_lab.formats import short

ROOT = Path(__file__).parents[1]
VERSIONS = {item["id"]: item["versions"] for lesson in lessons() for item in items(lesson)}
CHOICES = {id: versions[0]["choices"] for id, versions in VERSIONS.items() if "choices" in versions[0]}
NUMBERS = {id: versions for id, versions in VERSIONS.items() if id not in CHOICES}
pytestmark = pytest.mark.usefixtures("fresh_ledger")


def test_each_lesson_has_its_items():
    assert lessons() == sorted(path.name[:2] for path in (ROOT / "lessons" / "src").glob("[01]*.md"))
    assert len(VERSIONS) == sum(len(items(lesson)) for lesson in lessons())


@pytest.mark.parametrize("id", CHOICES)
def test_choices_are_fair(id):
    choices = CHOICES[id]
    assert [c["right"] for c in choices].count(True) == 1
    assert len({c["text"] for c in choices}) == len(choices) >= 3
    for c in choices:
        assert set(c) == {"text", "reason", "right", "misconception"}
        assert len(c["reason"]) > 30 and c["reason"].endswith(".")
        assert not (c["right"] and c["misconception"])


KEY = """
00.softmax two equal chances | 00.sampling about seventy | 00.cache for one: | 00.prefill 50:
01.where-the-time-goes into reading every weight | 02.after-the-miss we meet in (
02.bonus from the row that | 02.a-worse-drafter the same answers as before, but | 03.one-seed no: the probabilities
04.favourites pair 2 | 04.what-raises-it a drafter trained | 05.many-drafts they go from 2.3 to 2.5
05.price a loss | 06.two-cities Medusa's second head | 06.letters the model of 1 billion
07.alpha-at-noon about 0.7 | 07.two-speeds 8 times as many in all, and fewer
08.first-word the first word after 4 s | 10.cousins After “blue”
10.choosy Another distribution | 11.deep All drafts come out of one
11.remedy A selector | 12.text The target's own answers | 12.aside All prompts of some customers
12.none The prompts share little | 11.survive Nothing bad: given the draft
"""


def test_the_right_choice_is_in_the_answer_key():
    """Written apart from the items, by solving them: a key that is wrong teaches the mistake."""
    key = dict(line.strip().split(" ", 1) for line in KEY.replace("\n", " | ").split(" | ") if line.strip())
    assert set(key) == set(CHOICES)
    for id, choices in CHOICES.items():
        assert [c["right"] for c in choices if c["text"].startswith(key[id])] == [True], id


EQUATION = re.compile(r"((?:\(?[\d.]+\)?)(?: ?[-·+/^] ?\(?[\d.]+\)?)+) = ([\d.]*\d)(?! [\d(])")


@pytest.mark.parametrize("id", NUMBERS)
def test_versions_with_numbers_are_whole(id):
    """Each with a question of its own, a calculation that is true, and mistakes that no answer is taken for."""
    versions = NUMBERS[id]
    assert len({v["question"] for v in versions}) == len(versions) == 6  # a retry has fresh numbers
    for v in versions:
        assert set(v) == {"question", "answer", "how", "unit", "tolerance", "mistakes"}
        assert v["tolerance"] == 0.02
        assert short(v["answer"]) in v["how"], v["how"]
        assert all(m["said"].endswith(".") and m.get("belief") in {None, *MISCONCEPTIONS} for m in v["mistakes"])
        values = [v["answer"], *(m["result"] for m in v["mistakes"])]
        for a, b in combinations(values, 2):
            assert abs(a - b) > 2 * v["tolerance"] * max(abs(a), abs(b)) + 1e-9, v["question"]
        for left, right in EQUATION.findall(v["how"]):
            if left.count("(") == left.count(")"):
                value = eval(left.replace("·", "*").replace("^", "**"))
                assert value == pytest.approx(float(right), rel=6e-3), (left, right)


def numbers_in(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+\.?\d*", re.sub(r"(?<=\d)[, ](?=000)", "", text))]


# By hand: the answer from the numbers of the question, in their order.
BY_HAND = {
    "00.bytes": lambda millions, bytes_each, reads: millions * bytes_each / reads,
    "01.bend": lambda reading, computing: reading / computing,
    "04.rate": lambda gamma, rounds, *accepted: sum(accepted) / sum(min(n + 1, gamma) for n in accepted),
    "10.tokens": lambda a, b, after_a, after_b: 1 + a + b + a * after_a + b * after_b,
    "12.speed": lambda before, after, speed: speed * after / before,
}


@pytest.mark.parametrize("id", NUMBERS)
def test_answers_by_hand(id):
    for v in NUMBERS[id]:
        assert v["answer"] == pytest.approx(BY_HAND[id](*numbers_in(v["question"])), rel=1e-6), v["question"]


def test_the_numbers_in_the_items_are_right():
    said = {id: json.dumps(VERSIONS[id], ensure_ascii=False) for id in CHOICES}
    E = theory.expected_tokens
    assert f"from {E(0.6, 4):.1f} to {E(0.6, 16):.1f}" in said["05.many-drafts"]
    pairs = [((0.45, 0.35, 0.2), (0.85, 0.1, 0.05)), ((0.4, 0.35, 0.25), (0.3, 0.4, 0.3))]
    assert [round(theory.acceptance(*pair), 10) for pair in pairs] == [0.6, 0.9]
    matches = [f"{sum(a * b for a, b in zip(*pair)):.2f}" for pair in pairs]
    assert " to ".join(matches) in said["04.favourites"]


@pytest.mark.parametrize("lesson", ["09", "1", "", "../quiz/01"])
def test_a_lesson_without_a_quiz_is_named(lesson):
    with pytest.raises(LabError, match=f"{lesson!r}.* 00, 01, 02"):
        sd.quiz(lesson)


def attempt(right: bool, **more) -> dict:
    """An answer as quiz.js gives it."""
    new = {"when": "2026-01-01T00:00:00+00:00", "question": "?", "said": "my words", "chosen": "a choice"}
    return {**new, "right": right, "confidence": "sure", "misconception": None, **more}


def send(quiz, *attempts) -> None:
    """What the page sends: (number, item, attempt) each."""
    when = {"when": "2026-01-01T00:00:00Z", "age": 0}
    entries = [{"n": n, "id": id, "kind": "attempt", "value": value, **when} for n, id, value in attempts]
    quiz.set_state({"outgoing": entries})


def test_every_attempt_is_written_once():
    """Two that came while the kernel was busy come together, and one may come twice."""
    quiz = sd.quiz("02")
    first, second = quiz.data["ledger"]["ids"][:2]
    wrong, right, number = attempt(False, misconception=1), attempt(True), attempt(True, chosen=3)
    later = attempt(True, said="and once more")
    sent = [("1", first, wrong), ("2", first, right), ("3", first, later), ("4", second, number), ("5", second, wrong)]
    for some in (sent[:1], sent[:4], sent[1:]):  # what was not heard in time comes again
        send(quiz, *some)
        assert quiz.heard == [n for n, *_ in some]
    assert Ledger().read()["quiz"] == {first: [wrong, right, later], second: [number, wrong]}
    again = sd.quiz("02")  # the cell is run again: asked again, and written behind the others
    assert again.state == {}
    send(again, ("6", second, right))
    assert Ledger().attempts(second) == [number, wrong, right]
    again = sd.quiz("02")  # what nobody answered in time comes again, and may have been written after all
    send(again, ("7", second, right))
    assert Ledger().attempts(second) == [number, wrong, right]


@pytest.mark.parametrize("lesson", lessons())
def test_a_page_gets_every_belief_of_its_answers(lesson):
    data = sd.quiz(lesson).data
    beliefs = re.findall(r'"(?:misconception|belief)": (\d+)', json.dumps(data["items"]))
    assert data["beliefs"] == {n: MISCONCEPTIONS[int(n)] for n in {*beliefs}}
    assert len(json.dumps(data)) < 50_000
