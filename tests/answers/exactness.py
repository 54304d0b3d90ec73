"""Answers to exercise 3. RIGHT: {part: right ones, in different styles}. WRONG: {part: {mistake: (answer, what is said, misconception)}}."""

import itertools
import random

import torch


def plain_lists(p, q, x, u, v):
    if u * q[x] < p[x]:
        return x
    rest = [max(0, a - b) for a, b in zip(p, q)]
    mark = v * sum(rest)
    for token, share in enumerate(rest):
        mark -= share
        if mark < 0:
            return token
    return max(range(len(p)), key=rest.__getitem__)


def with_tensors(p, q, x, u, v):
    p, q = torch.tensor(p, dtype=torch.float64), torch.tensor(q, dtype=torch.float64)
    if u < min(1.0, float(p[x] / q[x])):
        return x
    rest = (p - q).clamp(min=0)
    rest = rest / rest.sum()
    return torch.searchsorted(rest.cumsum(0), torch.tensor(v, dtype=torch.float64), right=True).clamp(max=len(p) - 1)


class AnObject:
    def __call__(self, p, q, x, u, v):
        sums = list(itertools.accumulate(max(0.0, a - b) for a, b in zip(p, q)))
        return x if p[x] > u * q[x] else next(i for i, total in enumerate(sums) if total > v * sums[-1])


def drawn(weights, v):
    sums = list(itertools.accumulate(weights))
    return next(i for i, total in enumerate(sums) if total > v * sums[-1])


def rest(p, q):
    lacking = [max(0.0, a - b) for a, b in zip(p, q)]
    return lacking if sum(lacking) else p  # where nothing is lacking, a right rule never rejects


def from_p(p, q, x, u, v):
    return x if u * q[x] < p[x] else drawn(p, v)


def from_q(p, q, x, u, v):
    return x if u * q[x] < p[x] else drawn(q, v)


def keeps_all(p, q, x, u, v):
    return x


def favourite(p, q, x, u, v):
    return x if u * q[x] < p[x] else p.index(max(p))


def only_favourite(p, q, x, u, v):
    return x if x == p.index(max(p)) else drawn(rest(p, q), v)


def half(p, q, x, u, v):
    return x if u < 0.5 else drawn(rest(p, q), v)


def swapped(p, q, x, u, v):
    return x if u * p[x] < q[x] else drawn(rest(p, q), v)


def at_zero(p, q, x, u, v):
    return x if u * q[x] <= p[x] else drawn(rest(p, q), v)


def same_u(p, q, x, u, v):
    return x if u * q[x] < p[x] else drawn(rest(p, q), u)


def matches(p, q, x, u, v):
    """Exact, and keeps too few: the target draws by itself."""
    return x if u < p[x] else drawn([a * (1 - b) if i != x else 0 for i, (a, b) in enumerate(zip(p, [0] * len(p)))], v)


def changes(p, q, x, u, v):
    token = plain_lists(p, q, x, u, v)
    p[0] = 0
    return token


def a_pair(p, q, x, u, v):
    return x, True


def too_far(p, q, x, u, v):
    return len(p)


def raises(p, q, x, u, v):
    return p[len(p)]


def loops(p, q, x, u, v):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


def counted(rule, pairs, runs, room, seed=0):
    dice = random.Random(seed)
    for p, q in pairs:
        counts = [0] * len(p)
        for _ in range(runs):
            x = dice.choices(range(len(q)), q)[0]
            counts[int(rule(p, q, x, dice.random(), dice.random()))] += 1
        if any(abs(c / runs - share) > room for c, share in zip(counts, p)):
            return False
    return True


TWO = [([0.5, 0.3, 0.2], [0.7, 0.1, 0.2]), ([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1])]


def by_counting(rule):
    return counted(rule, TWO, 20_000, 0.02)


def by_one_pair(rule):
    return counted(rule, [([0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1])], 8_000, 0.03)


def by_grid(rule):
    p, q = [0.125, 0.25, 0.625], [0.75, 0.125, 0.125]
    n, out = 32, [0.0, 0.0, 0.0]
    for x in range(3):
        for i, j in itertools.product(range(n), repeat=2):
            out[rule(p, q, x, (i + 0.5) / n, (j + 0.5) / n)] += q[x] / n / n
    return max(abs(a - b) for a, b in zip(out, p)) < 0.02


def says_true(rule):
    return True


def says_false(rule):
    return False


def equal_pair(rule):
    return counted(rule, [([0.5, 0.3, 0.2], [0.5, 0.3, 0.2])], 3_000, 0.05)


def one_in_the_residual(rule):
    return counted(rule, TWO[:1], 10_000, 0.02)


def too_strict(rule):
    return counted(rule, TWO, 500, 0.005)


RIGHT = {"3.rule": [plain_lists, with_tensors, AnObject()], "3.test": [by_counting, by_one_pair, by_grid]}
WRONG = {
    "3.rule": {
        "draws from p": (from_p, "draw from the residual", 2),
        "draws from q": (from_q, "must not come from q", None),
        "keeps every draft": (keeps_all, "This is q", None),
        "keeps only the favourite": (only_favourite, "only if they are the target's favourite", 4),
        "something else": (half, "Check both steps", None),
        "takes the favourite": (favourite, "p is a distribution", None),
        "p and q swapped": (swapped, "kept with chance q/p", None),
        "accepts p = 0": (at_zero, "strictly less", None),
        "u twice": (same_u, "u has already been used up", None),
        "keeps only matches": (matches, "fewer drafts are kept", 3),
        "changes p": (changes, "Work on copies", None),
        "returns a pair": (a_pair, "should be a number", None),
        "a token that is not there": (too_far, "only the tokens 0 to 2", None),
        "raises": (raises, "IndexError", None),
        "loops for ever": (loops, "a loop that never stops", None),
    },
    "3.test": {
        "accepts every rule": (says_true, "A test that cannot fail tests nothing", None),
        "rejects every rule": (says_false, "calls a right rule wrong", None),
        "p equal to q": (equal_pair, "A test that cannot fail", None),
        "one token in the residual": (one_in_the_residual, "uses the number of the accept test again", None),
        "no room for chance": (too_strict, "leave more room for chance", None),
        "raises": (lambda rule: rule(1), "TypeError", None),
    },
}
