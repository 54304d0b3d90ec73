"""Exercise 5: times_as_fast(alpha, gamma, c, v, o) → S; v[γ] is the pass over γ + 1 rows."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from specdec_grader.kit import ROUNDED, Mistake, Question, Wrong, number, part
from specdec_lab import theory
from specdec_lab.theory import expected_tokens as E

FLAT = [1.0] * 9
ROWS = "The target scores the last token that was written, too: γ drafts make a pass over γ + 1 rows, which costs v[γ]."


def S(a, n, c, v, o):
    return theory.speedup(a, n, c, v[n], o)


SPEEDUP = Question(
    right=S, read=partial(number, what="The speed-up"), near=ROUNDED,
    cases=((0.75, 4, 0.1, [1.0, 1.02, 1.05, 1.1, 1.2], 0.05), (0.75, 4, 0.5, [1.0, 1.0, 1.0, 1.0, 1.0, 1.3], 0.0), (0.6, 1, 0.15, [1.0, 1.25, 1.5], 0.02),
           (0.4, 4, 0.05, [1.0, 1.1, 1.3, 1.5, 1.6, 1.9, 2.4], 0.1), (0.9, 2, 0.0, [1.0, 1.3, 1.7, 2.0], 0.02), (0.0, 3, 0.2, [1.0, 1.1, 1.15, 1.3], 0.04),
           (1.0, 5, 0.02, [1.0, 1.05, 1.1, 1.2, 1.3, 1.45, 1.5], 0.03)),
    seen="For α = {}, γ = {}, c = {}, v = {} and o = {} your function gives {found}.",
    hint="S = E / (γ · c + v[γ] + o): which of the four is different in your code?",
    mistakes=[
        Mistake("These are the tokens of a round. A round also costs time: divide by it.", lambda a, n, c, v, o: E(a, n), belief=7),
        Mistake("One draft costs c, and a round makes γ of them.", lambda a, n, c, v, o: E(a, n) / (c + v[n] + o)),
        Mistake(ROWS, lambda a, n, c, v, o: E(a, n) / (n * c + v[n - 1] + o)),
        Mistake("The target's pass over γ + 1 rows costs v[γ], and not as much as a plain one.", lambda a, n, c, v, o: E(a, n) / (n * c + 1 + o)),
        Mistake("v[-1] is the widest pass in the list; the pass over γ + 1 rows costs v[γ].", lambda a, n, c, v, o: E(a, n) / (n * c + v[-1] + o)),
        Mistake("The target scores all rows in one pass, which costs v[γ]: it does not pay for each of them.",
                lambda a, n, c, v, o: E(a, n) / (n * c + sum(v[: n + 1]) + o),
                lambda a, n, c, v, o: E(a, n) / (n * c + n + 1 + o),
                lambda a, n, c, v, o: E(a, n) / (n * c + (n + 1) * v[n] + o),
                lambda a, n, c, v, o: E(a, n) / (n * (c + v[n]) + o)),
        Mistake("The target's pass is missing in the cost.", lambda a, n, c, v, o: E(a, n) / (n * c + o)),
        Mistake("The drafts are missing in the cost.", lambda a, n, c, v, o: E(a, n) / (v[n] + o)),
        Mistake("The rest of the loop, o, is missing in the cost.", lambda a, n, c, v, o: E(a, n) / (n * c + v[n]), earned=0.5),
        Mistake("o is paid once a round, not once a draft.", lambda a, n, c, v, o: E(a, n) / (n * (c + o) + v[n]), earned=0.5),
        Mistake("A round makes γ drafts, not γ + 1.", lambda a, n, c, v, o: E(a, n) / ((n + 1) * c + v[n] + o), earned=0.5),
        Mistake("The target's own token is missing: the corrected one or the bonus is written in every round.",
                lambda a, n, c, v, o: (E(a, n) - 1) / (n * c + v[n] + o), belief=6),
        Mistake("The last power of α is missing: after γ kept drafts comes the bonus.", lambda a, n, c, v, o: E(a, n - 1) / (n * c + v[n] + o), belief=6),
        Mistake("α · γ + 1 is not what a round writes: a draft only counts if all before it were kept.",
                lambda a, n, c, v, o: (a * n + 1) / (n * c + v[n] + o)),
        Mistake("A round writes γ + 1 tokens only if all drafts are kept; α has to count.", lambda a, n, c, v, o: (n + 1) / (n * c + v[n] + o)),
        Mistake("This is the time of a token beside a plain one; the speed-up is the other way up.", lambda *case: 1 / S(*case), earned=0.5),
        Mistake("This is what a round costs. How many tokens does it write?", lambda a, n, c, v, o: n * c + v[n] + o),
        Mistake("This is what is gained beyond 1. S is the whole factor.", lambda *case: S(*case) - 1, earned=0.5),
        Mistake("Divide by the cost; do not take it away.", lambda a, n, c, v, o: E(a, n) - (n * c + v[n] + o))])  # fmt: skip


@part("5.speedup", points=2, asks=[SPEEDUP])
def times_as_fast(made: Callable[..., float]) -> None:
    try:
        SPEEDUP.judge(made)
    except IndexError:
        said = "v[0] is the pass over one row, so the pass over γ + 1 rows is v[γ]."
        raise Wrong(f"Your code looks beyond the end of v. {said}") from None
    except ZeroDivisionError:
        replace(SPEEDUP, cases=[case for case in SPEEDUP.cases if case[0] < 1]).judge(made)
        said = "For α = 1 the closed form of E does: there E = γ + 1. (expected_tokens of the package can do it.)"
        raise Wrong(f"Your code divides by 0. {said}", 0.5) from None
