"""Answers to 8.survival."""

import itertools
from statistics import fmean

import torch

from specdec_lab.measure.traffic.endpoint import conditional
from specdec_lab.theory import expected_tokens


def by_counts(cards):
    rounds = sum(n for n, _ in cards)
    places = len(cards[0][1])
    kept = [sum(n * survival[i] for n, survival in cards) for i in range(places)]
    alphas, arrived = [], rounds
    for count in kept:
        alphas.append(count / arrived if arrived > 0 else None)
        arrived = count
    return alphas, 1 + sum(kept) / rounds


def by_shares(cards):
    total = sum(n for n, _ in cards)
    survival = [
        sum(n / total * s for n, s in zip((n for n, _ in cards), place)) for place in zip(*(s for _, s in cards))
    ]
    alphas = [b / a if a else None for a, b in itertools.pairwise([1, *survival])]
    return tuple(alphas), 1.0 + sum(survival)


class WithTensors:
    def __call__(self, cards):
        n = torch.tensor([rounds for rounds, _ in cards], dtype=torch.float64)
        kept = (n[:, None] * torch.tensor([s for _, s in cards], dtype=torch.float64)).sum(0)
        arrived = torch.cat([n.sum()[None], kept[:-1]])
        return [float(k / a) if a > 0 else None for k, a in zip(kept, arrived)], 1 + kept.sum() / n.sum()


def pooled(cards):
    rounds = sum(n for n, _ in cards)
    return [sum(n * s[i] for n, s in cards) / rounds for i in range(len(cards[0][1]))]


def with_alphas(alphas):
    """The tokens per pass are right, the α's are these."""
    return lambda cards: (alphas(cards), by_counts(cards)[1])


def with_tokens(tokens):
    """The α's are right, the tokens per pass are these."""
    return lambda cards: (by_counts(cards)[0], tokens(cards))


def mean_of_cards(cards):
    rows = [by_counts([card])[0] for card in cards if card[0]]
    return [fmean(known) if (known := [a for a in place if a is not None]) else None for place in zip(*rows)]


def mean_survival(cards):
    return by_counts([(1, [fmean(place) for place in zip(*(s for _, s in cards))])])[0]


def weighted_rates(cards):
    out = []
    for i in range(len(cards[0][1])):
        known = [(n, a) for n, s in cards if n and (a := by_counts([(n, s)])[0][i]) is not None]
        out.append(sum(n * a for n, a in known) / sum(n for n, _ in known) if known else None)
    return out


def like_the_package(cards):
    return conditional(pooled(cards)), 1 + sum(pooled(cards))


def both_wrong(cards):
    return pooled(cards), sum(pooled(cards))


def no_care_for_zero(cards):
    survival = pooled(cards)
    return [b / a for a, b in zip([1, *survival], survival)], 1 + sum(survival)


RIGHT = {"8.survival": [by_counts, by_shares, WithTensors()]}
WRONG = {
    "8.survival": {
        "survival itself": (with_alphas(pooled), "This is survival itself", None),
        "one rate": (with_alphas(lambda cards: [fmean(pooled(cards))] * len(cards[0][1])), "accepted by proposed", 5),
        "0 for unknown": (with_alphas(lambda cards: [a or 0.0 for a in by_counts(cards)[0]]), "None, and not 0", None),
        "1 for unknown": (
            with_alphas(lambda cards: [1.0 if a is None else a for a in by_counts(cards)[0]]),
            "None, and not 1",
            None,
        ),
        "None for 0": (with_alphas(lambda cards: [a or None for a in by_counts(cards)[0]]), "α is 0 there", None),
        "mean over cards": (with_alphas(mean_of_cards), "Cards differ in their rounds", None),
        "mean survival over cards": (with_alphas(mean_survival), "Cards differ in their rounds", None),
        "mean of rates by rounds": (with_alphas(weighted_rates), "the rounds that got there", None),
        "the first card": (lambda cards: by_counts([(cards[0][0] or 1, cards[0][1])]), "This is one card", None),
        "multiplied up": (
            with_alphas(lambda cards: list(itertools.accumulate(pooled(cards), lambda a, b: a * b))),
            "they are products already",
            None,
        ),
        "differences": (
            with_alphas(lambda cards: [a - b for a, b in itertools.pairwise([1.0, *pooled(cards)])]),
            "A rate is a quotient",
            None,
        ),
        "upside down": (
            with_alphas(lambda cards: [a / b if b else None for a, b in itertools.pairwise([1.0, *pooled(cards)])]),
            "Upside down",
            None,
        ),
        "by the first place": (
            with_alphas(lambda cards: [s / p[0] if p[0] else None for p in [pooled(cards)] for s in p]),
            "the place right before",
            None,
        ),
        "something else": (
            with_alphas(lambda cards: [0.5] * len(cards[0][1])),
            "Of the rounds that got to a place",
            None,
        ),
        "no token of the target's own": (with_tokens(lambda cards: sum(pooled(cards))), "in each round is missing", 6),
        "both wrong": (both_wrong, "This is survival itself", None),
        "the formula": (
            with_tokens(lambda cards: expected_tokens(fmean(pooled(cards)), len(cards[0][1]))),
            "the same chance at every place",
            None,
        ),
        "the formula with the first place": (
            with_tokens(lambda cards: expected_tokens(pooled(cards)[0], len(cards[0][1]))),
            "the same chance at every place",
            None,
        ),
        "α's added up": (
            with_tokens(lambda cards: 1 + sum(a or 0 for a in by_counts(cards)[0])),
            "add up the survivals",
            None,
        ),
        "mean of tokens over cards": (
            with_tokens(lambda cards: fmean(1 + sum(s) for _, s in cards)),
            "A card with more rounds counts more",
            None,
        ),
        "all cards added up": (
            with_tokens(lambda cards: 1 + sum(sum(s) for _, s in cards)),
            "You add up the cards",
            None,
        ),
        "γ + 1": (with_tokens(lambda cards: 1 + len(cards[0][1])), "Not all drafts are accepted", None),
        "only full rounds": (
            with_tokens(lambda cards: 1 + pooled(cards)[-1] * len(cards[0][1])),
            "The others wrote something",
            None,
        ),
        "a list that stops": (like_the_package, "no round reached", None),
        "divides by 0": (no_care_for_zero, "ZeroDivisionError", None),
        "only the α's": (lambda cards: by_counts(cards)[0], "should have 2 items", None),
        "a number for the α's": (lambda cards: (0.7, by_counts(cards)[1]), "should be a list", None),
    }
}
