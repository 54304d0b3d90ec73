"""The quizzes: what they ask, with their keys; what a page gets to ask, and what it gives back.

How a page asks and judges is in `browser/`.
"""

import json
import re

import pytest

import specdec_lab as sd
from specdec_lab import theory
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.problems import PROBLEMS, variants
from specdec_lab.course.quiz import Choices, items, lessons
from specdec_lab.errors import LabError
from specdec_lab.formats import drop_leading_zeros
from specdec_lab.show.live import STORED
from specdec_lab.show.page import as_text
from specdec_lab.show.quiz import marked_up

EVERY = [item for lesson in lessons() for item in items(lesson)]
WITH_CHOICES = [item for item in EVERY if item.choices]
pytestmark = pytest.mark.usefixtures("fresh_ledger")


def test_each_lesson_has_its_items():
    assert lessons() == ["00", "01", "02", "03", "04", "05", "06", "07", "08", "10", "11", "12"]
    for lesson in lessons():
        found = items(lesson)
        assert 4 <= len(found) <= 8
        assert all(item.id.startswith(f"{lesson}.") for item in found)
        assert {bool(item.choices) for item in found} == {True, False}  # words and numbers
    assert len({item.id for item in EVERY}) == len(EVERY)
    assert {item.problem for item in EVERY} - {""} == set(PROBLEMS) == {name for name, *_ in KEYS}


def test_every_misconception_is_exposed():
    in_words = {c.misconception for item in WITH_CHOICES for c in item.choices}
    in_numbers = {m.belief for name in PROBLEMS for p in variants(name) for m in p.mistakes}
    assert set(MISCONCEPTIONS) == set(range(1, 16))
    assert (in_words | in_numbers) - {None} == set(MISCONCEPTIONS)


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


def test_the_right_choice_is_not_known_by_its_length():
    longest = sum(max(item.choices, key=lambda c: len(c.text)).right for item in WITH_CHOICES)
    shortest = sum(min(item.choices, key=lambda c: len(c.text)).right for item in WITH_CHOICES)
    assert longest <= len(WITH_CHOICES) / 2
    assert shortest <= len(WITH_CHOICES) / 2


KEY = """
00.softmax two equal chances | 00.sampling about seventy | 00.cache for one: | 00.prefill 50: | 01.where-the-time-goes into reading every weight
01.which-are-computed five: | 01.experts up to 20 | 01.thin-layers B: | 01.long-prompt hardly sooner | 02.after-the-miss we meet in (
02.bonus from the row that | 02.a-worse-drafter the same answers as before, but | 03.why-the-residual min(p, q) is already
03.copying-drafter x is accepted with chance .3, otherwise replaced from p without | 03.bonus from p of the last row | 03.one-seed no: the probabilities
03.one-token-differs two tokens were nearly | 04.favourites pair 2 | 04.argmax .35: | 04.streaks 2.67 | 04.what-raises-it a drafter trained
05.many-drafts they go from 2.3 to 2.5 | 05.thinner-draft it falls | 06.two-cities Medusa's second head | 06.early-exit γ + 1 times
06.poems about the same speed | 06.letters the model of 1 billion | 07.alpha-at-noon about .7 | 07.two-speeds 8 times as many in all, and fewer
07.long-texts they may pay | 07.switching once off, back on only below 6 | 08.interval leave it off for now | 08.another-benchmark nothing:
08.first-word the first word after 4 s | 08.by-kind for forms: | 10.cousins Behind “blue” | 10.positions 1, 1, 2, 2, 2 | 10.choosy Another distribution
10.when One text at a time | 11.mtp It was trained together | 11.block Where the next token hangs | 11.stop Offer this draft, and draw no
11.memory Whether answers like this | 11.better Speed, and the texts | 12.text The target's own answers | 12.aside All prompts of some customers
12.heart Keep the weights of the best look | 12.none The draft already knew | 12.others It is the target's poem
"""


