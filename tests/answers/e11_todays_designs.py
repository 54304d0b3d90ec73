"""Answers to exercise 11."""

from itertools import accumulate
from operator import mul

import torch
from specdec_grader.sheets.e11_todays_designs import RULES

from specdec_lab.theory import acceptance, emitted


def by_pairs(joint):
    """Σ min(joint, product of the two places)."""
    table = torch.tensor(joint, dtype=torch.float64)
    return torch.minimum(table, table.sum(1, keepdim=True) * table.sum(0)).sum()


def head_by_tokens(p, q, kept):
    whole = [q[i] if i in kept else 0.0 for i in range(len(q))]
    return acceptance(p, [x / sum(whole) for x in whole])


def stopping_by_products(chances, limit):
    return 1 + sum(product >= limit for product in accumulate(chances[:-1], mul))


def by_distance(p, q, counts, rules):
    """The names of the rules, the nearest first."""

    def distance(name):
        return sum(abs(n / sum(counts) - x) for n, x in zip(counts, emitted(q, *rules[name](p, q))))

    return sorted(rules, key=distance)


def nearest(*case):
    return by_distance(*case)[0]


RIGHT = {"11.at-once": [by_pairs], "11.cut": [head_by_tokens], "11.stop": [stopping_by_products], "11.which": [nearest]}
WRONG = {
    "11.at-once": {
        "something else": (lambda joint: 0.123, "For each first token"),
    },
    "11.cut": {
        "something else": (lambda p, q, kept: 0.01, "Leave the tokens out"),
    },
    "11.stop": {
        "none": (lambda chances, limit: 0, "Multiply the chances"),
    },
    "11.which": {
        "the names by heart": (lambda p, q, counts, rules: nearest(p, q, counts, RULES), "take the names from `rules`"),
        "a number": (lambda p, q, counts, rules: 2, "“exact” or “likely enough” or"),
    },
}  # fmt: skip
