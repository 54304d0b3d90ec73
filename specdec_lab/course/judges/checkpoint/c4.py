"""Exercise 9, load: c4() → gains at B = 1, 16, 32, and the crossover; c4_why() → a letter."""

from functools import partial

from specdec_lab.course.judges.checkpoint.answers import choice, fixed, numbers, several
from specdec_lab.course.judges.kit import Mistake, number, same

CROSSES = 3.05 * 32 / 5  # E · 32 / (γ + 1)


def near(found: float, known: float) -> bool:
    """The crossover, 19.52, may be rounded down or up to a whole text; wrong numbers have 2 % of room."""
    return 19 <= found <= 20 if known == CROSSES else same(found, known, 0.02)


GAINS = numbers("list of gains", right=[3.05, 1.22, 0.61], room=0.006,
    hint="The gain is E · T(rows of a plain pass) / T(rows of a pass with drafts).", mistakes=[
    Mistake("3.05 tokens a pass are a gain of 3.05 only while a pass costs what it did. Count the rows.", [3.05] * 3, belief=7),
    Mistake("You count γ rows for each text. The target computes one more, so γ + 1.", [3.05, 1.525, 0.7625]),
    Mistake("Each text brings its own drafts: all of them make B · (γ + 1) rows.", [3.05, 3.05, 2.71]),
    Mistake("You divide by 5 everywhere. Up to 32 rows a pass costs 1, whatever is in it.", [0.61] * 3),
    Mistake("This is tokens per unit of time. The gain compares it with the plain pass.", [3.05, 19.52, 19.52]),
    Mistake("The gain is upside down: 2 should mean twice as fast.", [0.328, 0.82, 1.64]),
    Mistake("E already counts the target's own token, so nothing is taken away from it.", [2.05, 0.82, 0.41], belief=6),
    Mistake("You divide by B. Each of the B texts gets its E tokens from the pass.", [3.05, 0.19, 0.095])])  # fmt: skip
CROSSOVER = fixed(CROSSES, read=partial(number, what="The crossover"), equal=near,
    hint="At the crossover the gain is 1: a pass with drafts costs E times as much as a plain one.", mistakes=[
    Mistake("You count γ rows for each text. The target computes one more, so γ + 1.", 24.4),
    Mistake("From 6.4 texts on a row costs something. It is a loss only when all of E is used up.", 6.4),
    Mistake("You count γ rows for each text, not γ + 1; and where a row begins to cost is not yet a loss.", 8),
    Mistake("At 32 the plain pass begins to cost more. The pass with drafts has done so before.", 32),
    Mistake("This is a number of rows. How many texts have so many rows?", 97.6, 100)])  # fmt: skip

several("9.c4", {"the gains": GAINS, "the crossover": CROSSOVER})
choice("9.c4.why", "B",
    Mistake("More drafts are more rows, and here every row costs; of the late drafts fewer and fewer are kept.", "A", belief=8),
    Mistake("α belongs to the pair and the text. It does not know how many other texts are decoded.", "C", belief=13),
    Mistake("You computed the gain at B = 32: the tokens are there, but the pass costs more than they save.", "D", belief=7))  # fmt: skip
