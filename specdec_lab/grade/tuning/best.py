"""Exercise 5: the best γ, 0 included."""

from collections.abc import Callable, Sequence

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import Wrong, number, part, same, whole
from specdec_lab.grade.tuning.speedup import FLAT, ROWS
from specdec_lab.theory import expected_tokens as E


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
