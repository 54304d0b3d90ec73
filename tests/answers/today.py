"""Answers to exercise 11."""

from itertools import accumulate
from operator import mul

import torch

from specdec_lab.theory import acceptance, emitted, residual


def ratio(p, q):
    return [min(1.0, a / b) if b else 1.0 for a, b in zip(p, q)]


KNOWN = {  # the four rules, typed in by their names
    "exact": lambda p, q: (ratio(p, q), residual(p, q)),
    "likely enough": lambda p, q: ([float(a >= 0.15) for a in p], p),
    "one of the best two": lambda p, q: ([float(sorted(p)[-2] <= a) for a in p], residual(p, q)),
    "p again": lambda p, q: (ratio(p, q), p),
}


def by_rows(joint):
    q = [sum(column) for column in zip(*joint)]
    return sum(sum(row) * sum(min(x / sum(row), y) for x, y in zip(row, q)) for row in joint)


def by_pairs(joint):
    """Σ min(joint, product of the two places)."""
    table = torch.tensor(joint, dtype=torch.float64)
    return torch.minimum(table, table.sum(1, keepdim=True) * table.sum(0)).sum()


def by_hand(joint):
    total = 0
    for row in joint:
        for j in range(len(row)):
            q = 0
            for other in joint:
                q += other[j]
            total += min(row[j], sum(row) * q)
    return total


def head(p, q, kept):
    cut = torch.zeros(len(q), dtype=torch.float64)
    cut[kept] = torch.tensor(q, dtype=torch.float64)[kept]
    return torch.minimum(cut / cut.sum(), torch.tensor(p, dtype=torch.float64)).sum()


def head_by_tokens(p, q, kept):
    whole = [q[i] if i in kept else 0.0 for i in range(len(q))]
    return acceptance(p, [x / sum(whole) for x in whole])


def head_by_loss(p, q, kept):
    """1 − half of the differences."""
    total = sum(q[i] for i in kept)
    return 1 - sum(abs(x - (q[i] / total if i in kept else 0)) for i, x in enumerate(p)) / 2


def stopping(chances, limit):
    product, number = 1.0, 0
    while number < len(chances) and product >= limit:
        product *= chances[number]
        number += 1
    return number


def stopping_by_products(chances, limit):
    return 1 + sum(product >= limit for product in accumulate(chances[:-1], mul))


def stopping_by_recursion(chances, limit, product=1.0):
    product *= chances[0]
    return 1 if product < limit or len(chances) == 1 else 1 + stopping_by_recursion(chances[1:], limit, product)


def by_distance(p, q, counts, rules):
    """The names of the rules, the nearest first."""

    def distance(name):
        return sum(abs(n / sum(counts) - x) for n, x in zip(counts, emitted(p, q, *rules[name](p, q))))

    return sorted(rules, key=distance)


def nearest(*case):
    return by_distance(*case)[0]


def by_chi_squared(p, q, counts, rules):
    def chi(name):
        expected = [sum(counts) * x for x in emitted(p, q, *rules[name](p, q))]
        return sum((n - x) ** 2 / (x + 1e-9) for n, x in zip(counts, expected))

    return sorted(rules, key=chi)[0]


def in_numbers(p, q, counts, rules):
    best, smallest = None, 9.0
    for name, rule in rules.items():
        keeps, other = (torch.tensor(x, dtype=torch.float64) for x in rule(p, q))
        kept = torch.tensor(q) * keeps
        shares = torch.tensor(counts) / sum(counts)
        apart = float((kept + (1 - kept.sum()) * other - shares).abs().max())
        if apart < smallest:
            best, smallest = name, apart
    return best


RIGHT = {
    "11.at-once": [by_rows, by_pairs, by_hand],
    "11.cut": [head, head_by_tokens, head_by_loss],
    "11.stop": [stopping, stopping_by_products, stopping_by_recursion],
    "11.which": [nearest, by_chi_squared, in_numbers],
}
WRONG = {
    "11.at-once": {
        "something else": (lambda joint: 0.123, "For each first token"),
        "words": (lambda joint: "half", "should be a number"),
    },
    "11.cut": {
        "a list": (lambda p, q, kept: [min(p[i], q[i]) for i in kept], "should be a number"),
        "too far into the head": (lambda p, q, kept: sum(min(p[kept[i]], q[i]) for i in range(len(q))), "raised IndexError"),
        "something else": (lambda p, q, kept: 0.01, "Leave the tokens out"),
    },
    "11.stop": {
        "none": (lambda chances, limit: 0, "Multiply the chances"),
        "half a draft": (lambda chances, limit: 1.5, "a whole number"),
    },
    "11.which": {
        "the names by heart": (lambda p, q, counts, rules: nearest(p, q, counts, KNOWN), "take the names from `rules`"),
        "the second": (lambda *case: by_distance(*case)[1], "Work out what comes out by each rule"),
        "always exact": (lambda p, q, counts, rules: "exact", "the same rule each time"),
        "a number": (lambda p, q, counts, rules: 2, "the name of a rule"),
    },
}  # fmt: skip
