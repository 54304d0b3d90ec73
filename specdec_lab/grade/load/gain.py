"""Exercise 7: what drafts are worth in a batch."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import Wrong, number, part, same
from specdec_lab.theory import expected_tokens


@dataclass(frozen=True)
class Pass:
    """What a pass over n rows costs."""

    formula: str
    cost: Callable[[int], float]

    def __call__(self, n: int) -> float:
        return self.cost(n)

    def __repr__(self) -> str:
        return f"T(n) = {self.formula}"


BEND = Pass("max(1, n/40)", lambda n: max(1.0, n / 40))
LINE = Pass("2 + n/16", lambda n: 2 + n / 16)
STAIRS = Pass("3 · ⌈n/24⌉", lambda n: 3.0 * math.ceil(n / 24))
FLAT = Pass("1", lambda n: 1.0)
ROWS = Pass("n", lambda n: float(n))
POWER = Pass("n^.43", lambda n: n ** (math.log(2) / math.log(5)))  # five times the rows cost twice as much, at any size

# Part 1: the gain


def gain(T: Pass, texts: int, gamma: int, alpha: float) -> float:
    return expected_tokens(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


GAINS = (
    (BEND, 1, 3, 0.8),
    (BEND, 8, 3, 0.8),
    (BEND, 16, 3, 0.8),
    (BEND, 64, 3, 0.8),
    (LINE, 4, 5, 0.6),
    (STAIRS, 9, 2, 0.5),
    (FLAT, 50, 4, 0.7),
    (ROWS, 9, 3, 0.8),
    (BEND, 20, 0, 0.8),
    (BEND, 9, 4, 0.0),
    (BEND, 30, 2, 1.0),
)


def _like(E: Callable[[float, int], float]) -> Callable[..., float]:
    return lambda T, texts, gamma, alpha: E(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


def _rows(rows: Callable[[int, int], int], plain: Callable[[int], int] = lambda texts: texts) -> Callable[..., float]:
    return lambda T, texts, gamma, alpha: expected_tokens(alpha, gamma) * T(plain(texts)) / T(rows(texts, gamma))


GAIN_MISTAKES = (
    Mistake(
        "These are the tokens per pass. They are the gain only while the wider pass costs no more.",
        lambda T, texts, gamma, alpha: expected_tokens(alpha, gamma),
        7,
    ),
    Mistake("It is upside down: above 1 must be a gain.", lambda *case: 1 / gain(*case)),
    Mistake("Each text brings γ + 1 rows into the pass, not γ.", _rows(lambda texts, gamma: texts * gamma or texts)),
    Mistake(
        "Each text brings drafts of its own: count γ + 1 rows for each.", _rows(lambda texts, gamma: texts + gamma)
    ),
    Mistake(
        "This is the gain of one text alone: all texts are in the same pass.",
        _rows(lambda texts, gamma: gamma + 1, lambda texts: 1),
    ),
    Mistake(
        "Compare with a pass without drafts over the same batch, T(texts), and not over one text.",
        _rows(lambda texts, gamma: texts * (gamma + 1), lambda texts: 1),
    ),
    Mistake(
        "Without drafts the batch also writes one token for each text: the number of texts is on both sides.",
        lambda T, texts, gamma, alpha: texts * gain(T, texts, gamma, alpha),
    ),
    Mistake(
        "These are the tokens of a batch by the cost of its pass; the gain compares them with what the batch does without drafts.",
        lambda T, texts, gamma, alpha: texts * expected_tokens(alpha, gamma) / T(texts * (gamma + 1)),
    ),
    Mistake(
        "These are the tokens of one text by the cost of the pass; the gain compares them with a pass without drafts.",
        lambda T, texts, gamma, alpha: expected_tokens(alpha, gamma) / T(texts * (gamma + 1)),
    ),
    Mistake(
        "The corrected or bonus token is missing: with α = 0 a round still writes one token.",
        _like(lambda alpha, gamma: expected_tokens(alpha, gamma) - 1),
        6,
    ),
    Mistake(
        "A draft counts only if all before it survived: place i is reached with α^(i−1), not always.",
        _like(lambda alpha, gamma: 1 + gamma * alpha),
    ),
    Mistake("Not all drafts are accepted: the tokens per pass follow from α.", _like(lambda alpha, gamma: gamma + 1)),
    Mistake(
        "Sum up one power of α more: 1 + α + … + α^γ has γ + 1 terms.",
        _like(lambda alpha, gamma: sum(alpha**i for i in range(gamma))),
    ),
    Mistake(
        "Sum up one power of α less: 1 + α + … + α^γ has γ + 1 terms.",
        _like(lambda alpha, gamma: sum(alpha**i for i in range(gamma + 2))),
    ),
    Mistake(
        "This compares the costs only; the pass with drafts also writes more.",
        lambda T, texts, gamma, alpha: T(texts) / T(texts * (gamma + 1)),
    ),
    Mistake(
        "This compares the costs only; the pass with drafts also writes more.",
        lambda T, texts, gamma, alpha: T(texts * (gamma + 1)) / T(texts),
    ),
)


@part("7.gain", points=2)
def gains(made: Callable[[Pass, int, int, float], float]) -> None:
    """gain(T, texts, gamma, alpha) → how many times as many tokens a second."""
    found = [number(value, "The gain") for value in answers(made, GAINS)]
    for case, value in zip(GAINS, found):
        right = gain(*case)
        if not same(value, right):
            T, texts, gamma, alpha = case
            before = f"For {T}, {texts} texts, γ = {gamma} and α = {told(alpha)} the gain is {told(right)}; yours is {told(value)}."
            mistake = explained(GAIN_MISTAKES, GAINS, found)
            if mistake is None and falls_with_texts(made):
                raise Wrong(f"{before} {WITH_THE_BATCH}", misconception=13)
            raise named(mistake, before, "How many tokens does a step write, and what does it cost, with and without?")


WITH_THE_BATCH = (
    "Your drafts get worse in a fuller batch. The target says the same about each text, however many others there are."
)


def falls_with_texts(made: Callable[[Pass, int, int, float], float]) -> bool:
    """Right for one text, and lower for more, on a machine where rows are free."""
    one, many = (number(made(FLAT, texts, 4, 0.7), "The gain") for texts in (1, 64))
    return same(one, expected_tokens(0.7, 4)) and many < 0.999 * one
