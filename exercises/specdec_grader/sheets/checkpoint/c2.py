"""Exercise 9, why the output is identical: c2() → chances of acceptance, residual, chance of the third token; c2_why() → a letter."""

from specdec_grader.kit import Mistake
from specdec_grader.sheets.checkpoint.answers import choice, numbers, one_number, several
from specdec_lab.theory import RULES, acceptance, emitted, lacking, residual

P, Q = (0.35, 0.1, 0.55), (0.25, 0.6, 0.15)
BOTH = list(map(min, P, Q))  # drafted and accepted, token by token
ALPHA = acceptance(P, Q)
LACKING = lacking(P, Q)
RATIOS, REST = RULES["the rule: accept with min(1, p/q), replace from the residual"](P, Q)
LAST = 2  # the token that is asked for


def last_by(rule: str) -> float:
    """The chance of the third token by another rule."""
    return emitted(P, Q, *RULES[rule](P, Q))[LAST]


def without_the_draft() -> list[float]:
    """p without the token that may be rejected, divided by its sum."""
    rest = [p if chance == 1 else 0 for p, chance in zip(P, RATIOS)]
    return [x / sum(rest) for x in rest]


def about_chances(_: tuple, found: list[float]) -> str:
    if max(found) > 2 and all(abs(x / 100 - y) < 0.01 for x, y in zip(found, RATIOS)):
        return "These are right in percent. A chance lies between 0 and 1: divide by 100."
    if max(found) > 1.001:
        return f"A chance is at most 1, and one of yours is {max(found):.3g}. What if p/q is larger than 1?"
    return "A token that q says too often, compared with p, must be kept less often; what about the others?"


CHANCES = numbers("list of chances to be accepted", right=RATIOS, room=0.005, hint=about_chances, mistakes=[
    Mistake("You accept a token with chance p: that waits for the target to draw the same token.", P, belief=3),
    Mistake("p · q is the chance that both draw this token.", [p * q for p, q in zip(P, Q)], belief=3),
    Mistake("You keep the target's favourite and nothing else; p and q are distributions, and all counts.", [0, 0, 1], belief=4),
    Mistake("These are the chances min(1, q/p): p and q have changed places.", [min(1, q / p) for p, q in zip(P, Q)]),
    Mistake("min(p, q) is the chance that a token is drafted and accepted; here it is drafted.", BOTH),
    Mistake("α is a mean over the tokens that q draws. Each token has a chance of its own.", [ALPHA] * 3),
    Mistake("If every draft is accepted, the second token comes out with chance .6, which is too often.", [1, 1, 1])])  # fmt: skip
RESIDUAL = numbers("residual", right=REST, room=0.005, hint="The residual is max(0, p − q), divided by its sum.", mistakes=[
    Mistake("This is p. Accepted drafts have already written a part of it; only the rest is missing.", P, belief=2),
    Mistake("This is q. What replaces a draft must not come from q.", Q),
    Mistake("This is what is missing. To draw from it, it must add up to 1: divide it by its sum.", LACKING),
    Mistake("No probability is below 0: cut p − q off there, and divide by the sum.", [p - q for p, q in zip(P, Q)]),
    Mistake("This is where q is larger than p. What is missing is where p is larger than q.", residual(Q, P), lacking(Q, P)),
    Mistake("This is p without the token that was rejected. Of the other two, how much is still missing?", without_the_draft()),
    Mistake("Two tokens are missing, and not equally much of each.", [0.5, 0, 0.5]),
    Mistake("More than one token is missing: each of them has its share.", [0, 0, 1])])  # fmt: skip
THIRD = one_number("The chance of the third token", right=P[LAST], room=0.003,
    hint="Add two chances: that the third token is drafted and kept, and that it replaces a rejected draft.", mistakes=[
    Mistake("The chance .425 comes from drawing from p after a rejection.", last_by("bug: after a rejection, draw from p"), belief=2),
    Mistake("The chance .225 comes from drawing from q after a rejection.", last_by("bug: after a rejection, draw from the draft's q")),
    Mistake("The chance .456 comes from drawing from p without the rejected token.", emitted(P, Q, RATIOS, without_the_draft())[LAST]),
    Mistake("This is the chance that it is drafted and kept. It can also come in after a rejection.", BOTH[LAST]),
    Mistake("This is the chance that it comes in after a rejection. It can also be drafted and kept.", LACKING[LAST]),
    Mistake("p · q is the chance that both draw this token.", P[LAST] * Q[LAST], belief=3),
    Mistake("This is its share of the residual. There are two ways to come out, and each has its chance.", REST[LAST]),
    Mistake("With chance 1 it is kept when it is drafted; how often is it drafted?", 1.0)])  # fmt: skip

several("9.c2", {"the chances": CHANCES, "the residual": RESIDUAL, "the chance of the third token": THIRD})
choice("9.c2.why", "A",
    Mistake("With these p and q such a rule writes (.35, .1, .55): it is exact, and only keeps fewer drafts.", "B", belief=3),
    Mistake("Such a rule never keeps the first token when it is drafted, and writes (.17, 0, .83).", "C", belief=4),
    Mistake("With a right rule no q changes what comes out, so (.25, .1, .65) shows a bug.", "D", belief=11))  # fmt: skip
