"""Exercise 5: the speed-up, the best γ, the least α that pays, and a choice from measured tables."""

from collections.abc import Callable, Sequence
from typing import Any

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import Wrong, begun, listed, number, part, same, shown, whole
from specdec_lab.theory import expected_tokens as E

FLAT = [1.0] * 9

# The speed-up

PRICES = (
    (0.75, 4, 0.1, [1.0, 1.02, 1.05, 1.1, 1.2], 0.05),
    (0.75, 4, 0.5, [1.0, 1.0, 1.0, 1.0, 1.0, 1.3], 0.0),
    (0.6, 1, 0.15, [1.0, 1.25, 1.5], 0.02),
    (0.4, 4, 0.05, [1.0, 1.1, 1.3, 1.5, 1.6, 1.9, 2.4], 0.1),
    (0.9, 2, 0.0, [1.0, 1.3, 1.7, 2.0], 0.02),
    (0.0, 3, 0.2, [1.0, 1.1, 1.15, 1.3], 0.04),
    (1.0, 5, 0.02, [1.0, 1.05, 1.1, 1.2, 1.3, 1.45, 1.5], 0.03),
)


def speedup(alpha: float, gamma: int, c: float, v: Sequence[float], o: float) -> float:
    return E(alpha, gamma) / (gamma * c + v[gamma] + o)


ROWS = "The target scores the last token that was written, too: γ drafts make a pass over γ + 1 rows, which costs v[γ]."
SPEEDUPS = (
    Mistake(
        "These are the tokens of a round. A round also costs time: divide by it.", lambda a, n, c, v, o: E(a, n), 7
    ),
    Mistake("One draft costs c, and a round makes γ of them.", lambda a, n, c, v, o: E(a, n) / (c + v[n] + o)),
    Mistake(ROWS, lambda a, n, c, v, o: E(a, n) / (n * c + v[n - 1] + o)),
    Mistake(
        "The target's pass over γ + 1 rows costs v[γ], and not as much as a plain one.",
        lambda a, n, c, v, o: E(a, n) / (n * c + 1 + o),
    ),
    Mistake(
        "v[-1] is the widest pass in the list; the pass over γ + 1 rows costs v[γ].",
        lambda a, n, c, v, o: E(a, n) / (n * c + v[-1] + o),
    ),
    Mistake(
        "The target scores all rows in one pass, which costs v[γ]: it does not pay for each of them.",
        lambda a, n, c, v, o: E(a, n) / (n * c + sum(v[: n + 1]) + o),
    ),
    Mistake(
        "The target scores all rows in one pass, which costs v[γ]: it does not pay for each of them.",
        lambda a, n, c, v, o: E(a, n) / (n * c + n + 1 + o),
    ),
    Mistake(
        "The target scores all rows in one pass, which costs v[γ]: it does not pay for each of them.",
        lambda a, n, c, v, o: E(a, n) / (n * c + (n + 1) * v[n] + o),
    ),
    Mistake(
        "The target scores all rows in one pass, which costs v[γ]: it does not pay for each of them.",
        lambda a, n, c, v, o: E(a, n) / (n * (c + v[n]) + o),
    ),
    Mistake("The target's pass is missing in the cost.", lambda a, n, c, v, o: E(a, n) / (n * c + o)),
    Mistake("The drafts are missing in the cost.", lambda a, n, c, v, o: E(a, n) / (v[n] + o)),
    Mistake(
        "The rest of the loop, o, is missing in the cost.", lambda a, n, c, v, o: E(a, n) / (n * c + v[n]), earned=0.5
    ),
    Mistake(
        "o is paid once a round, not once a draft.", lambda a, n, c, v, o: E(a, n) / (n * (c + o) + v[n]), earned=0.5
    ),
    Mistake("A round makes γ drafts, not γ + 1.", lambda a, n, c, v, o: E(a, n) / ((n + 1) * c + v[n] + o), earned=0.5),
    Mistake(
        "The target's own token is missing: the corrected one or the bonus is written in every round.",
        lambda a, n, c, v, o: (E(a, n) - 1) / (n * c + v[n] + o),
        6,
    ),
    Mistake(
        "The last power of α is missing: after γ kept drafts comes the bonus.",
        lambda a, n, c, v, o: E(a, n - 1) / (n * c + v[n] + o),
        6,
    ),
    Mistake(
        "α · γ + 1 is not what a round writes: a draft only counts if all before it were kept.",
        lambda a, n, c, v, o: (a * n + 1) / (n * c + v[n] + o),
    ),
    Mistake(
        "A round writes γ + 1 tokens only if all drafts are kept; α has to count.",
        lambda a, n, c, v, o: (n + 1) / (n * c + v[n] + o),
    ),
    Mistake(
        "This is the time of a token beside a plain one; the speed-up is the other way up.",
        lambda a, n, c, v, o: 1 / speedup(a, n, c, v, o),
        earned=0.5,
    ),
    Mistake("This is what a round costs. How many tokens does it write?", lambda a, n, c, v, o: n * c + v[n] + o),
    Mistake(
        "This is what is gained beyond 1. S is the whole factor.",
        lambda a, n, c, v, o: speedup(a, n, c, v, o) - 1,
        earned=0.5,
    ),
    Mistake("Divide by the cost; do not take it away.", lambda a, n, c, v, o: E(a, n) - (n * c + v[n] + o)),
)


