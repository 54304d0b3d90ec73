"""Exercise 3: the rule, and a test that finds wrong ones."""

import itertools
from collections.abc import Callable, Sequence

from specdec_lab import theory
from specdec_lab.grade.part import Wrong, begun, part, whole

Row = Sequence[float]
Rule = Callable[[Row, Row, int, float, float], int]

PAIRS = (
    ((0.5, 0.3, 0.2), (0.7, 0.1, 0.2)),
    ((0.5, 0.5, 0.0), (0.25, 0.25, 0.5)),
    ((0.125, 0.625, 0.25), (0.5, 0.25, 0.25)),
    ((0.25, 0.25, 0.5), (0.25, 0.25, 0.5)),
    ((0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1)),
    ((0.05, 0.5, 0.45), (0.9, 0.05, 0.05)),
)
CELLS = 400  # points of [0, 1) at which a rule is asked; the borders of all cases lie between them


def comes_out(rule: Rule, p: Row, q: Row) -> list[float]:
    """The distribution of what a rule writes, with the draft drawn from q: all of u and v, on a fine grid.

    A rule compares u with a border and looks v up in a distribution, so it is first asked on a
    coarse grid for u, and v is only varied where the draft was rejected.
    """
    out = [0.0] * len(p)
    points = [(i + 0.5) / CELLS for i in range(CELLS)]
    for x, chance in enumerate(q):
        if chance == 0:
            continue
        for u in points:
            written = [written_by(rule, p, q, x, u, v) for v in (points[0], points[-1])]
            several = [(i + 0.5) / 40 for i in range(40)] if written != [x, x] else [0.5]
            for v in several:
                out[written_by(rule, p, q, x, u, v)] += chance / CELLS / len(several)
    return out


def written_by(rule: Rule, p: Row, q: Row, x: int, u: float, v: float) -> int:
    token = whole(rule(list(p), list(q), x, u, v), "What your rule returns")
    if not 0 <= token < len(p):
        raise Wrong(f"Your rule returned the token {token}, but there are only the tokens 0 to {len(p) - 1}.")
    return token


def near(a: Row, b: Row) -> bool:
    return max(abs(x - y) for x, y in zip(a, b)) < 0.02


MISTAKES = (  # (name in theory.RULES, what is said, misconception)
    ("bug: after a rejection, draw from p", "After a rejection your rule draws from p; draw from the residual.", 2),
    ("bug: after a rejection, draw from the draft's q", "This is q: what replaces a draft must not come from q.", None),
    ("bug: accept every draft", "This is q: no draft is ever rejected.", None),
    (
        "bug: after a rejection, take the target's favourite",
        "The target's favourite is not what has to be drawn: p is a distribution, and all of it counts.",
        None,
    ),
    ("bug: accept only the target's favourite", "Drafts are kept only if they are the target's favourite.", 4),
)


@part("3.rule", points=3)
def rule(made: Rule) -> None:
    """accept_or_correct(p, q, x, u, w) → token."""
    begun(made)
    begun(made([0.5, 0.5], [0.5, 0.5], 0, 0.5, 0.5))
    given = [0.5, 0.3, 0.2], [0.7, 0.1, 0.2]
    made(*given, 0, 0.9, 0.5)
    if given != ([0.5, 0.3, 0.2], [0.7, 0.1, 0.2]):
        raise Wrong("Your rule changes p or q. Work on copies: whoever called it still needs them.")
    outs = [comes_out(made, p, q) for p, q in PAIRS]
    if not all(near(out, p) for out, (p, _) in zip(outs, PAIRS)):
        raise named(made, outs)
    p, q = PAIRS[0]
    points = [(i + 0.5) / CELLS for i in range(CELLS)]
    kept = sum(q[x] * sum(written_by(made, p, q, x, u, 0.999) == x for u in points) / CELLS for x in (0, 2))
    if kept < 0.65:  # of .7 that these two tokens can keep
        raise Wrong(
            "What comes out is p, but fewer drafts are kept than could be: accept with chance min(1, p/q).", 0.67, 3
        )
    if written_by(made, [0.0, 1.0], [0.5, 0.5], 0, 0.0, 0.5) == 0:
        raise Wrong("A draft with p = 0 was accepted at u = 0. Accept only if u · q is strictly less than p.", 0.67)


def named(made: Rule, outs: Sequence[Row]) -> Wrong:
    """The mistake behind what comes out, if it is a known one: it must explain all pairs."""
    (p, q), out = next((pair, out) for pair, out in zip(PAIRS, outs) if not near(out, pair[0]))
    found = f"With p = {list(p)} and q = {list(q)} what comes out is {[round(x, 2) for x in out]}, and not p."

    def explains(rule: Callable[[Row, Row], tuple[Row, Row]]) -> bool:
        return all(near(out, theory.emitted(p, q, *rule(p, q))) for out, (p, q) in zip(outs, PAIRS))

    for name, said, misconception in MISTAKES:
        if explains(theory.RULES[name]):
            return Wrong(f"{found} {said}", misconception=misconception)
    if explains(lambda p, q: (_ratio(q, p), theory.residual(p, q))):
        return Wrong(f"{found} A draft is kept with chance q/p; it should be p/q.")
    told = [{written_by(made, *PAIRS[-1], 0, u, v) for v in (0.05, 0.5, 0.95)} for u in (0.3, 0.6, 0.95)]
    if all(len(tokens) == 1 for tokens in told) and len(set.union(*told)) > 1:
        return Wrong(f"{found} After a rejection the token depends on u, and not on w: u has already been used up.")
    return Wrong(f"{found} Check both steps: accept if u · q < p, and look w up in the residual after a rejection.")


def _rule(accepts: Callable[[Row, Row], Row], replacement: Callable[[Row, Row], Row], same_u: bool = False) -> Rule:
    def made(p: Row, q: Row, x: int, u: float, v: float) -> int:
        chance = accepts(p, q)[x]
        if u < chance:
            return x
        rest = replacement(p, q)
        place = (u if same_u else v) * sum(rest)
        return next(i for i, total in enumerate(itertools.accumulate(rest)) if place < total)

    return made


def _ratio(p: Row, q: Row) -> list[float]:
    return [min(1.0, a / b) if b else 1.0 for a, b in zip(p, q)]


SOUND = _rule(_ratio, theory.residual)
PLANTED = {
    "draws from p after a rejection": _rule(_ratio, lambda p, q: p),
    "accepts every draft": _rule(lambda p, q: [1.0] * len(p), lambda p, q: p),
    "uses the number of the accept test again for the replacement": _rule(_ratio, theory.residual, same_u=True),
}


@part("3.test", points=3)
def own_test(made: Callable[[Rule], bool]) -> None:
    """my_test(rule) → True for a rule that is right, False for one that is wrong."""
    begun(made)
    if not isinstance(begun(made(SOUND)), bool | int):
        raise Wrong("Your test should return True or False.")
    if not all(made(SOUND) for _ in range(5)):
        raise Wrong(
            "Your test calls a right rule wrong. If it draws random numbers, leave more room for chance, or draw more."
        )
    missed = [name for name, wrong in PLANTED.items() if all(made(wrong) for _ in range(3))]
    if len(missed) == len(PLANTED):
        raise Wrong("Your test accepts every rule. A test that cannot fail tests nothing.")
    if missed:
        share = 1 - len(missed) / len(PLANTED)
        hint = " Does it use a p and q that differ, and many different u and v?" if len(missed) > 1 else ""
        raise Wrong(f"Your test accepts a rule that {missed[0]}.{hint}", share / 2)
