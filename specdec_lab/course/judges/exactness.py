"""Exercise 3: accept_or_correct(p, q, x, u, w) → token; my_test(rule) → True for a rule that is right, False for a wrong one."""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from specdec_lab.course.judges.kit import Mistake, Question, Wrong, begun, for_each, part, same, whole
from specdec_lab.theory import RULES, Row, emitted, residual

EXACT = "the rule: accept with min(1, p/q), replace from the residual"
Rule = Callable[[Row, Row, int, float, float], int]

PAIRS = (  # p and q
    ((0.5, 0.3, 0.2), (0.7, 0.1, 0.2)), ((0.5, 0.5, 0.0), (0.25, 0.25, 0.5)), ((0.125, 0.625, 0.25), (0.5, 0.25, 0.25)),
    ((0.25, 0.25, 0.5), (0.25, 0.25, 0.5)), ((0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1)), ((0.05, 0.5, 0.45), (0.9, 0.05, 0.05)),
)  # fmt: skip
CELLS = 400  # points of [0, 1) at which a rule is asked; the borders of all cases lie between them
POINTS = [(i + 0.5) / CELLS for i in range(CELLS)]
SEVERAL = [(i + 0.5) / 40 for i in range(40)]


def output_of(rule: Rule, p: Row, q: Row) -> list[float]:
    """The distribution of what a rule writes, with the draft drawn from q: all of u and w, on a fine grid.

    A rule compares u with a border and looks w up in a distribution, so for each u it is asked with
    the smallest and the largest w first, and with many only where the draft was rejected.
    """
    drafts = [(x, u) for x in range(len(q)) if q[x] for u in POINTS]
    ends = written_by(rule, p, q, [(x, u, w) for x, u in drafts for w in (POINTS[0], POINTS[-1])])
    kept = [a == b == x for (x, _), a, b in zip(drafts, ends[::2], ends[1::2])]
    asked = [(x, u, ws) for (x, u), k in zip(drafts, kept) for ws in ([(0.5,)] if k else [SEVERAL])]
    out = [0.0] * len(p)
    shares = [q[x] / CELLS / len(ws) for x, _, ws in asked for _ in ws]
    for token, share in zip(written_by(rule, p, q, [(x, u, w) for x, u, ws in asked for w in ws]), shares):
        out[token] += share
    return out


def written_by(rule: Rule, p: Row, q: Row, places: Sequence[tuple[int, float, float]]) -> list[int]:
    """The tokens that a rule writes for several x, u and w."""
    found = for_each(rule, [(list(p), list(q), *place) for place in places])
    tokens = [whole(token, "What your rule returns") for token in found]
    for token in tokens:
        if not 0 <= token < len(p):
            raise Wrong(f"Your rule returned the token {token}, but there are only the tokens 0 to {len(p) - 1}.")
    return tokens


def output(name: str) -> Callable[[Row, Row], list[float]]:
    """What comes out of a rule in theory.RULES."""
    return lambda p, q: emitted(p, q, *RULES[name](p, q))


OUTPUT = Question(
    cases=PAIRS, right=lambda p, q: p, equal=partial(same, tolerance=0.02),
    seen=lambda pair, out, p: f"With p = {list(p)} and q = {list(pair[1])} what comes out is {[round(x, 2) for x in out]}, and not p.",
    hint="Check both steps: accept if u · q < p, and look w up in the residual after a rejection.",
    mistakes=[
        Mistake("After a rejection your rule draws from p; draw from the residual.", output("bug: after a rejection, draw from p"), belief=2),
        Mistake("This is q: what replaces a draft must not come from q.", output("bug: after a rejection, draw from the draft's q")),
        Mistake("This is q: no draft is ever rejected.", output("bug: accept every draft")),
        Mistake("The target's favourite is not what has to be drawn: p is a distribution, and all of it counts.",
                output("bug: after a rejection, take the target's favourite")),
        Mistake("Drafts are kept only if they are the target's favourite.", output("bug: accept only the target's favourite"), belief=4),
        Mistake("A draft is kept with chance q/p; it should be p/q.", lambda p, q: emitted(p, q, RULES[EXACT](q, p)[0], residual(p, q)))])  # fmt: skip


