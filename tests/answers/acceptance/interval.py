"""Answers to 4.interval."""

import random
import statistics

import torch
from answers.acceptance.rate import by_counting, flat, of_texts, proposed, rounds


def by_choices(texts, dice):
    values = sorted(by_counting(dice.choices(texts, k=len(texts))) for _ in range(1000))
    return values[25], values[-26]


def by_sums(texts, dice):
    sums = [(flat([text]).count("accepted"), flat([text]).count("rejected")) for text in texts]
    values = []
    for _ in range(1000):
        drawn = [sums[dice.randrange(len(sums))] for _ in sums]
        kept = sum(a for a, _ in drawn)
        values.append(kept / (kept + sum(r for _, r in drawn)))
    ends = statistics.quantiles(values, n=40)
    return [ends[0], ends[-1]]


def by_tensors(texts, dice):
    generator = torch.Generator().manual_seed(dice.randrange(2**31))
    sums = torch.tensor([[flat([text]).count(mark) for mark in ("accepted", "rejected")] for text in texts]).double()
    drawn = sums[torch.randint(len(texts), (1000, len(texts)), generator=generator)].sum(1)
    return torch.quantile(drawn[:, 0] / drawn.sum(1), torch.tensor([0.025, 0.975]).double())


def resampled(units, value, outside=0.025, runs=1000, drawn=None):
    """units(texts): what is drawn; value: what is computed from what was drawn."""

    def interval(texts, dice):
        of = units(texts)
        values = sorted(value(dice.choices(of, k=drawn or len(of))) for _ in range(runs))
        cut = int(outside * runs)
        return values[cut], values[-1 - cut]

    return interval


def one_round_texts(texts):
    return [[each] for each in rounds(texts)]


def one_draft_texts(texts):
    return [[[mark]] for mark in flat(texts) if mark in ("accepted", "rejected")]


def the_texts(texts):
    return texts


def formula_over_drafts(texts, dice):
    alpha, n = by_counting(texts), sum(mark in ("accepted", "rejected") for mark in flat(texts))
    half = 1.96 * (alpha * (1 - alpha) / n) ** 0.5
    return alpha - half, alpha + half


def without_replacement(texts, dice):
    values = sorted(by_counting(dice.sample(texts, len(texts))) for _ in range(100))
    return values[2], values[-3]


def leaves_out_one(texts, dice):
    values = sorted(by_counting(dice.sample(texts, len(texts) - 1)) for _ in range(1000))
    return values[25], values[-26]


def own_dice(texts, dice):
    values = sorted(by_counting(random.choices(texts, k=len(texts))) for _ in range(300))
    return values[7], values[-8]


def own_seed(texts, dice):
    return by_choices(texts, random.Random(0))


def swapped(texts, dice):
    return by_choices(texts, dice)[::-1]


def as_half_width(texts, dice):
    low, high = by_choices(texts, dice)
    return (low + high) / 2, (high - low) / 2


def one_error(texts, dice):
    values = [by_counting(dice.choices(texts, k=len(texts))) for _ in range(500)]
    return statistics.mean(values) - statistics.stdev(values), statistics.mean(values) + statistics.stdev(values)


def around_the_mean_of_the_texts(texts, dice):
    each = [by_counting([text]) for text in texts]
    half = 1.96 * statistics.stdev(each) / len(each) ** 0.5
    return statistics.mean(each) - half, statistics.mean(each) + half


RIGHT = {"4.interval": [by_choices, by_sums, by_tensors]}
WRONG = {
    "4.interval": {
        "over rounds": (resampled(one_round_texts, by_counting), "Do you draw rounds or single drafts", None),
        "over drafts": (resampled(one_draft_texts, by_counting, runs=200), "Do you draw rounds or single drafts", None),
        "a formula over drafts": (formula_over_drafts, "Do you draw rounds or single drafts", None),
        "the mean of ratios": (resampled(the_texts, of_texts), "Divide the sum by the sum", None),
        "a formula for the mean of ratios": (around_the_mean_of_the_texts, "Divide the sum by the sum", None),
        "accepted / proposed": (resampled(the_texts, proposed), "Discarded drafts were never examined", 5),
        "without replacement": (without_replacement, "no width", None),
        "leaves one out": (leaves_out_one, "too narrow", None),
        "90 %": (resampled(the_texts, by_counting, 0.05), "holds 90 %", None),
        "99 %": (resampled(the_texts, by_counting, 0.005), "holds 99 %", None),
        "one half": (resampled(the_texts, by_counting, 0.25), "holds one half", None),
        "one standard error": (one_error, "as one standard error", None),
        "the middle": (resampled(the_texts, by_counting, 0.5, 999), "in the middle", None),
        "smallest to largest": (resampled(the_texts, by_counting, 0), "too wide", None),
        "too many texts": (resampled(the_texts, by_counting, drawn=40), "too narrow", None),
        "too few texts": (resampled(the_texts, by_counting, drawn=8), "too wide", None),
        "its own dice": (own_dice, "two different intervals", None),
        "its own seed": (own_seed, "the same for every seed", None),
        "swapped": (swapped, "The lower end must come first", None),
        "middle and half-width": (as_half_width, "should have no width", None),
        "only α": (lambda texts, dice: by_counting(texts), "should be a list", None),
        "α twice": (lambda texts, dice: (by_counting(texts),) * 2, "no width", None),
        "three numbers": (lambda texts, dice: (0.1, 0.2, 0.3), "should have 2 items", None),
        "raises": (lambda texts, dice: dice.choice([]), "IndexError", None),
    }
}
