"""Quiz questions with numbers: each is a function of its numbers, so that a retry can ask with other ones.

A problem knows its answer, the calculation, and the answers that usual mistakes lead to.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from specdec_lab.formats import bare, short
from specdec_lab.theory import Row


@dataclass(frozen=True)
class Judged:
    """What is said about an answer. misconception: its number, where the mistake has one."""

    right: bool
    reason: str
    misconception: int | None = None


@dataclass(frozen=True)
class Mistake:
    """An answer that a wrong idea leads to."""

    value: float
    reason: str
    misconception: int | None = None


@dataclass(frozen=True)
class Problem:
    """how: the calculation. tolerance: as a share of the answer; 0 for counts."""

    question: str
    answer: float
    how: str
    mistakes: Sequence[Mistake]
    unit: str = ""
    tolerance: float = 0.02

    def judge(self, value: float) -> Judged:
        if self._same(value, self.answer):
            return Judged(True, self.how)
        for mistake in self.mistakes:
            if self._same(value, mistake.value):
                return Judged(False, f"{mistake.reason} {self.how}", mistake.misconception)
        return Judged(False, self.how)

    @property
    def shown(self) -> str:
        """The answer with its unit."""
        return f"{short(self.answer)} {self.unit}" if self.unit else bare(short(self.answer))

    @property
    def as_in_lessons(self) -> "Problem":
        """Chances and ratios without the zero before the point; seconds and the like keep it."""
        if self.unit:
            return self
        mistakes = [replace(m, reason=bare(m.reason)) for m in self.mistakes]
        return replace(self, question=bare(self.question), how=bare(self.how), mistakes=mistakes)

    @property
    def clear(self) -> bool:
        """Whether the answer and every mistake can be told apart."""
        values = [self.answer, *(m.value for m in self.mistakes)]
        return not any(self._same(a, b, 2) for a, b in itertools.combinations(values, 2))

    def _same(self, value: float, other: float, times: float = 1) -> bool:
        return abs(value - other) <= times * self.tolerance * max(abs(other), abs(value)) + 1e-9


PROBLEMS: dict[str, tuple[Callable[..., Problem], dict[str, Sequence]]] = {}


def fresh_numbers(**choices: Sequence):
    """Register a problem and the values that each of its numbers can take."""

    def register(make: Callable[..., Problem]):
        PROBLEMS[make.__name__] = lambda **values: make(**values).as_in_lessons, choices
        return make

    return register


def variants(name: str) -> list[Problem]:
    """All versions of a problem whose answers can be told apart."""
    make, choices = PROBLEMS[name]
    versions = (make(**dict(zip(choices, values))) for values in itertools.product(*choices.values()))
    return [problem for problem in versions if problem.clear]


def pose_problem(name: str, rng: Random, before: Problem | None = None) -> Problem:
    """One version of a problem, another than the one `before`."""
    return rng.choice([p for p in variants(name) if before is None or p.question != before.question])


def listed(values: Sequence) -> str:
    words = [f"{x:g}" if isinstance(x, int | float) else x for x in values]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def both(rows: tuple[Row, Row]) -> str:
    p, q = rows
    return f"For the tokens a, b and c the target has p = ({', '.join(map(str, p))}), the drafter q = ({', '.join(map(str, q))})."
