"""Exercise 9, why the output is identical: c2() → chances of acceptance, residual, chance of the second token; c2_why() → a letter."""

from specdec_lab.course.judges.checkpoint.answers import choice, numbers, one_number, several
from specdec_lab.course.judges.kit import Mistake
from specdec_lab.theory import residual

P, Q = (0.5, 0.3, 0.2), (0.7, 0.1, 0.2)


def about_chances(_: tuple, found: list[float]) -> str:
    if max(found) > 1.001:
        return f"A chance is at most 1, and one of yours is {max(found):.3g}. What if p/q is larger than 1?"
    return "A token that q says too often, compared with p, must be kept less often; what about the others?"


CHANCES = numbers("list of chances to be accepted", right=[5 / 7, 1, 1], room=0.005, hint=about_chances, mistakes=[
    Mistake("You accept a token with chance p: that waits for the target to draw the same token.", P, belief=3),
    Mistake("p · q is the chance that both draw this token.", [0.35, 0.03, 0.04], belief=3),
    Mistake("You keep the target's favourite and nothing else; p and q are distributions, and all counts.", [1, 0, 0], belief=4),
    Mistake("These are the chances min(1, q/p): p and q have changed places.", [1, 1 / 3, 1]),
    Mistake("min(p, q) is the chance that a token is drafted and accepted; here it is drafted.", [0.5, 0.1, 0.2]),
    Mistake("α is a mean over the tokens that q draws. Each token has a chance of its own.", [0.8, 0.8, 0.8]),
    Mistake("If every draft is accepted, the first token comes out with chance .7, which is too often.", [1, 1, 1])])  # fmt: skip
REST = numbers("residual", right=residual(P, Q), room=0.005, hint="The residual is max(0, p − q), divided by its sum.", mistakes=[
    Mistake("This is p. Accepted drafts have already written a part of it; only the rest is missing.", P, belief=2),
    Mistake("This is q. What replaces a draft must not come from q.", Q),
    Mistake("This is what is missing. To draw from it, it must add up to 1: divide it by its sum.", [0, 0.2, 0]),
    Mistake("No probability is below 0: cut p − q off there, and divide by the sum.", [-0.2, 0.2, 0]),
    Mistake("This is where q is larger than p. What is missing is where p is larger than q.", [1, 0, 0], [0.2, 0, 0]),
    Mistake("This is p without the rejected token. How much of the third token is still missing?", [0, 0.6, 0.4])])  # fmt: skip
SECOND = one_number("The chance of the second token", right=P[1], room=0.003,
    hint="Add two chances: that the second token is drafted and kept, and that it replaces a rejected draft.", mistakes=[
    Mistake("The chance .16 comes from drawing from p after a rejection.", 0.16, belief=2),
    Mistake("The chance .12 comes from drawing from q after a rejection.", 0.12),
    Mistake("The chance .22 comes from drawing from p without the rejected token.", 0.22),
    Mistake("This is the chance that it is drafted and kept. It can also come in after a rejection.", 0.1),
    Mistake("This is the chance that it comes in after a rejection. It can also be drafted and kept.", 0.2),
    Mistake("p · q is the chance that both draw this token.", 0.03, belief=3),
    Mistake("With chance 1 it comes out after a rejection; there are two ways, and each has its chance.", 1.0)])  # fmt: skip

several("9.c2", {"the chances": CHANCES, "the residual": REST, "the chance of the second token": SECOND})
choice("9.c2.why", "A",
    Mistake("With p = (.5, .3, .2) such a rule writes (.5, .3, .2): it is exact, and only keeps fewer drafts.", "B", belief=3),
    Mistake("Such a rule never keeps the third token when it is drafted, and writes (.7, .3, 0).", "C", belief=4),
    Mistake("With a right rule no q changes what comes out, so (.60, .16, .24) shows a bug.", "D", belief=11))  # fmt: skip
