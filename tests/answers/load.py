"""Answers to exercise 7. RIGHT: {part: right ones, in different styles}. WRONG: {part: {mistake: (answer, what is said, misconception)}}."""

import itertools

import torch

from specdec_lab import theory
from specdec_lab.grade.load import MEASURED, STEP
from specdec_lab.serving import StepCosts, always, load_aware

# 7.gain


def by_sum(T, texts, gamma, alpha):
    E = sum(alpha**i for i in range(gamma + 1))
    return E * T(texts) / T(texts * (gamma + 1))


def closed_form(T, texts, gamma, alpha):
    E = gamma + 1 if alpha == 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)
    with_drafts = texts * E / T(texts * (gamma + 1))
    without = texts / T(texts)
    return with_drafts / without


class Speed:
    def __call__(self, T, texts, gamma, alpha):
        reach = torch.full((gamma,), alpha, dtype=torch.float64).cumprod(0)
        cost = torch.tensor([T(texts + texts * gamma), T(texts)], dtype=torch.float64)
        return (1 + reach.sum()) * cost[1] / cost[0]


def with_e(E):
    return lambda T, texts, gamma, alpha: E(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


def with_rows(rows, plain=lambda texts: texts):
    return lambda T, texts, gamma, alpha: theory.expected_tokens(alpha, gamma) * T(plain(texts)) / T(rows(texts, gamma))


def tokens_only(T, texts, gamma, alpha):
    return theory.expected_tokens(alpha, gamma)


def falling_alpha(T, texts, gamma, alpha):
    return by_sum(T, texts, gamma, alpha / texts**0.5)


def falling_tokens(T, texts, gamma, alpha):
    return by_sum(T, texts, gamma, alpha) / texts


def no_care_for_one(T, texts, gamma, alpha):
    return (1 - alpha ** (gamma + 1)) / (1 - alpha) * T(texts) / T(texts * (gamma + 1))


# 7.crossover


def by_loop(T, gamma, alpha, most):
    for texts in range(1, most + 1):
        if by_sum(T, texts, gamma, alpha) < 1:
            return texts
    return None


def by_next(T, gamma, alpha, most):
    E = theory.expected_tokens(alpha, gamma)
    return next(
        (n for n in itertools.takewhile(lambda n: n <= most, itertools.count(1)) if T(n * (gamma + 1)) > E * T(n)), None
    )


class Table:
    def __call__(self, T, gamma, alpha, most):
        E = sum(alpha**i for i in range(gamma + 1))
        losing = [n for n in range(1, most + 1) if T(n + n * gamma) / T(n) > E]
        return float(min(losing)) if losing else None


def first(T, gamma, alpha, most, gain=by_sum, loses=lambda g: g < 1):
    return next((n for n in range(1, most + 1) if loses(gain(T, n, gamma, alpha))), None)


def crossing(gain):
    return lambda T, gamma, alpha, most: first(T, gamma, alpha, most, gain)


def last_that_pays(T, gamma, alpha, most):
    return max((n for n in range(1, most + 1) if by_sum(T, n, gamma, alpha) >= 1), default=None)


def one_before(T, gamma, alpha, most):
    found = by_loop(T, gamma, alpha, most)
    return most if found is None else found - 1


def by_halves(T, gamma, alpha, most):
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if by_sum(T, middle, gamma, alpha) >= 1 else (low, middle)
    return high if high <= most else None


def from_above(T, gamma, alpha, most):
    n = most
    while n and by_sum(T, n, gamma, alpha) < 1:
        n -= 1
    return n + 1 if n < most else None


def bend_of_the_data_sheet(T, gamma, alpha, most):
    """Solves E = texts · (γ + 1) / 40 by hand, for one machine."""
    return theory.expected_tokens(alpha, gamma) * 40 / (gamma + 1)


# 7.policy

COSTS = StepCosts(MEASURED)


def dearest(texts, last):
    """The γ with the most tokens a second; back only when few are left."""
    if not last and texts > 10:
        return 0
    return max((0, 2, 4), key=lambda g: STEP[g] / COSTS(texts, g))


class Memory:
    """Watches a few steps before it lets drafts come back, and steps down first."""

    def __init__(self):
        self.quiet = 0

    def __call__(self, texts, last):
        self.quiet = self.quiet + 1 if texts <= 8 else 0
        if last:
            return 4 if texts <= 10 else 2 if texts <= 20 else 0
        return 4 if self.quiet >= 3 or texts <= 2 else 0


def prices_without_a_gap(texts, last):
    return max((0, 2, 4), key=lambda g: STEP[g] / COSTS(texts, g))


class OnceOff:
    def __init__(self):
        self.off = False

    def __call__(self, texts, last):
        self.off = self.off or texts > 12
        return 0 if self.off else 4


def every_other_step(texts, last):
    return 0 if last or texts > 12 else 4


RIGHT = {
    "7.gain": [by_sum, closed_form, Speed()],
    "7.crossover": [by_loop, by_next, Table()],
    "7.policy": [load_aware(4, off_above=14, on_below=8), dearest, Memory()],
}
WRONG = {
    "7.gain": {
        "tokens per pass": (tokens_only, "tokens per pass", 7),
        "upside down": (lambda *case: 1 / by_sum(*case), "upside down", None),
        "γ rows": (with_rows(lambda n, g: n * g if g else n), "γ + 1 rows into the pass", None),
        "drafts counted once": (with_rows(lambda n, g: n + g), "drafts of its own", None),
        "one text alone": (with_rows(lambda n, g: g + 1, lambda n: 1), "one text alone", None),
        "against one text": (with_rows(lambda n, g: n * (g + 1), lambda n: 1), "and not over one text", None),
        "texts on one side": (lambda T, n, g, a: n * by_sum(T, n, g, a), "on both sides", None),
        "tokens a second": (
            lambda T, n, g, a: n * theory.expected_tokens(a, g) / T(n * (g + 1)),
            "compares them with what the batch does",
            None,
        ),
        "tokens a second of a text": (
            lambda T, n, g, a: theory.expected_tokens(a, g) / T(n * (g + 1)),
            "compares them with a pass without",
            None,
        ),
        "only accepted drafts": (with_e(lambda a, g: theory.expected_tokens(a, g) - 1), "bonus token is missing", 6),
        "γ times α": (with_e(lambda a, g: 1 + g * a), "all before it survived", None),
        "all accepted": (with_e(lambda a, g: g + 1), "Not all drafts are accepted", None),
        "a power less": (with_e(lambda a, g: sum(a**i for i in range(g))), "one power of α more", None),
        "a power more": (with_e(lambda a, g: sum(a**i for i in range(g + 2))), "one power of α less", None),
        "costs only": (lambda T, n, g, a: T(n) / T(n * (g + 1)), "the costs only", None),
        "costs only, upside down": (lambda T, n, g, a: T(n * (g + 1)) / T(n), "the costs only", None),
        "α falls with the batch": (falling_alpha, "worse in a fuller batch", 13),
        "tokens fall with the batch": (falling_tokens, "worse in a fuller batch", 13),
        "no care for α = 1": (no_care_for_one, "ZeroDivisionError", None),
        "something else": (lambda T, n, g, a: 2.0, "with and without", None),
        "a text": (lambda T, n, g, a: f"{by_sum(T, n, g, a):.2f}x", "should be a number", None),
        "nothing for γ = 0": (lambda T, n, g, a: by_sum(T, n, g, a) if g else None, "returns nothing for", None),
    },
    "7.crossover": {
        "the last that pays": (last_that_pays, "still pays; the next one", None),
        "one before, None if it pays": (
            lambda T, g, a, most: (n := by_loop(T, g, a, most)) and n - 1,
            "still pays; the next one",
            None,
        ),
        "one before": (one_before, "still pays; the next one", None),
        "1 is a loss": (lambda *case: first(*case, loses=lambda g: g <= 1), "nothing is lost yet", None),
        "where it bends": (crossing(lambda T, n, g, a: T(n) / T(n * (g + 1))), "begins to cost more", None),
        "where it bends, against one": (
            crossing(lambda T, n, g, a: T(1) / T(n * (g + 1))),
            "begins to cost more than a pass for one text",
            None,
        ),
        "against one text": (crossing(with_rows(lambda n, g: n * (g + 1), lambda n: 1)), "and not over one text", None),
        "most left out": (lambda T, g, a, most: by_loop(T, g, a, most - 1), "`most` itself", None),
        "most for None": (lambda T, g, a, most: by_loop(T, g, a, most) or most, "return None", None),
        "0 for None": (lambda T, g, a, most: by_loop(T, g, a, most) or 0, "return None", None),
        "infinity for None": (lambda T, g, a, most: by_loop(T, g, a, most) or float("inf"), "a finite number", None),
        "γ rows": (crossing(with_rows(lambda n, g: n * g if g else n)), "γ + 1 rows", None),
        "drafts counted once": (crossing(with_rows(lambda n, g: n + g)), "drafts of its own", None),
        "rows": (lambda T, g, a, most: (n := by_loop(T, g, a, most)) and n * (g + 1), "These are rows", None),
        "only accepted drafts": (
            crossing(with_e(lambda a, g: theory.expected_tokens(a, g) - 1)),
            "bonus token is missing",
            6,
        ),
        "all accepted": (crossing(with_e(lambda a, g: g + 1)), "Not all drafts are accepted", None),
        "γ times α": (crossing(with_e(lambda a, g: 1 + g * a)), "1 + γ·α", None),
        "by halves": (by_halves, "may lose, pay again", None),
        "from above": (from_above, "may lose, pay again", None),
        "α falls with the batch": (crossing(falling_alpha), "worse in a fuller batch", 13),
        "solved for one machine": (bend_of_the_data_sheet, "a whole number", None),
        "always 30": (lambda T, g, a, most: 30, "below 1 for the first time", None),
        "a pair": (lambda T, g, a, most: (by_loop(T, g, a, most), 1.0), "should be a number", None),
    },
    "7.policy": {
        "never": (always(0), "never drafts", None),
        "always four": (always(4), "even when the batch is full", None),
        "always two": (always(2), "even when the batch is full", None),
        "the other way round": (lambda texts, last: 4 if texts > 12 else 0, "other way round", None),
        "never turns on": (lambda texts, last: 4 if last and texts < 12 else 0, "they never come back", None),
        "once off, always off": (OnceOff(), "they never come back", None),
        "a limit far too high": (load_aware(4, 48), "still drafts where it loses", None),
        "too high, with a gap": (load_aware(4, 40, 30), "still drafts where it loses", None),
        "a limit too low": (load_aware(4, 1), "rows are nearly free", None),
        "a low limit": (load_aware(4, 2), "stops too early", None),
        "two drafts alone": (load_aware(2, 16, 8), "which γ writes most", None),
        "no gap": (load_aware(4, 24), "must catch up", None),
        "prices without a gap": (prices_without_a_gap, "must catch up", None),
        "on and off": (every_other_step, "must catch up", None),
        "three drafts": (lambda texts, last: 3 if texts < 10 else 0, "was not measured", None),
        "True": (lambda texts, last: texts < 10, "was not measured", None),
        "half a draft": (lambda texts, last: 4 / texts, "a whole number", None),
        "no return": (lambda texts, last: 4 if texts < 10 else None, "returns nothing for texts = 10", None),
        "raises": (lambda texts, last: {1: 4}[texts], "KeyError", None),
    },
}