def test_the_right_choice_is_the_one_in_the_answer_key():
    """Written apart from the items, by solving them: a key that is wrong teaches the mistake."""
    key = dict(line.strip().split(" ", 1) for line in KEY.replace("\n", " | ").split(" | ") if line.strip())
    assert set(key) == {item.id for item in WITH_CHOICES}
    for item in WITH_CHOICES:
        (right,) = (c.text for c in item.choices if c.right)
        assert right.startswith(key[item.id]), item.id
        assert sum(c.text.startswith(key[item.id]) for c in item.choices) == 1


EQUATION = re.compile(r"((?:\(?[\d.]+\)?)(?: ?[-·+/^] ?\(?[\d.]+\)?)+) = ([\d.]*\d)(?! [\d(])")


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_version_of_a_problem_has_another_question_and_a_calculation_that_is_true(name):
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
    ("rows_computed", {"gamma": 4, "accepted": 3}, "5", "2#9"),
    ("entries_kept", {"gamma": 4, "accepted": 2}, "3", "4 5 2"),
    ("accept_chance", {"p": 0.5, "q": 0.7}, "5/7", "0.5#3 0.35#3 2/7 0.2"),
    ("accept_chance", {"p": 0.3, "q": 0.1}, "1", "0.3#3 0.03#3 1/3"),
    ("after_rejection", {"rows": ((0.5, 0.3, 0.2), (0.7, 0.1, 0.2))}, "1", "0.3#2 0.2 0.6 0.1"),
    ("emitted_probability", {"rows": ((0.5, 0.3, 0.2), (0.7, 0.1, 0.2))}, "0.5", "0.7#11 0.6#2 0.35#3"),
    ("alpha_of", {"rows": ((0.5, 0.3, 0.2), (0.7, 0.1, 0.2))}, "0.8", "0.42#3 1#4 0.2"),
    ("rate_from_rounds", {"rounds": (2, 1, 1, 0, 6)}, "27/31", "0.675#5 3.7"),
    ("tokens_per_pass", {"alpha": 0.75, "gamma": 4}, "3.05078125", "2.05078125#6 4#1 3.2880859375"),
    ("speed_up", {"expected": 3.05, "gamma": 4, "c": 0.5, "v": 1}, "61/60", "3.05#7"),
    ("speed_up", {"expected": 3, "gamma": 4, "c": 0.125, "v": 1.25}, "12/7", "3#7 2.4 24/11 2"),
    ("second_sibling", {"rows": ((0.6, 0.3, 0.1), (0.1, 0.4, 0.5))}, "0", "0.75#2"),
    ("best_gamma", {"alpha": 0.8, "c": 0.1}, "6", "8#8 1"),
    ("break_even_tokens", {"gamma": 4, "c": 0.1, "v": 1.3}, "1.7", "1#7 1.3 1.4"),
    ("whole_answer", {"reading": 2, "writing": 3, "times": 2}, "3.5", "2.5#15 1.5 4#15"),
    ("tokens_by_place", {"alphas": (0.5, 0.4, 0.2)}, "1.74", "2.1#1 0.04 0.74#6 1.875"),
    ("faster_of_two", {"layers": 8, "thin": 3, "wide": 2, "gamma": 4}, "1.6", "3#7 1.5#7 3/1.08#14 2/1.0625"),
    ("faster_of_two", {"layers": 8, "thin": 3.6, "wide": 2, "gamma": 4}, "1.8", "1.6 2.88"),
    ("gain_at_load", {"idle": 32, "texts": 1, "drafts": (4, 3.05)}, "3.05", "0.61"),
    ("gain_at_load", {"idle": 32, "texts": 16, "drafts": (4, 3.05)}, "1.22", "3.05#7 1.525 48.8"),
    ("gain_at_load", {"idle": 32, "texts": 64, "drafts": (4, 3.05)}, "0.61", "3.05#7 0.305 0.7625"),
    ("crossover", {"idle": 32, "drafts": (4, 3.05)}, "19.52", "6.4 32 97.6 24.4"),
    ("rate_from_survival", {"survival": (0.8, 0.4, 0.3), "place": 3}, "0.75", "0.3#5 0.12 0.25 0.375"),
    ("tokens_from_survival", {"survival": (0.8, 0.4, 0.3)}, "2.5", "1.5#6 2.216 2.952 4#1"),
    ("tokens_of_tree", {"first": (0.6, 0.3), "behind": (0.8, 0.5)}, "2.53", "3.2#1 1.53#6 2.08 1.9"),
    ("tree_in_batch", {"texts": 8, "drafts": 7, "idle": 32}, "2", "1.75 64 1"),
    ("tree_in_batch", {"texts": 4, "drafts": 7, "idle": 32}, "1", "32"),
    ("second_sibling", {"rows": ((0.6, 0.3, 0.1), (0.2, 0.25, 0.55))}, "4/9", "1#2 1/9 0.2"),
    (
        "block_speed",
        {"places": (0.6, 0.4, 0.3), "d": 0.1, "v": 1.2},
        "1.912/1.3",
        "1.912/1.5 1.912#7 1.912/1.1 1.912/1.2",
    ),
    ("relaxed_output", {"rows": ((0.5, 0.3, 0.2), (0.1, 0.2, 0.7))}, "0.45", "0.5 0.1 0.66 0.6"),
    ("paid_after", {"step": 20, "tokens": (1.6, 2.0), "minutes": 10}, "240", "60 75 4"),
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
    """Chances and ratios as .75, and what has a unit as 0.8 s."""
    posed = [p for name in PROBLEMS for p in variants(name)]
    texts = [said_by(item) for item in WITH_CHOICES]
    texts += [" ".join([p.question, p.how, p.shown, *(m.said for m in p.mistakes)]) for p in posed if not p.unit]
    assert not [t for t in texts if re.search(r"\b0\.\d", t)]
    assert drop_leading_zeros("0.5 · 10.05 = 5.025; 0, 1. 0.25^2") == ".5 · 10.05 = 5.025; 0, 1. .25^2"
    assert any(re.search(r" 0\.\d s ", p.question) for p in posed if p.unit)


