"""Quiz questions with numbers: each is a function of its numbers, so that a retry can ask with other ones.

A problem knows its answer, the calculation, and the answers that usual mistakes lead to. Answers are judged in show/quiz.js.
"""

import itertools
from collections.abc import Callable, Sequence

from specdec_lab.course.mistake import Mistake
from specdec_lab.formats import drop_leading_zeros, short
from specdec_lab.theory import Row


class Problem:
    """A question with its numbers filled in.

    Args:
        how: the calculation.
        mistakes: their results are numbers; None where a mistake cannot be made with these numbers.
        unit: without one, numbers are written as in the lessons: chances and ratios without the zero before the point.
        tolerance: as a share of the answer; 0 for counts.
    """

    def __init__(
        self, answer: float, question: str, how: str, *mistakes: Mistake, unit: str = "", tolerance: float = 0.02
    ):
        written = str if unit else drop_leading_zeros
        self.answer, self.question, self.how = answer, written(question), written(how)
        possible = [m for m in mistakes if None not in m.results]
        self.mistakes = [Mistake(written(m.said), *m.results, belief=m.belief) for m in possible]
        self.unit, self.tolerance = unit, tolerance

    @property
    def shown(self) -> str:
        """The answer with its unit."""
        return f"{short(self.answer)} {self.unit}" if self.unit else drop_leading_zeros(short(self.answer))

    @property
    def clear(self) -> bool:
        """Whether the answer and every mistake can be told apart: they differ by more than twice the tolerance."""
        values = [self.answer, *(result for m in self.mistakes for result in m.results)]
        return not any(
            abs(a - b) <= 2 * self.tolerance * max(abs(a), abs(b)) + 1e-9 for a, b in itertools.combinations(values, 2)
        )


PROBLEMS: dict[str, tuple[Callable[..., Problem], dict[str, Sequence]]] = {}


def fresh_numbers(**choices: Sequence):
    """Register a problem and the values that each of its numbers can take."""

    def register(make: Callable[..., Problem]):
        PROBLEMS[make.__name__] = make, choices
        return make

    return register


def variants(name: str) -> list[Problem]:
    """All versions of a problem whose answers can be told apart."""
    make, choices = PROBLEMS[name]
    versions = (make(**dict(zip(choices, values))) for values in itertools.product(*choices.values()))
    return [problem for problem in versions if problem.clear]


def in_words(values: Sequence) -> str:
    words = [f"{x:g}" if isinstance(x, int | float) else x for x in values]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def distributions(rows: tuple[Row, Row]) -> str:
    p, q = rows
    return f"For the tokens a, b and c the target has p = ({', '.join(map(str, p))}), the drafter q = ({', '.join(map(str, q))})."
