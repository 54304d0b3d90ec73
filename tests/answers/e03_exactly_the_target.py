"""Answers to exercise 3."""

import contextlib
import itertools
import random

import torch


def plain_lists(p, q, x, u, w):
    if u * q[x] < p[x]:
        return x
    mark = w * sum(rest(p, q))
    for token, share in enumerate(rest(p, q)):
        mark -= share
        if mark < 0:
            return token
    return rest(p, q).index(max(rest(p, q)))


def with_tensors(p, q, x, u, w):
    p, q = torch.tensor(p, dtype=torch.float64), torch.tensor(q, dtype=torch.float64)
    if u < min(1.0, float(p[x] / q[x])):
        return x
    rest = (p - q).clamp(min=0)
    rest = rest / rest.sum()
    return torch.searchsorted(rest.cumsum(0), torch.tensor(w, dtype=torch.float64), right=True).clamp(max=len(p) - 1)


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


def never_divides(p, q, x, u, w):
    """Looked up in a row that does not add up to 1, w may find nothing."""
    if u * q[x] < p[x]:
        return x
    total = 0.0
    for token, (a, b) in enumerate(zip(p, q)):
        total += max(0.0, a - b)
        if w < total:
            return token


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
    "3.rule": [plain_lists, with_tensors, rule()],
    "3.test": [by_grid, counted(TWO, 20_000, 0.02), counted([([0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1])], 8_000, 0.03)],
}  # fmt: skip
WRONG = {
    "3.rule": {
        "draws from p": (rule(other=lambda p, q, u, w: drawn(p, w)), "draw from the residual", 2),
        "draws from q": (rule(other=lambda p, q, u, w: drawn(q, w)), "what comes out is [0.64, 0.12, 0.24], and not p. This is q: what replaces"),
        "takes the favourite": (rule(other=lambda p, q, u, w: p.index(max(p))), "p is a distribution"),
        "u twice": (rule(other=lambda p, q, u, w: drawn(rest(p, q), u)), "u has already been used up"),
        "keeps every draft": (rule(lambda p, q, x, u: True), "no draft is ever rejected"),
        "keeps only the favourite": (rule(lambda p, q, x, u: x == p.index(max(p))), "only if they are the target's favourite", 4),
        "p without x": (lambda p, q, x, u, w: x if u * q[x] < p[x] else drawn([a * (t != x) for t, a in enumerate(p)], w), "you draw from p without x", 2),
        "q − p": (rule(other=lambda p, q, u, w: drawn(rest(q, p), w)), "you draw from q − p"),
        "|p − q|": (rule(other=lambda p, q, u, w: drawn([abs(a - b) for a, b in zip(p, q)], w)), "you draw from |p − q|"),
        "w not scaled": (rule(other=lambda p, q, u, w: next((t for t, s in enumerate(itertools.accumulate(rest(p, q))) if w < s), len(p) - 1)), "multiply w by its sum first"),
        "what lacks most": (rule(other=lambda p, q, u, w: rest(p, q).index(max(rest(p, q)))), "the token that lacks most"),
        "any token": (rule(other=lambda p, q, u, w: int(w * len(p))), "from all tokens alike"),
        "keeps with chance p": (rule(lambda p, q, x, u: u < p[x]), "You keep a draft with chance p.", 3),
        "keeps with chance min(p, q)": (rule(lambda p, q, x, u: u < min(p[x], q[x])), "You keep a draft with chance min(p, q)."),
        "keeps with chance q/p, and divides by 0": (rule(lambda p, q, x, u: u < q[x] / p[x]), "A draft is kept with chance q/p"),
        "w not scaled, and no token": (never_divides, "multiply w by its sum first"),
        "w not scaled, and off the end": (runs_off_the_end, "multiply w by its sum first"),
        "no token for a large w": (lambda p, q, x, u, w: rule()(p, q, x, u, w) if w < 0.9 else None, "is there a way through it without a return"),
        "keeps with chance q": (rule(lambda p, q, x, u: u < q[x]), "You keep a draft with chance q"),
        "keeps where p is larger": (rule(lambda p, q, x, u: p[x] >= q[x]), "only where p is at least q"),
        "the comparison turned round": (rule(lambda p, q, x, u: u * q[x] >= p[x]), "wrong way round"),
        "u and w exchanged": (lambda p, q, x, u, w: rule()(p, q, x, w, u), "u and w have changed places"),
        "u again, scaled": (lambda p, q, x, u, w: x if u * q[x] < p[x] else drawn(rest(p, q), (u - p[x] / q[x]) / (1 - p[x] / q[x])), "Draw with w"),
        "a text": (lambda p, q, x, u, w: str(rule()(p, q, x, u, w)), "should be a number"),
        "keeps one half": (rule(lambda p, q, x, u: u < 0.5), "comes out is [0.35, 0.55, 0.1], and not p. Check both steps"),
        "p and q swapped": (rule(lambda p, q, x, u: u * p[x] < q[x]), "kept with chance q/p"),
        "accepts p = 0": (rule(lambda p, q, x, u: u * q[x] <= p[x]), "strictly less"),
        "keeps only matches": (lambda p, q, x, u, w: x if u < p[x] else drawn([a * (t != x) for t, a in enumerate(p)], w), "fewer drafts are kept", 3),
        "draws from p, and keeps a match": (lambda p, q, x, u, w: drawn(p, w), "fewer drafts are kept", 3),
        "changes p after a rejection": (lambda p, q, x, u, w: x if u * q[x] < p[x] else (drawn(rest(p, q), w), p.pop())[0], "Work on copies"),
        "changes p": (lambda p, q, x, u, w: (plain_lists(p, q, x, u, w), p.pop())[0], "Work on copies"),
        "a token that is not there": (lambda p, q, x, u, w: len(p), "only the tokens 0 to 2"),
        "loops for ever": (loops, "a loop that never stops"),
    },
    "3.test": {
        "accepts every rule": (lambda rule: True, "A test that cannot fail tests nothing"),
        "rejects every rule": (lambda rule: False, "calls a right rule wrong"),
        "p equal to q": (counted([([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])], 3_000, 0.05), "cannot fail"),
        "much room": (counted(TWO, 3_000, 0.35), "cannot fail"),
        "asserts": (asserted, "in place of `assert`"),
        "one token in the residual": (counted(TWO[:1], 10_000, 0.02), "uses the number of the accept test again"),
        "x from p": (counted([(p, p, q) for p, q in TWO], 20_000, 0.02), "Is x drawn from q"),
        "a grid, and no room": (lambda rule: by_grid(rule, 0.0001), "weighed with it"),
        "u again as w": (lambda rule: counted(TWO, 20_000, 0.02)(lambda p, q, x, u, w: rule(p, q, x, u, u)), "drawn apart"),
        "no room for chance": (counted(TWO, 500, 0.005), "room for chance"),
    },
}  # fmt: skip