def test_the_best_gamma_can_be_computed_from_what_is_shown():
    for p in variants("best_gamma"):
        gammas, shown, c = re.search(r"γ = (.*) a pair gives (.*) tokens.* costs (\S+) of", p.question).groups()
        gammas = [int(g) for g in gammas.replace(" and", ",").split(", ")]
        gains = [f"{float(E) / (g * float(c) + 1):.2f}" for g, E in zip(gammas, shown.split(", "))]
        assert drop_leading_zeros(", ".join(gains)) in p.how
        assert p.answer == max(gammas, key=lambda g: float(gains[gammas.index(g)]))


def test_the_numbers_in_the_words_of_the_items_are_right():
    said = {item.id: said_by(item) for item in WITH_CHOICES}
    right = {item.id: next(c.text for c in item.choices if c.right) for item in WITH_CHOICES}
    E = theory.expected_tokens
    easy, hard, first = E(0.9, 4), E(0.2, 4), (0.9 + 0.2) / 2
    mean = (easy + hard) / 2
    assert f"So {drop_leading_zeros(f'{first:.2f}')} of all first drafts" in said["04.streaks"]
    assert right["04.streaks"] == f"{mean:.2f} tokens per pass, and the formula says {E(first, 4):.2f}"
    assert f"{easy:.2f} in the easy half and {hard:.2f} in the hard half; the mean is {mean:.2f}" in said["04.streaks"]
    tested = E(0.9, 3) + E(0.2, 3)  # a draft is tested where a round with one draft less would write a token
    alpha = (easy - 1 + hard - 1) / tested
    assert (
        f"is {drop_leading_zeros(f'{alpha:.3f}')}; for it the formula says {E(alpha, 4):.2f}, too much"
        in said["04.streaks"]
    )
    assert (f"{E(0.6, 4):.1f}", f"{E(0.6, 16):.1f}") == ("2.3", "2.5")
    pairs = [((0.45, 0.35, 0.2), (0.85, 0.1, 0.05)), ((0.4, 0.35, 0.25), (0.3, 0.4, 0.3))]
    assert [round(theory.acceptance(*pair), 10) for pair in pairs] == [0.6, 0.9]
    assert [f"{sum(a * b for a, b in zip(*pair)):.2f}" for pair in pairs] == ["0.43", "0.34"]
    assert ".43 to .34" in said["04.favourites"]
    p, q = (0.45, 0.35, 0.2), (0.3, 0.4, 0.3)
    shares = p[q.index(max(q))], theory.acceptance(p, q), sum(a * b for a, b in zip(p, q))
    shares = [drop_leading_zeros(f"{x + 1e-9:.2f}") for x in shares]
    assert drop_leading_zeros(f"p = {p} and q = {q}") in said["04.argmax"]
    assert all(f"{share}:" in said["04.argmax"] for share in shares) and right["04.argmax"].startswith(shares[0])
    p, q = (0.3, 0.5, 0.2), (0.6, 0.3, 0.1)
    wrong = theory.emitted(p, q, [min(1, a / b) for a, b in zip(p, q)], p)
    assert drop_leading_zeros(f"p = {p} and q = {q}, drawing from p gives") in said["03.why-the-residual"]
    assert drop_leading_zeros(f"({', '.join(f'{x:.2f}' for x in wrong)})") in said["03.why-the-residual"]
    p, q = (0.3, 0.5, 0.2), (1.0, 0.0, 0.0)  # a copy
    accept = [min(1, a / b) if b else 1 for a, b in zip(p, q)]
    assert accept[0] == p[0] and theory.residual(p, q) == pytest.approx([0, 5 / 7, 2 / 7])
    assert (
        drop_leading_zeros(f"= {theory.emitted(p, q, accept, p)[0]:.2f} and not {p[0]}") in said["03.copying-drafter"]
    )
    assert f"With γ = 4 and α = .7 a pass gives {E(0.7, 4):.2f} tokens" in said["07.alpha-at-noon"]


