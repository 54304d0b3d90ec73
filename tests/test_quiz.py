"""The quizzes: what they ask, with their keys; what a page gets to ask, and what it gives back.

How a page asks and judges is in `browser/`.
"""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

import specdec_lab as sd
from specdec_lab import theory
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.problems import PROBLEMS, variants
from specdec_lab.course.quiz import items, lessons
from specdec_lab.errors import LabError

ROOT = Path(__file__).parents[1]
SHEETS = ROOT / "exercises" / "specdec_grader" / "sheets"
EVERY = [item for lesson in lessons() for item in items(lesson)]
WITH_CHOICES = [item for item in EVERY if item.choices]
pytestmark = pytest.mark.usefixtures("fresh_ledger")


def test_each_lesson_has_its_items():
    assert lessons() == sorted(path.name[:2] for path in (ROOT / "lessons" / "src").glob("[01]*.md"))
    for lesson in lessons():
        assert len(items(lesson)) in ((5,) if lesson == "00" else (3, 4))
    assert len({item.id for item in EVERY}) == len(EVERY)
    assert {item.problem for item in EVERY} - {""} == set(PROBLEMS) == {name for name, *_ in KEYS}


def test_a_quiz_begins_with_the_lesson_before():
    for before, lesson in pairwise(lessons()[1:9]):
        first, *others = items(lesson)
        assert before in first.id or lesson == "04", first.id  # α is asked in 04 as lesson 03 defines it
        assert all(item.id.startswith(f"{lesson}.") for item in others)


def test_every_misconception_is_exposed():
    """By a wrong answer to a quiz, or to an exercise."""
    in_words = {c.misconception for item in WITH_CHOICES for c in item.choices}
    in_numbers = {m.belief for name in PROBLEMS for p in variants(name) for m in p.mistakes}
    assert set(MISCONCEPTIONS) == set(range(1, 16))
    marks = (re.findall(r"\[belief (\d+)", path.read_text(encoding="utf-8")) for path in SHEETS.glob("e*.py"))
    in_exercises = {int(number) for found in marks for number in found}
    assert (in_words | in_numbers | in_exercises) - {None} == set(MISCONCEPTIONS)


@pytest.mark.parametrize("item", WITH_CHOICES, ids=lambda item: item.id)
def test_choices_are_fair(item):
    assert [c.right for c in item.choices].count(True) == 1
    assert len({c.text for c in item.choices}) == len(item.choices) >= 3
    lengths = [len(c.text) for c in item.choices]
    assert max(lengths) <= 1.25 * min(lengths), lengths
    assert max(lengths) <= 70  # a radio button has one line
    for c in item.choices:
        assert len(c.reason) > 30 and c.reason.endswith(".")
        assert not (c.right and c.misconception)


def test_length_does_not_tell_the_right_choice():
    for most in (max, min):
        often = sum(most(item.choices, key=lambda c: len(c.text)).right for item in WITH_CHOICES)
        assert often <= len(WITH_CHOICES) / 2


KEY = """
00.softmax two equal chances | 00.sampling about seventy | 00.cache for one: | 00.prefill 50:
01.where-the-time-goes into reading every weight | 02.after-the-miss we meet in (
02.bonus from the row that | 02.a-worse-drafter the same answers as before, but | 03.one-seed no: the probabilities
04.favourites pair 2 | 04.what-raises-it a drafter trained | 05.many-drafts they go from 2.3 to 2.5
06.two-cities Medusa's second head | 06.letters the model of 1 billion
07.alpha-at-noon about 0.7 | 07.two-speeds 8 times as many in all, and fewer | 08.interval leave it off for now
08.first-word the first word after 4 s | 10.cousins After “blue”
10.choosy Another distribution | 11.deep All drafts come out of one | 11.stop Offer this draft, and draw no
11.better Speed, and the texts | 12.text The target's own answers | 12.aside All prompts of some customers
12.none The prompts share little | 11.survive Nothing bad: given the draft | 06.early-exit γ + 1 times
"""


def test_the_right_choice_is_in_the_answer_key():
    """Written apart from the items, by solving them: a key that is wrong teaches the mistake."""
    key = dict(line.strip().split(" ", 1) for line in KEY.replace("\n", " | ").split(" | ") if line.strip())
    assert set(key) == {item.id for item in WITH_CHOICES}
    for item in WITH_CHOICES:
        (right,) = (c.text for c in item.choices if c.right)
        assert right.startswith(key[item.id]), item.id
        assert sum(c.text.startswith(key[item.id]) for c in item.choices) == 1


