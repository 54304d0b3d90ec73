"""Exercise 10: offer(p, drafts, qs, us, w) → the token of one place, for which several drafts were drawn."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial

from specdec_grader.guard import verdict_on
from specdec_grader.kit import Mistake, Question, Wrong, begun, part, same, tokens_of
from specdec_lab.theory import Row, residual, siblings

Rule = Callable[[Row, Sequence[int], Sequence[Row], Sequence[float], float], int]

PAIRS = (  # p and q
    ((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)), ((0.1, 0.6, 0.3), (0.5, 0.25, 0.25)), ((0.25, 0.5, 0.25), (0.6, 0.1, 0.3)),
)  # fmt: skip
CELLS, FINE = 30, 12  # points of [0, 1) at which the rule is asked, for each u and for w


def points(n: int) -> list[float]:
    return [(i + 0.5) / n for i in range(n)]


def without(q: Row, x: int) -> Row:
    """q with one token left out, scaled up to 1."""
    return [0.0 if y == x else share / (1 - q[x]) for y, share in enumerate(q)]


def output_of(rule: Rule, p: Row, q: Row) -> tuple[list[float], float]:
    """What comes out of the place with two drafts, none drawn twice, and how often one of them is kept: all draws, and
    all numbers on a grid.

    A rule compares each u with a border and looks w up in a distribution, so for each pair of u it is asked with the
    smallest and the largest w first, and with those between only where they make a difference.
    """
    out, kept = [0.0] * len(p), 0.0
    smallest, *between, largest = points(FINE)
    for x, y in itertools.permutations(range(len(q)), 2):
        chance = q[x] * without(q, x)[y] / CELLS**2
        ask = partial(written, rule, p, (x, y), (q, without(q, x)))
        us = list(itertools.product(points(CELLS), repeat=2))
        low, high = (ask([(u, w) for u in us]) for w in (smallest, largest))
        drawn = iter(ask([(u, w) for u, a, b in zip(us, low, high) if a != b for w in between]))
        for a, b in zip(low, high):
            kept += chance * (a in (x, y))
            for token in (a, b, *([a] * len(between) if a == b else itertools.islice(drawn, len(between)))):
                out[token] += chance / FINE
    return out, kept


def written(
    rule: Rule, p: Row, drafts: Sequence[int], qs: Sequence[Row], numbers: Sequence[tuple[Sequence[float], float]]
) -> list[int]:
    """The tokens that a rule writes for several (u, w)."""
    cases = [(list(p), list(drafts), [list(q) for q in qs], list(u), w) for u, w in numbers]
    return tokens_of(rule, cases, len(p))


def looked_up(row: Row, w: float) -> int:
    """The token at w of a distribution."""
    place = w * sum(row)
    return next(i for i, total in enumerate(itertools.accumulate(row)) if place < total)


def rule(
    left: Callable[[Row, Row], Row] = residual, own: bool = True, last: Callable[[Row, Row], Row] | None = None
) -> Rule:
    """The rule, or with something changed: what a refused draft leaves, whose q is taken, what the last draw is from."""

    def made(p: Row, drafts: Sequence[int], qs: Sequence[Row], us: Sequence[float], w: float) -> int:
        rest = p
        for x, q, u in zip(drafts, qs if own else [qs[0]] * len(qs), us):
            if u * q[x] < rest[x]:
                return x
            rest = left(rest, q)
        return looked_up(last(p, qs[0]) if last else rest, w)

    return made


def output(made: Rule) -> Callable[[Row, Row], list[float]]:
    return lambda p, q: output_of(made, p, q)[0]


OFFER = Question(
    cases=PAIRS, right=lambda p, q: p, equal=partial(same, tolerance=0.025),
    seen=lambda pair, out, p: f"With p = {list(p)}, q = {list(pair[1])} and two drafts, what comes out is {[round(x, 2) for x in out]}, and not p.",
    hint="Test the first with p. Test the second with what the first one left. If both are refused, draw from what the second one left of that.",
    mistakes=[
        Mistake("You compare the second draft with p again. It must be compared with what the first one left: norm(max(0, p − q)).",
                output(rule(left=lambda rest, q: rest)), output(rule(left=lambda rest, q: rest, last=residual)), belief=2),
        Mistake("You take the residual only once: the second refusal leaves less, too.", output(rule(last=residual))),
        Mistake("You take the first draft's q for both. The second was drawn from a q of its own, without the first.", output(rule(own=False))),
        Mistake("After both are refused you draw from p; draw from what is left of it.", output(rule(last=lambda p, q: p)), belief=2)])  # fmt: skip


@part("10.offer", points=3, seconds=60)
def offer(made: Rule) -> None:
    begun(made([0.5, 0.5], [0, 1], [[0.5, 0.5], [0.0, 1.0]], [0.5, 0.5], 0.5))
    try:
        found = [output_of(made, p, q) for p, q in PAIRS]
    except (ZeroDivisionError, ValueError, IndexError) as e:
        scale = "Is what is left scaled up to 1 after each refusal, norm(max(0, p − q))? Else the next draft takes away too much of it."
        raise Wrong(f"{verdict_on(e)} {scale}") from None
    OFFER.compare([out for out, _ in found])
    if any(kept < siblings(p, q, 2).kept - 0.05 for (p, q), (_, kept) in zip(PAIRS, found)):
        said = "What comes out is p, but fewer drafts are kept than could be: is the second one offered when the first is refused?"
        raise Wrong(said, 2 / 3)
    p, drafts, qs = [0.1, 0.2, 0.3, 0.4], [0, 1, 2], [[0.7, 0.1, 0.1, 0.1], [0, 0.5, 0.3, 0.2], [0, 0, 0.6, 0.4]]
    numbers = [(u, w) for u in itertools.product((0.05, 0.4, 0.95), repeat=3) for w in (0.1, 0.6, 0.95)]
    if written(made, p, drafts, qs, numbers) != written(rule(), p, drafts, qs, numbers):
        raise Wrong("With two drafts your rule is right, with three it is not. Go through them in a loop.", 2 / 3)
    if written(made, [0.0, 0.5, 0.5], [0, 1], [[0.6, 0.4, 0.0], [0.0, 1.0, 0.0]], [((0.0, 0.5), 0.5)]) == [0]:
        raise Wrong("A draft with p = 0 was accepted at u = 0. Accept only if u · q is strictly less than p.", 2 / 3)