def test_the_tasks_of_the_checkpoint_are_not_asked_before():
    """Its load task is T(n) = max(1, n / 32), γ = 4 and 3.05 tokens per pass."""
    posed = [p.question for name in PROBLEMS for p in variants(name)] + [said_by(item) for item in WITH_CHOICES]
    assert not [q for q in posed if "n / 32" in q or "3.05 tokens" in q]


def test_the_relaxed_rule_keeps_what_the_question_says():
    for p in variants("relaxed_output"):
        least, (a, b, c) = numbers_in(p.question)[0], numbers_in(p.question.partition("p = (")[2])[:3]
        assert c < least < b <= a


def test_what_is_given_can_be():
    """Distributions have the sum 1; shares lie between 0 and 1."""
    for _, choices in PROBLEMS.values():
        for rows in choices.get("rows", ()):
            assert all(sum(row) == pytest.approx(1) and min(row) >= 0 for row in rows), rows
        for shares in (*choices.get("alphas", ()), *choices.get("survival", ()), *choices.get("first", ())):
            assert 0 < min(shares) <= max(shares) < 1, shares
        assert all(sum(shares) <= 1 for shares in choices.get("first", ()))
        assert all(list(shares) == sorted(shares, reverse=True) for shares in choices.get("survival", ()))


def test_what_is_counted_has_no_room():
    for name in ("tokens_written", "rows_computed", "entries_kept"):
        assert {p.tolerance for p in variants(name)} == {0}


def test_a_mistake_speaks_of_these_numbers():
    equal, other = (
        PROBLEMS["alpha_of"][0](rows).mistakes[2].said for rows in (((0.6, 0.4), (0.7, 0.3)), ((0.4, 0.6), (0.7, 0.3)))
    )
    assert equal.startswith("The same favourite") and other.startswith("Another favourite")


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