EQUATION = re.compile(r"((?:\(?[\d.]+\)?)(?: ?[-·+/^] ?\(?[\d.]+\)?)+) = ([\d.]*\d)(?! [\d(])")


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_version_has_a_calculation_that_is_true(name):
    """And a question of its own."""
    versions = variants(name)
    assert len({p.question for p in versions}) == len(versions) >= 6
    for p in versions:
        assert p.shown.removesuffix(p.unit).strip() in p.how, p.how
        assert all(mistake.said.endswith(".") for mistake in p.mistakes)
        for left, right in EQUATION.findall(p.how):
            if left.count("(") == left.count(")"):
                value = eval(left.replace("·", "*").replace("^", "**"))
                assert value == pytest.approx(float(right), rel=6e-3), (left, right)


KEYS = [  # name, its numbers, the answer by hand, what known mistakes find, with the # of the belief behind one
    ("reading_time", {"millions": 135, "bytes_each": 2, "reads": 100}, "2.7", "1.35 21.6 2700 0.0027"),
    ("pass_time", {"megabytes": 270, "reads": 100, "computes": 10, "k": 5}, "2.7", "13.5 2.835"),
    ("pass_time", {"megabytes": 270, "reads": 100, "computes": 10, "k": 200}, "5.4", "540 8.1 2.7"),
    ("bend", {"reading": 2.7, "computing": 0.027}, "100", "200 0.01 0.0729"),
    ("tokens_written", {"gamma": 4, "accepted": (0, 0, 1, 2, 4, 4, 4, 4, 4, 4)}, "37", "27#6 50#1 31#6 33#6"),
    ("accept_chance", {"p": 0.5, "q": 0.7}, "5/7", "0.5#3 0.35#3 2/7 0.2"),
    ("accept_chance", {"p": 0.3, "q": 0.1}, "1", "0.3#3 0.03#3 1/3"),
    ("alpha_of", {"rows": ((0.5, 0.3, 0.2), (0.7, 0.1, 0.2))}, "0.8", "0.42#3 1#4 0.2"),
    ("rate_from_rounds", {"rounds": (2, 1, 1, 0, 6)}, "27/31", "0.675#5 3.7"),
    ("best_gamma", {"alpha": 0.8, "c": 0.1}, "6", "8#8 1"),
    ("break_even_tokens", {"gamma": 4, "c": 0.1, "v": 1.3}, "1.7", "1#7 1.3 1.4"),
    ("gain_at_load", {"idle": 32, "texts": 1, "drafts": (4, 3.05)}, "3.05", "0.61"),
    ("gain_at_load", {"idle": 32, "texts": 16, "drafts": (4, 3.05)}, "1.22", "3.05#7 1.525 48.8"),
    ("gain_at_load", {"idle": 32, "texts": 64, "drafts": (4, 3.05)}, "0.61", "3.05#7 0.305 0.7625"),
    ("tokens_of_tree", {"first": (0.6, 0.3), "after": (0.8, 0.5)}, "2.53", "3.2#1 1.53#6 2.08 1.9"),
    ("tree_in_batch", {"texts": 8, "drafts": 7, "idle": 32}, "2", "1.75 64 1"),
    ("tree_in_batch", {"texts": 4, "drafts": 7, "idle": 32}, "1", "32"),
    ("speed_after", {"tokens": (1.8, 2.25), "speed": 1.4}, "1.75", "2.25#7 1.85 1.4"),
]


