"""Answers to exercise 4. RIGHT: {part: right ones, in different styles}. WRONG: {part: {mistake: (answer, what is said, misconception)}}."""

import itertools
import random
import statistics

import torch

# 4.overlap


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


# 4.tokens


def by_powers(alpha, gammas):
    return [sum(alpha**i for i in range(gamma + 1)) for gamma in gammas]


def by_closed_form(alpha, gammas):
    if alpha == 1:
        return [gamma + 1 for gamma in gammas]
    return torch.tensor([(1 - alpha ** (gamma + 1)) / (1 - alpha) for gamma in gammas], dtype=torch.float64)


def by_lengths(alpha, gammas):
    """From the distribution of what a round writes."""
    return tuple(
        sum((n + 1) * alpha**n * (1 - alpha) for n in range(gamma)) + (gamma + 1) * alpha**gamma for gamma in gammas
    )


def curve(formula):
    return lambda alpha, gammas: [formula(alpha, gamma) for gamma in gammas]


def E(alpha, gamma):
    return sum(alpha**i for i in range(gamma + 1))


def closed(alpha, gamma):
    return (1 - alpha ** (gamma + 1)) / (1 - alpha)


# 4.claim


def by_search(alpha, gamma, claimed):
    distance, nearest = min((abs(E(alpha, n) - claimed), n) for n in range(101))
    return E(alpha, gamma), nearest if distance <= 0.05 else None


def by_table(alpha, gamma, claimed):
    table = list(itertools.accumulate(alpha**i for i in range(101)))
    best = None
    for n, tokens in enumerate(table):
        if abs(tokens - claimed) <= 0.05 and (best is None or abs(tokens - claimed) < abs(table[best] - claimed)):
            best = n
    return [table[gamma], best]


def by_steps(alpha, gamma, claimed):
    tokens, power, best = [1.0], 1.0, 0
    for n in range(1, 101):
        power *= alpha
        tokens.append(tokens[-1] + power)
        if abs(tokens[n] - claimed) < abs(tokens[best] - claimed):
            best = n
    return tokens[gamma], (best if abs(tokens[best] - claimed) <= 0.05 else None)


def claim(value=E, source=lambda a, n, e: by_search(a, n, e)[1]):
    return lambda alpha, gamma, claimed: (value(alpha, gamma), source(alpha, gamma, claimed))


def nearest_of(gammas, far=0.05):
    def source(alpha, gamma, claimed):
        near = min(gammas, key=lambda n: abs(E(alpha, n) - claimed))
        return near if abs(E(alpha, near) - claimed) <= far else None

    return source


def without_end(alpha, gamma, claimed):
    n = 0
    while E(alpha, n) < claimed:
        n += 1
    return E(alpha, gamma), n


def reaches(alpha, gamma, claimed):
    return next((n for n in range(101) if E(alpha, n) >= claimed), None)


def first_near(alpha, gamma, claimed):
    return next((n for n in range(101) if abs(E(alpha, n) - claimed) <= 0.05), None)


def up_to_the_given(alpha, gamma, claimed):
    return nearest_of(range(gamma + 1))(alpha, gamma, claimed)


# 4.rate


def by_counting(texts):
    marks = [mark for text in texts for each in text for mark in each]
    return marks.count("accepted") / (marks.count("accepted") + marks.count("rejected"))


def by_walking(texts):
    kept = tested = 0
    for text in texts:
        for each in text:
            for mark in each:
                if mark == "accepted":
                    kept, tested = kept + 1, tested + 1
                elif mark == "rejected":
                    tested += 1
                else:
                    break
    return kept / tested


def by_mean(texts):
    return (
        torch.tensor([m == "accepted" for t in texts for r in t for m in r if m in ("accepted", "rejected")])
        .double()
        .mean()
    )


def flat(texts):
    return [mark for text in texts for each in text for mark in each]


def drafts(texts):
    return [mark for mark in flat(texts) if mark in ("accepted", "rejected", "discarded")]


def rounds(texts):
    return [each for text in texts for each in text]


