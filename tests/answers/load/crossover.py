"""Answers to 7.crossover."""

import itertools

from answers.load.gain import by_sum, falling_alpha, with_e, with_rows

from specdec_lab import theory


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


RIGHT = {"7.crossover": [by_loop, by_next, Table()]}
WRONG = {
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
    }
}
