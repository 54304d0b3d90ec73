"""Lesson 03: the rule, and what it writes."""

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, distributions, fresh_numbers
from specdec_lab.formats import short

ROWS = (  # p and q over the tokens a, b and c; q has too much of a, and too little of b
    ((0.3, 0.5, 0.2), (0.6, 0.3, 0.1)), ((0.2, 0.6, 0.2), (0.5, 0.4, 0.1)), ((0.1, 0.5, 0.4), (0.5, 0.4, 0.1)),
    ((0.2, 0.5, 0.3), (0.6, 0.2, 0.2)), ((0.5, 0.2, 0.3), (0.8, 0.1, 0.1)), ((0.4, 0.4, 0.2), (0.7, 0.1, 0.2)),
    ((0.3, 0.4, 0.3), (0.5, 0.2, 0.3)), ((0.1, 0.7, 0.2), (0.3, 0.6, 0.1)),
)  # fmt: skip


@fresh_numbers(p=(0.1, 0.2, 0.3, 0.6), q=(0.2, 0.4, 0.5, 0.8))
def accept_chance(p: float, q: float) -> Problem:
    answer = min(1.0, p / q)
    return Problem(answer,
        f"Temperature 1. The drafter has drafted a token with q = {q}; the target gives it p = {p}. With which probability is it accepted?",
        f"min(1, p / q) = min(1, {short(p / q)}) = {short(answer)}.",
        Mistake("This is the chance that the target would draw the token itself. The rule compares p with q.", p, belief=3),
        Mistake("This is the chance that both draw the token. The rule needs no second draw.", p * q, belief=3),
        Mistake("This is upside down.", q / p if p > q else None),
        Mistake("This is the chance of a rejection.", 1 - p / q if p <= q else None),
        Mistake("This is how much too often the token is drafted, not how often it is kept.", q - p if p < q else None))  # fmt: skip


@fresh_numbers(rows=ROWS)
def after_rejection(rows: tuple[theory.Row, theory.Row]) -> Problem:
    p, q = rows
    lacks = [max(0.0, a - b) for a, b in zip(p, q)]
    answer = theory.residual(p, q)[1]
    return Problem(answer,
        f"Temperature 1. {distributions(rows)} The draft was a, and it was rejected. With which probability is b written in its place?",
        f"What q lacks: {lacks[1]:g} of b and {lacks[2]:g} of c. So b: {lacks[1]:g} / {sum(lacks):g} = {short(answer)}.",
        Mistake("This draws from p. Part of p has been written already, by the drafts that are accepted.", p[1], belief=2),
        Mistake("This only takes a out of p. Tokens that q proposes often enough need less.", p[1] / (p[1] + p[2])),
        Mistake("This is what b lacks. Divide it by all that is lacking: something must be written.", lacks[1]),
        Mistake("This draws from the drafter's q. After a rejection the target makes up for what q lacks.", q[1]))  # fmt: skip


@fresh_numbers(rows=ROWS)
def emitted_probability(rows: tuple[theory.Row, theory.Row]) -> Problem:
    p, q = rows
    from_p = theory.emitted(p, q, [min(1.0, a / b) for a, b in zip(p, q)], p)[0]
    return Problem(p[0],
        f"Temperature 1. {distributions(rows)} One token is drafted, then accepted or replaced by the rule. With which probability is a written?",
        f"Exactly p(a) = {short(p[0])}. Drafted with {q[0]} and accepted with {short(p[0] / q[0])}; as a replacement a never comes.",
        Mistake("This is how often a is drafted. The drafter does not decide what is written.", q[0], belief=11),
        Mistake("This comes out if a rejection draws from p: then a gets a second chance, one too many.", from_p, belief=2),
        Mistake("This is how often two independent draws would both give a. The rule is another one.", p[0] * q[0], belief=3))  # fmt: skip