def looks_at_u_again(made: Rule) -> bool:
    tokens = [set(written_by(made, *PAIRS[-1], [(0, u, w) for w in (0.05, 0.5, 0.95)])) for u in (0.3, 0.6, 0.95)]
    return all(len(some) == 1 for some in tokens) and len(set.union(*tokens)) > 1


@part("3.rule", points=3)
def rule(made: Rule) -> None:
    begun(made([0.5, 0.5], [0.5, 0.5], 0, 0.5, 0.5))
    given = [0.5, 0.3, 0.2], [0.7, 0.1, 0.2]
    made(*given, 0, 0.9, 0.5)
    if given != ([0.5, 0.3, 0.2], [0.7, 0.1, 0.2]):
        raise Wrong("Your rule changes p or q. Work on copies: whoever called it still needs them.")
    u_twice = "After a rejection the token depends on u, and not on w: u has already been used up."
    question = replace(OUTPUT, hint=lambda pair, out: u_twice if looks_at_u_again(made) else OUTPUT.hint)
    question.compare([output_of(made, p, q) for p, q in PAIRS])
    p, q = PAIRS[0]
    kept = sum(q[x] * written_by(made, p, q, [(x, u, 0.999) for u in POINTS]).count(x) / CELLS for x in (0, 2))
    if kept < 0.65:  # of .7 that these two tokens can keep
        said = "What comes out is p, but fewer drafts are kept than could be: accept with chance min(1, p/q)."
        raise Wrong(said, 0.67, belief=3)
    if written_by(made, [0.0, 1.0], [0.5, 0.5], [(0, 0.0, 0.5)]) == [0]:
        raise Wrong("A draft with p = 0 was accepted at u = 0. Accept only if u · q is strictly less than p.", 0.67)


def rule_by(name: str, looks_up_u: bool = False) -> Rule:
    """A rule in theory.RULES, with numbers in place of chance."""

    def made(p: Row, q: Row, x: int, u: float, w: float) -> int:
        chances, rest = RULES[name](p, q)
        if u < chances[x]:
            return x
        place = (u if looks_up_u else w) * sum(rest)
        return next(i for i, total in enumerate(itertools.accumulate(rest)) if place < total)

    return made


SOUND = rule_by(EXACT)
PLANTED = {
    "draws from p after a rejection": rule_by("bug: after a rejection, draw from p"),
    "accepts every draft": rule_by("bug: accept every draft"),
    "uses the number of the accept test again for the replacement": rule_by(EXACT, looks_up_u=True),
}


@part("3.test", points=3, seconds=120)
def own_test(made: Callable[[Rule], bool]) -> None:
    calls = [(None, SOUND)] * 5 + [(name, wrong) for name, wrong in PLANTED.items() for _ in range(2)]
    random.shuffle(calls)  # so that nobody can count which call it is
    said = [(name, begun(made(rule))) for name, rule in calls]
    if not all(isinstance(answer, bool | int) for _, answer in said):
        raise Wrong("Your test should return True or False.")
    if not all(answer for name, answer in said if name is None):
        hint = "If it draws random numbers, leave more room for chance, or draw more."
        raise Wrong(f"Your test calls a right rule wrong. {hint}")
    missed = [name for name in PLANTED if all(answer for of, answer in said if of == name)]
    if len(missed) == len(PLANTED):
        raise Wrong("Your test accepts every rule. A test that cannot fail tests nothing.")
    if missed:
        share = 1 - len(missed) / len(PLANTED)
        hint = " Does it use a p and q that differ, and many different u and w?" if len(missed) > 1 else ""
        raise Wrong(f"Your test accepts a rule that {missed[0]}.{hint}", share / 2)
