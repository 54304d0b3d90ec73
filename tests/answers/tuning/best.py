"""Answers to 5.best."""

import torch
from answers.tuning.speedup import E


def gains(alpha, d, v, o):
    return [1.0] + [E(alpha, n) / (d[n] + v[n] + o) for n in range(1, len(v))]


def by_list(alpha, d, v, o):
    reached = gains(alpha, d, v, o)
    return reached.index(max(reached))


def by_walking(alpha, d, v, o):
    best, top, tokens = 0, 1.0, 1.0
    for n in range(1, len(d)):
        tokens += alpha**n
        if tokens / (d[n] + v[n] + o) > top:
            best, top = n, tokens / (d[n] + v[n] + o)
    return best


def by_argmax(alpha, d, v, o):
    reached = torch.tensor(gains(alpha, d, v, o), dtype=torch.float64)
    return (reached == reached.max()).nonzero()[0, 0]


def best_of(gain, begin=1):
    """The best γ with another gain."""

    def answer(alpha, d, v, o):
        reached = [1.0] + [gain(alpha, d, v, o, n) for n in range(begin, len(v))]
        return reached.index(max(reached))

    return answer


def never_zero(alpha, d, v, o):
    reached = gains(alpha, d, v, o)[1:]
    return 1 + reached.index(max(reached))


def never_zero_and_the_last(alpha, d, v, o):
    return max(range(1, len(v)), key=lambda n: (gains(alpha, d, v, o)[n], n))


def one_too_small(alpha, d, v, o):
    return never_zero(alpha, d, v, o) - 1


def without_the_last(alpha, d, v, o):
    return by_list(alpha, d[:-1], v[:-1], o)


def uphill(alpha, d, v, o):
    reached, n = gains(alpha, d, v, o), 0
    while n + 1 < len(v) and reached[n + 1] >= reached[n]:
        n += 1
    return n


def uphill_from_one(alpha, d, v, o):
    reached, n = gains(alpha, d, v, o), 0
    while n + 1 < len(v) and reached[n + 1] > reached[n]:
        n += 1
    return n


def charged(alpha, d, v, o):
    return max(range(len(v)), key=lambda n: E(alpha, n) / (d[n] + v[n] + o))


def the_larger(alpha, d, v, o):
    return max(range(len(v)), key=lambda n: (gains(alpha, d, v, o)[n], n))


def most_tokens(alpha, d, v, o):
    return max(range(len(v)), key=lambda n: E(alpha, n))


def needs_two(alpha, d, v, o):
    reached = gains(alpha, d, v, o)[1:]
    return 1 + reached.index(max(reached)) if max(reached) > 1 else 0


RIGHT = {"5.best": [by_list, by_walking, by_argmax]}
WRONG = {
    "5.best": {
        "the largest": (lambda a, d, v, o: len(v) - 1, "You take the largest γ", 8),
        "most tokens": (most_tokens, "most tokens per pass", 7),
        "never 0": (never_zero, "You never give 0", None),
        "never 0 and the last": (never_zero_and_the_last, "You never give 0", None),
        "one too small": (one_too_small, "one too small", None),
        "without the last": (without_the_last, "leave out the last", None),
        "uphill": (uphill, "try every γ", None),
        "stops at a step": (uphill_from_one, "try every γ", None),
        "the larger of two": (the_larger, "the smallest is asked for", None),
        "plain decoding pays the loop": (charged, "to γ = 0 as well", None),
        "γ times d": (best_of(lambda a, d, v, o, n: E(a, n) / (n * d[n] + v[n] + o)), "do not multiply it", None),
        "γ times the first d": (
            best_of(lambda a, d, v, o, n: E(a, n) / (n * d[1] + v[n] + o)),
            "need not grow like that",
            None,
        ),
        "no d": (best_of(lambda a, d, v, o, n: E(a, n) / (v[n] + o)), "The drafts, d, are missing", None),
        "a flat pass": (best_of(lambda a, d, v, o, n: E(a, n) / (d[n] + 1 + o)), "as if it always cost 1", None),
        "no o": (best_of(lambda a, d, v, o, n: E(a, n) / (d[n] + v[n])), "The loop, o, is missing", None),
        "without the target's token": (
            best_of(lambda a, d, v, o, n: (E(a, n) - 1) / (d[n] + v[n] + o)),
            "own token is missing",
            6,
        ),
        "γ rows": (best_of(lambda a, d, v, o, n: E(a, n) / (d[n] + v[n - 1] + o)), "over γ + 1 rows", None),
        "the slowest": (lambda a, d, v, o: min(range(len(v)), key=gains(a, d, v, o).__getitem__), "slowest", None),
        "never drafts": (lambda a, d, v, o: 0, "You never draft", None),
        "the speed-up": (lambda a, d, v, o: max(gains(a, d, v, o)), "this is the speed-up", None),
        "no room": (needs_two, "room for γ = 0 only", None),
        "beyond the lists": (lambda a, d, v, o: len(v), "no such γ in the lists", None),
        "None for 0": (lambda a, d, v, o: by_list(a, d, v, o) or None, "returns nothing", None),
        "a list": (gains, "should be a number", None),
        "half a draft": (lambda a, d, v, o: 1.5, "a whole number", None),
    }
}