@part("5.speedup", points=2)
def times_as_fast(made: Callable[[float, int, float, list[float], float], float]) -> None:
    """times_as_fast(alpha, gamma, c, v, o) → S; v[γ] is the pass over γ + 1 rows."""
    try:
        found = [number(x, "The speed-up") for x in answers(made, PRICES)]
    except IndexError:
        raise Wrong(
            "Your code looks beyond the end of v. v[0] is the pass over one row, so the pass over γ + 1 rows is v[γ]."
        ) from None
    except ZeroDivisionError:
        raise Wrong(
            "Your code divides by 0. For α = 1 the closed form of E does: there E = γ + 1. "
            "(expected_tokens of the package can do it.)",
            0.5,
        ) from None
    right = [speedup(*case) for case in PRICES]
    if all(map(same, found, right)):
        return
    (alpha, gamma, c, v, o), x = next((case, x) for case, x, r in zip(PRICES, found, right) if not same(x, r))
    before = (
        f"For α = {told(alpha)}, γ = {gamma}, c = {told(c)}, v = {told(v)} and o = {told(o)} "
        f"your function gives {told(x)}."
    )
    mistake = explained(SPEEDUPS, PRICES, found)
    if mistake is None and all(abs(a - b) < 0.06 for a, b in zip(found, right)):
        mistake = Mistake("Near, but rounded: do not round inside a calculation.", speedup, earned=0.5)
    raise named(mistake, before, "S = E / (γ · c + v[γ] + o): which of the four is different in your code?")


# The best γ


def gains(alpha: float, d: Sequence[float], v: Sequence[float], o: float) -> list[float]:
    """S for γ = 0, 1, …; without drafts it is plain decoding."""
    return [1.0] + [E(alpha, n) / (d[n] + v[n] + o) for n in range(1, len(v))]


def first_top(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)


def last_top(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda n: (values[n], n))


