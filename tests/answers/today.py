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


def nearest(p, q, counts, rules):
    def distance(name):
        return sum(abs(n / sum(counts) - x) for n, x in zip(counts, emitted(p, q, *rules[name](p, q))))

    return min(rules, key=distance)


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


def named(expected):
    """The nearest by another idea of what comes out."""

    def made(p, q, counts, rules):
        shares = [n / sum(counts) for n in counts]
        return min(rules, key=lambda name: sum(abs(a - b) for a, b in zip(shares, expected(p, q, *rules[name](p, q)))))

    return made


RIGHT = {
    "11.at-once": [by_rows, by_pairs, by_hand],
    "11.cut": [head, head_by_tokens, head_by_loss],
    "11.stop": [stopping, stopping_by_products, stopping_by_recursion],
    "11.which": [nearest, by_chi_squared, in_numbers],
}
WRONG = {
    "11.at-once": {
        "a match": (lambda joint: sum(x * y for row in joint for x, y in zip(row, map(sum, zip(*joint)))), "are equal", 3),
        "each first token alike": (lambda joint: sum(sum(min(x / sum(row), y) for x, y in zip(row, map(sum, zip(*joint)))) for row in joint) / len(joint), "Weight each first token"),
        "rows not scaled": (lambda joint: sum(min(x, y) for row in joint for x, y in zip(row, map(sum, zip(*joint)))), "divided by its sum"),
        "no second look": (lambda joint: 1.0, "has seen the first token"),
        "the best pair": (lambda joint: max(map(max, joint)), "Count all pairs"),
        "something else": (lambda joint: 0.123, "For each first token"),
        "words": (lambda joint: "half", "should be a number"),
    },
    "11.cut": {
        "not scaled": (lambda p, q, kept: sum(min(p[i], q[i]) for i in kept), "Scale what remains"),
        "p is cut, too": (lambda p, q, kept: sum(min(p[i] / sum(p[j] for j in kept), q[i] / sum(q[j] for j in kept)) for i in kept), "You cut p as well"),
        "the whole head": (lambda p, q, kept: acceptance(p, q), "q = 0 now"),
        "the target's share": (lambda p, q, kept: sum(p[i] for i in kept), "the most that α can be"),
        "a match": (lambda p, q, kept: sum(p[i] * q[i] / sum(q[j] for j in kept) for i in kept), "are equal", 3),
        "something else": (lambda p, q, kept: 0.01, "Leave the tokens out"),
    },
    "11.stop": {
        "thrown away": (lambda chances, limit: sum(x >= limit for x in accumulate(chances, mul)), "it must be offered"),
        "one by one": (lambda chances, limit: next((n for n, x in enumerate(chances, 1) if x < limit), len(chances)), "each draft alone"),
        "one by one, thrown away": (lambda chances, limit: next((n for n, x in enumerate(chances) if x < limit), len(chances)), "Multiply, and offer it"),
        "equal stops": (lambda chances, limit: next((n for n, x in enumerate(accumulate(chances, mul), 1) if x <= limit), len(chances)), "equal to it goes on"),
        "counts them": (lambda chances, limit: sum(x >= limit for x in chances), "Behind that one nothing"),
        "all": (lambda chances, limit: len(chances), "These are all drafts"),
        "none": (lambda chances, limit: 0, "Multiply the chances"),
        "half a draft": (lambda chances, limit: 1.5, "a whole number"),
    },
    "11.which": {
        "only what is kept": (named(lambda p, q, keeps, other: [b * k for b, k in zip(q, keeps)]), "what replaces a refused draft"),
        "all of the replacement": (named(lambda p, q, keeps, other: [b * k + o for b, k, o in zip(q, keeps, other)]), "only where a draft was refused"),
        "its own refusals": (named(lambda p, q, keeps, other: [b * k + b * (1 - k) * o for b, k, o in zip(q, keeps, other)]), "add up the chances of all refusals"),
        "the names by heart": (lambda p, q, counts, rules: max(("exact", "likely enough", "one of the best two", "p again"), key=lambda name: -sum(abs(n / sum(counts) - x) for n, x in zip(counts, emitted(p, q, *KNOWN[name](p, q))))), "take the names from `rules`"),
        "always the residual": (named(lambda p, q, keeps, other: emitted(p, q, keeps, residual(p, q))), "Each rule says itself"),
        "the furthest": (lambda p, q, counts, rules: max(rules, key=lambda name: sum(abs(n / sum(counts) - x) for n, x in zip(counts, emitted(p, q, *rules[name](p, q))))), "furthest"),
        "always exact": (lambda p, q, counts, rules: "exact", "the same rule each time"),
        "a number": (lambda p, q, counts, rules: 2, "the name of a rule"),
    },
}  # fmt: skip
