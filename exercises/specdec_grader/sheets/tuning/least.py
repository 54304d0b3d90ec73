"""Exercise 5: least_alpha(gamma, cost) → the α at which S = 1; None when even α = 1 loses."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from specdec_grader.kit import Mistake, Question, Wrong, begun, nothing, number, part, pretty, same, shown
from specdec_lab.theory import break_even
from specdec_lab.theory import expected_tokens as E

FREE = (3, 1.0)  # even α = 0 is enough
NEVER = "A round writes {} tokens at most, so no α is enough: give None."
FREE_AT_0 = (
    "A round that costs no more than a plain pass never loses: it writes one token even for α = 0. The least α is 0."
)
EDGES = {
    (4, 5.01): NEVER,
    (1, 2.5): NEVER,
    (2, 30.0): NEVER,
    FREE: FREE_AT_0,
    (3, 0.6): FREE_AT_0,
    (1, 0.95): FREE_AT_0,
    (3, 4.0): "A round that writes γ + 1 tokens for a cost of γ + 1 comes out even: α = 1 is just enough.",
}


def least(gamma: int, cost: float) -> float | None:
    return break_even(gamma, 0.0, cost)


def read(value: object) -> float | None:
    return None if value is None else number(value, "The least α")


def hint(case: tuple, found: float | None) -> str:
    if found is None:
        return f"But α = 1 writes {case[0] + 1} tokens, which is enough."
    return f"At that α a round writes {pretty(E(found, case[0]))} tokens." if abs(found) < 1e3 else ""


LEAST = Question(
    right=least, read=read, equal=partial(same, tolerance=5e-4),
    cases=((1, 1.3), (4, 2.2), (4, 1.5), (2, 2.96), (8, 1.2), (3, 1.05), (6, 4.0), (2, 1.01)),
    seen="For γ = {} and a round that costs {} your function gives {found}.",
    hint=hint,
    mistakes=[
        Mistake("A draft only counts if all before it were kept: a round does not write 1 + γ · α tokens.", lambda n, cost: (cost - 1) / n),
        Mistake("This holds for endless drafts, where E = 1/(1 − α); γ has to count.", lambda n, cost: 1 - 1 / cost),
        Mistake("A round writes more than α · (γ + 1) tokens: the first is certain.", lambda n, cost: cost / (n + 1)),
        Mistake("You ask for one token too much: is the target's own token in E, and its pass only once in the cost?",
                lambda n, cost: least(n, cost + 1), lambda n, cost: least(n, cost + 1) or 1.0, belief=6),
        Mistake("The last power of α is missing in E: after γ kept drafts comes the bonus.",
                lambda n, cost: least(n - 1, cost), lambda n, cost: least(n - 1, cost) or 1.0, belief=6),
        Mistake("There is one power of α too many in E: at most γ + 1 tokens are written.", lambda n, cost: least(n + 1, cost)),
        Mistake("You count only rounds in which all drafts are kept; the drafts before a first miss count too.",
                lambda n, cost: (cost - 1) ** (1 / n),
                lambda n, cost: (cost - 1) ** (1 / n) if cost <= 2 else None,
                lambda n, cost: ((cost - 1) / n) ** (1 / n)),
        Mistake("This is S at α = 1, and not an α.", lambda n, cost: (n + 1) / cost),
        Mistake("This is the largest α there is; a smaller one is enough.", 1.0)])  # fmt: skip


@part("5.least", points=2, seconds=10, asks=[LEAST])
def least_alpha(made: Callable[[int, float], float | None]) -> None:
    values = [made(*case) for case in LEAST.cases]
    if all(map(nothing, values)):
        begun(made(*FREE))  # None is an answer to the cases, but not to this one
        said = (
            "`cost` is what the whole round costs, drafts and pass together: do not multiply it by γ, and add nothing. "
            "And never ask whether two computed numbers are equal (==): look where one becomes larger than the other."
        )
        raise Wrong(f"Your function hardly ever finds an α that is enough. {said}")
    found = list(map(read, values))
    if all(same(x, least(*case), 0.011) for case, x in zip(LEAST.cases, found)):
        coarse = "Near, but not near enough: it should be right to .0005. Halve the interval more often."
        replace(LEAST, mistakes=(), hint=coarse).compare(found, earned=0.75)
    LEAST.compare(found)
    for (gamma, cost), why in EDGES.items():
        x, right = made(gamma, cost), least(gamma, cost)
        if not LEAST.equal(x if x is None or right is None else read(x), right):
            before = f"For γ = {gamma} and a round that costs {pretty(cost)} your function gives {shown(x)}."
            raise Wrong(f"{before} {why.format(gamma + 1)}", 0.75)
