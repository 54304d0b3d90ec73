"""Exercise 3: accept_or_correct(p, q, x, u, w) → token; my_test(rule) → True for a rule that is right, False for a wrong one."""

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from specdec_grader.kit import Mistake, Question, Wrong, begun, part, same, tokens_of
from specdec_lab.theory import RULES, Row, emitted, favourite, lacking, residual

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
    return tokens_of(rule, [(list(p), list(q), *place) for place in places], len(p))


def output(name: str) -> Callable[[Row, Row], list[float]]:
    """What comes out of a rule in theory.RULES."""
    return lambda p, q: emitted(p, q, *RULES[name](p, q))


def gives(
    keep: Callable[[float, float], float] = lambda p, q: min(1.0, p / q),
    other: Callable[[Row, Row, int], Row] = lambda p, q, x: residual(p, q),
) -> Callable[[Row, Row], list[float]]:
    """What comes out of a rule that keeps x with chance keep(p[x], q[x]), and else draws from other(p, q, x)."""

    def out(p: Row, q: Row) -> list[float]:
        written = [0.0] * len(p)
        for x, drafted in enumerate(q):
            kept = min(1.0, keep(p[x], drafted)) if drafted else 0.0
            written[x] += drafted * kept
            if drafted * (1 - kept):
                for token, share in enumerate(other(p, q, x)):
                    written[token] += drafted * (1 - kept) * share
        return written

    return out


def scaled(row: Row) -> Row:
    """The row divided by its sum; where it has none, nothing comes out."""
    return [share / (sum(row) or 1.0) for share in row]


def but(row: Row, x: int) -> Row:
    return [0.0 if token == x else share for token, share in enumerate(row)]


def falls_through(rest: Row, to: int) -> Row:
    """w looked up in a row that is not divided by its sum: what lies behind it gives the token `to`."""
    rest = list(rest)
    rest[to] += 1 - sum(rest)
    return rest


NEVER_REJECTS = Mistake("This is q: no draft is ever rejected.", output("bug: accept every draft"))
FROM_Q_MINUS_P = Mistake("After a rejection you draw from q − p. What is missing is where p is larger: max(0, p − q).",
                         gives(other=lambda p, q, x: residual(q, p)))  # fmt: skip
