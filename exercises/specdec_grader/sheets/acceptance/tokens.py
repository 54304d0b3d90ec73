"""Exercise 4: tokens_per_pass(alpha, gammas) → E for each γ in the list."""

from collections.abc import Callable

from specdec_grader.kit import ROUNDED, Mistake, Question, Wrong, listed, number, part, pretty, results, same
from specdec_lab.theory import expected_tokens as E

ALONE = "You count each draft as if it were kept or not by itself. It only counts if all drafts before it were kept."
ABOUT_E = (  # formulas for one α and one γ
    Mistake("The target's own token is missing: the corrected one or the bonus is written in every round.", lambda a, n: E(a, n) - 1, belief=6),
    Mistake(ALONE, lambda a, n: 1 + a * n),
    Mistake(f"{ALONE} And the target's own token is missing.", lambda a, n: a * n, belief=6),
    Mistake("The last power of α is missing: with γ drafts kept the bonus comes too, so the sum goes up to α^γ.", lambda a, n: E(a, n - 1), belief=6),
    Mistake("There is one power of α too many: with γ drafts at most γ + 1 tokens are written.", lambda a, n: E(a, n + 1)),
    Mistake("This is the limit for endless drafts; γ has to count.", lambda a, n: E(a, 999)),  # as good as 1 / (1 − α), without its error for α = 1
    Mistake("You count a round as all or nothing, but drafts before the first miss are kept.",
            lambda a, n: 1 + n * a**n,
            lambda a, n: (n + 1) * a**n,
            lambda a, n: 1 + a**n),
    Mistake("This is the chance that all drafts are kept, not a number of tokens.", lambda a, n: a**n),
    Mistake("These are the most tokens a round can write; α has to count.", lambda a, n: n + 1),
    Mistake("α times all γ + 1 tokens is not it: the first token is certain, the last one is rare.", lambda a, n: a * (n + 1)),
    Mistake("In the closed form the sum is divided by 1 − α.", lambda a, n: 1 - a ** (n + 1)),
)  # fmt: skip


def curve(formula: Callable[[float, int], float]) -> Callable[[float, list[int]], list[float]]:
    return lambda alpha, gammas: [formula(alpha, gamma) for gamma in gammas]


def hint(case: tuple[float, list[int]], found: list[float]) -> str | Mistake:
    if same(sorted(found), sorted(curve(E)(*case))):
        return Mistake("The numbers are right, and in another order than the γ in the list.", earned=0.5)
    return "Ask for each token of a round with what chance it is written, and add these chances up."


CURVE = Question(
    right=curve(E), near=ROUNDED,
    cases=((0.75, [4, 0, 1, 2, 7]), (0.4, [4, 1, 30]), (0.9, [3, 8, 5]), (0.3, [2, 6])),
    seen="For α = {} and γ = {} your function gives {found}.",
    hint=hint, mistakes=[m.adapted(curve) for m in ABOUT_E])  # fmt: skip


@part("4.tokens", points=2, asks=[CURVE])
def tokens_per_pass(made: Callable[[float, list[int]], list[float]]) -> None:
    given = zip(results(made, CURVE.cases), CURVE.cases)
    CURVE.compare([numbers(value, len(gammas)) for value, (_, gammas) in given])
    gammas = [4, 0, 1]
    before = f"γ = {pretty(gammas)} your function gives"
    try:
        ones = made(1.0, list(gammas))
    except ZeroDivisionError:
        said = "For α = 1 your closed form divides by 0. Every draft is kept there: γ + 1 tokens. Treat it apart, or add up the powers."
        raise Wrong(said, 0.75) from None
    x = numbers(ones, len(gammas))
    if not same(x, curve(E)(1.0, gammas)):
        raise Wrong(f"For α = 1 and {before} {pretty(x)}; every draft is kept there.", 0.75)
    x = numbers(made(0.0, list(gammas)), len(gammas))
    if not any(x):
        raise Wrong("For α = 0 no draft is kept, but each round still writes the target's own token.", 0.75, 6)
    if not same(x, curve(E)(0.0, gammas)):
        raise Wrong(f"For α = 0 and {before} {pretty(x)}; no draft is kept there.", 0.75)
    if numbers(made(0.5, []), None):
        raise Wrong("For an empty list of γ your function should give an empty list.", 0.75)


def numbers(value: object, length: int | None) -> list[float]:
    return [number(x, "Tokens per pass") for x in listed(value, length, "The result, one number for each γ,")]
