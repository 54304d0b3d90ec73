"""Answers to exercise 5, each with one mistake that its judges know, computed as a learner would."""

from statistics import fmean

import torch
from answers.tuning import by_formula, by_halving, gain, gains, pick

from specdec_lab.theory import expected_tokens as E


def by_cost(cost, tokens=E):
    return lambda a, n, c, v, o: tokens(a, n) / cost(n, c, v, o)


def per_token(tokens):
    return by_cost(lambda n, c, v, o: n * c + v[n] + o, tokens)


def place(values, key=max):
    return list(values).index(key(values))


def last_place(values):
    return max(range(len(values)), key=lambda n: (values[n], n))


def best(cost, tokens=E):
    return lambda a, d, v, o: place([1.0] + [tokens(a, n) / cost(n, d, v, o) for n in range(1, len(v))])


def until_it_falls(*case):
    reached = gains(*case)
    return next((n for n in range(len(reached) - 1) if reached[n + 1] <= reached[n]), len(reached) - 1)


def least(tokens, otherwise=None):
    return lambda n, x: by_halving(n, x, tokens) or otherwise


def written(row):
    return sum(n for n, _ in row["texts"]) / sum(p for _, p in row["texts"])


def mean_written(row):
    return fmean(n / p for n, p in row["texts"])


def row_with(key):
    return pick(key, pays=lambda row: True)


def at(cost, tokens=written):
    return row_with(lambda row: tokens(row) / cost(row))


def if_it_pays(cost):
    """By another cost, also where it decides whether to draft at all."""
    return pick(lambda row: written(row) / cost(row), lambda row: written(row) > cost(row))


def with_its_largest_gamma(rows):
    draft = pick()(rows)[0]
    return draft, max(row["gamma"] for row in rows if row["draft"] == draft)


