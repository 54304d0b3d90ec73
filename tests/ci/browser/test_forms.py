"""What the page makes of numbers, guesses and answers: every way to type a number, every answer that the quizzes know."""

import itertools

import pytest

from specdec_lab.course.quiz import items, lessons
from specdec_lab.formats import short
from specdec_lab.show.asked import Outcome, Quiz, compare
from specdec_lab.show.live import script

EVERY = [item for lesson in lessons() for item in items(lesson)]
SCRIPTS = [script(*kind.scripts).replace("export default { render };", "") for kind in (Outcome, Quiz)]


@pytest.fixture(scope="module")
def computed(browser):
    """Evaluates an expression behind the scripts of outcome or quiz: (expression, argument, which) → value."""
    page = browser.new_page()
    page.set_default_timeout(30_000)
    yield lambda expression, x, which=1: page.evaluate(f"(x) => {{ {SCRIPTS[which]}; return {expression}; }}", x)
    page.close()


TYPED = {"1.8": 1.8, "1,8": 1.8, " 3 ": 3, "3.": 3, ".5": 0.5, "-2": -2, "+2e-3": 0.002, "1500": 1500, "0,500": 0.5}
TYPED |= {"1,2345": 1.2345, "2 ms": 2, "2ms": 2}
TYPED |= dict.fromkeys(("abc", "1.8x", "1.2.3", "1,2,3", "1.234,5", "nan", "inf", "1e999", "1_000", "3/4", "0x10"))
WHY = {"1,500": "two readings", "": "still missing", " ms": "still missing"}  # the others are named


def test_numbers_as_they_are_typed(computed):
    """What is no number is one sentence."""
    for typed, found in zip(TYPED, computed("x.map((typed) => readNumber(typed, 'ms'))", list(TYPED)), strict=True):
        if TYPED[typed] is None:
            assert set(found) == {"wrong"} and f"“{typed}”" in found["wrong"]
        else:
            assert found["value"] == TYPED[typed]
    for said, found in zip(WHY.values(), computed("x.map((typed) => readNumber(typed, 'ms'))", list(WHY)), strict=True):
        assert said in found["wrong"]


def test_numbers_are_shown_as_python_shows_them(computed):
    numbers = [m * 10.0**e for m in (1, 1.234, 2.004, 5.678, 9.996) for e in range(-8, 21)] + [0, -250, -0.02, 99.95]
    assert computed("x.map(short)", numbers) == [short(x) for x in numbers]


def test_the_error_of_a_guess_is_pythons(computed):
    guesses, values = (0, 0.3, 0.96, 1, 1.04, 1.3, 2.7, 1234.4, 1e9), (0, 0.5, 1, 1.24, 950.3)
    spreads = (None, (0.9, 1.1), (0.3, 1.3), (1.0, 1.0))
    cases = [[g, {"value": v, "interval": s}] for g, v, s in itertools.product(guesses, values, spreads)]
    right = [compare(*case) for case in cases]
    assert computed("x.map(([guess, measured]) => compare('guess', guess, measured))", cases, 0) == right
    assert len({*right}) > 30


def judged(computed, cases: list) -> list[dict]:
    """cases: a version of an item as data, and an answer."""
    return computed("x.map(([posed, chosen]) => judge(posed, chosen))", cases)


def test_a_choice_is_judged_by_what_it_says(computed):
    for posed in (version for item in EVERY for version in item["versions"] if "choices" in version):
        found = judged(computed, [[posed, i] for i in range(len(posed["choices"]))])
        for choice, said in zip(posed["choices"], found, strict=True):
            assert said == {"right": choice["right"], "reason": choice["reason"], "belief": choice["misconception"]}


def test_every_version_tells_answer_and_mistakes_apart(computed):
    cases, expected = [], []
    for posed in (version for item in EVERY for version in item["versions"] if "mistakes" in version):
        for value in (posed["answer"], float(short(posed["answer"]))):  # also rounded to three digits
            cases.append([posed, value])
            expected.append({"right": True, "reason": posed["how"], "belief": None})
        for mistake in posed["mistakes"]:
            cases.append([posed, float(short(mistake["result"]))])
            reason = f"{mistake['said']} {posed['how']}"
            expected.append({"right": False, "reason": reason, "belief": mistake.get("belief")})
        cases.append([posed, -17.0])
        expected.append({"right": False, "reason": posed["how"], "belief": None})
    assert judged(computed, cases) == expected


def test_a_retry_is_shuffled_or_has_fresh_numbers(computed):
    choices, numbers = (EVERY[0]["versions"], next(v for i in EVERY if "mistakes" in (v := i["versions"])[0]))
    orders = computed("x.map((versions) => Array.from({length: 60}, () => pose({versions})))", [choices])[0]
    found = [[c["text"] for c in posed["choices"]] for posed in (*orders, choices[0])]
    assert len({*map(tuple, found)}) > 10 and len({tuple(sorted(order)) for order in found}) == 1
    again = computed("Array.from({length: 60}, () => pose({versions: x}, x[2]).question)", numbers)
    assert {*again} == {v["question"] for v in numbers} - {numbers[2]["question"]}