OUTPUT = Question(
    cases=PAIRS, right=lambda p, q: p, equal=partial(same, tolerance=0.02),
    seen=lambda pair, out, p: f"With p = {list(p)} and q = {list(pair[1])} what comes out is {[round(x, 2) for x in out]}, and not p.",
    hint="Check both steps: accept if u · q < p, and look w up in the residual after a rejection.",
    mistakes=[
        Mistake("After a rejection your rule draws from p; draw from the residual.", output("bug: after a rejection, draw from p"), belief=2),
        Mistake("This is q: what replaces a draft must not come from q.", output("bug: after a rejection, draw from the draft's q")),
        NEVER_REJECTS,
        Mistake("The target's favourite is not what has to be drawn: p is a distribution, and all of it counts.",
                output("bug: after a rejection, take the target's favourite")),
        Mistake("Drafts are kept only if they are the target's favourite.", output("bug: accept only the target's favourite"), belief=4),
        Mistake("A draft is kept with chance q/p; it should be p/q.", lambda p, q: emitted(p, q, RULES[EXACT](q, p)[0], residual(p, q))),
        Mistake("After a rejection you draw from p without x. Of the other tokens q may have written too much already: draw from max(0, p − q).",
                gives(other=lambda p, q, x: scaled(but(p, x))), gives(other=lambda p, q, x: falls_through(but(p, x), -1)), belief=2),
        FROM_Q_MINUS_P,
        Mistake("After a rejection you draw from |p − q|. Where q is larger, nothing is missing: max(0, p − q).",
                gives(other=lambda p, q, x: scaled([abs(a - b) for a, b in zip(p, q)]))),
        Mistake("You look w up in max(0, p − q) as it is. It does not add up to 1: multiply w by its sum first.",
                *(gives(other=lambda p, q, x, to=to: falls_through(lacking(p, q), to)) for to in (0, -1)),
                gives(other=lambda p, q, x: falls_through(lacking(p, q), x)),
                gives(other=lambda p, q, x: falls_through(lacking(p, q), favourite(lacking(p, q)).index(1.0)))),
        Mistake("After a rejection you take the token that lacks most. Each token that lacks something has its share: look w up.",
                gives(other=lambda p, q, x: favourite(lacking(p, q)))),
        Mistake("You draw the replacement from all tokens alike; draw it from max(0, p − q).", gives(other=lambda p, q, x: [1 / len(p)] * len(p))),
        Mistake("You keep a draft with chance p. Drawn from q, it is kept with chance p/q: compare u · q with p.", gives(keep=lambda p, q: p), belief=3),
        Mistake("You keep a draft with chance q, whatever the target says: compare u · q with p.", gives(keep=lambda p, q: q)),
        Mistake("You keep a draft only where p is at least q. Where it is smaller, keep it with chance p/q: that is what u is for.",
                gives(keep=lambda p, q: float(p >= q)), gives(keep=lambda p, q: float(p > q)),
                gives(keep=lambda p, q: float(p >= q), other=lambda p, q, x: p)),
        Mistake("You keep a draft with chance 1 − p/q: the comparison is the wrong way round.", gives(keep=lambda p, q: max(0.0, 1 - p / q)))])  # fmt: skip


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
    u_twice = "After a rejection the token depends on u, and not on w: u has already been used up. Draw with w."
    outputs = [output_of(made, p, q) for p, q in PAIRS]
    # What comes out is q by a rule that accepts all drafts, and by one that draws from q − p. Which of them it is shows
    # whether a draft that q says too often is ever replaced.
    replaced = written_by(made, *PAIRS[4], [(0, 0.99, 0.95)]) != [0]
    other = NEVER_REJECTS if replaced else FROM_Q_MINUS_P
    mistakes = [mistake for mistake in OUTPUT.mistakes if mistake is not other]
    question = replace(
        OUTPUT, mistakes=mistakes, hint=lambda pair, out: u_twice if looks_at_u_again(made) else OUTPUT.hint
    )
    question.compare(outputs)
    again = [(x, u, w) for x in range(4) for u in (0.3, 0.9) for w in (0.2, 0.8)]
    if len({tuple(written_by(made, *PAIRS[4], again)) for _ in range(4)}) > 1:
        said = "Called twice with the same numbers, your rule writes two different tokens."
        raise Wrong(f"{said} Take all chance from u and w, never from random.")
    p, q = PAIRS[0]
    kept = sum(q[x] * written_by(made, p, q, [(x, u, 0.999) for u in POINTS]).count(x) / CELLS for x in (0, 2))
    swapped = written_by(made, p, q, [(0, 0.05, 0.95)]) != [0] and written_by(made, p, q, [(0, 0.95, 0.05)]) == [0]
    if swapped:
        raise Wrong(
            "What comes out is p, but u and w have changed places: accept or reject with u, and draw with w.", 2 / 3
        )
    if looks_at_u_again(made):
        raise Wrong(f"What comes out is p, but {u_twice[0].lower()}{u_twice[1:]}", 2 / 3)
    if kept < 0.65:  # of .7 that these two tokens can keep
        said = "What comes out is p, but fewer drafts are kept than could be: accept with chance min(1, p/q)."
        raise Wrong(said, 2 / 3, belief=3)
    if written_by(made, [0.0, 0.4, 0.6], [1.0, 0.0, 0.0], [(0, 0.5, 0.0)]) == [0]:
        said = "With w = 0 your rule writes a token that nothing is missing of."
        raise Wrong(f"{said} Take the first token whose sum is larger than w times the total.", 2 / 3)
    if written_by(made, [0.0, 1.0], [0.5, 0.5], [(0, 0.0, 0.5)]) == [0]:
        raise Wrong("A draft with p = 0 was accepted at u = 0. Accept only if u · q is strictly less than p.", 2 / 3)


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


