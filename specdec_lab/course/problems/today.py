"""Lesson 11: what a block of drafts brings by the clock, and what a relaxed rule writes."""

from itertools import accumulate
from operator import mul

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers
from specdec_lab.formats import short

Places = tuple[float, float, float]


@fresh_numbers(places=((0.7, 0.5, 0.4), (0.6, 0.4, 0.3), (0.8, 0.6, 0.5)), d=(0.05, 0.1), v=(1.1, 1.2))
def block_speed(places: Places, d: float, v: float) -> Problem:
    E = 1 + sum(accumulate(places, mul))
    S = E / (d + v)
    return Problem(S,
        f"A block drafter fills three places in one pass of its own, which costs {d} of a plain step. Its drafts give {short(E)} tokens per pass, and the "
        f"target's pass over four rows takes {v} times a plain step. How many times as fast as plain decoding is it? (o = 0)",
        f"One pass drafts all three, so d is {d}: {short(E)} / ({d} + {v}) = {short(S)}.",
        Mistake("The three places are filled in one pass: it is paid for once.", E / (3 * d + v)),
        Mistake("This is tokens per pass. Divide by what a round costs.", E, belief=7),
        Mistake("The pass over four rows takes longer than a plain step.", E / (d + 1)),
        Mistake("Drafting is missing in the cost.", E / v))  # fmt: skip


@fresh_numbers(rows=(((0.45, 0.35, 0.2), (0.1, 0.3, 0.6)), ((0.6, 0.25, 0.15), (0.2, 0.3, 0.5)), ((0.7, 0.2, 0.1), (0.3, 0.2, 0.5)),
                     ((0.5, 0.3, 0.2), (0.1, 0.2, 0.7)), ((0.55, 0.35, 0.1), (0.2, 0.5, 0.3)), ((0.5, 0.4, 0.1), (0.2, 0.4, 0.4)),
                     ((0.65, 0.25, 0.1), (0.3, 0.3, 0.4))))  # fmt: skip
def relaxed_output(rows: tuple[theory.Row, theory.Row]) -> Problem:
    p, q = rows
    out = q[0] + q[2] * p[0]
    return Problem(out,
        f"A draft is drawn from q, and kept if p of it is at least {short((p[1] + p[2]) / 2)}; otherwise the token is drawn from p. "
        f"p = ({', '.join(map(str, p))}) and q = ({', '.join(map(str, q))}) for the tokens a, b and c. With what chance does a come out?",
        f"a and b are always kept, c never. So q(a) + q(c) · p(a) = {q[0]} + {q[2]} · {p[0]} = {short(out)}, where an exact rule gives {p[0]}.",
        Mistake("This is what an exact rule gives. Here a draft is kept without being compared with q.", p[0]),
        Mistake("This is only the draft a. Where c was refused, a may be drawn from p.", q[0]),
        Mistake("Behind a refused draft this rule draws from p itself, not from the residual.", q[0] + q[2] * theory.residual(p, q)[0]),
        Mistake("The token is drawn from p only where c was drafted and refused.", q[0] + p[0]))  # fmt: skip
