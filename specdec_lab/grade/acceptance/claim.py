"""Exercise 4: the source of a wrong number."""

import math
from collections.abc import Callable, Sequence

from specdec_lab.grade.acceptance.tokens import TERMS, _alike
from specdec_lab.grade.cases import Mistake, answers, explained, told
from specdec_lab.grade.part import StillOpen, Wrong, listed, number, part, same, shown
from specdec_lab.theory import expected_tokens

Row = dict[str, float]  # only the tokens with a chance above 0
Text = list[list[str]]  # rounds of marks

CLAIMS = (
    (0.75, 4, 3.3),
    (0.4, 4, 1.5),
    (0.4, 4, 2.0),
    (0.75, 4, 3.05),
    (0.8, 3, 4.2),
    (0.5, 6, 1.0),
    (0.4, 9, 1.65),
    (0.9, 2, 8.15),
    (1.0, 3, 6.0),
    (0.0, 5, 1.0),
    (0.6, 4, 0.9),
)
FAR = 0.05
MOST = 100  # the largest γ that is looked at


def source_of(alpha: float, claimed: float) -> int | None:
    """The γ whose E is nearest to what was claimed, if it is near enough."""
    gamma = min(range(MOST + 1), key=lambda n: abs(expected_tokens(alpha, n) - claimed))
    return gamma if abs(expected_tokens(alpha, gamma) - claimed) <= FAR else None


def _first(alpha: float, enough: Callable[[float], bool]) -> int | None:
    return next((n for n in range(MOST + 1) if enough(expected_tokens(alpha, n))), None)


def _nearest(alpha: float, claimed: float, gammas: Sequence[int], far: float = FAR) -> int | None:
    gamma = min(gammas, key=lambda n: abs(expected_tokens(alpha, n) - claimed))
    return gamma if abs(expected_tokens(alpha, gamma) - claimed) <= far else None


SOURCES = (
    Mistake(
        "You give back the γ that was asked for. With which γ does the claimed number come out?", lambda a, n, e: n
    ),
    Mistake(
        "You count the terms of the sum. A round with γ drafts has γ + 1 of them.",
        lambda a, n, e: None if (found := source_of(a, e)) is None else found + 1,
    ),
    Mistake(
        "You stop at the first γ that reaches the claimed number; but rounded, it may stand a little above the true one. "
        "Take the γ that comes nearest.",
        lambda a, n, e: _first(a, lambda x: x >= e),
        earned=0.5,
    ),
    Mistake(
        "You stop at the first γ that is near enough; a later one may be nearer.",
        lambda a, n, e: _first(a, lambda x: abs(x - e) <= FAR),
        earned=0.75,
    ),
    Mistake(
        "The nearest γ is not enough: where no γ comes within .05 of the claimed number, the answer is None.",
        lambda a, n, e: _nearest(a, e, range(MOST + 1), math.inf),
        earned=0.5,
    ),
    Mistake(
        "Where no γ comes within .05 of the claimed number, the answer is None; and of two that are equally near, the smaller.",
        lambda a, n, e: min(range(MOST, -1, -1), key=lambda m: abs(expected_tokens(a, m) - e)),
        earned=0.5,
    ),
    Mistake(
        "Of two γ that are equally near, the smaller one is asked for.",
        lambda a, n, e: _nearest(a, e, range(MOST, -1, -1)),
        earned=0.75,
    ),
    Mistake("You do not look at γ = 0.", lambda a, n, e: _nearest(a, e, range(1, MOST + 1)), earned=0.75),
    Mistake(
        "You do not look beyond the γ that was asked for; the claimed number may belong to a larger one.",
        lambda a, n, e: _nearest(a, e, range(n + 1)),
    ),
)


@part("4.claim", points=2, seconds=5)
def audit(made: Callable[[float, int, float], tuple[float, int | None]]) -> None:
    """audit(alpha, gamma, claimed) → (E, the γ that the claimed number belongs to or None)."""
    pairs = [listed(value, 2, "What your function returns") for value in answers(made, CLAIMS)]
    if pairs[0][0] is None or pairs[0][0] is Ellipsis:
        raise StillOpen
    values, gammas = zip(*pairs)
    right = [expected_tokens(alpha, gamma) for alpha, gamma, _ in CLAIMS]
    wanted = [source_of(alpha, claimed) for alpha, _, claimed in CLAIMS]
    if values[0] == 5 and same(number(gammas[0], "The second result"), right[0]):
        raise Wrong("The two results are swapped: first the tokens per pass, then the γ.", 0.5)
    _right_values([number(x, "The first result, the tokens per pass,") for x in values], right)
    for (alpha, _, claimed), x in zip(CLAIMS, gammas):
        if x is not None and not (isinstance(x, int | float) and not isinstance(x, bool)):
            raise Wrong(
                f"For α = {told(alpha)} and the claimed number {told(claimed)} the second result should be a γ or None; "
                f"it is {shown(x)}.",
                0.5,
            )
    if list(gammas) == wanted:
        return
    (alpha, gamma, claimed), x = next((c, x) for c, x, w in zip(CLAIMS, gammas, wanted) if x != w)
    before = (
        f"For α = {told(alpha)} and the claimed number {told(claimed)} your second result is {x!r}. "
        f"(The first one, {told(expected_tokens(alpha, gamma))} for γ = {gamma}, is right.)"
    )
    mistake = explained(SOURCES, CLAIMS, gammas, lambda a, b: a == b)
    if mistake is None and all(x == w or (x is None and w > 8) for x, w in zip(gammas, wanted)):
        mistake = Mistake(f"You stop too early: look at all γ up to {MOST}.", lambda: None, earned=0.75)
    if mistake is None:
        raise Wrong(f"{before} Compute E for γ = 0, 1, 2, … and see which one comes nearest to it.", 0.5)
    raise Wrong(f"{before} {mistake.said}", max(0.5, mistake.earned), mistake.misconception)


def _right_values(found: list[float], right: list[float]) -> None:
    if _alike(found, right):
        return
    (alpha, gamma, _), x = next((c, x) for c, x, r in zip(CLAIMS, found, right) if not same(x, r))
    before = f"For α = {told(alpha)} and γ = {gamma} your first result is {told(x)}."
    if _alike(found, [claimed for _, _, claimed in CLAIMS]):
        raise Wrong(f"{before} This is the claimed number. The first result is the true one.")
    finite = [i for i, (alpha, _, _) in enumerate(CLAIMS) if alpha < 1]
    for said, formula, misconception in TERMS:
        if all(same(found[i], formula(CLAIMS[i][0], CLAIMS[i][1])) for i in finite):
            raise Wrong(f"{before} {said}", misconception=misconception)
    if all(abs(a - b) < 0.06 for a, b in zip(found, right)):
        raise Wrong(f"{before} Near, but rounded: the exact number is asked for.", 0.5)
    raise Wrong(f"{before} It should be E, the expected tokens per pass.")
