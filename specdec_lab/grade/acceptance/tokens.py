"""Exercise 4: expected tokens per pass."""

from collections.abc import Callable, Sequence

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import Wrong, listed, number, part, same, shown
from specdec_lab.theory import expected_tokens

Row = dict[str, float]  # only the tokens with a chance above 0
Text = list[list[str]]  # rounds of marks

CURVES = ((0.75, [4, 0, 1, 2, 7]), (0.4, [4, 1, 30]), (0.9, [3, 8, 5]), (0.3, [2, 6]))


def _each(formula: Callable[[float, int], float]) -> Callable[[float, list[int]], list[float]]:
    return lambda alpha, gammas: [formula(alpha, gamma) for gamma in gammas]


ALONE = "You count each draft as if it were kept or not by itself. It only counts if all drafts before it were kept."
TERMS = (
    (
        "The target's own token is missing: the corrected one or the bonus is written in every round.",
        lambda a, n: expected_tokens(a, n) - 1,
        6,
    ),
    (ALONE, lambda a, n: 1 + a * n, None),
    (f"{ALONE} And the target's own token is missing.", lambda a, n: a * n, 6),
    (
        "The last power of α is missing: with γ drafts kept the bonus comes too, so the sum goes up to α^γ.",
        lambda a, n: expected_tokens(a, n - 1),
        6,
    ),
    (
        "There is one power of α too many: with γ drafts at most γ + 1 tokens are written.",
        lambda a, n: expected_tokens(a, n + 1),
        None,
    ),
    ("This is the limit for endless drafts; γ has to count.", lambda a, n: 1 / (1 - a), None),
    (
        "You count a round as all or nothing, but drafts before the first miss are kept.",
        lambda a, n: 1 + n * a**n,
        None,
    ),
    (
        "You count a round as all or nothing, but drafts before the first miss are kept.",
        lambda a, n: (n + 1) * a**n,
        None,
    ),
    (
        "You count a round as all or nothing, but drafts before the first miss are kept.",
        lambda a, n: 1 + a**n,
        None,
    ),
    ("This is the chance that all drafts are kept, not a number of tokens.", lambda a, n: a**n, None),
    ("These are the most tokens a round can write; α has to count.", lambda a, n: n + 1, None),
    (
        "α times all γ + 1 tokens is not it: the first token is certain, the last one is rare.",
        lambda a, n: a * (n + 1),
        None,
    ),
    ("In the closed form the sum is divided by 1 − α.", lambda a, n: 1 - a ** (n + 1), None),
)
TOKENS = tuple(Mistake(said, _each(formula), misconception) for said, formula, misconception in TERMS)


def _alike(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


@part("4.tokens", points=2)
def tokens_per_pass(made: Callable[[float, list[int]], list[float]]) -> None:
    """tokens_per_pass(alpha, gammas) → E for each γ in the list."""
    raw = answers(made, CURVES)
    if not hasattr(raw[0], "__len__"):
        raise Wrong(f"The result should be a list, with one number for each γ in gammas; it is {shown(raw[0])}.")
    found = [_numbers(value, len(gammas)) for value, (_, gammas) in zip(raw, CURVES)]
    right = _each(expected_tokens)
    if not all(_alike(x, right(*case)) for x, case in zip(found, CURVES)):
        raise _wrong_curve(found)
    for gammas in ([4, 0, 1], [2, 3]):
        try:
            value = made(1.0, list(gammas))
        except ZeroDivisionError:
            raise Wrong(
                "For α = 1 your closed form divides by 0. Every draft is kept there: γ + 1 tokens. "
                "Treat it apart, or add up the powers.",
                0.75,
            ) from None
        x = _numbers(value, len(gammas))
        if not _alike(x, right(1.0, gammas)):
            raise Wrong(
                f"For α = 1 and γ = {told(gammas)} your function gives {told(x)}; every draft is kept there.", 0.75
            )
        x = _numbers(made(0.0, list(gammas)), len(gammas))
        if not _alike(x, right(0.0, gammas)):
            if all(value == 0 for value in x):
                raise Wrong("For α = 0 no draft is kept, but each round still writes the target's own token.", 0.75, 6)
            raise Wrong(
                f"For α = 0 and γ = {told(gammas)} your function gives {told(x)}; no draft is kept there.", 0.75
            )
    if len(_numbers(made(0.5, []), None)):
        raise Wrong("For an empty list of γ your function should give an empty list.", 0.75)


def _numbers(value: object, length: int | None) -> list[float]:
    return [number(x, "Tokens per pass") for x in listed(value, length, "The result, one number for each γ,")]


def _wrong_curve(found: list[list[float]]) -> Wrong:
    right = _each(expected_tokens)
    (alpha, gammas), x = next((case, x) for case, x in zip(CURVES, found) if not _alike(x, right(*case)))
    before = f"For α = {told(alpha)} and γ = {told(gammas)} your function gives {told(x)}."
    if mistake := explained(TOKENS, CURVES, found, _alike):
        return named(mistake, before, "")
    if all(_alike(sorted(x), sorted(right(*case))) for x, case in zip(found, CURVES)):
        return Wrong(f"{before} The numbers are right, and in another order than the γ in the list.", 0.5)
    if all(abs(a - b) < 0.06 for x, case in zip(found, CURVES) for a, b in zip(x, right(*case))):
        return Wrong(f"{before} Near, but rounded: do not round inside a calculation.", 0.5)
    return Wrong(f"{before} Ask for each token of a round with what chance it is written, and add these chances up.")
