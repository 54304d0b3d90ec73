"""Answers to exercise 9."""

from fractions import Fraction

import torch

P, Q = (0.35, 0.1, 0.55), (0.25, 0.6, 0.15)
MARKS = ["accepted", "accepted", "rejected", "discarded", "discarded", "discarded", "corrected"]


def gives(*values):
    """A learner's function that returns this: one thing, or several."""
    made = values[0] if len(values) == 1 else values
    return lambda: made


def c1(written="the butter then", marks="✓✓✗–––↻"):
    return gives(written, marks)


def c2(chances=(1, 1 / 6, 1), third=0.55):
    return gives(chances, third)


def c3(rate=29 / 43, tokens=2.16):
    return gives(rate, tokens)


def c4(gains=(2.35, 1.175, 0.5875), crossover=21.15):
    return gives(gains, crossover)


LETTERS = {f"9.{name}.why": right for name, right in zip(("c1", "c2", "c3", "c4", "q1", "q2"), "CADBDB")}
RIGHT = {
    "9.c1": [c1(), c1(["the", " butter", " then"], MARKS), c1(marks=" ".join(MARKS)), c1(marks="✔✔x———↻"), c1(marks="✓ ✓ × – – - ↻"), c1("“the butter then”", "✔️✔️✘–––↻")],
    "9.c2": [c2([1, 0.167, 1.0]), c2([1, Fraction(1, 6), 1], Fraction(11, 20))],
    "9.c3": [c3(0.674, 2.16), c3(Fraction(29, 43), Fraction(54, 25)), c3("67.4%", "2.16 tokens per pass"), c3("67.4 %", "54 / 25")],
    "9.c4": [c4([2.35 * max(1, b / 36) / max(1, 4 * b / 36) for b in (1, 18, 72)], 2.35 * 36 / 4), c4([2.35, 1.18, 0.59], 22), c4(torch.tensor([2.35, 2.35 / 2, 2.35 / 4]), 21.1), c4(crossover=21), c4(crossover=21.15)],
    "9.q1": [gives(5, 5, 10), gives([5.0, 5.0, Fraction(10)]), gives(torch.tensor([5.0, 5.0, 10.0])), [5, 5, 10], gives("5 ms", "5ms", "0.01 s"), gives("5, 5, 10")],
    "9.q3": [gives(1.556), gives(2.24 / (2 * 0.16 + 1.1 + 0.02)), gives("1.56"), gives([1.556]), 1.556],
    "9.q4": [gives(["B", "D", "A", "C"]), gives("b", "d.", "(A)", "C"), gives("B, D, A, C"), lambda: list("BDAC")],
    **{part: [gives(x), gives(f" {x.lower()}. "), gives(f"({x})"), gives((x,))] for part, x in LETTERS.items()},
}  # fmt: skip
WRONG = {
    "9.c1": {
        "other words": (c1("a knife"), "from left to right"),
        "corrected and bonus mixed up": (c1(marks="✓✓✗–––+"), "The last mark is that of"),
        "a mark that does not exist": (c1(marks=[*MARKS[:6], "replaced"]), "or “bonus”; it is 'replaced'"),
    },
    "9.c2": {
        "in percent": (c2([100, 16.7, 100]), "right in percent"),
        "ratios above 1": (c2([p / q for p, q in zip(P, Q)]), "one of yours is 3.67"),
    },
    "9.c3": {
        "exchanged": (c3(2.16, 0.674), "These are exchanged: the order is α, tokens per pass.", None, 0.5),
        "in percent": (c3(67.4), "About α: This is right in percent", None, 0.5),
    },
    "9.c4": {
        "other gains": (c4([3, 2, 1]), "The gain is E"),
        "one list": (gives([2.35, 1.175, 0.5875, 21.15]), "should return 2 things"),
    },
    "9.q1": {
        "other times": (gives(1, 2, 3), "A pass takes the longer one"),
        "one time": (gives(5), "The list of times should be a list"),
    },
    "9.q3": {
        "another speed-up": (gives(2.6), "d is γ times"),
        "with the best γ": (gives(2, 1.556), "The speed-up should be a number; it is (2, 1.556)"),
    },
    "9.q4": {
        "three letters": (gives(["B", "D", "A"]), "should return 4 things"),
        "EAGLE as Medusa": (gives(["B", "D", "A", "A"]), "About EAGLE: EAGLE goes step by step"),
    },
    **{part: {"a sentence": (gives(f"Because {x} is right."), "Return one letter")} for part, x in LETTERS.items()},
}
