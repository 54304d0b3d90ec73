"""Answers to exercise 9."""

from fractions import Fraction

import torch

P, Q = (0.5, 0.3, 0.2), (0.7, 0.1, 0.2)
MARKS = ["accepted", "accepted", "accepted", "rejected", "discarded", "corrected"]


def gives(*values):
    """A learner's function that returns this: one thing, or several."""
    made = values[0] if len(values) == 1 else values
    return lambda: made


def c1(written="the cat sat by", marks="✓✓✓✗–↻", rows=(1, 2, 3, 4)):
    return gives(written, marks, rows)


def c2(chances=(5 / 7, 1, 1), rest=(0, 1, 0), second=0.3):
    return gives(chances, rest, second)


def c3(rate=27 / 31, tokens=3.7, at_1=(0.8, 0.5), at_0=(1, 1)):
    return gives(rate, tokens, at_1, at_0)


def c4(gains=(3.05, 1.22, 0.61), crossover=19.5):
    return gives(gains, crossover)


def by_rule():
    chances = torch.tensor(P).div(torch.tensor(Q)).clamp(max=1)
    rest = (torch.tensor(P) - torch.tensor(Q)).clamp(min=0)
    rest = rest / rest.sum()
    rejected = 1 - (torch.tensor(Q) * chances).sum()
    return [chances, rest, Q[1] * chances[1] + rejected * rest[1]]


def by_counting():
    lengths = [n for n, times in enumerate([2, 1, 1, 0, 6]) for _ in range(times)]
    examined = sum(n + (n < 4) for n in lengths)
    overlap = [sum(map(min, p, q)) for p, q in ((P, Q), ((0.4, 0.35, 0.25), (0.9, 0.05, 0.05)))]
    return sum(lengths) / examined, sum(n + 1 for n in lengths) / len(lengths), overlap, torch.ones(2)


def letters(right, wrong):
    """Right and wrong answers to a choice. wrong: {letter: (what is said, number of the belief)}."""
    others = {f"chooses {letter}": (gives(letter), *said) for letter, said in wrong.items()}
    others["no such letter"] = gives("E"), "Return one letter"
    others["a number"] = gives(3), "you return 3"
    return [gives(right), gives(f" {right.lower()}. "), lambda: "".join(["(", right, ")"])], others