STEP = [1.0, 1.05, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9]
SETTINGS = (  # α, d, v, o
    (0.8, [0.3 * n for n in range(9)], FLAT, 0.0),
    (0.8, [0.1 * n for n in range(9)], FLAT, 0.0),
    (0.95, [0.0] * 5, [1.0, 1.0, 1.01, 1.02, 1.03], 0.0),
    (0.9, [0.0] * 8, STEP, 0.05),
    (0.6, [0.0, 0.15, 0.15, 0.15, 0.15, 0.15], [1.0, 1.03, 1.06, 1.1, 1.3, 1.7], 0.03),
    (0.3, [0.1 * n for n in range(7)], [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2], 0.03),
    (0.6, [0.15 * n for n in range(5)], [1.0, 1.25, 1.5, 1.85, 2.2], 0.0),
    (0.2, [0.0, 0.1], [1.0, 1.05], 0.2),
    (0.25, [0.0, 0.02, 0.04, 0.06], [1.0, 1.2, 1.3, 1.4], 0.06),
    (0.7, [0.0, 0.2, 0.2, 0.2, 0.2], [1.0, 1.1, 1.3, 1.5, 1.7], 0.25),
    (1.0, [0.0, 0.0, 0.0], [1.0, 1.0, 1.5], 0.0),
    (0.0, [0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], 0.0),
    (0.0, [0.0, 0.05, 0.1], [1.0, 1.1, 1.2], 0.02),
)


def _climb(values: Sequence[float], level: bool) -> int:
    """Up to the first fall, or to the first place that is level."""
    ends = (n for n in range(len(values) - 1) if values[n + 1] < values[n] or (level and values[n + 1] == values[n]))
    return next(ends, len(values) - 1)


STOPS = (
    "You stop where S first falls. The cost of a pass may have a step, and behind it S can rise above all before: "
    "try every γ."
)


def _best(gain: Callable[[float, Sequence[float], Sequence[float], float, int], float]) -> Callable[..., int]:
    """The best γ with another gain for γ = 1, 2, …"""
    return lambda a, d, v, o: first_top([1.0] + [gain(a, d, v, o, n) for n in range(1, len(v))])


NEVER_ZERO = "You never give 0. Where no γ is faster than plain decoding, the best is not to draft."
BESTS = (
    Mistake(
        "You take the largest γ. A late draft costs as much as the first and is seldom kept.",
        lambda a, d, v, o: len(v) - 1,
        8,
    ),
    Mistake(
        "You take the γ with the most tokens per pass. A round also costs time: compare S.",
        lambda a, d, v, o: first_top([E(a, n) for n in range(len(v))]),
        7,
    ),
    Mistake(
        "You take the γ with the most tokens per pass. A round also costs time: compare S.",
        lambda a, d, v, o: last_top([E(a, n) for n in range(len(v))]),
        7,
    ),
    Mistake(NEVER_ZERO, lambda a, d, v, o: 1 + first_top(gains(a, d, v, o)[1:]), earned=0.5),
    Mistake(
        f"{NEVER_ZERO} And of equals, the smallest is asked for.",
        lambda a, d, v, o: 1 + last_top(gains(a, d, v, o)[1:]),
        earned=0.5,
    ),
    Mistake(
        "Your result is one too small: the first place of a list that begins with γ = 1 stands for γ = 1.",
        lambda a, d, v, o: first_top(gains(a, d, v, o)[1:]),
        earned=0.25,
    ),
    Mistake("You leave out the last γ of the list.", lambda a, d, v, o: first_top(gains(a, d, v, o)[:-1]), earned=0.5),
    Mistake(STOPS, lambda a, d, v, o: _climb(gains(a, d, v, o), level=True), earned=0.5),
    Mistake(STOPS, lambda a, d, v, o: _climb(gains(a, d, v, o), level=False), earned=0.5),
    Mistake(
        "Of several γ that are equally good, the smallest is asked for.",
        lambda a, d, v, o: last_top(gains(a, d, v, o)),
        earned=0.75,
    ),
    Mistake(
        "You charge the loop, o, to γ = 0 as well. Without drafts it is plain decoding: S = 1.",
        lambda a, d, v, o: first_top([E(a, n) / (d[n] + v[n] + o) for n in range(len(v))]),
        earned=0.5,
    ),
    Mistake(
        "d[γ] is what all γ drafts cost together; do not multiply it by γ.",
        _best(lambda a, d, v, o, n: E(a, n) / (n * d[n] + v[n] + o)),
        earned=0.5,
    ),
    Mistake(
        "You multiply the cost of one draft by γ; but d[γ] is given, and need not grow like that.",
        _best(lambda a, d, v, o, n: E(a, n) / (n * d[1] + v[n] + o)),
        earned=0.5,
    ),
    Mistake("The drafts, d, are missing in the cost.", _best(lambda a, d, v, o, n: E(a, n) / (v[n] + o))),
    Mistake(
        "You count the target's pass as if it always cost 1.", _best(lambda a, d, v, o, n: E(a, n) / (d[n] + 1 + o))
    ),
    Mistake("The target's pass is missing in the cost.", _best(lambda a, d, v, o, n: E(a, n) / max(1e-12, d[n] + o))),
    Mistake("The loop, o, is missing in the cost.", _best(lambda a, d, v, o, n: E(a, n) / (d[n] + v[n])), earned=0.5),
    Mistake(
        "The target's own token is missing in E.", _best(lambda a, d, v, o, n: (E(a, n) - 1) / (d[n] + v[n] + o)), 6
    ),
    Mistake(ROWS, _best(lambda a, d, v, o, n: E(a, n) / (d[n] + v[n - 1] + o)), earned=0.25),
    Mistake(
        "You take the slowest γ, not the fastest.",
        lambda a, d, v, o: min(range(len(v)), key=gains(a, d, v, o).__getitem__),
    ),
    Mistake("You never draft, although it often pays.", lambda a, d, v, o: 0),
)


