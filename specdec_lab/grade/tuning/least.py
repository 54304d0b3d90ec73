"""Exercise 5: the least α that pays."""

from collections.abc import Callable

from specdec_lab.grade.cases import Mistake, explained, named, told
from specdec_lab.grade.part import Wrong, begun, number, part, shown
from specdec_lab.theory import expected_tokens as E

DEALS = ((1, 1.3), (4, 2.2), (4, 1.5), (2, 2.96), (8, 1.2), (3, 1.05), (6, 4.0), (2, 1.01))
FREE = (3, 1.0)  # even α = 0 is enough
IMPOSSIBLE = ((4, 5.01), (1, 2.5), (2, 30.0))


def least(gamma: int, cost: float, value: Callable[[float, int], float] = E) -> float | None:
    """The α at which value(α, γ) reaches the cost."""
    low, high = 0.0, 1.0
    if value(high, gamma) < cost:
        return None
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if value(middle, gamma) >= cost else (middle, high)
    return high


WHOLE = "You count only rounds in which all drafts are kept; the drafts before a first miss count too."
ONE_MORE = "You ask for one token too much: is the target's own token in E, and its pass only once in the cost?"
LEASTS = (
    Mistake(
        "A draft only counts if all before it were kept: a round does not write 1 + γ · α tokens.",
        lambda n, cost: (cost - 1) / n,
    ),
    Mistake("This holds for endless drafts, where E = 1/(1 − α); γ has to count.", lambda n, cost: 1 - 1 / cost),
    Mistake("A round writes more than α · (γ + 1) tokens: the first is certain.", lambda n, cost: cost / (n + 1)),
    Mistake(
        ONE_MORE,
        lambda n, cost: least(n, cost, lambda a, m: E(a, m) - 1) or 1.0,
        6,
    ),
    Mistake(
        ONE_MORE,
        lambda n, cost: least(n, cost, lambda a, m: E(a, m) - 1),
        6,
    ),
    Mistake(
        "The last power of α is missing in E: after γ kept drafts comes the bonus.",
        lambda n, cost: least(n, cost, lambda a, m: E(a, m - 1)) or 1.0,
        6,
    ),
    Mistake(
        "The last power of α is missing in E: after γ kept drafts comes the bonus.",
        lambda n, cost: least(n, cost, lambda a, m: E(a, m - 1)),
        6,
    ),
    Mistake(
        "There is one power of α too many in E: at most γ + 1 tokens are written.",
        lambda n, cost: least(n, cost, lambda a, m: E(a, m + 1)),
    ),
    Mistake(WHOLE, lambda n, cost: max(0.0, cost - 1) ** (1 / n)),
    Mistake(WHOLE, lambda n, cost: least(n, cost, lambda a, m: 1 + a**m)),
    Mistake(WHOLE, lambda n, cost: least(n, cost, lambda a, m: 1 + m * a**m)),
    Mistake("This is S at α = 1, and not an α.", lambda n, cost: (n + 1) / cost),
    Mistake("This is the largest α there is; a smaller one is enough.", lambda n, cost: 1.0),
)


def _alphas(a: object, b: object) -> bool:
    return (a is None) == (b is None) and (a is None or abs(a - b) <= 5e-4)


@part("5.least", points=2, seconds=10)
def least_alpha(made: Callable[[int, float], float | None]) -> None:
    """least_alpha(gamma, cost) → the α at which S = 1; None when even α = 1 loses."""
    begun(made)
    raw = [made(*case) for case in DEALS]
    if all(x is None or x is Ellipsis for x in raw) and begun(made(*FREE)) is not None:
        raise Wrong(
            "Your function hardly ever finds an α that is enough. `cost` is what the whole round costs, "
            "drafts and pass together: do not multiply it by γ, and add nothing."
        )
    found = [None if x is None else number(x, "The least α") for x in raw]
    right = [least(*case) for case in DEALS]
    if not all(map(_alphas, found, right)):
        (gamma, cost), x = next((case, x) for case, x, r in zip(DEALS, found, right) if not _alphas(x, r))
        before = f"For γ = {gamma} and a round that costs {told(cost)} your function gives {told(x)}."
        mistake = explained(LEASTS, DEALS, found, _alphas)
        if mistake is None and x is None:
            raise Wrong(
                f"For γ = {gamma} and a round that costs {told(cost)} your function gives None, "
                f"but α = 1 writes {gamma + 1} tokens, which is enough."
            )
        if mistake is None and all(x is not None and abs(x - r) <= 0.011 for x, r in zip(found, right)):
            raise Wrong(
                f"{before} Near, but not near enough: it should be right to .0005. Halve the interval more often.", 0.75
            )
        raise named(
            mistake,
            before,
            f"At that α a round writes {told(E(x, gamma))} tokens." if x is not None and abs(x) < 1e3 else "",
        )
    for gamma, cost in IMPOSSIBLE:
        if (x := made(gamma, cost)) is not None:
            raise Wrong(
                f"For γ = {gamma} and a round that costs {told(cost)} your function gives {shown(x)}. "
                f"A round writes {gamma + 1} tokens at most, so no α is enough: give None.",
                0.75,
            )
    for gamma, cost, edge, why in (
        (*FREE, 0.0, "A round that costs no more than a plain pass never loses: it writes one token even for α = 0."),
        (3, 4.0, 1.0, "A round that writes γ + 1 tokens for a cost of γ + 1 comes out even: α = 1 is just enough."),
    ):
        x = made(gamma, cost)
        if x is None or not _alphas(number(x, "The least α"), edge):
            raise Wrong(
                f"For γ = {gamma} and a round that costs {told(cost)} your function gives {shown(x)}. {why}", 0.75
            )
