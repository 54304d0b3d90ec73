"""Answers to exercise 3."""

import contextlib
import itertools
import random


def plain_lists(p, q, x, u, w):
    if u * q[x] < p[x]:
        return x
    mark = w * sum(rest(p, q))
    for token, share in enumerate(rest(p, q)):
        mark -= share
        if mark < 0:
            return token
    return rest(p, q).index(max(rest(p, q)))


def drawn(weights, w):
    sums = list(itertools.accumulate(weights))
    return next(i for i, total in enumerate(sums) if total > w * sums[-1])


def rest(p, q):
    lacking = [max(0.0, a - b) for a, b in zip(p, q)]
    return lacking if sum(lacking) else p  # where nothing is lacking, a right rule never rejects


def rule(keeps=lambda p, q, x, u: u * q[x] < p[x], other=lambda p, q, u, w: drawn(rest(p, q), w)):
    """The rule, one of whose two steps can be replaced by another."""
    return lambda p, q, x, u, w: x if keeps(p, q, x, u) else other(p, q, u, w)


def loops(p, q, x, u, w):
    while True:
        with contextlib.suppress(Exception):
            while True:
                pass


def runs_off_the_end(p, q, x, u, w):
    if u * q[x] < p[x]:
        return x
    lacking, token = [max(0.0, a - b) for a, b in zip(p, q)], 0
    while w >= sum(lacking[: token + 1]):
        token += 1
        lacking[token]
    return token


def asserted(rule):
    """Stops where a rule is wrong, and says nothing where it is right."""
    assert by_grid(rule)


def counted(pairs, runs, room):
    def test(rule):
        dice = random.Random(0)
        for p, *drawn_from, q in pairs:
            counts = [0] * len(p)
            for _ in range(runs):
                x = dice.choices(range(len(q)), drawn_from[0] if drawn_from else q)[0]
                counts[int(rule(p, q, x, dice.random(), dice.random()))] += 1
            if any(abs(c / runs - share) > room for c, share in zip(counts, p)):
                return False
        return True

    return test


def by_grid(rule, room=0.02):
    p, q = [0.125, 0.25, 0.625], [0.75, 0.125, 0.125]
    n, out = 32, [0.0, 0.0, 0.0]
    for x in range(3):
        for i, j in itertools.product(range(n), repeat=2):
            out[rule(p, q, x, (i + 0.5) / n, (j + 0.5) / n)] += q[x] / n / n
    return max(abs(a - b) for a, b in zip(out, p)) < room


TWO = [([0.5, 0.3, 0.2], [0.7, 0.1, 0.2]), ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1])]

RIGHT = {
    "3.rule": [plain_lists, rule(), rule(lambda p, q, x, u: (1 - u) * q[x] <= p[x])],
    "3.test": [by_grid, counted(TWO, 20_000, 0.02), counted([([0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1])], 8_000, 0.03)],
}  # fmt: skip
WRONG = {
    "3.rule": {
        "w not scaled, and off the end": (runs_off_the_end, "multiply w by its sum first"),
        "u and w exchanged": (lambda p, q, x, u, w: rule()(p, q, x, w, u), "u and w have changed places"),
        "the other way round, and its own way out": (rule(lambda p, q, x, u: u * q[x] > p[x]), "with chance 1 − p/q"),
        "accepts p = 0": (rule(lambda p, q, x, u: u * q[x] <= p[x]), "strictly less", None, 2),
        "keeps only matches": (lambda p, q, x, u, w: x if u < p[x] else drawn([a * (t != x) for t, a in enumerate(p)], w), "fewer drafts are kept", 3, 2),
        "changes p": (lambda p, q, x, u, w: (plain_lists(p, q, x, u, w), p.pop())[0], "Work on copies"),
        "loops for ever": (loops, "a loop that never stops"),
    },
    "3.test": {
        "p equal to q": (counted([([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])], 3_000, 0.05), "cannot fail", None, 0),
        "a word": (lambda rule: "right", "True or False"),
        "asserts": (asserted, "in place of `assert`", None, 0),
        "too much room": (counted(TWO, 10_000, 0.11), "with 10,000 draws 0.02 is enough", None, 1),
        "no answer where it is wrong": (lambda rule: by_grid(rule) or None, "for one of the rules it returns None", None, 0),
    },
}  # fmt: skip
