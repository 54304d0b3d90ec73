"""Every wrong formula that the judges know, handed in as an answer, is told its own mistake, and no other one.

This finds mistakes that hide each other, or that nobody is ever told. A sentence stands in known/ below the change
of the right answer that it is about; tests/answers has answers that are no such changes.
"""

from importlib import resources

import pytest
from specdec_grader.checks import PARTS
from specdec_grader.mistakes import Mistake, mistakes_in, sections_of
from specdec_grader.part import RIGHT, WRONG, Part, grade_part

SEVERAL_FUNCTIONS = {"1.v"}
# What the other results earn when only the one at this place is wrong. In all other parts each earns an equal share.
OTHERS = {"1.v": (1 / 3, 2 / 3), "2.round": (1 / 3, 2 / 3), "4.claim": (0, 1 / 2), "8.decide": (1 / 3, 0, 2 / 3)}  # fmt: skip


def handed_in(part: Part, *wrong, place: int = 0) -> tuple:
    """A learner's answer to all that a part asks for: right, but for a wrong formula or result at this place."""
    ways = [question.right for question in part.asks]
    for result in wrong:
        ways[place] = result if callable(result) else lambda *case, same=result: same
    if len(ways) == 1 or part.id in SEVERAL_FUNCTIONS:
        return tuple(ways)
    return (lambda *case: tuple(way(*case) for way in ways),)


def earned(part: Part, place: int, mistake: Mistake) -> float:
    """The points of an answer that makes this mistake in the result at this place, and is right otherwise."""
    others = OTHERS[part.id][place] if part.id in OTHERS else 1 - 1 / len(part.asks)
    return round(max(mistake.earned, others) * part.points, 2)


QUESTIONS = [(part, place, question) for part in PARTS.values() for place, question in enumerate(part.asks)]
MISTAKES = [
    pytest.param(part, place, mistake, id=f"{part.id}: {mistake.said[:50]}")
    for part, place, question in QUESTIONS
    for mistake in question.mistakes
]


@pytest.mark.parametrize(("part", "place", "mistake"), MISTAKES)
def test_a_wrong_formula_is_told_its_own_mistake(part, place, mistake):
    assert mistake.results, "no formula leads to it"
    assert 0 <= mistake.earned < 1, "a share of the points is below 1"
    others = [m.said for question in part.asks for m in question.mistakes if m.said not in mistake.said]
    for result in mistake.results:
        verdict = grade_part(part.id, *handed_in(part, result, place=place))
        assert verdict.status == WRONG, "its formula is right"
        said = verdict.message.partition(" The belief behind this")[0]
        assert said.endswith(mistake.said), f"another sentence is told: {said}"
        assert not [other for other in others if other in said], f"two sentences are told: {said}"
        assert verdict.misconception == mistake.belief, "another belief is told"
        assert verdict.points == earned(part, place, mistake), "another share is earned"


@pytest.mark.parametrize("part", [part for part in PARTS.values() if part.asks], ids=lambda part: part.id)
def test_the_right_formulas_earn_full_marks(part):
    verdict = grade_part(part.id, *handed_in(part))
    if part.id == "4.interval":  # its formula has dice of its own
        assert "is the same for every seed" in verdict.message
    else:
        assert (verdict.status, verdict.points) == (RIGHT, part.points), verdict.message


@pytest.mark.parametrize(("part", "place", "question"), [row for row in QUESTIONS if row[2].near])
def test_right_numbers_that_were_rounded_earn_their_share(part, place, question):
    def way(*case):
        right = question.right(*case)
        return [round(x, 1) for x in right] if isinstance(right, list) else round(right, 1)

    assert 0 < question.near.earned < 1
    verdict = grade_part(part.id, *handed_in(part, way, place=place))
    assert verdict.status == WRONG and verdict.message.endswith(question.near.said), verdict.message
    assert verdict.points == earned(part, place, question.near)


# How a sheet writes them


def times_as_fast(tokens, cost):
    total = cost
    return tokens / total


TEXT = """
- `total = cost → total = cost + 1`
- `return tokens / (cost + 1)`
> The cost is
> one too many. [name dear; belief 7; earns ½]
- `tokens → (tokens - 1); / → *`
> Two changes [1, 2].
"""


def test_a_mistake_is_a_change_of_the_right_answer():
    first, second = mistakes_in(TEXT, times_as_fast)
    assert (first.said, first.belief, first.earned, first.name) == ("The cost is one too many.", 7, 0.5, "dear")
    assert [way(6, 2) for way in first.results] == [2, 2]
    assert (second.said, second.belief, second.earned) == ("Two changes [1, 2].", None, 0.0)
    assert [way(6, 2) for way in second.results] == [10]
    assert times_as_fast(6, 2) == 3


def test_every_section_is_about_a_question():
    """A name that nothing has would never be told: each heading names a right answer, or a part of the checkpoint."""
    folder = resources.files("specdec_grader") / "known"
    sheets = [path.name.removesuffix(".md") for path in folder.iterdir() if path.name.startswith("e")]
    rights = {(q.right.__module__.rpartition(".")[2], q.right.__name__) for _, _, q in QUESTIONS}
    rights |= {("e03_exactly_the_target", "comes_out"), ("e10_trees", "offer")}  # judged by what comes out of them
    for sheet in sheets:
        for names, _ in sections_of(sheet):
            assert all((sheet, name) in rights or name.split()[0] in PARTS for name in names), (sheet, names)
