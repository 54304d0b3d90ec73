"""Exercise 12: gain(old, new) → how many times the tokens per pass of the old draft the new one has."""

from collections.abc import Callable, Sequence
from statistics import fmean

from specdec_grader.kit import ROUNDED, Mistake, Question, part

Counts = Sequence[tuple[int, int]]

CASES = (
    ([(60, 30), (10, 8)], [(60, 20), (10, 8)]), ([(64, 40), (64, 32), (12, 10)], [(64, 32), (64, 30), (12, 11)]), ([(50, 25)], [(50, 20)]),
    ([(20, 10), (80, 60)], [(20, 12), (80, 40)]), ([(30, 10), (30, 30)], [(30, 11), (30, 20)]),
)  # fmt: skip


def rate(counts: Counts) -> float:
    return sum(n for n, _ in counts) / sum(passes for _, passes in counts)


GAIN = Question(
    cases=CASES, right=lambda old, new: rate(new) / rate(old), near=ROUNDED,
    seen="For (tokens, passes) {0} before and {1} after, your function gives {found}; it should be {right}.",
    hint="All new tokens divided by all passes, for each draft; then the new one's divided by the old one's.",
    mistakes=[
        Mistake("You take the mean over the prompts. A short answer then counts as much as a long one: add up tokens and passes first.",
                lambda old, new: fmean(n / p for n, p in new) / fmean(n / p for n, p in old),
                lambda old, new: fmean((n / p) / (m / o) for (n, p), (m, o) in zip(new, old))),
        Mistake("This is old / new.", lambda old, new: rate(old) / rate(new)),
        Mistake("This is the difference. How many times as many is asked.", lambda old, new: rate(new) - rate(old)),
        Mistake("These are the new draft's tokens per pass. Divide by the old one's.", lambda old, new: rate(new)),
        Mistake("This counts accepted drafts alone. The target's own token of each round counts, too.",
                lambda old, new: (rate(new) - 1) / (rate(old) - 1), belief=6)])  # fmt: skip


@part("12.gain", points=2, asks=[GAIN])
def gain(made: Callable[[Counts, Counts], object]) -> None:
    GAIN.judge(made)
