"""Mistakes: a known one, with the wrong results that show it, and one that was found in a learner's answer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any


class Mistake:
    """A known mistake.

    Args:
        said: one sentence or two for the learner.
        results: what the mistake gives, one for each way to make it: a formula of a case's arguments, or the wrong
            result itself where it is the same in every case.
        belief: the number of the misconception behind it, where a common one is.
        earned: the share of the points that is earned all the same, 0 to 1.
    """

    def __init__(self, said: str, *results: Any, belief: int | None = None, earned: float = 0.0):
        self.said, self.results, self.belief, self.earned = said, results, belief, earned

    def gives(self, cases: Sequence[tuple]) -> Iterator[list]:
        """The wrong results in these cases, for each way that leads to one in all of them."""
        for result in self.results:
            with suppress(ArithmeticError, LookupError, ValueError):
                yield [result(*case) if callable(result) else result for case in cases]

    def adapted(self, change: Callable[[Callable], Callable]) -> "Mistake":
        """The same mistake in another question; change: a formula of this one → the formula there."""
        return Mistake(self.said, *map(change, self.results), belief=self.belief, earned=self.earned)


class Wrong(Exception):
    """What a judge raises: what is wrong, in one sentence or two for the learner. belief, earned: as of a `Mistake`."""

    def __init__(self, said: str, earned: float = 0.0, belief: int | None = None):
        super().__init__(said)
        self.earned, self.belief = earned, belief


class StillOpen(Exception):
    """Nothing is there yet: what should be a result is what a stub returns. Its text says which result.

    Attributes:
        unwritten: the code itself says so, by NotImplementedError.
    """

    unwritten = False