@part("5.best", points=2)
def gamma_to_use(made: Callable[[float, list[float], list[float], float], int]) -> None:
    """gamma_to_use(alpha, d, v, o) → the γ with the largest S, 0 where none pays."""
    raw = answers(made, SETTINGS)
    first = number(raw[0], "The best γ")
    if any(same(first, x) for x in (max(gains(*SETTINGS[0])), max(gains(*SETTINGS[0])[1:]))) and not first.is_integer():
        raise Wrong(f"Your function gives {told(first)}: this is the speed-up. Give back the γ that reaches it.", 0.5)
    found = [whole(x, "The best γ") for x in raw]
    right = [first_top(gains(*case)) for case in SETTINGS]
    if found != right:
        (alpha, d, v, o), x, best = next((c, x, r) for c, x, r in zip(SETTINGS, found, right) if x != r)
        reached = gains(alpha, d, v, o)
        at = f"S is {told(reached[x])}" if 0 <= x < len(v) else "there is no such γ in the lists"
        before = (
            f"For α = {told(alpha)}, d = {told(d)}, v = {told(v)} and o = {told(o)} your function gives γ = {x}; "
            f"{at}, and the best S is {told(reached[best])}."
        )
        mistake = explained(BESTS, SETTINGS, found, lambda a, b: a == b)
        raise named(mistake, before, "Compute S for every γ in the lists, with S = 1 for γ = 0, and compare.")
    try:
        alone = made(0.8, [0.0], [1.0], 0.0)
    except (ValueError, IndexError):
        alone = None
    if alone is None or whole(alone, "The best γ") != 0:
        raise Wrong("Where the lists have room for γ = 0 only, the answer is 0.", 0.75)


# The least α

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


# A choice from measured tables

Table = list[dict[str, Any]]
Pick = tuple[str | None, int]


def rows_of(draft: str, weights: int, alpha: float, sweep: dict[int, tuple]) -> Table:
    """sweep: {γ: ([(tokens, passes) of each text], d, v, o)}."""
    return [
        {"draft": draft, "weights": weights, "alpha": alpha, "gamma": n, "texts": texts, "d": d, "v": v, "o": o}
        for n, (texts, d, v, o) in sweep.items()
    ]


