"""Exercise 9: load."""

from collections.abc import Callable

from specdec_lab.grade.checkpoint.answers import choice, compared, row, several
from specdec_lab.grade.part import number, part

Known = tuple[object, str, int | None]  # (a wrong answer, what is said, misconception)


def gains(value: object) -> None:
    known = (
        ((3.05,) * 3, "3.05 tokens a pass are a gain of 3.05 only while a pass costs what it did. Count the rows.", 7),
        ((3.05, 1.525, 0.7625), "You count γ rows for each text. The target computes one more, so γ + 1.", None),
        ((3.05, 3.05, 2.71), "Each text brings its own drafts: all of them make B · (γ + 1) rows.", None),
        ((0.61,) * 3, "You divide by 5 everywhere. Up to 32 rows a pass costs 1, whatever is in it.", None),
        ((3.05, 19.52, 19.52), "This is tokens per unit of time. The gain compares it with the plain pass.", None),
        ((0.328, 0.82, 1.64), "The gain is upside down: 2 should mean twice as fast.", None),
        ((2.05, 0.82, 0.41), "E already counts the target's own token, so nothing is taken away from it.", 6),
        ((3.05, 0.19, 0.095), "You divide by B. Each of the B texts gets its E tokens from the pass.", None),
    )
    said = "The gain is E · T(rows of a plain pass) / T(rows of a pass with drafts)."
    compared(row(value, 3, "the list of gains"), (3.05, 1.22, 0.61), known, said, 0.006)


def crossover(value: object) -> None:
    found = number(value, "The crossover")
    if 19 <= found <= 20:
        return
    known = (
        ((24.4,), "You count γ rows for each text. The target computes one more, so γ + 1.", None),
        ((6.4,), "From 6.4 texts on a row costs something. It is a loss only when all of E is used up.", None),
        ((8.0,), "You count γ rows for each text, not γ + 1; and where a row begins to cost is not yet a loss.", None),
        ((32.0,), "At 32 the plain pass begins to cost more. The pass with drafts has done so before.", None),
        ((97.6,), "This is a number of rows. How many texts have so many rows?", None),
        ((100.0,), "This is a number of rows. How many texts have so many rows?", None),
    )
    said = "At the crossover the gain is 1: a pass with drafts costs E times as much as a plain one."
    compared([found], (19.52,), known, said, 0.02)


@part("9.c4", points=1)
def c4(made: Callable[[], object]) -> None:
    """c4() → gains at B = 1, 16, 32, and the crossover."""
    several(made, {"the gains": gains, "the crossover": crossover})


@part("9.c4.why", points=1)
def c4_why(made: Callable[[], str]) -> None:
    choice(
        made,
        "B",
        {
            "A": (
                "More drafts are more rows, and here every row costs; of the late drafts fewer and fewer are kept.",
                8,
            ),
            "C": ("α belongs to the pair and the text. It does not know how many other texts are decoded.", 13),
            "D": ("You computed the gain at B = 32: the tokens are there, but the pass costs more than they save.", 7),
        },
    )
