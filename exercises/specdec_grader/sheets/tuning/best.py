"""Exercise 5: gamma_to_use(alpha, d, v, o) → the γ with the largest S, 0 where none pays; d[γ] is what all γ drafts cost."""

import operator
from collections.abc import Callable, Sequence

from specdec_grader.kit import Mistake, Question, Wrong, number, part, pretty, results, same, whole
from specdec_grader.sheets.tuning.speedup import FLAT, ROWS
from specdec_lab.theory import expected_tokens as E

WHAT = "The best γ"
NEVER_ZERO = "You never give 0. Where no γ is faster than plain decoding, the best is not to draft."


def gains(a, d, v, o, cost=lambda d, v, o, n: d[n] + v[n] + o, tokens=E) -> list[float]:
    """S for γ = 0, 1, …; without drafts it is plain decoding."""
    return [1.0] + [tokens(a, n) / cost(d, v, o, n) for n in range(1, len(v))]


def tops(values: Sequence[float]) -> list[int]:
    """The places of the largest value."""
    return [n for n, value in enumerate(values) if value == max(values)]


def best(**changed: Callable[..., float]) -> Callable[..., int]:
    """The best γ, with something changed in S."""
    return lambda *case: tops(gains(*case, **changed))[0]


def climb(values: Sequence[float], falls: Callable[[float, float], bool]) -> int:
    """The last place before the values fall for the first time."""
    return next((n for n in range(len(values) - 1) if falls(values[n + 1], values[n])), len(values) - 1)


def seen(case: tuple, found: int, right: int) -> str:
    reached = gains(*case)
    there = f"S is {pretty(reached[found])}" if 0 <= found < len(reached) else "there is no such γ in the lists"
    given = "For α = {}, d = {}, v = {} and o = {} your function gives γ =".format(*map(pretty, case))
    return f"{given} {found}; {there}, and the best S is {pretty(reached[right])}."


BEST = Question(
    right=best(), seen=seen,
    cases=(
        (0.8, [0.3 * n for n in range(9)], FLAT, 0.0), (0.8, [0.1 * n for n in range(9)], FLAT, 0.0),
        (0.95, [0.0] * 5, [1.0, 1.0, 1.01, 1.02, 1.03], 0.0), (0.9, [0.0] * 8, [1.0, 1.05, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9], 0.05),
        (0.6, [0.0, 0.15, 0.15, 0.15, 0.15, 0.15], [1.0, 1.03, 1.06, 1.1, 1.3, 1.7], 0.03),
        (0.3, [0.1 * n for n in range(7)], [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2], 0.03),
        (0.6, [0.15 * n for n in range(5)], [1.0, 1.25, 1.5, 1.85, 2.2], 0.0), (0.2, [0.0, 0.1], [1.0, 1.05], 0.2),
        (0.25, [0.0, 0.02, 0.04, 0.06], [1.0, 1.2, 1.3, 1.4], 0.06), (0.7, [0.0, 0.2, 0.2, 0.2, 0.2], [1.0, 1.1, 1.3, 1.5, 1.7], 0.25),
        (1.0, [0.0] * 3, [1.0, 1.0, 1.5], 0.0), (0.0, [0.0] * 4, [1.0] * 4, 0.0), (0.0, [0.0, 0.05, 0.1], [1.0, 1.1, 1.2], 0.02)),
    hint="Compute S for every γ in the lists, with S = 1 for γ = 0, and compare.",
    mistakes=[
        Mistake("You take the largest γ. A late draft costs as much as the first and is seldom kept.", lambda a, d, v, o: len(v) - 1, belief=8),
        Mistake("You take the γ with the most tokens per pass. A round also costs time: compare S.", best(cost=lambda d, v, o, n: 1), belief=7),
        Mistake(NEVER_ZERO, lambda *case: 1 + tops(gains(*case)[1:])[0], earned=0.5),
        Mistake(f"{NEVER_ZERO} And of equals, the smallest is asked for.", lambda *case: 1 + tops(gains(*case)[1:])[-1], earned=0.5),
        Mistake("Your result is one too small: the first place of a list that begins with γ = 1 stands for γ = 1.",
                lambda *case: tops(gains(*case)[1:])[0], earned=0.25),
        Mistake("You leave out the last γ of the list.", lambda *case: tops(gains(*case)[:-1])[0], earned=0.5),
        Mistake("You stop where S first falls. The cost of a pass may have a step, and behind it S can rise above all before: try every γ.",
                lambda *case: climb(gains(*case), operator.le), lambda *case: climb(gains(*case), operator.lt), earned=0.5),
        Mistake("Of several γ that are equally good, the smallest is asked for.", lambda *case: tops(gains(*case))[-1], earned=0.75),
        Mistake("You charge the loop, o, to γ = 0 as well. Without drafts it is plain decoding: S = 1.",
                lambda a, d, v, o: tops([1 / (1 + o), *gains(a, d, v, o)[1:]])[0], earned=0.5),
        Mistake("d[γ] is what all γ drafts cost together; do not multiply it by γ.", best(cost=lambda d, v, o, n: n * d[n] + v[n] + o), earned=0.5),
        Mistake("You multiply the cost of one draft by γ; but d[γ] is given, and need not grow like that.",
                best(cost=lambda d, v, o, n: n * d[1] + v[n] + o), earned=0.5),
        Mistake("The drafts, d, are missing in the cost.", best(cost=lambda d, v, o, n: v[n] + o)),
        Mistake("You count the target's pass as if it always cost 1.", best(cost=lambda d, v, o, n: d[n] + 1 + o)),
        Mistake("The target's pass is missing in the cost.", best(cost=lambda d, v, o, n: max(1e-12, d[n] + o))),
        Mistake("The loop, o, is missing in the cost.", best(cost=lambda d, v, o, n: d[n] + v[n]), earned=0.5),
        Mistake("The target's own token is missing in E.", best(tokens=lambda a, n: E(a, n) - 1), belief=6),
        Mistake(ROWS, best(cost=lambda d, v, o, n: d[n] + v[n - 1] + o), earned=0.25),
        Mistake("You take the slowest γ, not the fastest.", lambda *case: tops([-gain for gain in gains(*case)])[0]),
        Mistake("You never draft, although it often pays.", 0)])  # fmt: skip


@part("5.best", points=2, asks=[BEST])
def gamma_to_use(made: Callable[[float, list[float], list[float], float], int]) -> None:
    values = results(made, BEST.cases)
    if same([number(value, WHAT) for value in values], speedups := [max(gains(*case)) for case in BEST.cases]):
        said = "this is the speed-up. Give back the γ that reaches it."
        raise Wrong(f"Your function gives {pretty(speedups[0])}: {said}", 0.5)
    BEST.compare([whole(value, WHAT) for value in values])
    try:
        alone = made(0.8, [0.0], [1.0], 0.0)
    except (ValueError, IndexError):
        alone = None
    if alone is None or whole(alone, WHAT) != 0:
        raise Wrong("Where the lists have room for γ = 0 only, the answer is 0.", 0.75)