def ratio(text: str) -> float:
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def numbers_in(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d*\.?\d+", re.sub(r"(?<=\d)[, ](?=000)", "", text))]


def flat(values) -> list[float]:
    return [x for v in values for x in (flat(v) if isinstance(v, tuple) else [v])]


NOT_SHOWN = {"accepted", "alpha", "computes", "drafts", "places", "rounds"}  # in words, or as what follows from it


@pytest.mark.parametrize(("name", "numbers", "key", "mistakes"), KEYS)
def test_problems_by_hand(name, numbers, key, mistakes):
    """The answer, what the known mistakes find, and the numbers in the question, in their order."""
    problem = PROBLEMS[name][0](**numbers)
    assert problem.answer == pytest.approx(ratio(key), rel=1e-6)
    for mistake in mistakes.split():
        value, _, belief = mistake.partition("#")
        known = pytest.approx(ratio(value), rel=1e-6, abs=1e-9)
        near = [m.belief for m in problem.mistakes if any(result == known for result in m.results)]
        assert near[:1] == [int(belief) if belief else None], mistake
    shown = numbers_in(problem.question)
    for values in (v for number, v in numbers.items() if number not in NOT_SHOWN):
        at = 0
        for value in flat([values]):
            assert value in shown[at:], (value, problem.question)
            at = shown.index(value, at) + 1


def said_by(item) -> str:
    return " ".join([item.question, *(f"{c.text} {c.reason}" for c in item.choices)])


def test_numbers_are_written_as_in_the_lessons():
    """Chances and ratios with a zero before the point: 0.75."""
    posed = [p for name in PROBLEMS for p in variants(name)]
    texts = [said_by(item) for item in WITH_CHOICES]
    texts += [" ".join([p.question, p.how, p.shown, *(m.said for m in p.mistakes)]) for p in posed]
    assert not [t for t in texts if re.search(r"(?<![\d.])\.\d", t)]


def test_the_best_gamma_follows_from_what_is_shown():
    for p in variants("best_gamma"):
        gammas, shown, c = re.search(r"γ = (.*) a pair gives (.*) tokens.* costs (\S+) of", p.question).groups()
        gammas = [int(g) for g in gammas.replace(" and", ",").split(", ")]
        gains = [f"{float(E) / (g * float(c) + 1):.2f}" for g, E in zip(gammas, shown.split(", "))]
        assert ", ".join(gains) in p.how
        assert p.answer == max(gammas, key=lambda g: float(gains[gammas.index(g)]))


def test_the_numbers_in_the_items_are_right():
    said = {item.id: said_by(item) for item in WITH_CHOICES}
    E = theory.expected_tokens
    assert f"from {E(0.6, 4):.1f} to {E(0.6, 16):.1f}" in said["05.many-drafts"]
    pairs = [((0.45, 0.35, 0.2), (0.85, 0.1, 0.05)), ((0.4, 0.35, 0.25), (0.3, 0.4, 0.3))]
    assert [round(theory.acceptance(*pair), 10) for pair in pairs] == [0.6, 0.9]
    matches = [f"{sum(a * b for a, b in zip(*pair)):.2f}" for pair in pairs]
    assert " to ".join(matches) in said["04.favourites"]
    assert f"γ = 4 and α = 0.7 a pass gives {E(0.7, 4):.2f} " in said["07.alpha-at-noon"]


def test_tasks_of_the_checkpoint_are_not_asked_before():
    """Its load task is T(n) = max(1, n / 32), γ = 4 and 3.05 tokens per pass."""
    posed = [p.question for name in PROBLEMS for p in variants(name)] + [said_by(item) for item in WITH_CHOICES]
    assert not [q for q in posed if "n / 32" in q or "3.05 tokens" in q]


def test_what_is_given_can_be():
    """Distributions have the sum 1; shares lie between 0 and 1."""
    for _, choices in PROBLEMS.values():
        for rows in choices.get("rows", ()):
            assert all(sum(row) == pytest.approx(1) and min(row) >= 0 for row in rows), rows
        for shares in choices.get("first", ()):
            assert 0 < min(shares) <= max(shares) < 1 and sum(shares) <= 1, shares


def test_what_is_counted_has_no_room():
    for name in ("tokens_written", "best_gamma"):
        assert {p.tolerance for p in variants(name)} == {0}


def test_a_mistake_speaks_of_these_numbers():
    for p, said in (((0.6, 0.4), "The same"), ((0.4, 0.6), "Another")):  # favourite
        assert PROBLEMS["alpha_of"][0]((p, (0.7, 0.3))).mistakes[2].said.startswith(said)


def test_versions_are_the_same_at_every_call():
    """All choices in one order, or a handful of numbers."""
    for item in EVERY:
        versions = item.versions()
        assert [v.question for v in versions] == [v.question for v in item.versions()]
        if item.problem:
            assert len({v.question for v in versions}) == len(versions) == 6  # a retry has fresh numbers
        else:
            assert set(versions[0].choices) == set(item.choices) and versions[0].question == item.question
    firsts = [item.versions()[0].choices[0].right for item in EVERY if item.choices]
    assert 0.1 < sum(firsts) / len(firsts) < 0.5  # in the files the right choice stands first


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
