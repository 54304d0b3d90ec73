"""Exercise 3: the rule that accepts or corrects a draft, and a test that tells a right rule from a wrong one."""

import itertools
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from specdec_grader.coerce import nothing, reject_empty, same, shown
from specdec_grader.mistakes import Mistake, StillOpen, Wrong
from specdec_grader.part import part
from specdec_grader.question import called, points, question, tokens_of
from specdec_lab.theory import RULES, Row, favourite, lacking, residual

Rule = Callable[[Row, Row, int, float, float], int]  # (p, q, x, u, w) → the token that is written

# 3.rule: what comes out of the learner's rule, beside what comes out of the known wrong ones


def output(q: Row, kept: Callable[[int], float], other: Callable[[int], Row]) -> list[float]:
    """The distribution of the token that is written, with the draft drawn from q.

    Args:
        kept: the chance that a draft x is kept; what is above 1 counts as 1.
        other: the distribution of what is written where a draft x was rejected.
    """
    written = [0.0] * len(q)
    for x, drafted in enumerate(q):
        chance = min(1.0, kept(x)) if drafted else 0.0
        written[x] += drafted * chance
        if drafted * (1 - chance):
            for token, share in enumerate(other(x)):
                written[token] += drafted * (1 - chance) * share
    return written


def scaled(row: Row) -> Row:
    """The row divided by its sum; where it has none, nothing comes out."""
    return [share / (sum(row) or 1.0) for share in row]


def without(row: Row, x: int) -> Row:
    return [0.0 if token == x else share for token, share in enumerate(row)]


def distances(p: Row, q: Row) -> Row:
    """|p − q|"""
    return [abs(a - b) for a, b in zip(p, q)]


def falls_through(row: Row, to: int) -> Row:
    """w looked up in a row that is not divided by its sum: what lies behind it gives the token `to`."""
    filled = list(row)
    filled[to] += 1 - sum(row)
    return filled


def unscaled(p: Row, q: Row, to: int) -> Row:
    """max(0, p − q) as it is: what lies behind its sum gives the token `to`."""
    return falls_through(lacking(p, q), to)


def lacks_most(p: Row, q: Row) -> Row:
    return favourite(lacking(p, q))


def seen_output(pair: tuple[Row, Row], out: list[float], _: list[float]) -> str:
    p, q = map(list, pair)
    return f"With p = {p} and q = {q} what comes out is {[round(x, 2) for x in out]}, and not p."


def comes_out(p, q):
    return output(q, kept=lambda x: p[x] / q[x], other=lambda x: residual(p, q))


OUTPUT = question(
    comes_out,
    equal=partial(same, tolerance=0.02),
    cases=(
        ((0.5, 0.3, 0.2), (0.7, 0.1, 0.2)),
        ((0.5, 0.5, 0.0), (0.25, 0.25, 0.5)),
        ((0.125, 0.625, 0.25), (0.5, 0.25, 0.25)),
        ((0.25, 0.25, 0.5), (0.25, 0.25, 0.5)),
        ((0.1, 0.2, 0.3, 0.4), (0.4, 0.3, 0.2, 0.1)),
        ((0.05, 0.5, 0.45), (0.9, 0.05, 0.05)),
    ),
    seen=seen_output,
    hint="Check both steps: accept if u · q < p, and look w up in the residual after a rejection.",
)

PAIRS: Sequence[tuple[Row, Row]] = OUTPUT.cases  # p and q
CELLS = 400  # points of [0, 1) at which a rule is asked; the borders of all cases lie between them
SEVERAL = points(40)  # so many w where a draft was rejected


def output_of(rule: Rule, p: Row, q: Row, cells: int | None = None) -> list[float]:
    """The distribution of what a rule writes, with the draft drawn from q: all of u and w, on a fine grid.

    A rule compares u with a border and looks w up in a distribution, so for each u it is asked with
    the smallest and the largest w first, and with many only where the draft was rejected.

    Args:
        cells: points of [0, 1) for u; CELLS of them without it.
    """
    cells = cells or CELLS
    numbers = points(cells)
    drafts = [(x, u) for x in range(len(q)) if q[x] for u in numbers]
    ends = written_by(rule, p, q, [(x, u, w) for x, u in drafts for w in (numbers[0], numbers[-1])])
    kept = [a == b == x for (x, _), a, b in zip(drafts, ends[::2], ends[1::2])]
    asked = [(x, u, ws) for (x, u), k in zip(drafts, kept) for ws in ([(0.5,)] if k else [SEVERAL])]
    out = [0.0] * len(p)
    shares = [q[x] / cells / len(ws) for x, _, ws in asked for _ in ws]
    for token, share in zip(written_by(rule, p, q, [(x, u, w) for x, u, ws in asked for w in ws]), shares):
        out[token] += share
    return out


