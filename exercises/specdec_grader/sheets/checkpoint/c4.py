"""Exercise 9, load: c4() → gains at B = 1, 18, 36, and the crossover; c4_why() → a letter."""

import math
from collections.abc import Callable
from functools import partial

from specdec_grader.kit import Mistake, number, same
from specdec_grader.sheets.checkpoint.answers import choice, fixed, numbers, several

E, GAMMA, FREE = 2.35, 3, 36  # a pass over FREE rows costs no more than one over a single row
SIZES = (1, FREE // 2, FREE)
CROSSES = E * FREE / (GAMMA + 1)


def T(rows: float) -> float:
    return max(1, rows / FREE)


def gains(rows: Callable[[int], int] = lambda B: B * (GAMMA + 1), tokens: float = E) -> list[float]:
    """The gains; or wrong ones, with other rows in the pass with drafts, or other tokens."""
    return [tokens * T(B) / T(rows(B)) for B in SIZES]


def near(found: float, known: float) -> bool:
    """The crossover may be rounded down or up to a whole text; wrong numbers have 2 % of room."""
    return math.floor(known) <= found <= math.ceil(known) if known == CROSSES else same(found, known, 0.02)


GAINS = numbers("list of gains", right=gains(), room=0.006,
    hint="The gain is E · T(rows of a plain pass) / T(rows of a pass with drafts).", mistakes=[
    Mistake(f"{E} tokens a pass are a gain of {E} only while a pass costs what it did. Count the rows.", [E] * 3, belief=7),
    Mistake("You count γ rows for each text. The target computes one more, so γ + 1.", gains(lambda B: B * GAMMA)),
    Mistake("Each text brings its own drafts: all of them make B · (γ + 1) rows.", gains(lambda B: B + GAMMA), gains(lambda B: B + GAMMA + 1)),
    Mistake(f"You divide by {GAMMA + 1} everywhere. Up to {FREE} rows a pass costs 1, whatever is in it.", [E / (GAMMA + 1)] * 3),
    Mistake("This is tokens per unit of time. The gain compares it with the plain pass.", [B * E / T(B * (GAMMA + 1)) for B in SIZES]),
    Mistake("The gain is upside down: 2 should mean twice as fast.", [1 / gain for gain in gains()]),
    Mistake("E already counts the target's own token, so nothing is taken away from it.", gains(tokens=E - 1), belief=6),
    Mistake("You divide by B. Each of the B texts gets its E tokens from the pass.", [gain / B for gain, B in zip(gains(), SIZES)])])  # fmt: skip
CROSSOVER = fixed(CROSSES, read=partial(number, what="The crossover"), equal=near,
    hint="At the crossover the gain is 1: a pass with drafts costs E times as much as a plain one.", mistakes=[
    Mistake("You count γ rows for each text. The target computes one more, so γ + 1.", E * FREE / GAMMA),
    Mistake(f"From {FREE / (GAMMA + 1):g} texts on a row costs something. It is a loss only when all of E is used up.", FREE / (GAMMA + 1)),
    Mistake("You count γ rows for each text, not γ + 1; and where a row begins to cost is not yet a loss.", FREE / GAMMA),
    Mistake(f"At {FREE} the plain pass begins to cost more. The pass with drafts has done so before.", FREE),
    Mistake("This is a number of rows. How many texts have so many rows?", E * FREE, math.ceil(CROSSES) * (GAMMA + 1))])  # fmt: skip

several("9.c4", {"the gains": GAINS, "the crossover": CROSSOVER})
choice("9.c4.why", "B",
    Mistake("More drafts are more rows, and here every row costs; of the late drafts fewer and fewer are kept.", "A", belief=8),
    Mistake("α belongs to the pair and the text. It does not know how many other texts are decoded.", "C", belief=13),
    Mistake(f"You computed the gain at B = {FREE}: the tokens are there, but the pass costs more than they save.", "D", belief=7))  # fmt: skip