WHY = {
    "9.c1.why": letters("C", {"A": ("a text with `on` in it", 1), "B": ("six rows were computed", 9), "D": ("it is the target's", 10)}),
    "9.c2.why": letters("A", {"B": ("it is exact", 3), "C": ("(.7, .3, 0)", 4), "D": ("no q changes", 11)}),
    "9.c3.why": letters("D", {"A": ("two samples", 3), "B": ("not examined", 5), "C": ("with any α", 11)}),
    "9.c4.why": letters("B", {"A": ("every row costs", 8), "C": ("the pair and the text", 13), "D": ("they save", 7)}),
    "9.q1.why": letters("D", {"A": ("the whole target", None), "B": ("γ + 1 rows", 9), "C": ("your T(200)", 8)}),
    "9.q2.why": letters("B", {"A": ("No draft changes", 11), "C": ("α is .75", 13), "D": ("five times as long", 7)}),
}  # fmt: skip
RIGHT = {
    "9.c1": [c1(), c1(["the", " cat", " sat", " by"], MARKS, [4, 3, 2, 1]), c1(marks=" ".join(MARKS), rows=range(1, 5))],
    "9.c2": [by_rule, c2([0.71, 1, 1]), c2([Fraction(5, 7), 1, 1], [0.0, 1.0, 0.0], Fraction(3, 10))],
    "9.c3": [by_counting, c3(0.871, 3.7, [0.8, 0.5], [1.0, 1.0]), c3(Fraction(27, 31), Fraction(37, 10))],
    "9.c4": [c4([3.05 * max(1, b / 32) / max(1, 5 * b / 32) for b in (1, 16, 32)], 3.05 * 32 / 5), c4([3.05, 1.22, 0.61], 20), c4(torch.tensor([3.05, 3.05 / 2.5, 3.05 / 5]), 19.52)],
    "9.q1": [gives(torch.tensor([max(2.7, n * 0.027) for n in (1, 5, 200)])), gives([2.7, 2.7, 5.4]), gives(("2.700", "2.7", Fraction(27, 5)))],
    "9.q2": [lambda: ["V", (1 - 0.75**5) / (1 - 0.75) / 5], gives("v", 0.61), gives("v", Fraction(781, 256) / 5)],
    **{part: right for part, (right, _) in WHY.items()},
}  # fmt: skip
WRONG = {
    "9.c1": {
        "all that agree": (c1("the cat sat a"), "stands after the miss", 1),
        "other words": (c1("a cat"), "from left to right"),
        "nothing is written": (c1([]), "from left to right"),
        "the last draft accepted": (c1(marks="✓✓✓✗✓↻"), "had ended before it", 1),
        "the last draft rejected": (c1(marks=[*MARKS[:4], "rejected", "corrected"]), "never compared"),
        "all accepted": (c1(marks="✓✓✓✓✓+"), "You accept every draft"),
        "the correction in the place of the miss": (c1(marks="✓✓✓↻–↻"), "The fourth mark is the draft's"),
        "the miss discarded": (c1(marks="✓✓✓––↻"), "The fourth draft was compared"),
        "corrected and bonus mixed up": (c1(marks="✓✓✓✗–+"), "only where all drafts were kept"),
        "the end discarded": (c1(marks="✓✓✓✗––"), "in the place of a miss"),
        "the last draft corrected": (c1(marks="✓✓✓✗↻↻"), "stands after the miss"),
        "the first one discarded": (c1(marks="–✓✓✗–↻"), "The first three"),
        "five marks": (c1(marks=MARKS[:5]), "you give 5"),
        "a mark that does not exist": (c1(marks=[*MARKS[:5], "replaced"]), "one of yours is 'replaced'"),
        "a row twice": (c1(rows=[1, 2, 3, 4, 4]), "An entry stays if"),
        "the rows are missing": (c1(rows=None), "Still missing: the rows"),
        "two things": (gives("the cat sat by", MARKS), "should return 3 things"),
    },
    "9.c2": {
        "ratios above 1": (c2([p / q for p, q in zip(P, Q)]), "one of yours is 3"),
        "other chances": (c2([0.2, 0.5, 0.9]), "must be kept less often"),
        "p − q": (c2(rest=[p - q for p, q in zip(P, Q)]), "No probability is below 0"),
        "another residual": (c2(rest=[0, 0, 1]), "max(0, p − q)"),
        "two tokens": (c2(rest=[0, 1]), "should have 3 items"),
        "another chance": (c2(second=0.5), "Add two chances"),
    },
    "9.c3": {
        "in percent": (c3(87.1), "at most 1"),
        "another rate": (c3(0.5), "the misses included"),
        "the formula": (c3(tokens=(1 - (27 / 31) ** 5) / (1 - 27 / 31)), "a formula expects"),
        "other tokens": (c3(tokens=3.3), "Divide all tokens"),
        "another α": (c3(at_1=[0.1, 0.2]), "token by token"),
        "another at T = 0": (c3(at_0=[0.3, 0.9]), "all their chance"),
    },
    "9.c4": {
        "all drafts in one row": (c4([3.05 / max(1, (b + 4) / 32) for b in (1, 16, 32)]), "its own drafts"),
        "other gains": (c4([3, 2, 1]), "The gain is E"),
        "another crossover": (c4(crossover=12), "the gain is 1"),
        "one list": (gives([3.05, 1.22, 0.61, 19.5]), "should return 2 things"),
    },
    "9.q1": {
        "the sum": (gives([2.7 + n * 0.027 for n in (1, 5, 200)]), "You add"),
        "seconds": (gives([0.0027, 0.0027, 0.0054]), "milliseconds"),
        "other times": (gives([1, 2, 3]), "Reading takes the bytes"),
        "not finite": (gives([2.7, 2.7, float("inf")]), "finite"),
    },
    "9.q2": {
        "α of the proposed": (gives("v", 0.75 * 4 / 5), "a share of the proposed", 5),
        "a gain for a name": (gives(5, 0.61), "What changed?"),
        "another gain": (gives("v", 2), "divide by what the pass costs"),
    },
    **{part: wrong for part, (_, wrong) in WHY.items()},
}
