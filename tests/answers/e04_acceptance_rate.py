"""Answers to exercise 4."""

import math
import random

from specdec_lab.theory import expected_tokens as E


def by_drafts(p, q):
    return sum(drafted * min(1, p.get(token, 0) / drafted) for token, drafted in q.items())


TESTED = ("accepted", "rejected")


def flat(texts):
    return [mark for text in texts for each in text for mark in each]


def by_counting(texts):
    marks = flat(texts)
    return marks.count("accepted") / (marks.count("accepted") + marks.count("rejected"))


def rounds(texts):
    return [[each] for text in texts for each in text]


def curve(formula):
    return lambda alpha, gammas: [formula(alpha, gamma) for gamma in gammas]


def closed(alpha, gamma):
    return (1 - alpha ** (gamma + 1)) / (1 - alpha)


def by_search(alpha, gamma, claimed):
    distance, nearest = min((abs(E(alpha, n) - claimed), n) for n in range(101))
    return E(alpha, gamma), nearest if distance <= 0.05 else None


def exactly(alpha, gamma, claimed):
    return E(alpha, gamma), next((n for n in range(101) if E(alpha, n) == claimed), None)


def counts(texts):
    """For each text the accepted, the rejected and the discarded drafts."""
    return [tuple(map(flat([text]).count, (*TESTED, "discarded"))) for text in texts]


def resampled(
    units=lambda texts: texts,
    draw=lambda counted, dice: dice.choices(counted, k=len(counted)),
    value=lambda accepted, rejected, discarded: accepted / (accepted + rejected),
):
    def interval(texts, dice):
        counted = counts(units(texts))
        values = sorted(value(*map(sum, zip(*draw(counted, dice)))) for _ in range(1000))
        return values[25], values[-26]

    return interval


by_choices = resampled()


def two_standard_errors(texts, dice=None):
    """As if all tested drafts were independent."""
    rate, tested = by_counting(texts), len([mark for mark in flat(texts) if mark in TESTED])
    error = math.sqrt(rate * (1 - rate) / tested)
    return rate - 2 * error, rate + 2 * error


RIGHT = {
    "4.overlap": [by_drafts, lambda p, q: 1 - sum(abs(p.get(t, 0) - q.get(t, 0)) for t in {*p, *q}) / 2],
    "4.rate": [by_counting],
    "4.tokens": [curve(lambda a, n: sum(a**i * (1 - a) * (i + 1) for i in range(n)) + a**n * (n + 1))],
    "4.claim": [by_search],
    "4.interval": [by_choices],
}  # fmt: skip
WRONG = {
    "4.overlap": {
        "in the order of the dicts": (lambda p, q: sum(map(min, p.values(), q.values())), "not by its place in the dict", None, 1),
        "a missing token raises": (lambda p, q: sum(min(p[t], q[t]) for t in q), "{'b': 0.3, 'c': 0.7} your function raised KeyError", None, 1),
    },
    "4.rate": {
        "the first text only": (lambda t: by_counting(t[:1]), "your function gives 0.917. Count the accepted"),
        "a percentage": (lambda t: 100 * by_counting(t), "right in percent"),
    },
    "4.tokens": {
        "α = 1 is nan": (lambda a, gammas: [(1 - a ** (g + 1)) / (1 - a) if a < 1 else math.nan for g in gammas], "it is nan", None, 1.5),
        "no γ is an error": (lambda a, gammas: [E(a, g) for g in gammas if max(gammas)] or [max(gammas)], "To an empty list".lower(), None, 1.5),
        "α = 1 divides by 0": (curve(closed), "a closed form divides by 0", None, 1.5),
        "α = 0 gives 0": (curve(lambda a, n: E(a, n) if a else 0), "still writes the target's own token", 6, 1.5),
        "sorted": (lambda a, g: sorted(curve(E)(a, g)), "in another order", None, 1),
    },
    "4.claim": {
        "compares exactly": (exactly, "2.53 for γ = 3, is right.) Compute E"),
        "swapped": (lambda a, n, e: by_search(a, n, e)[::-1], "swapped"),
        "text": (lambda a, n, e: (E(a, n), "five"), "should be a γ or None"),
    },
    "4.interval": {
        "over rounds": (resampled(units=rounds), "it should have no width. Do you draw rounds or single drafts"),
        "too few texts": (resampled(draw=lambda counted, dice: dice.choices(counted, k=8)), "too wide", None, 0),
        "two standard errors": (two_standard_errors, "some standard errors, by a formula"),
        "its own dice": (lambda texts, dice: by_choices(texts, random), "two different intervals", None, 1),
        "swapped": (lambda texts, dice: by_choices(texts, dice)[::-1], "The lower end must come first", None, 1.5),
    },
}  # fmt: skip