TABLES: tuple[Table, ...] = (
    [  # the wide one wins, neither the best guesser nor the smallest one; one short text flatters γ = 6
        *rows_of(
            "deep",
            70,
            0.88,
            {
                2: ([(265, 100), (132, 50)], 0.5, 1.08, 0.03),
                4: ([(197, 50), (394, 100)], 1.0, 1.15, 0.03),
                6: ([(493, 100), (246, 50)], 1.5, 1.4, 0.03),
            },
        ),
        *rows_of(
            "wide",
            40,
            0.75,
            {
                1: ([(175, 100), (88, 50)], 0.06, 1.05, 0.03),
                2: ([(231, 100), (116, 50)], 0.12, 1.08, 0.03),
                4: ([(305, 100), (152, 50)], 0.24, 1.15, 0.03),
                6: ([(21, 3), (319, 97)], 0.36, 1.4, 0.03),
            },
        ),
        *rows_of(
            "thin",
            10,
            0.72,
            {
                1: ([(172, 100), (86, 50)], 0.22, 1.05, 0.03),
                2: ([(224, 100), (112, 50)], 0.44, 1.08, 0.03),
                4: ([(288, 100), (144, 50)], 0.88, 1.15, 0.03),
            },
        ),
    ],
    [  # the loop decides: heads are cheap to draft with and dear to handle
        *rows_of(
            "heads", 12, 0.66, {3: ([(240, 100), (118, 50)], 0.05, 1.1, 0.4), 2: ([(205, 100)], 0.05, 1.06, 0.38)}
        ),
        *rows_of("model", 9, 0.7, {3: ([(245, 100), (121, 50)], 0.27, 1.1, 0.02), 2: ([(214, 100)], 0.18, 1.06, 0.02)}),
    ],
    [  # here the best guesser is also the fastest, with the smallest γ, and the pass is dear
        *rows_of("good", 30, 0.9, {1: ([(190, 100), (95, 50)], 0.1, 1.2, 0.02), 3: ([(340, 100)], 0.3, 2.1, 0.02)}),
        *rows_of("poor", 50, 0.4, {1: ([(140, 100), (70, 50)], 0.02, 1.2, 0.02), 3: ([(162, 100)], 0.06, 2.1, 0.02)}),
    ],
    [  # accepted drafts come in runs, so the measured tokens are not those of the formula
        *rows_of("steady", 20, 0.6, {4: ([(300, 100), (150, 50)], 0.2, 1.15, 0.02)}),
        *rows_of("lucky", 20, 0.75, {4: ([(240, 100), (120, 50)], 0.2, 1.15, 0.02)}),
    ],
    [  # copying: wonderful on two short texts, of little use on the long one
        *rows_of("copy", 0, 0.5, {4: ([(40, 10), (45, 10), (260, 220)], 0.01, 1.15, 0.02)}),
        *rows_of("model", 25, 0.7, {4: ([(28, 10), (27, 10), (640, 230)], 0.28, 1.15, 0.02)}),
    ],
    [  # the fewest weights are the fastest here
        *rows_of("big", 90, 0.8, {2: ([(244, 100)], 0.6, 1.05, 0.03), 5: ([(369, 100)], 1.5, 1.2, 0.03)}),
        *rows_of("small", 5, 0.7, {2: ([(219, 100)], 0.06, 1.05, 0.03), 5: ([(294, 100)], 0.15, 1.2, 0.03)}),
    ],
    [  # a later γ would be better if the pass cost nothing, and an earlier one on the first text
        *rows_of(
            "heads",
            12,
            0.66,
            {
                2: ([(270, 100), (60, 60)], 0.08, 1.1, 0.05),
                3: ([(236, 100), (50, 20)], 0.08, 1.15, 0.05),
                5: ([(100, 40), (190, 80)], 0.08, 1.6, 0.05),
            },
        ),
    ],
    [  # hardly worth it: the only gain is 3 %
        *rows_of("only", 30, 0.3, {1: ([(130, 100), (65, 50)], 0.05, 1.18, 0.03), 4: ([(142, 100)], 0.2, 1.6, 0.03)}),
    ],
)
LOSING: tuple[Table, ...] = (
    [
        *rows_of("random", 30, 0.02, {1: ([(102, 100)], 0.06, 1.05, 0.03), 4: ([(102, 100)], 0.24, 1.2, 0.03)}),
        *rows_of("half", 70, 0.75, {2: ([(231, 100)], 1.2, 1.08, 0.05), 4: ([(305, 100)], 2.4, 1.15, 0.05)}),
    ],
    [*rows_of("copy", 0, 0.2, {4: ([(30, 10), (105, 100)], 0.01, 1.25, 0.02)})],
)