def written_by(rule: Rule, p: Row, q: Row, places: Sequence[tuple[int, float, float]]) -> list[int]:
    """The tokens that a rule writes for several x, u and w."""
    return tokens_of(rule, [(list(p), list(q), *place) for place in places], len(p))


U_TWICE = "the token depends on u, and not on w: u has already been used up. Draw with w."


def looks_at_u_again(made: Rule) -> bool:
    tokens = [set(written_by(made, *PAIRS[-1], [(0, u, w) for w in (0.05, 0.5, 0.95)])) for u in (0.3, 0.6, 0.95)]
    return all(len(some) == 1 for some in tokens) and len(set.union(*tokens)) > 1


@part("3.rule", points=3)
def judge_rule(made: Rule) -> None:
    given = [0.5, 0.3, 0.2], [0.7, 0.1, 0.2]
    reject_empty(called(made, (*given, 1, 0.05, 0.05)))  # few rules have no answer here
    with suppress(*NO_ANSWER):  # where this fails, `judge_output` says why
        made(*given, 0, 0.9, 0.5)
    if given != ([0.5, 0.3, 0.2], [0.7, 0.1, 0.2]):
        raise Wrong("Your rule changes p or q. Work on copies: whoever called it still needs them.")
    judge_output(made)
    again = [(x, u, w) for x in range(4) for u in (0.3, 0.9) for w in (0.2, 0.8)]
    if len({tuple(written_by(made, *PAIRS[4], again)) for _ in range(4)}) > 1:
        said = "Called twice with the same numbers, your rule writes two different tokens."
        raise Wrong(f"{said} Take all chance from u and w, never from random.")
    judge_how(made)


def mistakes_of(rule: Rule) -> list[Mistake]:
    """Those of OUTPUT. Of two that write the same, the one that this rule makes.

    What comes out is q by a rule that accepts all drafts, and by one that draws from q − p. Which of them it is shows
    whether a draft that q says too often is ever replaced. And to keep a draft with chance p or min(p, q) comes to
    nearly the same, since what is rejected is mostly written all the same. It shows where p is the larger one.
    """
    never_rejects = written_by(rule, *PAIRS[4], [(0, u, 0.95) for u in (0.01, 0.99)]) == [0, 0]
    keeps_p = 3 in written_by(rule, *PAIRS[4], [(3, u, 0.05) for u in (0.25, 0.75)])  # q is 0.1 there, and p is 0.4
    seen = {"never_rejects": never_rejects, "keeps_p": keeps_p, "keeps_least": not keeps_p}
    return [mistake for mistake in OUTPUT.mistakes if seen.get(mistake.name, True)]


NO_ANSWER = (ArithmeticError, LookupError, StopIteration, ValueError)
FEW = 40  # points for u where a rule is asked again, call by call


def slip_of(rule: Rule, outputs: Sequence[list[float]]) -> Mistake | None:
    """The known mistake behind what comes out for PAIRS.

    The pair with p = q is left out: nothing is lacking there, so each rule that rejects too much has its own way out.
    """
    cases, found = zip(*((pair, out) for pair, out in zip(PAIRS, outputs) if pair[0] != pair[1]))
    return replace(OUTPUT, cases=cases, mistakes=mistakes_of(rule)).known_mistake(found)


def name_the_slip(made: Rule) -> None:
    """Raises the known mistake of a rule that fails for some u and w, or gives no token there.

    Some mistakes show so: whoever looks w up in a row that does not add up to 1 falls off its end, and q/p may
    divide by 0. Such calls count as drafts that are kept.
    """

    def answers(p: Row, q: Row, x: int, u: float, w: float) -> int:
        with suppress(*NO_ANSWER):
            token = made(p, q, x, u, w)
            return token if token in range(len(p)) else x
        return x

    mistake = slip_of(answers, [output_of(answers, p, q, FEW) for p, q in PAIRS])
    if mistake and mistake.name != "never_rejects":  # which is what counting all calls as kept looks like
        raise Wrong(mistake.said, belief=mistake.belief)


def judge_output(made: Rule) -> None:
    """Whether p comes out, and if not, by which mistake."""
    try:
        outputs = [output_of(made, p, q) for p, q in PAIRS]
    except (*NO_ANSWER, Wrong):
        name_the_slip(made)
        raise

    def hint(pair: tuple[Row, Row], out: list[float]) -> str | Mistake:
        again = f"After a rejection {U_TWICE}" if looks_at_u_again(made) else OUTPUT.hint
        return slip_of(made, outputs) or again

    replace(OUTPUT, mistakes=(), hint=hint).compare(outputs)


