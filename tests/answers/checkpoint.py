"""Answers to exercise 9. RIGHT: {part: right ones, in different styles}. WRONG: {part: {mistake: (answer, what is said, misconception)}}."""

from fractions import Fraction

import torch

P, Q = (0.5, 0.3, 0.2), (0.7, 0.1, 0.2)
MARKS = ["accepted", "accepted", "accepted", "rejected", "discarded", "corrected"]


def gives(*values):
    """A learner's function that returns this: one thing, or several."""
    made = values[0] if len(values) == 1 else values
    return lambda: made


# C1


def by_comparing():
    drafts, target = ["the", "cat", "sat", "on", "a"], ["the", "cat", "sat", "by", "a", "."]
    n = next((i for i, d in enumerate(drafts) if d != target[i]), len(drafts))
    marks = ["✓"] * n + ["✗"] + ["–"] * (len(drafts) - n - 1) + ["↻"]
    return [*drafts[:n], target[n]], marks, list(range(1, n + 2))


def c1(written="the cat sat by", marks="✓✓✓✗–↻", rows=(1, 2, 3, 4)):
    return gives(written.split() if isinstance(written, str) else written, marks, rows)


# C2


def by_rule():
    chances = torch.tensor(P).div(torch.tensor(Q)).clamp(max=1)
    rest = (torch.tensor(P) - torch.tensor(Q)).clamp(min=0)
    rest = rest / rest.sum()
    rejected = 1 - (torch.tensor(Q) * chances).sum()
    return [chances, rest, Q[1] * chances[1] + rejected * rest[1]]


def c2(chances=(5 / 7, 1, 1), rest=(0, 1, 0), second=0.3):
    return gives(chances, rest, second)


# C3


def by_counting():
    lengths = [n for n, times in enumerate([2, 1, 1, 0, 6]) for _ in range(times)]
    examined = sum(n + (n < 4) for n in lengths)
    overlap = [sum(map(min, p, q)) for p, q in ((P, Q), ((0.4, 0.35, 0.25), (0.9, 0.05, 0.05)))]
    return sum(lengths) / examined, sum(n + 1 for n in lengths) / len(lengths), overlap, torch.ones(2)


def c3(rate=27 / 31, tokens=3.7, at_1=(0.8, 0.5), at_0=(1, 1)):
    return gives(rate, tokens, at_1, at_0)


# C4


def by_searching():
    def gain(b):
        return 3.05 * max(1, b / 32) / max(1, 5 * b / 32)

    low, high = 1.0, 32.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if gain(middle) > 1 else (low, middle)
    return [gain(b) for b in (1, 16, 32)], low


def c4(gains=(3.05, 1.22, 0.61), crossover=19.5):
    return gives(gains, crossover)


# Q1 and Q2


def by_bytes():
    return torch.tensor([max(270e6 / 100e9, n * 0.27e9 / 10e12) * 1000 for n in (1, 5, 200)])


def by_cases():
    crossing = 2.7 / 0.027
    return tuple("%.3f" % (2.7 * n / crossing if n > crossing else 2.7) for n in (1, 5, 200))


def by_formula():
    return ["V", (1 - 0.75**5) / (1 - 0.75) / 5]


def crashes():
    return 1 / 0


def letters(right, wrong):
    """Right and wrong answers to a choice. wrong: {letter: (what is said, misconception)}."""
    forms = [gives(right), gives(f" {right.lower()}. "), lambda: "".join(["(", right, ")"])]
    others = {f"chooses {letter}": (gives(letter), *said) for letter, said in wrong.items()}
    others["no such letter"] = gives("E"), "Return one letter", None
    others["two letters"] = gives("AB"), "Return one letter", None
    others["nothing between the quotes"] = gives(""), "Return one letter", None
    others["a number"] = gives(3), "you return 3", None
    others["all of them"] = gives(list("ABCD")), "Return one letter", None
    others["raises"] = crashes, "ZeroDivisionError", None
    return forms, others


WHY = {
    "9.c1.why": letters(
        "C", {"A": ("a text with `on` in it", 1), "B": ("six rows were computed", 9), "D": ("it is the target's", 10)}
    ),
    "9.c2.why": letters("A", {"B": ("it is exact", 3), "C": ("(.7, .3, 0)", 4), "D": ("no q changes", 11)}),
    "9.c3.why": letters("D", {"A": ("two samples", 3), "B": ("not examined", 5), "C": ("with any α", 11)}),
    "9.c4.why": letters("B", {"A": ("every row costs", 8), "C": ("the pair and the text", 13), "D": ("they save", 7)}),
    "9.q1.why": letters("D", {"A": ("the whole target", None), "B": ("γ + 1 rows", 9), "C": ("your T(200)", 8)}),
    "9.q2.why": letters("B", {"A": ("No draft changes", 11), "C": ("α is .75", 13), "D": ("five times as long", 7)}),
}

