"""Exercise 9: why the output is identical."""

from collections.abc import Callable

from specdec_lab.grade.checkpoint.answers import choice, compared, row, several
from specdec_lab.grade.part import Wrong, number, part

Known = tuple[object, str, int | None]  # (a wrong answer, what is said, misconception)


def chances(value: object) -> None:
    found = row(value, 3, "the list of chances to be accepted")
    if max(found) > 1.001:
        raise Wrong(f"A chance is at most 1, and one of yours is {max(found):.3g}. What if p/q is larger than 1?")
    known = (
        ((0.5, 0.3, 0.2), "You accept a token with chance p: that waits for the target to draw the same token.", 3),
        ((0.35, 0.03, 0.04), "p · q is the chance that both draw this token.", 3),
        ((1, 0, 0), "You keep the target's favourite and nothing else; p and q are distributions, and all counts.", 4),
        ((1, 1 / 3, 1), "These are the chances min(1, q/p): p and q have changed places.", None),
        ((0.5, 0.1, 0.2), "min(p, q) is the chance that a token is drafted and accepted; here it is drafted.", None),
        ((0.8, 0.8, 0.8), "α is a mean over the tokens that q draws. Each token has a chance of its own.", None),
        ((1, 1, 1), "If every draft is accepted, the first token comes out with chance .7, which is too often.", None),
    )
    said = "A token that q says too often, compared with p, must be kept less often; what about the others?"
    compared(found, (5 / 7, 1, 1), known, said, 0.005)


def rest(value: object) -> None:
    found = row(value, 3, "the residual")
    known = (
        ((0.5, 0.3, 0.2), "This is p. Accepted drafts have already written a part of it; only the rest is missing.", 2),
        ((0.7, 0.1, 0.2), "This is q. What replaces a draft must not come from q.", None),
        ((0, 0.2, 0), "This is what is missing. To draw from it, it must add up to 1: divide it by its sum.", None),
        ((-0.2, 0.2, 0), "No probability is below 0: cut p − q off there, and divide by the sum.", None),
        ((1, 0, 0), "This is where q is larger than p. What is missing is where p is larger than q.", None),
        ((0.2, 0, 0), "This is where q is larger than p. What is missing is where p is larger than q.", None),
        ((0, 0.6, 0.4), "This is p without the rejected token. How much of the third token is still missing?", None),
    )
    compared(found, (0, 1, 0), known, "The residual is max(0, p − q), divided by its sum.", 0.005)


def second(value: object) -> None:
    known = (
        ((0.16,), "The chance .16 comes from drawing from p after a rejection.", 2),
        ((0.12,), "The chance .12 comes from drawing from q after a rejection.", None),
        ((0.22,), "The chance .22 comes from drawing from p without the rejected token.", None),
        ((0.1,), "This is the chance that it is drafted and kept. It can also come in after a rejection.", None),
        ((0.2,), "This is the chance that it comes in after a rejection. It can also be drafted and kept.", None),
        ((0.03,), "p · q is the chance that both draw this token.", 3),
        ((1.0,), "With chance 1 it comes out after a rejection; there are two ways, and each has its chance.", None),
    )
    said = "Add two chances: that the second token is drafted and kept, and that it replaces a rejected draft."
    compared([number(value, "The chance of the second token")], (0.3,), known, said, 0.003)


@part("9.c2", points=1)
def c2(made: Callable[[], object]) -> None:
    """c2() → chances of acceptance, residual, chance that the second token is written."""
    several(made, {"the chances": chances, "the residual": rest, "the chance of the second token": second})


@part("9.c2.why", points=1)
def c2_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "A",
        {
            "B": (
                "With p = (.5, .3, .2) such a rule writes (.5, .3, .2): it is exact, and only keeps fewer drafts.",
                3,
            ),
            "C": ("Such a rule never keeps the third token when it is drafted, and writes (.7, .3, 0).", 4),
            "D": ("With a right rule no q changes what comes out, so (.60, .16, .24) shows a bug.", 11),
        },
    )