def tokens(row: dict) -> float:
    """Tokens per pass of a row: the sum over the texts by the sum."""
    return sum(n for n, _ in row["texts"]) / sum(passes for _, passes in row["texts"])


def ratios(row: dict) -> float:
    return sum(n / passes for n, passes in row["texts"]) / len(row["texts"])


def gain(row: dict) -> float:
    return tokens(row) / (row["d"] + row["v"] + row["o"])


def _by(key: Callable[[dict], Any]) -> Callable[[Table], Pick]:
    def pick(table: Table) -> Pick:
        best = max(table, key=key)
        return best["draft"], best["gamma"]

    return pick


def _largest_gamma(table: Table) -> Pick:
    draft = _by(gain)(table)[0]
    return draft, max(row["gamma"] for row in table if row["draft"] == draft)


ALPHA = "You choose the draft by its α. What it costs, and what the target's pass costs, count as much."
PICKS = (
    Mistake("You take the most tokens per pass. A round also costs time: divide by d + v + o.", _by(tokens), 7),
    Mistake("You take the most tokens per pass. A round also costs time: divide by d + v + o.", _by(ratios), 7),
    Mistake(ALPHA, _by(lambda row: row["alpha"])),
    Mistake(ALPHA, _by(lambda row: (row["alpha"], gain(row)))),
    Mistake(ALPHA, _by(lambda row: (row["alpha"], row["gamma"]))),
    Mistake(
        "You choose the draft with the fewest weights. What it costs is d, which was measured.",
        _by(lambda row: (-row["weights"], gain(row))),
        14,
    ),
    Mistake(
        "You choose the draft with the fewest weights. What it costs is d, which was measured.",
        _by(lambda row: -row["weights"]),
        14,
    ),
    Mistake("You choose the cheapest drafts. What do they bring?", _by(lambda row: -row["d"])),
    Mistake(
        "You choose the cheapest round. How many tokens does it write?",
        _by(lambda row: -row["d"] - row["v"] - row["o"]),
    ),
    Mistake(
        "You take the mean of the texts' own tokens per pass, so a short text weighs as much as a long one: "
        "divide all tokens by all passes.",
        _by(lambda row: ratios(row) / (row["d"] + row["v"] + row["o"])),
        earned=0.5,
    ),
    Mistake("The draft is right, but you take its largest γ.", _largest_gamma, 8, 0.25),
    Mistake("You take the largest γ.", _by(lambda row: row["gamma"]), 8),
    Mistake(
        "d is what all drafts of a round cost together; do not multiply it by γ.",
        _by(lambda row: tokens(row) / (row["gamma"] * row["d"] + row["v"] + row["o"])),
        earned=0.5,
    ),
    Mistake(
        "The rest of the loop, o, is missing in the cost.",
        _by(lambda row: tokens(row) / (row["d"] + row["v"])),
        earned=0.5,
    ),
    Mistake("The target's pass, v, is missing in the cost.", _by(lambda row: tokens(row) / (row["d"] + row["o"]))),
    Mistake("The target's pass costs v, not 1.", _by(lambda row: tokens(row) / (row["d"] + 1 + row["o"]))),
    Mistake("The drafts, d, are missing in the cost.", _by(lambda row: tokens(row) / (row["v"] + row["o"]))),
    Mistake(
        "You compute the tokens from α. They were measured; the formula is only right if drafts survive independently.",
        _by(lambda row: E(row["alpha"], row["gamma"]) / (row["d"] + row["v"] + row["o"])),
        earned=0.5,
    ),
    Mistake(
        "You look at the first text only.",
        _by(lambda row: row["texts"][0][0] / row["texts"][0][1] / (row["d"] + row["v"] + row["o"])),
    ),
    Mistake("You take the slowest row, not the fastest.", _by(lambda row: -gain(row))),
    Mistake("You take the first row.", lambda table: (table[0]["draft"], table[0]["gamma"])),
    Mistake("You take the last row.", lambda table: (table[-1]["draft"], table[-1]["gamma"])),
)


