"""Answers to exercise 1, each with one mistake that its judges know, computed as a learner would."""

import math

from answers.idle_math import seconds, v


def bytes_read(w, b, k):
    return w * b / 8


def most_tokens(size, rate, n):
    return n * rate / size


def crossing(rate, ops, b):
    return ops * b / 16 / rate


def times(k, w, b, rate, ops):
    return [w * (b / 8) / rate, k * w * 2 / ops]


OFTEN = {  # mistakes that can be made with any of the numbers, each as a number behind or below it
    "bits": (lambda x: x * 8, "8 times too large. Are these bits?"),
    "divided by 8 again": (lambda x: x / 8, "8 times too small"),
    "twice": (lambda x: x + x, "twice too large"),
    "half": (lambda x: x - x / 2, "half of what they should be"),
    "in giga": (lambda x: x / 10**9, "10^9 times too small. Keep the plain units, without giga"),
    "in mega": (lambda x: x / 10**6, "10^6 times too small. Keep the plain units, without mega"),
    "in kilo": (lambda x: x / 10**3, "10^3 times too small. Keep the plain units, without kilo"),
    "in milli": (lambda x: x * 1000, "10^3 times too large"),
    "in micro": (lambda x: x * 1000**2, "10^6 times too large"),
    "in nano": (lambda x: x * 1000**3, "10^9 times too large"),
    "in GiB": (lambda x: x / 1024**3, "units of 2^30"),
}
WHOLE = {
    "rounded": (round, "is rounded to whole numbers"),
    "rounded down": (math.floor, "is rounded to whole numbers"),
    "rounded up": (math.ceil, "is rounded to whole numbers"),
}


def changed(formula, mistakes):
    """The function, with its result changed by each mistake."""
    return {
        name: (lambda *case, change=change: change(formula(*case)), said) for name, (change, said) in mistakes.items()
    }


def with_v(pass_seconds):
    return pass_seconds, v


def with_seconds(v):
    return seconds, v


EXCHANGED = "bandwidth and arithmetic are exchanged"
UPSIDE_DOWN = "bits is upside down"
RIGHT = {}
WRONG = {
    "1.bytes": {
        "of one token": (lambda w, b, k: w * b / 8 / k, "the share of one token"),
        "bits, for each token": (lambda w, b, k: w * b * k, "There are two mistakes"),
        "operations": (lambda w, b, k: 2 * w * k, "the number of operations"),
        "two bytes": (lambda w, b, k: w + w, "two bytes for every weight"),
        "four bytes": (lambda w, b, k: w * 4, "four bytes for every weight"),
        "upside down": (lambda w, b, k: w / (b / 8), "/ 8 is upside down"),
        "one byte": (lambda w, b, k: w, "one byte for every weight"),
    },
    "1.ceiling": {
        "seconds": (lambda size, rate, n: size / rate, "the seconds of one pass"),
        "upside down": (lambda size, rate, n: size * n / rate, "Your fraction is upside down"),
        "seconds of a token": (lambda size, rate, n: size / (rate * n), "the seconds for one token of all texts"),
        "read for each text": (lambda size, rate, n: rate / (size * n), "as if the weights were read again for each"),
        "without the bytes": (lambda size, rate, n: rate * n, "The bytes of a pass are missing"),
    },
    "1.crossing": {
        "without bits": (lambda rate, ops, b: ops / rate, "bits is missing"),
        "computing is twice as long": (lambda rate, ops, b: (b / 8 / rate) / (1 / 2 / ops), "four times too large"),
        "bits for bytes": (lambda rate, ops, b: (b / rate) / (2 / ops), "8 times too large: the bandwidth"),
        "bits for bytes, one operation": (lambda rate, ops, b: b / rate * ops, "16 times too large"),
        "one over it": (lambda rate, ops, b: 16 * rate / (ops * b), "upside down: it is one divided by the k"),
        "exchanged": (lambda rate, ops, b: crossing(ops, rate, b), EXCHANGED),
        **{f"exchanged, {f} times": (lambda rate, ops, b, f=f: f * crossing(ops, rate, b), EXCHANGED) for f in (2, 4, 8, 16)},
        **{f"bits upside down, {f} times": (lambda rate, ops, b, f=f: f * ops / (rate * b), UPSIDE_DOWN) for f in (1, 2, 4, 8, 16)},
    },
    "1.v": {
        "the shorter": (with_v(lambda *case: min(times(*case))), "the shorter of the two"),
        "reading": (with_v(lambda *case: times(*case)[0]), "reading alone"),
        "computing": (with_v(lambda *case: times(*case)[1]), "computing alone"),
        "k times": (with_v(lambda k, *sheet: k * max(times(1, *sheet))), "You multiply the time of one token by k"),
        "without k": (with_v(lambda k, *sheet: max(times(1, *sheet))), "Your time does not depend on k"),
        "one operation": (with_v(lambda k, w, b, r, ops: max(times(k, w, b, r, 2 * ops))), "Computing is half of what it should be"),
        "bits": (with_v(lambda k, w, b, r, ops: max(times(k, w, 8 * b, r, ops))), "Reading is 8 times too long"),
        "passes": (with_v(lambda *case: 1 / seconds(*case)), "passes a second"),
        "seconds of the pass": (with_seconds(lambda n, T: T(n + 1)), "This is in seconds. v is"),
        "seconds of γ tokens": (with_seconds(lambda n, T: T(n)), "in seconds, and of a pass over γ tokens"),
        "upside down": (with_seconds(lambda n, T: T(1) / T(n + 1)), "Your fraction is upside down"),
        "by a pass over γ": (with_seconds(lambda n, T: T(n + 1) / T(n)), "You compare with a pass over γ tokens"),
        "by no token": (with_seconds(lambda n, T: T(n + 1) / T(0)), "You divide by T(0)"),
        "γ + 2 tokens": (with_seconds(lambda n, T: T(n + 2) / T(1)), "over γ + 2 tokens"),
        "what is more": (with_seconds(lambda n, T: v(n, T) - 1), "it is 1 if the drafts cost nothing"),
        "a difference": (with_seconds(lambda n, T: T(n + 1) - T(1)), "how many plain passes the wide one takes: divide"),
        "of one token": (with_seconds(lambda n, T: v(n, T) / (n + 1)), "not of one token"),
        "plain passes": (with_seconds(lambda n, T: n + 1), "You take γ + 1 plain passes"),
        "free drafts": (with_seconds(lambda n, T: 1), "You say that the drafts cost nothing"),
    },
}  # fmt: skip
for part, formula in (("1.bytes", bytes_read), ("1.ceiling", most_tokens), ("1.crossing", crossing)):
    WRONG[part] = changed(formula, OFTEN) | WRONG[part]
    WRONG[part] |= changed(formula, WHOLE) if part != "1.bytes" else {}
del WRONG["1.crossing"]["bits"], WRONG["1.crossing"]["twice"]  # which it calls something else
for put, formula in ((with_v, seconds), (with_seconds, v)):
    made = changed(formula, OFTEN | WHOLE)
    WRONG["1.v"] |= {f"{formula.__name__}, {name}": (put(way), said) for name, (way, said) in made.items()}
