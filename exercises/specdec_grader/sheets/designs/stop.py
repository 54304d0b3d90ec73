"""Exercise 11: offered(chances, limit) → how many of the drawn drafts a round offers."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import mul

from specdec_grader.kit import Mistake, Question, part, whole

CASES = (
    ([0.9, 0.8, 0.5, 0.9], 0.4), ([0.9, 0.9, 0.9, 0.9], 0.4), ([0.2, 0.9, 0.9], 0.5), ([0.6, 0.6, 0.6, 0.6], 0.3), ([0.95], 0.5), ([0.8, 0.3, 0.9, 0.9], 0.1),
    ([0.5, 0.5, 0.5], 0.25), ([0.7, 0.9, 0.2, 0.8, 0.9], 0.15),
)  # fmt: skip


def first_below(values: Sequence[float], limit: float) -> int | None:
    """The place of the first value below the limit, from 1."""
    return next((n for n, value in enumerate(values, 1) if value < limit), None)


def right(chances: Sequence[float], limit: float) -> int:
    return first_below(list(accumulate(chances, mul)), limit) or len(chances)


def one_less(chances: Sequence[float], limit: float) -> int:
    found = first_below(list(accumulate(chances, mul)), limit)
    return len(chances) if found is None else found - 1


STOP = Question(
    cases=CASES, right=right, read=whole,
    seen="For the chances {0} and the limit {1} your function offers {found}; it should offer {right}.",
    hint="Multiply the chances one after the other. Behind the first draft whose product is below the limit, stop; that draft is offered.",
    mistakes=[
        Mistake("You throw away the draft that made you stop. It was drawn, so it must be offered: what is left would not be drawn from q.", one_less),
        Mistake("You look at each draft alone. A draft counts only if all before it hold: multiply.",
                lambda chances, limit: first_below(chances, limit) or len(chances)),
        Mistake("You look at each draft alone, and throw away the one that made you stop. Multiply, and offer it: it was drawn.",
                lambda chances, limit: (first_below(chances, limit) or len(chances) + 1) - 1),
        Mistake("Stop when the product is below the limit; a product that is equal to it goes on.",
                lambda chances, limit: next((n for n, x in enumerate(accumulate(chances, mul), 1) if x <= limit), len(chances))),
        Mistake("You count all drafts that are sure enough, also behind the first that is not. Behind that one nothing is drafted.",
                lambda chances, limit: sum(x >= limit for x in chances)),
        Mistake("These are all drafts. Where the product falls below the limit, drafting ends.", lambda chances, limit: len(chances))])  # fmt: skip


@part("11.stop", points=2, asks=[STOP])
def offered(made: Callable[[Sequence[float], float], object]) -> None:
    STOP.judge(made)
