"""Answers to exercise 8. RIGHT: {part: right ones, in different styles}. WRONG: {part: {mistake: (answer, what is said, misconception)}}."""

import itertools
from statistics import fmean

import torch

from specdec_lab.theory import expected_tokens
from specdec_lab.traffic.endpoint import conditional

# 8.survival


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


# 8.whole


def two_times(first, per_token, tokens, ratio):
    before = first + (tokens - 1) * per_token
    after = first + (tokens - 1) * per_token / ratio
    return before / after


def token_by_token(first, per_token, tokens, ratio):
    before = after = first
    for _ in range(tokens - 1):
        before += per_token
        after += per_token / ratio
    return before / after


def by_share(first, per_token, tokens, ratio):
    """As Amdahl has it."""
    everything = first + per_token * (tokens - 1)
    writing = per_token * (tokens - 1) / everything
    return torch.tensor(1 / (1 - writing + writing / ratio), dtype=torch.float64)


# 8.decide


def chosen(report):
    return max(
        (r for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"), key=lambda r: r["ratio_to_plain"]
    )


def by_ifs(report):
    row = chosen(report)
    interval = row["ratio_interval"]
    if interval is None or row["prompts"] < 5:
        return "unclear", row["arm"], []
    if interval[1] < 1:
        return "don't", row["arm"], []
    if interval[0] <= 1:
        return "unclear", row["arm"], []
    off = []
    for r in report["rows"]:
        if r["arm"] == row["arm"] and r["kind"] != "overall" and r["ratio_to_plain"] < 1:
            off.append(r["kind"])
    return "deploy", row["arm"], off


def by_table(report):
    rows = {(r["arm"], r["kind"]): r for r in report["rows"] if r["arm"] != "plain"}
    _, arm = max((r["ratio_to_plain"], a) for (a, kind), r in rows.items() if kind == "overall")
    best = rows[arm, "overall"]
    low, high = best["ratio_interval"] or (0, 2)
    known = best["prompts"] >= 5
    decision = "deploy" if known and low > 1 else "don't" if known and high < 1 else "unclear"
    off = {k for (a, k), r in rows.items() if a == arm and k != "overall" and r["ratio_to_plain"] < 1}
    return [decision, arm, off if decision == "deploy" else set()]


class Sorted:
    def __call__(self, report):
        overall = sorted(
            (r for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"),
            key=lambda r: -r["ratio_to_plain"],
        )
        best, decision = overall[0], "unclear"
        if best["ratio_interval"] and best["prompts"] > 4:
            signs = [(x > 1) - (x < 1) for x in best["ratio_interval"]]
            decision = {(1, 1): "deploy", (-1, -1): "don't"}.get(tuple(signs), "unclear")
        losing = [r["kind"] for r in reversed(report["rows"]) if r["arm"] == best["arm"] and r["ratio_to_plain"] < 1]
        return decision, best["arm"], [k for k in losing if k != "overall"] if decision == "deploy" else []


def with_arm(key, rows=None):
    """Everything else is right, for a drafter that was chosen in this way."""

    def made(report):
        some = rows(report) if rows else [r for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"]
        arm = max(some, key=lambda r: key(r, report))["arm"]
        decision, _, off = (
            by_ifs({"rows": [r for r in report["rows"] if r["arm"] == arm]}) if arm != "plain" else by_ifs(report)
        )
        return decision, arm, off

    return made


def mean_of_kinds(row, report):
    return fmean(r["ratio_to_plain"] for r in report["rows"] if r["arm"] == row["arm"] and r["kind"] != "overall")


def with_decision(decide):
    """The drafter is right, the decision is this, the kinds are those of a right decision."""

    def made(report):
        row = chosen(report)
        return decide(row), row["arm"], by_ifs(report)[2]

    return made


def between(low=lambda x: x > 1, high=lambda x: x < 1, few=5):
    def decide(row):
        if row["ratio_interval"] is None or row["prompts"] < few:
            return "unclear"
        return "deploy" if low(row["ratio_interval"][0]) else "don't" if high(row["ratio_interval"][1]) else "unclear"

    return decide


def by_ratio(row):
    return "deploy" if row["ratio_to_plain"] > 1 else "don't"


def by_tokens(row):
    return "deploy" if row["tokens_per_pass"] > 1 else "don't"


def with_off(off):
    """Decision and drafter are right, the kinds are these."""

    def made(report):
        decision, arm, _ = by_ifs(report)
        rows = [r for r in report["rows"] if r["arm"] == arm and r["kind"] != "overall"]
        return decision, arm, off(decision, rows, report)

    return made


def when_deployed(losing):
    return with_off(
        lambda decision, rows, report: [r["kind"] for r in rows if losing(r)] if decision == "deploy" else []
    )


def ignores_missing(report):
    row = chosen(report)
    return "deploy" if row["ratio_interval"][0] > 1 else "don't", row["arm"], []


RIGHT = {
    "8.survival": [by_counts, by_shares, WithTensors()],
    "8.whole": [two_times, token_by_token, by_share],
    "8.decide": [by_ifs, by_table, Sorted()],
}
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
    },
    "8.whole": {
        "the ratio": (lambda first, t, n, ratio: ratio, "the writing alone", 15),
        "everything faster": (
            lambda first, t, n, ratio: (first + n * t) / ((first + n * t) / ratio),
            "the writing alone",
            15,
        ),
        "the first token faster": (
            lambda first, t, n, ratio: (first + (n - 1) * t) / (first / ratio + (n - 1) * t) if first else 1.0,
            "reading the prompt has no drafts",
            15,
        ),
        "one token more": (
            lambda first, t, n, ratio: (first + n * t) / (first + n * t / ratio),
            "tokens − 1 remain",
            None,
        ),
        "one token more on one side": (
            lambda first, t, n, ratio: (first + n * t) / (first + (n - 1) * t / ratio),
            "in one of the two only",
            None,
        ),
        "upside down": (lambda *case: 1 / two_times(*case), "upside down", None),
        "times the ratio": (
            lambda first, t, n, ratio: (first + (n - 1) * t) / (first + (n - 1) * t * ratio),
            "divide by the ratio",
            None,
        ),
        "seconds": (lambda first, t, n, ratio: first + (n - 1) * t / ratio, "seconds with drafts", None),
        "seconds saved": (lambda first, t, n, ratio: (n - 1) * t * (1 - 1 / ratio), "seconds that are saved", None),
        "a mean of ratios by time": (
            lambda first, t, n, ratio: (first + (n - 1) * t * ratio) / (first + (n - 1) * t),
            "a mean of ratios, weighted",
            None,
        ),
        "a mean of ratios": (lambda first, t, n, ratio: (1 + ratio) / 2, "You take a mean of ratios", None),
        "something else": (lambda first, t, n, ratio: 1.0, "the whole time without drafts", None),
        "a pair": (lambda first, t, n, ratio: (1.0, 2.0), "should be a number", None),
    },
    "8.decide": {
        "the drafter with the most tokens": (
            with_arm(lambda r, _: r["tokens_per_pass"]),
            "the most tokens per pass",
            7,
        ),
        "plain among the drafters": (
            with_arm(
                lambda r, _: r["ratio_to_plain"], lambda report: [r for r in report["rows"] if r["kind"] == "overall"]
            ),
            "Plain decoding is in the report",
            None,
        ),
        "a mean of ratios over kinds": (with_arm(mean_of_kinds), "a mean of ratios over kinds", None),
        "the best row of all": (
            with_arm(
                lambda r, _: r["ratio_to_plain"], lambda report: [r for r in report["rows"] if r["arm"] != "plain"]
            ),
            "the best row of all kinds",
            None,
        ),
        "the best high end": (with_arm(lambda r, _: (r["ratio_interval"] or [0, 0])[1]), "that is hope", None),
        "the best low end": (with_arm(lambda r, _: (r["ratio_interval"] or [0, 0])[0]), "decides afterwards", None),
        "the first drafter": (with_arm(lambda r, _: 0), "the first drafter", None),
        "the slowest drafter": (with_arm(lambda r, _: -r["ratio_to_plain"]), "the slowest drafter", None),
        "no drafter where it loses": (
            lambda report: tuple(
                None if x == by_ifs(report)[1] and by_ifs(report)[0] == "don't" else x for x in by_ifs(report)
            ),
            "Name the drafter in any case",
            None,
        ),
        "by tokens per pass": (with_decision(by_tokens), "More than one token in a pass is no gain", 7),
        "by the ratio": (with_decision(by_ratio), "by the ratio alone", None),
        "by the ratio, with enough prompts": (
            with_decision(lambda row: by_ratio(row) if row["prompts"] >= 5 else "unclear"),
            "by the ratio alone",
            None,
        ),
        "deploys by hope": (
            with_decision(
                lambda row: (
                    "unclear"
                    if row["ratio_interval"] is None or row["prompts"] < 5
                    else "deploy"
                    if row["ratio_interval"][1] > 1
                    else "don't"
                )
            ),
            "as soon as the high end is a gain",
            None,
        ),
        "few prompts": (with_decision(between(few=0)), "fewer than 5 prompts", None),
        "five are too few": (with_decision(between(few=6)), "5 prompts are enough", None),
        "no interval is a no": (
            with_decision(lambda row: "don't" if row["ratio_interval"] is None else between(few=0)(row)),
            "Where there is no interval",
            None,
        ),
        "a low end of 1 is enough": (with_decision(between(low=lambda x: x >= 1)), "exactly 1", None),
        "a high end of 1 is too little": (with_decision(between(high=lambda x: x <= 1)), "exactly 1", None),
        "never unclear": (with_decision(between(high=lambda x: True)), "holds a gain and a loss", None),
        "never a no": (with_decision(between(high=lambda x: False)), "is not unclear: don't", None),
        "a no by the low end": (
            with_decision(
                lambda row: (
                    "don't"
                    if row["ratio_interval"] and row["prompts"] >= 5 and row["ratio_interval"][0] < 1
                    else between()(row)
                )
            ),
            "may still be a gain",
            None,
        ),
        "always unclear": (with_decision(lambda row: "unclear"), "where does the interval lie", None),
        "other words": (
            with_decision(lambda row: between()(row).replace("don't", "do not")),
            'should be "deploy"',
            None,
        ),
        "None for unclear": (
            lambda report: found if (found := by_ifs(report))[0] != "unclear" else None,
            "returns nothing",
            None,
        ),
        "no care for a missing interval": (ignores_missing, "TypeError", None),
        "kinds that gain": (when_deployed(lambda r: r["ratio_to_plain"] > 1), "where it gains", None),
        "no kinds": (with_off(lambda decision, rows, report: []), "There are kinds where it loses", None),
        "a kind with exactly 1": (
            when_deployed(lambda r: r["ratio_to_plain"] <= 1),
            "of exactly 1 loses nothing",
            None,
        ),
        "kinds of what is not deployed": (
            with_off(lambda decision, rows, report: [r["kind"] for r in rows if r["ratio_to_plain"] < 1]),
            "the list is empty",
            None,
        ),
        "kinds of other drafters": (
            with_off(
                lambda decision, rows, report: [
                    r["kind"]
                    for r in report["rows"]
                    if r["kind"] != "overall" and r["ratio_to_plain"] < 1 and decision == "deploy"
                ]
            ),
            "another one may lose elsewhere",
            None,
        ),
        "kinds by interval": (
            when_deployed(lambda r: r["ratio_interval"] is None or r["ratio_interval"][0] <= 1),
            "rest on few prompts",
            None,
        ),
        "kinds that surely lose": (
            when_deployed(lambda r: r["ratio_interval"] is not None and r["ratio_interval"][1] < 1),
            "rest on few prompts",
            None,
        ),
        "kinds by tokens": (when_deployed(lambda r: r["tokens_per_pass"] < 1.15), "of this drafter below 1", None),
        "kinds below the mean": (
            with_off(
                lambda decision, rows, report: [
                    r["kind"]
                    for r in rows
                    if decision == "deploy" and r["ratio_to_plain"] < chosen(report)["ratio_to_plain"]
                ]
            ),
            "may still gain",
            None,
        ),
        "overall as a kind": (
            lambda report: (*by_ifs(report)[:2], ["overall"] if by_ifs(report)[0] == "don't" else by_ifs(report)[2]),
            "is no kind of prompt",
            None,
        ),
        "a row in place of a kind": (
            with_off(
                lambda decision, rows, report: [r for r in rows if decision == "deploy" and r["ratio_to_plain"] < 1]
            ),
            "should hold their names",
            None,
        ),
        "the decision alone": (lambda report: by_ifs(report)[0], "should be a list", None),
        "two things": (lambda report: by_ifs(report)[:2], "should have 3 items", None),
    },
}