RIGHT = {
    "9.c1": [
        by_comparing,
        c1(["the", " cat", " sat", " by"], MARKS, [4, 3, 2, 1]),
        lambda: ["the cat sat by", "accepted accepted accepted rejected discarded corrected", range(1, 5)],
    ],
    "9.c2": [by_rule, c2([0.71, 1, 1]), c2([Fraction(5, 7), 1, 1], [0.0, 1.0, 0.0], Fraction(3, 10))],
    "9.c3": [by_counting, c3(0.871, 3.7, [0.8, 0.5], [1.0, 1.0]), c3(Fraction(27, 31), Fraction(37, 10))],
    "9.c4": [by_searching, c4([3.05, 1.22, 0.61], 20), c4(torch.tensor([3.05, 3.05 / 2.5, 3.05 / 5]), 19.52)],
    "9.q1": [by_bytes, gives([2.7, 2.7, 5.4]), by_cases],
    "9.q2": [by_formula, gives("v", 0.61), lambda: ("v", Fraction(781, 256) / 5)],
    **{part: forms for part, (forms, _) in WHY.items()},
}

WRONG = {
    "9.c1": {
        "the agreeing draft is written": (c1("the cat sat by a"), "it stands after the miss", 1),
        "only the miss is left out": (c1("the cat sat a"), "stands after the miss", 1),
        "everything the target says": (c1("the cat sat by a ."), "not one sentence", 1),
        "no token of the target": (c1("the cat sat"), "one more token", 6),
        "the miss is kept": (c1("the cat sat on"), "`on` was rejected", None),
        "all drafts": (c1("the cat sat on a"), "These are the drafts", None),
        "all drafts and a bonus": (c1("the cat sat on a ."), "Not all drafts agree", None),
        "only the target's token": (c1("by"), "are written too", None),
        "something else": (c1("a cat"), "from left to right", None),
        "nothing is written": (c1([]), "from left to right", None),
        "the last draft accepted": (c1(marks="✓✓✓✗✓↻"), "had ended before it", 1),
        "the last draft rejected": (c1(marks=[*MARKS[:4], "rejected", "corrected"]), "never compared", None),
        "all accepted": (c1(marks="✓✓✓✓✓+"), "You accept every draft", None),
        "the correction in the place of the miss": (c1(marks="✓✓✓↻–↻"), "The fourth mark is the draft's", None),
        "the miss discarded": (c1(marks="✓✓✓––↻"), "The fourth draft was compared", None),
        "corrected and bonus mixed up": (c1(marks="✓✓✓✗–+"), "only where all drafts were kept", None),
        "the end discarded": (c1(marks="✓✓✓✗––"), "in the place of a miss", None),
        "the last draft corrected": (c1(marks="✓✓✓✗↻↻"), "stands after the miss", None),
        "the first ones discarded": (c1(marks="–✓✓✗–↻"), "The first three", None),
        "five marks": (c1(marks=MARKS[:5]), "you give 5", None),
        "a mark that does not exist": (c1(marks=[*MARKS[:5], "replaced"]), "one of yours is 'replaced'", None),
        "the agreeing draft's row stays": (c1(rows=[1, 2, 3, 4, 6]), "Row 6", 1),
        "the text's own row is forgotten": (c1(rows=[2, 3, 4]), "Where was row 1", None),
        "one row too few": (c1(rows=[1, 2, 3]), "Where was row 4", None),
        "one row too many": (c1(rows=[1, 2, 3, 4, 5]), "computed at `on`", None),
        "no rewind": (c1(rows=[1, 2, 3, 4, 5, 6]), "Two of the six rows", None),
        "counted from 0": (c1(rows=[0, 1, 2, 3]), "from 1 to 6", None),
        "only the row of the miss": (c1(rows=[4]), "An entry stays if", None),
        "a row twice": (c1(rows=[1, 2, 3, 4, 4]), "An entry stays if", None),
        "how many rows": (c1(rows=4), "should be a list", None),
        "the rows are missing": (c1(rows=None), "Still missing: the rows", None),
        "two things": (gives("the cat sat by", MARKS), "should return 3 things", None),
        "raises": (crashes, "ZeroDivisionError", None),
    },
    "9.c2": {
        "accepts when samples match": (c2(P), "waits for the target", 3),
        "both draw it": (c2([0.35, 0.03, 0.04]), "both draw", 3),
        "keeps the favourite": (c2([1, 0, 0]), "the target's favourite and nothing else", 4),
        "p and q swapped": (c2([1, 1 / 3, 1]), "changed places", None),
        "ratio above 1": (c2([5 / 7, 3, 1]), "one of yours is 3", None),
        "drafted and accepted": (c2([0.5, 0.1, 0.2]), "here it is drafted", None),
        "α for all": (c2([0.8, 0.8, 0.8]), "a chance of its own", None),
        "all accepted": (c2([1, 1, 1]), "too often", None),
        "other chances": (c2([0.2, 0.5, 0.9]), "must be kept less often", None),
        "replaces from p": (c2(rest=P), "This is p.", 2),
        "replaces from q": (c2(rest=Q), "This is q.", None),
        "does not add up to 1": (c2(rest=[0, 0.2, 0]), "divide it by its sum", None),
        "negative": (c2(rest=[-0.2, 0.2, 0]), "No probability is below 0", None),
        "q − p": (c2(rest=[1, 0, 0]), "where q is larger", None),
        "q − p, not divided": (c2(rest=[0.2, 0, 0]), "where q is larger", None),
        "p without the rejected token": (c2(rest=[0, 0.6, 0.4]), "p without the rejected", None),
        "another residual": (c2(rest=[0, 0, 1]), "max(0, p − q)", None),
        "two tokens": (c2(rest=[0, 1]), "should have 3 items", None),
        "second from p": (c2(second=0.16), "drawing from p after", 2),
        "second from q": (c2(second=0.12), "drawing from q", None),
        "second from p without": (c2(second=0.22), "without the rejected", None),
        "only the draft": (c2(second=0.1), "can also come in after", None),
        "only the replacement": (c2(second=0.2), "can also be drafted", None),
        "p · q": (c2(second=0.03), "both draw this token", 3),
        "certain": (c2(second=1), "there are two ways", None),
        "another chance": (c2(second=0.5), "Add two chances", None),
        "text for a number": (c2(second="much"), "should be a number", None),
    },
    "9.c3": {
        "of the proposed": (c3(27 / 40), "were not examined", 5),
        "of the written": (c3(27 / 37), "tokens that were written", None),
        "rounds without a miss": (c3(0.6), "rounds without a miss", None),
        "first drafts": (c3(0.8), "only the first draft", None),
        "mean of ratios": (c3((0.5 + 2 / 3 + 6) / 10), "a mean of ten ratios", None),
        "tokens of five": (c3(0.74), "3.7/5", None),
        "in percent": (c3(87.1), "at most 1", None),
        "another rate": (c3(0.5), "the misses included", None),
        "without the target's token": (c3(tokens=2.7), "one more token", 6),
        "examined in a round": (c3(tokens=3.1), "drafts examined", None),
        "all tokens": (c3(tokens=37), "divide them", None),
        "the formula": (c3(tokens=(1 - (27 / 31) ** 5) / (1 - 27 / 31)), "a formula expects", None),
        "the formula with .675": (c3(tokens=(1 - 0.675**5) / 0.325), "with .675", 5),
        "γ": (c3(tokens=4), "proposes 4 drafts", None),
        "γ + 1": (c3(tokens=5), "and the bonus", None),
        "other tokens": (c3(tokens=3.3), "Divide all tokens", None),
        "samples match": (c3(at_1=[0.42, 0.39]), "two samples match", 3),
        "the same favourite": (c3(at_1=[1, 1]), "favourites are equal", 4),
        "the same favourite in B": (c3(at_1=[0.8, 1]), "In pair B", 4),
        "rejected": (c3(at_1=[0.2, 0.5]), "is rejected", None),
        "A and B changed": (c3(at_1=[0.5, 0.8]), "A comes first", None),
        "mean over tokens, without q": (c3(at_1=[(5 / 7 + 2) / 3, (4 / 9 + 2) / 3]), "a large q", None),
        "the favourite's chance": (c3(at_1=[0.5, 0.4]), "What do the other tokens add", None),
        "another α": (c3(at_1=[0.1, 0.2]), "token by token", None),
        "as at T = 1": (c3(at_0=[0.8, 0.5]), "nothing is drawn", None),
        "never": (c3(at_0=[0, 0]), "Are they the same", None),
        "the favourite's chance at T = 0": (c3(at_0=[0.5, 0.4]), "with certainty", None),
        "only A": (c3(at_0=[1, 0]), "one favourite", None),
        "another at T = 0": (c3(at_0=[0.3, 0.9]), "all their chance", None),
        "names for numbers": (c3(at_0="tied"), "should be a list", None),
    },
    "9.c4": {
        "tokens per pass": (c4([3.05, 3.05, 3.05]), "Count the rows", 7),
        "γ rows": (c4([3.05, 1.525, 0.7625]), "one more", None),
        "γ drafts for the whole batch": (c4([3.05, 3.05, 3.05 * 32 / 36]), "its own drafts", None),
        "5 everywhere": (c4([0.61, 0.61, 0.61]), "Up to 32 rows", None),
        "tokens per time": (c4([3.05, 19.52, 19.52]), "compares it with the plain", None),
        "upside down": (c4([1 / 3.05, 2.5 / 3.05, 5 / 3.05]), "upside down", None),
        "without the target's token": (c4([2.05, 0.82, 0.41]), "already counts", 6),
        "divided by B": (c4([3.05, 3.05 / 16, 3.05 / 32]), "You divide by B", None),
        "other gains": (c4([3, 2, 1]), "The gain is E", None),
        "two gains": (c4([3.05, 0.61]), "should have 3 items", None),
        "crossover with γ rows": (c4(crossover=24.4), "one more", None),
        "where a row costs": (c4(crossover=6.4), "all of E", None),
        "where a row costs, with γ rows": (c4(crossover=8), "not yet a loss", None),
        "where the plain pass bends": (c4(crossover=32), "has done so before", None),
        "rows for texts": (c4(crossover=97.6), "number of rows", None),
        "another crossover": (c4(crossover=12), "the gain is 1", None),
        "one list": (gives([3.05, 1.22, 0.61, 19.5]), "should return 2 things", None),
    },
    "9.q1": {
        "a reading for each token": (gives([2.7, 13.5, 540]), "once for each token", None),
        "a reading for each, or computing": (gives([2.7, 13.5, 5.4]), "How often", None),
        "a reading for each of many": (gives([2.7, 2.7, 540]), "still read once", None),
        "only reading": (gives([2.7, 2.7, 2.7]), "You only count the reading", None),
        "the sum": (gives([2.727, 2.835, 8.1]), "You add", None),
        "only computing": (gives([0.027, 0.135, 5.4]), "only count the arithmetic", None),
        "the shorter one": (gives([0.027, 0.135, 2.7]), "the longer one counts", None),
        "seconds": (gives([0.0027, 0.0027, 0.0054]), "milliseconds", None),
        "other times": (gives([1, 2, 3]), "Reading takes the bytes", None),
        "one number": (gives(2.7), "should be a list", None),
        "not finite": (gives([2.7, 2.7, float("inf")]), "finite", None),
    },
    "9.q2": {
        "α changed": (gives("α", 0.61), "it is the same in both lines", 13),
        "E changed": (gives("E", 0.61), "follows from α and γ", None),
        "a gain for a name": (gives(5, 0.61), "What changed?", None),
        "nothing changed": (gives("nothing", 3.05), "does not follow from them alone", 7),
        "the text changed": (gives("quality", 0.61), "at any load", 11),
        "the gain as before": (gives("v", 3.05), "expect the same gain", 7),
        "without the target's token": (gives("v", 2.05 / 5), "left out", 6),
        "α of the proposed": (gives("v", 0.75 * 4 / 5), "a share of the proposed", 5),
        "α of the proposed, and one": (gives("v", 0.8), "a share of the proposed", 5),
        "α for E": (gives("v", 0.15), "First compute E", None),
        "one token": (gives("v", 0.2), "more than one token", None),
        "upside down": (gives("v", 5 / 3.05), "upside down", None),
        "multiplied": (gives("v", 15.25), "smaller, and not larger", None),
        "no gain, no loss": (gives("v", 1), "nothing is won or lost", None),
        "3.3 tokens": (gives("v", 3.29 / 5), "belongs to γ = 5", None),
        "another gain": (gives("v", 2), "divide by what the pass costs", None),
        "only a number": (gives(0.61), "should be a list", None),
    },
    **{part: wrong for part, (_, wrong) in WHY.items()},
}
