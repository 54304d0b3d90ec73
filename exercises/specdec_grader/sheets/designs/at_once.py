"""Exercise 11: alpha_at_once(joint) → α of a second place that is filled without seeing the first."""

from collections.abc import Callable, Sequence

from specdec_grader.kit import Mistake, Question, part

Joint = Sequence[Sequence[float]]

CASES = (
    ([[0.5, 0.0], [0.0, 0.5]],), ([[0.3, 0.1], [0.2, 0.4]],), ([[0.24, 0.16], [0.36, 0.24]],), ([[0.6, 0.1, 0.0], [0.0, 0.1, 0.2]],),
    ([[0.2, 0.0, 0.0], [0.1, 0.3, 0.0], [0.0, 0.1, 0.3]],), ([[0.1, 0.2], [0.0, 0.3], [0.25, 0.15]],),
)  # fmt: skip


def firsts(joint: Joint) -> list[float]:
    return [sum(row) for row in joint]


def seconds(joint: Joint) -> list[float]:
    return [sum(column) for column in zip(*joint)]


def alpha(joint: Joint) -> float:
    """Σ over the first token of p(first) · Σ min(p(second | first), q(second))."""
    q = seconds(joint)
    return sum(sum(min(p, first * b) for p, b in zip(row, q)) for row, first in zip(joint, firsts(joint)))


def match(joint: Joint) -> float:
    return sum(p * b for row in joint for p, b in zip(row, seconds(joint)))


def unweighted(joint: Joint) -> float:
    each = [sum(min(p / sum(row), b) for p, b in zip(row, seconds(joint))) for row in joint]
    return sum(each) / len(each)


AT_ONCE = Question(
    cases=CASES, right=alpha,
    seen="For {0} your function gives {found}; α of the second place is {right}.",
    hint="For each first token: its chance, times Σ min(p(second | first), q(second)).",
    mistakes=[
        Mistake("This is the chance that a second token of the target and a draft are equal. α is the overlap, Σ min(p, q).", match, belief=3),
        Mistake("Weight each first token with its chance: some are more frequent than others.", unweighted),
        Mistake("Compare q with p(second | first): a row of the table, divided by its sum. All in all both are equal, but the target has seen the first token.",
                1.0),  # what comes out without the division, too
        Mistake("This is the chance that both drafts are what the target's favourite pair is. Count all pairs.", lambda joint: max(map(max, joint)))])  # fmt: skip


@part("11.at-once", points=2, asks=[AT_ONCE])
def alpha_at_once(made: Callable[[Joint], object]) -> None:
    AT_ONCE.judge(made)
