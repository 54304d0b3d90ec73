"""Exercise 4: audit(alpha, gamma, claimed) → (E, the γ that the claimed number belongs to or None)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from specdec_grader.kit import Mistake, Question, Wrong, listed, number, part, pretty, results, same, shown
from specdec_grader.sheets.acceptance.tokens import ABOUT_E
from specdec_lab.theory import expected_tokens as E

CLAIMS = (  # those with α = 1 come last: a closed form fails there alone
    (0.7, 3, 2.8), (0.3, 5, 2.0), (0.4, 4, 1.5), (0.75, 4, 3.05), (0.8, 3, 4.2), (0.5, 6, 1.0),
    (0.4, 9, 1.65), (0.9, 2, 8.15), (0.0, 5, 1.0), (0.6, 4, 0.9), (0.99, 5, 33.9),
    (1.0, 3, 6.0), (1.0, 3, 101.0),
)  # fmt: skip
FAR = 0.05
MOST = 100  # the largest γ that is looked at


def nearest(alpha: float, claimed: float, gammas: Sequence[int] = range(MOST + 1), far: float = FAR) -> int | None:
    """The γ whose E is nearest to what was claimed, if it is near enough."""
    gamma = min(gammas, key=lambda n: abs(E(alpha, n) - claimed))
    return gamma if abs(E(alpha, gamma) - claimed) <= far else None


def first_gamma(alpha: float, enough: Callable[[float], bool]) -> int | None:
    return next((n for n in range(MOST + 1) if enough(E(alpha, n))), None)


def without_claim(formula: Callable[[float, int], float]) -> Callable[[float, int, float], float]:
    return lambda alpha, gamma, claimed: formula(alpha, gamma)


VALUE = Question(
    right=without_claim(E), near=Mistake("Near, but rounded: the exact number is asked for.", earned=0.5),
    cases=[case for case in CLAIMS if case[0] < 1],  # not α = 1: code with a closed form treats it apart, and is right there in spite of a mistake
    seen="For α = {} and γ = {} your first result is {found}.",
    hint="It should be E, the expected tokens per pass.",
    mistakes=[Mistake("This is the claimed number. The first result is the true one.", lambda a, n, claimed: claimed),
              *(m.adapted(without_claim) for m in ABOUT_E)])  # fmt: skip


def seen(case: tuple[float, int, float], found: int | None, right: int | None) -> str:
    alpha, gamma, claimed = case
    first = f"(The first one, {pretty(E(alpha, gamma))} for γ = {gamma}, is right.)"
    return f"For α = {pretty(alpha)} and the claimed number {pretty(claimed)} your second result is {found!r}. {first}"


SOURCE = Question(
    right=lambda a, n, e: nearest(a, e), cases=CLAIMS, seen=seen,
    hint="Compute E for γ = 0, 1, 2, … and see which one comes nearest to it.",
    mistakes=[
        Mistake("You give back the γ that was asked for. With which γ does the claimed number come out?", lambda a, n, e: n),
        Mistake("You count the terms of the sum. A round with γ drafts has γ + 1 of them.",
                lambda a, n, e: None if (gamma := nearest(a, e)) is None else gamma + 1),
        Mistake("You stop at the first γ that reaches the claimed number; but rounded, it may stand a little above the true one. "
                "Take the γ that comes nearest.", lambda a, n, e: first_gamma(a, lambda x: x >= e)),
        Mistake("You stop at the first γ that is near enough; a later one may be nearer.", lambda a, n, e: first_gamma(a, lambda x: abs(x - e) <= FAR), earned=0.75),
        Mistake("The nearest γ is not enough: where no γ comes within .05 of the claimed number, the answer is None.",
                lambda a, n, e: nearest(a, e, far=math.inf)),
        Mistake("Where no γ comes within .05 of the claimed number, the answer is None; and of two that are equally near, the smaller.",
                lambda a, n, e: nearest(a, e, range(MOST, -1, -1), math.inf)),
        Mistake("Of two γ that are equally near, the smaller one is asked for.", lambda a, n, e: nearest(a, e, range(MOST, -1, -1)), earned=0.75),
        Mistake("You do not look at γ = 0.", lambda a, n, e: nearest(a, e, range(1, MOST + 1)), earned=0.75),
        Mistake("You do not look beyond the γ that was asked for; the claimed number may belong to a larger one.",
                lambda a, n, e: nearest(a, e, range(n + 1))),
        Mistake(f"You stop too early: look at all γ up to {MOST}.", *(lambda a, n, e, most=most: nearest(a, e, range(most)) for most in (11, 16, 21, 31, 51, 100)), earned=0.75)])  # fmt: skip


@part("4.claim", points=2, seconds=5, asks=[VALUE, SOURCE])
def audit(made: Callable[[float, int, float], tuple[float, int | None]]) -> None:
    values, gammas = zip(*(listed(value, 2) for value in results(made, CLAIMS)))
    if list(values) == [SOURCE.right(*case) for case in CLAIMS] and same(
        list(gammas), [VALUE.right(*c) for c in CLAIMS]
    ):
        raise Wrong("The two results are swapped: first the tokens per pass, then the γ.", 0.5)
    tokens = [number(x, "The first result, the tokens per pass,") for x in values]
    below_1 = len(VALUE.cases)
    VALUE.compare(tokens[:below_1])
    replace(VALUE, cases=CLAIMS[below_1:], mistakes=()).compare(tokens[below_1:])
    for (alpha, _, claimed), x in zip(CLAIMS, gammas):
        if isinstance(x, bool) or not (x is None or (isinstance(x, int | float) and math.isfinite(x))):
            before = f"For α = {pretty(alpha)} and the claimed number {pretty(claimed)} the second result"
            raise Wrong(f"{before} should be a γ or None; it is {shown(x)}.", 0.5)
    SOURCE.compare(gammas, earned=0.5)