@part("5.pick", points=3)
def fastest(made: Callable[[Table], Pick]) -> None:
    """fastest(rows) → (draft, γ) with the largest measured S; (None, 0) where nothing beats plain decoding."""
    cases = [(table,) for table in TABLES]
    found = [_picked(value, table) for value, table in zip(answers(made, cases), TABLES)]
    right = [_by(gain)(table) for table in TABLES]
    if found != right:
        table, x, best = next((t, x, r) for t, x, r in zip(TABLES, found, right) if x != r)
        reached = {(row["draft"], row["gamma"]): gain(row) for row in table} | {(None, 0): 1.0}
        before = (
            f"On a table where {best[0]!r} with γ = {best[1]} reaches {told(reached[best])}, "
            f"your function takes {shown(x)}, which reaches {told(reached[x])}."
        )
        if any(x != (None, 0) for x in found):  # a wrong choice may also be found not to pay
            mistake = explained(PICKS, cases, found, lambda a, b: b in (a, (None, 0)))
            if mistake:
                raise named(mistake, before, "")
        if x == (None, 0):
            raise Wrong(f"{before} Whatever is above 1 beats plain decoding.")
        row = next(row for row in table if (row["draft"], row["gamma"]) == best)
        raise Wrong(
            f"{before} Its texts are {row['texts']}, with d = {told(row['d'])}, v = {told(row['v'])}, "
            f"o = {told(row['o'])}. What is its speed-up by your code?"
        )
    for table in LOSING:
        value = made([dict(row) for row in table])
        if value is None or value is Ellipsis:
            raise Wrong("On a table where no row reaches 1, your function returns nothing; give (None, 0).", 2 / 3)
        x = _picked(value, table)
        if x != (None, 0):
            flattered = max(map(gain, table)) < 1 < max(ratios(r) / (r["d"] + r["v"] + r["o"]) for r in table)
            raise Wrong(
                f"On a table where no row reaches 1, your function takes {shown(x)}. "
                "Where nothing beats plain decoding, give (None, 0)."
                + (" (Or do you take the mean of ratios there?)" if flattered else ""),
                2 / 3,
            )


def _picked(value: object, table: Table) -> Pick:
    """What was picked, as (draft, γ) that stands in the table, or (None, 0)."""
    names = {row["draft"] for row in table}
    if isinstance(value, str):
        raise Wrong(f"Your function gives only {shown(value)}; give both, the draft and its γ.", 0.25)
    draft, gamma = listed(value, 2, "What your function returns, (draft, γ),")
    if isinstance(gamma, str) and gamma in names:
        raise Wrong("The two results are swapped: first the draft, then its γ.", 0.5)
    if draft is not None and draft not in names:
        raise Wrong(f"{shown(draft)} is no draft of the table.")
    gamma = 0 if gamma is None else whole(gamma, "γ")
    if (draft, gamma) != (None, 0) and (draft, gamma) not in {(row["draft"], row["gamma"]) for row in table}:
        raise Wrong(f"There is no row with {shown(draft)} and γ = {gamma} in the table.")
    return draft, gamma
