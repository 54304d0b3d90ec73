"""Exercise 12: best_look(learned, aside) → the number of the look whose weights are kept."""

from collections.abc import Callable, Sequence

from specdec_grader.kit import Mistake, Question, part, whole

CASES = (
    ([0.5, 0.6, 0.7, 0.8], [0.5, 0.55, 0.6, 0.58]), ([0.5, 0.7, 0.9, 0.95], [0.5, 0.49, 0.45, 0.4]), ([0.4, 0.5, 0.55], [0.4, 0.48, 0.52]),
    ([0.3, 0.5, 0.6, 0.7, 0.75], [0.3, 0.42, 0.45, 0.45, 0.44]), ([0.6, 0.64, 0.63], [0.6, 0.61, 0.62]), ([0.5, 0.6, 0.62, 0.7], [0.45, 0.58, 0.55, 0.6]),
)  # fmt: skip


def place_of(best: Callable[[Sequence[float]], float], values: Sequence[float]) -> int:
    return list(values).index(best(values))


LOOK = Question(
    cases=CASES, right=lambda learned, aside: place_of(max, aside), read=whole,
    seen="For α on what was learned {0} and on what was put aside {1} your function keeps look {found}; it should be look {right}.",
    hint="Only the prompts that were put aside say how it will be with the next customer. Of equal looks take the earliest.",
    mistakes=[
        Mistake("You look at the texts that it has learned. There α grows in any case.", lambda learned, aside: place_of(max, learned)),
        Mistake("You keep the last look. It may have begun to learn its texts by heart.", lambda learned, aside: len(aside) - 1),
        Mistake("Of equal looks take the earliest: it has cost less.", lambda learned, aside: max(range(len(aside)), key=lambda i: (aside[i], i))),
        Mistake("Count the looks from 0.", lambda learned, aside: place_of(max, aside) + 1, earned=0.5),
        Mistake("The distance between the two is not what counts. Take the largest α on what was put aside.",
                lambda learned, aside: place_of(min, [a - b for a, b in zip(learned, aside)])),
        Mistake("Keep the weights of one look, not always those of the beginning.", 0)])  # fmt: skip


@part("12.look", points=2, asks=[LOOK])
def best_look(made: Callable[[Sequence[float], Sequence[float]], object]) -> None:
    LOOK.judge(made)
