"""Answers to 4.overlap."""

import statistics

import torch


def by_minimum(p, q):
    return sum(min(p[token], q[token]) for token in p if token in q)


def by_drafts(p, q):
    chance = 0
    for token, drafted in q.items():
        chance += drafted * min(1, p.get(token, 0) / drafted)
    return chance


def by_distance(p, q):
    tokens = sorted({*p, *q})
    a, b = (torch.tensor([row.get(token, 0.0) for token in tokens], dtype=torch.float64) for row in (p, q))
    return 1 - (a - b).abs().sum() / 2


def top(row):
    return max(row, key=row.get)


def in_order(p, q):
    return sum(map(min, p.values(), q.values()))


def no_missing(p, q):
    return sum(min(p[token], q[token]) for token in q)


def missing_is_one(p, q):
    return sum(q[token] * min(1, p.get(token, q[token]) / q[token]) for token in q)


def unweighted(p, q):
    return statistics.mean(min(1, p.get(token, 0) / q[token]) for token in q)


RIGHT = {"4.overlap": [by_minimum, by_drafts, by_distance]}
WRONG = {
    "4.overlap": {
        "a match of two samples": (lambda p, q: sum(p[t] * q.get(t, 0) for t in p), "happen to be the same", 3),
        "the same favourite": (lambda p, q: float(top(p) == top(q)), "whether both have the same favourite", 4),
        "the draft's favourite only": (lambda p, q: min(1, p.get(top(q), 0) / q[top(q)]), "the drafter's favourite", 4),
        "p of the draft's favourite": (lambda p, q: p.get(top(q), 0), "one token only", None),
        "the smaller share of one favourite": (lambda p, q: min(p[top(p)], q.get(top(p), 0)), "one token only", None),
        "the difference": (lambda p, q: 1 - by_distance(p, q), "how much p and q differ", None),
        "no half": (lambda p, q: 2 * by_distance(p, q) - 1, "each difference twice", None),
        "no half, cut at 0": (lambda p, q: max(0, 2 * by_minimum(p, q) - 1), "each difference twice", None),
        "a mean without weights": (unweighted, "drafted equally often", None),
        "a sum without weights": (lambda p, q: unweighted(p, q) * len(q), "without weights", None),
        "weighed with p": (
            lambda p, q: sum(p.get(t, 0) * min(1, p.get(t, 0) / q[t]) for t in q),
            "weigh min(1, p/q) with p",
            None,
        ),
        "q/p": (lambda p, q: sum(q[t] * min(1, q[t] / p[t]) for t in q if t in p), "not q/p", None),
        "the larger": (
            lambda p, q: sum(max(p.get(t, 0), q.get(t, 0)) for t in {*p, *q}),
            "the smaller of the two",
            None,
        ),
        "in the order of the dicts": (in_order, "not by its place in the dict", None),
        "a missing token raises": (no_missing, "raised KeyError", None),
        "a missing token counts": (missing_is_one, "missing in one of them has chance 0", None),
        "rounded": (lambda p, q: round(by_minimum(p, q), 1), "do not round", None),
        "always .8": (lambda p, q: 0.8, "Go token by token", None),
        "above 1": (lambda p, q: 80.0, "between 0 and 1", None),
        "text": (lambda p, q: "high", "should be a number", None),
        "a list": (lambda p, q: [min(p.get(t, 0), q[t]) for t in q], "should be a number", None),
    }
}