def of_texts(texts):
    return statistics.mean(by_counting([text]) for text in texts)


def of_rounds(texts):
    return statistics.mean(by_counting([[each]]) for each in rounds(texts) if "accepted" in each or "rejected" in each)


def gamma_times_rounds(texts):
    gamma = max(len(drafts([[each]])) for each in rounds(texts))
    return flat(texts).count("accepted") / gamma / len(rounds(texts))


def from_lengths(texts):
    """The lesson's min(n + 1, γ), which a stop makes wrong."""
    kept = tested = 0
    for each in rounds(texts):
        n, gamma = each.count("accepted"), len(drafts([[each]]))
        kept, tested = kept + n, tested + min(n + 1, gamma)
    return kept / tested


def firsts(texts):
    return statistics.mean(each[0] == "accepted" for each in rounds(texts) if each[0] != "plain")


# 4.interval


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


def proposed(texts):
    return drafts(texts).count("accepted") / len(drafts(texts))


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


RIGHT = {
    "4.overlap": [by_minimum, by_drafts, by_distance],
    "4.tokens": [by_powers, by_closed_form, by_lengths],
    "4.claim": [by_search, by_table, by_steps],
    "4.rate": [by_counting, by_walking, by_mean],
    "4.interval": [by_choices, by_sums, by_tensors],
}
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
    },
    "4.tokens": {
        "without the target's token": (curve(lambda a, n: E(a, n) - 1), "own token is missing", 6),
        "each draft by itself": (curve(lambda a, n: 1 + a * n), "as if it were kept or not by itself", None),
        "α times γ": (curve(lambda a, n: a * n), "And the target's own token is missing", 6),
        "the last power is missing": (curve(lambda a, n: E(a, n - 1)), "The last power", 6),
        "the last power is missing, closed": (curve(lambda a, n: closed(a, n - 1)), "The last power", 6),
        "one power too many": (curve(lambda a, n: E(a, n + 1)), "one power of α too many", None),
        "without γ": (curve(lambda a, n: 1 / (1 - a)), "endless drafts", None),
        "all or nothing": (curve(lambda a, n: 1 + n * a**n), "all or nothing", None),
        "all kept": (curve(lambda a, n: a**n), "chance that all drafts are kept", None),
        "the most": (curve(lambda a, n: n + 1), "the most tokens", None),
        "a share of the most": (curve(lambda a, n: a * (n + 1)), "the first token is certain", None),
        "the sum is not divided": (curve(lambda a, n: 1 - a ** (n + 1)), "divided by 1 − α", None),
        "α = 1 divides by 0": (curve(closed), "For α = 1 your closed form", None),
        "α = 1 gives 1": (curve(lambda a, n: 1 if a == 1 else closed(a, n)), "every draft is kept there", None),
        "α = 0 gives 0": (curve(lambda a, n: E(a, n) if a else 0), "still writes the target's own token", 6),
        "sorted": (lambda a, g: [E(a, n) for n in sorted(g)], "in another order", None),
        "rounded": (curve(lambda a, n: round(E(a, n), 2)), "do not round", None),
        "for one γ": (lambda a, g: E(a, g[0]), "with one number for each γ", None),
        "one short": (lambda a, g: [E(a, n) for n in g[1:]], "should have 5 items", None),
        "a dict": (lambda a, g: {n: E(a, n) for n in g}, "should be a list", None),
        "γ as a list in a power": (lambda a, g: (1 - a ** (g + 1)) / (1 - a), "TypeError", None),
        "sometimes nothing": (lambda a, g: [E(a, n) for n in g] if a > 0.5 else None, "returns nothing", None),
        "something else": (curve(lambda a, n: 1 + a), "add these chances up", None),
    },
    "4.claim": {
        "believes it": (claim(value=lambda a, n: {0.75: 3.3}.get(a, E(a, n))), "It should be E", None),
        "gives the claim back": (lambda a, n, e: (e, by_search(a, n, e)[1]), "This is the claimed number", None),
        "without the target's token": (claim(value=lambda a, n: E(a, n) - 1), "own token is missing", 6),
        "each draft by itself": (claim(value=lambda a, n: 1 + a * n), "as if it were kept", None),
        "a rounded value": (claim(value=lambda a, n: round(E(a, n), 2)), "the exact number", None),
        "gives γ back": (claim(source=lambda a, n, e: n), "the γ that was asked for", None),
        "counts the terms": (
            claim(source=lambda a, n, e: None if (m := by_search(a, n, e)[1]) is None else m + 1),
            "You count the terms",
            None,
        ),
        "the first that reaches it": (claim(source=reaches), "Take the γ that comes nearest", None),
        "the first that is near": (claim(source=first_near), "a later one may be nearer", None),
        "never None": (claim(source=nearest_of(range(101), 100)), "the answer is None", None),
        "never None, the larger": (claim(source=nearest_of(range(100, -1, -1), 100)), "the answer is None", None),
        "the larger of two": (claim(source=nearest_of(range(100, -1, -1))), "the smaller one", None),
        "not γ = 0": (claim(source=nearest_of(range(1, 101))), "do not look at γ = 0", None),
        "only smaller γ": (claim(source=up_to_the_given), "beyond the γ that was asked for", None),
        "stops at 10": (claim(source=nearest_of(range(11))), "look at all γ up to 100", None),
        "compares exactly": (claim(source=nearest_of(range(101), 0)), "see which one comes nearest", None),
        "swapped": (lambda a, n, e: by_search(a, n, e)[::-1], "swapped", None),
        "text": (claim(source=lambda a, n, e: "five"), "should be a γ or None", None),
        "one number": (E.__get__(0.5), "TypeError", None),
        "only the value": (lambda a, n, e: E(a, n), "should be a list", None),
        "looks without end": (without_end, "a loop that never stops", None),
    },
    "4.rate": {
        "accepted / proposed": (proposed, "divide by all proposed drafts", 5),
        "γ times the rounds": (gamma_times_rounds, "γ times the rounds", 5),
        "the mean of the texts": (of_texts, "mean of the texts' own rates", None),
        "the mean of the rounds": (of_rounds, "mean of the rounds' own rates", None),
        "the mean of accepted / proposed": (
            lambda t: statistics.mean(proposed([[r]]) for r in rounds(t) if drafts([[r]])),
            "divide by all proposed drafts",
            5,
        ),
        "all marks": (lambda t: flat(t).count("accepted") / len(flat(t)), "divide by all marks", None),
        "with the target's own": (
            lambda t: sum(m in ("accepted", "corrected", "bonus", "plain") for m in flat(t)) / len(drafts(t)),
            "is the target's own",
            None,
        ),
        "the bonus counts": (
            lambda t: 1 - flat(t).count("rejected") / sum(m in ("accepted", "bonus", "rejected") for m in flat(t)),
            "is the target's own",
            None,
        ),
        "all but discarded": (
            lambda t: flat(t).count("accepted") / sum(m != "discarded" for m in flat(t)),
            "is the target's own",
            None,
        ),
        "accepted a round": (lambda t: flat(t).count("accepted") / len(rounds(t)), "accepted drafts a round", None),
        "tokens per pass": (
            lambda t: sum(m in ("accepted", "corrected", "bonus", "plain") for m in flat(t)) / len(rounds(t)),
            "tokens per pass",
            None,
        ),
        "first drafts only": (firsts, "first draft of each round only", None),
        "rounds without a miss": (
            lambda t: statistics.mean(r[-1] == "bonus" for r in rounds(t)),
            "rounds without a miss",
            None,
        ),
        "the chance of a rejection": (lambda t: 1 - by_counting(t), "chance of a rejection", None),
        "min(n + 1, γ)": (from_lengths, "cut short by a stop", None),
        "the first text only": (lambda t: by_counting(t[:1]), "and divide", None),
        "a percentage": (lambda t: 100 * by_counting(t), "between 0 and 1", None),
        "a pair": (lambda t: (27, 31), "should be a number", None),
        "raises": (lambda t: t["accepted"], "TypeError", None),
    },
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
    },
}