def judge_how(made: Rule) -> None:
    """A rule from which p comes out may still mix up u and w, keep too few drafts, or err at a border."""
    p, q = PAIRS[0]
    kept = sum(q[x] * written_by(made, p, q, [(x, u, 1 - u) for u in points(CELLS)]).count(x) / CELLS for x in (0, 2))
    if kept < 0.65:  # of 0.7 that these two tokens can keep
        said = "What comes out is p, but fewer drafts are kept than could be: accept with chance min(1, p/q)."
        raise Wrong(said, 2 / 3, belief=3)
    if len({*written_by(made, p, q, [(0, 0.5, w) for w in (0.05, 0.95)])}) > 1:  # whether x is kept depends on w
        said = "What comes out is p, but u and w have changed places: accept or reject with u, and draw with w."
        raise Wrong(said, 2 / 3)
    if looks_at_u_again(made):
        raise Wrong(f"What comes out is p, but after a rejection {U_TWICE}", 2 / 3)
    if written_by(made, [0.0, 0.4, 0.6], [1.0, 0.0, 0.0], [(0, 0.5, 0.0)]) == [0]:
        said = "With w = 0 your rule writes a token that nothing is missing of."
        raise Wrong(f"{said} Take the first token whose sum is larger than w times the total.", 2 / 3)
    if written_by(made, [0.0, 1.0], [0.5, 0.5], [(0, 0.0, 0.5)]) == [0]:
        raise Wrong("A draft with p = 0 was accepted at u = 0. Accept only if u · q is strictly less than p.", 2 / 3)


# 3.test: the learner's test is called with two right rules and with three wrong ones


def rule_by(name: str, looks_up_u: bool = False) -> Rule:
    """A rule in theory.RULES, with numbers in place of chance."""

    def made(p: Row, q: Row, x: int, u: float, w: float) -> int:
        chances, rest = RULES[name](p, q)
        if u < chances[x]:
            return x
        place = (u if looks_up_u else w) * sum(rest)
        return next(i for i, total in enumerate(itertools.accumulate(rest)) if place < total)

    return made


EXACT = "the rule: accept with min(1, p/q), replace from the residual"
SOUND = rule_by(EXACT)


def OTHER_SOUND(p: Row, q: Row, x: int, u: float, w: float) -> int:
    """As right as `SOUND`: it reads w from the other end, but for 0, since 1 − 0 is no number of [0, 1)."""
    return SOUND(p, q, x, u, 1 - w if w else 0.0)


PLANTED = {
    "draws from p after a rejection": rule_by("bug: after a rejection, draw from p"),
    "accepts every draft": rule_by("bug: accept every draft"),
    "uses the number of the accept test again for the replacement": rule_by(EXACT, looks_up_u=True),
}


HOW_TO_ASK = (
    "Is x drawn from q, or weighed with it? Are u and w two numbers of [0, 1), drawn apart? Are the shares of what comes "
    "out compared with p, with enough draws and room for chance?"
)
CANNOT_FAIL = (
    "Your test accepts every rule. A test that cannot fail tests nothing. Let p and q differ, compare the shares of what "
    "comes out with p, and leave little room between them: with 10,000 draws 0.02 is enough."
)
HIDES = (
    "Two things can hide it. The room for chance may be too wide: with 10,000 draws 0.02 is enough. Or your p and q cannot "
    "show it: let at least two tokens have a larger share in p than in q, by much more than the room."
)
ASSERTS = (
    "Your test stops with an AssertionError where a rule is wrong, and returns nothing where it is right. It should "
    "return False and True: in place of `assert`, write `if …: return False`, and `return True` at the end."
)


@part("3.test", points=3, seconds=240)
def judge_test(made: Callable[[Rule], bool]) -> None:
    calls = [(None, SOUND)] * 3 + [(None, OTHER_SOUND)] * 2 + list(PLANTED.items())
    random.shuffle(calls)  # so that nobody can count which call it is
    try:
        said = [(name, made(rule)) for name, rule in calls]
    except AssertionError:
        raise Wrong(ASSERTS) from None
    if all(nothing(answer) for _, answer in said):
        raise StillOpen(wanted=" It should return True or False.")
    if odd := [shown(answer) for _, answer in said if not isinstance(answer, bool | int)]:
        raise Wrong(f"Your test should return True or False; for one of the rules it returns {odd[0]}.")
    wrong_about_right = sum(not answer for name, answer in said if name is None)
    if wrong_about_right == 1:  # once in a while chance alone does this
        wrong_about_right += sum(not reject_empty(made(rule)) for rule in (SOUND, OTHER_SOUND, SOUND))
    if wrong_about_right > 1:
        raise Wrong(f"Your test calls a right rule wrong. {HOW_TO_ASK}")
    missed = [name for name in PLANTED if dict(said)[name]]
    if len(missed) == len(PLANTED):
        raise Wrong(CANNOT_FAIL)
    if missed:
        share = 1 - len(missed) / len(PLANTED)
        raise Wrong(f"Your test accepts a rule that {missed[0]}. {HIDES}", share / 2)