def OTHER_SOUND(p: Row, q: Row, x: int, u: float, w: float) -> int:
    """As right as `SOUND`: it reads w from the other end, but for 0, since 1 − 0 is no number of [0, 1)."""
    return SOUND(p, q, x, u, 1 - w if w else 0.0)


PLANTED = {
    "draws from p after a rejection": rule_by("bug: after a rejection, draw from p"),
    "accepts every draft": rule_by("bug: accept every draft"),
    "uses the number of the accept test again for the replacement": rule_by(EXACT, looks_up_u=True),
}


def how_it_asks(test: Callable[[Rule], bool], accepts_wrong: bool) -> str:
    """Why a test may call a right rule wrong: looks at the drafts and the numbers that it calls one with."""
    seen: list[tuple[Row, Row, int, float, float]] = []

    def watched(p: Row, q: Row, x: int, u: float, w: float) -> int:
        if len(seen) < 50_000:
            seen.append((p, q, x, u, w))
        return SOUND(p, q, x, u, w)

    test(watched)
    if seen and all(u == w for *_, u, w in seen):
        return "It gives the rule one number twice, as u and as w. They are two numbers, drawn apart."
    if any(not 0 <= number < 1 for *_, u, w in seen for number in (u, w)):
        return "It gives the rule a u or a w outside of [0, 1)."
    drafts: dict[tuple, list[int]] = defaultdict(list)
    for p, q, x, *_ in seen:
        drafts[tuple(p), tuple(q)].append(x)
    for (p, q), drawn in drafts.items():
        shares = [drawn.count(x) / len(drawn) for x in range(len(q))]
        # Four standard errors of a share, which are largest for one half.
        if len(drawn) >= 100 and not same(shares, list(q), tolerance=4 * 0.5 / len(drawn) ** 0.5):
            if len(set(shares)) == 1:  # a test that goes through all x may be right
                return f"It tries each x equally often. Does it weigh what comes out with q, {list(q)}?"
            from_p = same(shares, list(p), tolerance=0.05)
            how = "from p" if from_p else f"with the shares {[round(s, 2) for s in shares]}"
            return f"It draws x {how}; a draft is drawn from q, {list(q)}."
    if accepts_wrong:
        return "And it accepts a wrong one: are True and False exchanged, or do you compare what comes out with q?"
    same_token = "Compare the shares of what comes out with p, and not single tokens with those of a rule of your own."
    return f"If it draws random numbers, leave more room for chance, or draw more. {same_token}"


@part("3.test", points=3, seconds=240)
def own_test(made: Callable[[Rule], bool]) -> None:
    calls = [(None, SOUND)] * 3 + [(None, OTHER_SOUND)] * 2 + list(PLANTED.items())
    random.shuffle(calls)  # so that nobody can count which call it is
    said = [(name, begun(made(rule))) for name, rule in calls]
    if not all(isinstance(answer, bool | int) for _, answer in said):
        raise Wrong("Your test should return True or False.")
    wrong_about_right = sum(not answer for name, answer in said if name is None)
    if wrong_about_right == 1:  # once in a while chance alone does this
        wrong_about_right += sum(not begun(made(rule)) for rule in (SOUND, OTHER_SOUND, SOUND))
    if wrong_about_right > 1:
        accepts_wrong = any(answer for name, answer in said if name)
        raise Wrong(f"Your test calls a right rule wrong. {how_it_asks(made, accepts_wrong)}")
    accepted = {name for name, answer in said if answer}
    missed = [name for name in PLANTED if name in accepted]
    if len(missed) == len(PLANTED):
        raise Wrong("Your test accepts every rule. A test that cannot fail tests nothing.")
    if missed:
        share = 1 - len(missed) / len(PLANTED)
        hint = " Does it use a p and q that differ, and many different u and w?" if len(missed) > 1 else ""
        raise Wrong(f"Your test accepts a rule that {missed[0]}.{hint}", share / 2)