IN_ONE_PASS = "all rows in one pass"
RIGHT = {
    "5.least": [lambda n, x: None if x > n + 1 else torch.tensor(by_halving(n, x), dtype=torch.float64)],
    "5.pick": [lambda rows: pick()(rows) if pick()(rows)[1] else (None, None)],
}
WRONG = {
    "5.speedup": {
        "tokens": (lambda a, n, c, v, o: E(a, n), "These are the tokens of a round", 7),
        "one draft": (by_cost(lambda n, c, v, o: c + v[n] + o), "makes γ of them"),
        "γ rows": (by_cost(lambda n, c, v, o: n * c + v[n - 1] + o), "γ + 1 rows, which costs v[γ]"),
        "the widest pass": (by_cost(lambda n, c, v, o: n * c + v[-1] + o), "the widest pass"),
        "a plain pass for each row": (by_cost(lambda n, c, v, o: n * c + n + 1 + o), IN_ONE_PASS),
        "the pass for each row": (by_cost(lambda n, c, v, o: n * c + (n + 1) * v[n] + o), IN_ONE_PASS),
        "the pass for each draft": (by_cost(lambda n, c, v, o: n * c + n * v[n] + o), IN_ONE_PASS),
        "no pass": (by_cost(lambda n, c, v, o: n * c + o or 1e-12), "target's pass is missing"),
        "no drafts": (by_cost(lambda n, c, v, o: v[n] + o), "The drafts are missing"),
        "no loop": (by_cost(lambda n, c, v, o: n * c + v[n]), "o, is missing"),
        "the loop for each draft": (by_cost(lambda n, c, v, o: n * c + v[n] + n * o), "not once a draft"),
        "γ + 1 drafts": (by_cost(lambda n, c, v, o: n * c + c + v[n] + o), "makes γ drafts, not γ + 1"),
        "no token of the target": (per_token(lambda a, n: E(a, n) - 1), "own token is missing", 6),
        "no bonus": (per_token(lambda a, n: sum(a**i for i in range(n))), "The last power", 6),
        "each draft by itself": (per_token(lambda a, n: 1 + a * n), "α · γ + 1 is not"),
        "all drafts": (per_token(lambda a, n: n + 1), "α has to count"),
        "upside down": (lambda *case: 1 / by_formula(*case), "the other way up"),
        "the cost": (lambda a, n, c, v, o: n * c + v[n] + o, "what a round costs"),
        "the gain": (lambda *case: by_formula(*case) - 1, "gained beyond 1"),
        "a difference": (lambda a, n, c, v, o: E(a, n) - n * c - v[n] - o, "do not take it away"),
    },
    "5.best": {
        "the largest γ": (lambda a, d, v, o: len(d) - 1, "You take the largest γ", 8),
        "the most tokens": (lambda a, d, v, o: place([E(a, n) for n in range(len(v))]), "the most tokens per pass", 7),
        "never 0, the last of equals": (lambda *case: 1 + last_place(gains(*case)[1:]), "You never give 0. Where no γ is faster than plain decoding, the best is not to draft. And"),
        "counts from 1": (lambda *case: place(gains(*case)[1:]), "one too small"),
        "not the last": (lambda *case: place(gains(*case)[:-1]), "leave out the last γ"),
        "until it falls": (until_it_falls, "where S first falls"),
        "the last of equals": (lambda *case: last_place(gains(*case)), "the smallest is asked for"),
        "o without drafts": (lambda a, d, v, o: place([1 / (1 + o), *gains(a, d, v, o)[1:]]), "You charge the loop"),
        "γ times d": (best(lambda n, d, v, o: n * d[n] + v[n] + o), "do not multiply it by γ"),
        "γ times one draft": (best(lambda n, d, v, o: n * d[1] + v[n] + o), "need not grow like that"),
        "no drafts": (best(lambda n, d, v, o: v[n] + o), "The drafts, d, are missing"),
        "a plain pass": (best(lambda n, d, v, o: d[n] + 1 + o), "as if it always cost 1"),
        "no pass": (best(lambda n, d, v, o: d[n] + o or 1e-12), "target's pass is missing"),
        "no loop": (best(lambda n, d, v, o: d[n] + v[n]), "The loop, o, is missing"),
        "no token of the target": (best(lambda n, d, v, o: d[n] + v[n] + o, lambda a, n: E(a, n) - 1), "missing in E", 6),
        "γ rows": (best(lambda n, d, v, o: d[n] + v[n - 1] + o), "γ + 1 rows, which costs v[γ]"),
        "the slowest": (lambda *case: place(gains(*case), min), "the slowest γ"),
        "never": (lambda *case: 0, "You never draft"),
        "below 0": (lambda *case: -1, "there is no such γ in the lists"),
    },
    "5.least": {
        "each draft by itself": (lambda n, x: (x - 1) / n, "1 + γ · α"),
        "endless drafts": (lambda n, x: 1 - 1 / x, "endless drafts"),
        "α for each token": (lambda n, x: x / (n + 1), "the first is certain"),
        "without the target's token, 1 for None": (least(lambda a, n: E(a, n) - 1, 1.0), "one token too much", 6),
        "no bonus": (least(lambda a, n: E(a, n - 1)), "The last power", 6),
        "no bonus, 1 for None": (least(lambda a, n: E(a, n - 1), 1.0), "The last power", 6),
        "a power too many": (least(lambda a, n: E(a, n + 1)), "too many in E"),
        "one more if all are kept": (lambda n, x: (x - 1) ** (1 / n), "in which all drafts are kept"),
        "one more if all are kept, or None": (lambda n, x: (x - 1) ** (1 / n) if x <= 2 else None, "in which all drafts are kept"),
        "γ more if all are kept": (lambda n, x: ((x - 1) / n) ** (1 / n), "in which all drafts are kept"),
        "S": (lambda n, x: (n + 1) / x, "This is S at α = 1"),
        "no number where none is enough": (lambda n, x: by_halving(n, x) if x <= n + 1 else float("nan"), "so no α is enough"),
        "always 1": (lambda n, x: 1.0, "the largest α there is"),
    },
    "5.pick": {
        "the most tokens": (row_with(written), "the most tokens per pass", 7),
        "the largest mean of tokens": (row_with(mean_written), "the most tokens per pass", 7),
        "α": (row_with(lambda row: row["alpha"]), "by its α"),
        "α, then the speed": (row_with(lambda row: (row["alpha"], gain(row))), "by its α"),
        "α, then γ": (row_with(lambda row: (row["alpha"], row["gamma"])), "by its α"),
        "the fewest weights": (row_with(lambda row: -row["weights"]), "the fewest weights", 14),
        "the fewest weights, then the speed": (row_with(lambda row: (-row["weights"], gain(row))), "the fewest weights", 14),
        "the cheapest drafts": (row_with(lambda row: -row["d"]), "the cheapest drafts"),
        "the cheapest round": (row_with(lambda row: -row["d"] - row["v"] - row["o"]), "the cheapest round"),
        "its largest γ": (with_its_largest_gamma, "you take its largest γ", 8),
        "the largest γ": (row_with(lambda row: row["gamma"]), "You take the largest γ", 8),
        "γ times d": (at(lambda row: row["d"] * row["gamma"] + row["v"] + row["o"]), "do not multiply it by γ"),
        "no loop": (at(lambda row: row["d"] + row["v"]), "o, is missing"),
        "no pass": (at(lambda row: row["d"] + row["o"]), "v, is missing"),
        "a plain pass": (at(lambda row: row["d"] + row["o"] + 1), "costs v, not 1"),
        "no drafts": (at(lambda row: row["v"] + row["o"]), "d, are missing"),
        "γ times d, also to see whether it pays": (if_it_pays(lambda row: row["gamma"] * row["d"] + row["v"] + row["o"]), "do not multiply it by γ"),
        "γ in words": (lambda rows: (rows[0]["draft"], "four"), "γ should be a number"),
        "the formula": (at(lambda row: row["d"] + row["v"] + row["o"], lambda row: sum(row["alpha"] ** i for i in range(row["gamma"] + 1))), "compute the tokens from α"),
        "the slowest": (row_with(lambda row: -gain(row)), "the slowest row"),
        "the first": (lambda rows: (rows[0]["draft"], rows[0]["gamma"]), "You take the first row"),
        "the last": (lambda rows: (rows[-1]["draft"], rows[-1]["gamma"]), "You take the last row"),
    },
}  # fmt: skip
