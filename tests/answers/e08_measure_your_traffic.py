"""Answers to exercise 8."""

from specdec_lab.measure.endpoint import conditional


def token_by_token(first, per_token, tokens, ratio):
    before = after = first
    for _ in range(1, tokens):
        before += per_token
        after += per_token / ratio
    return before / after


def by_counts(cards):
    rounds = sum(n for n, _ in cards)
    kept = [sum(n * survival[i] for n, survival in cards) for i in range(len(cards[0][1]))]
    alphas, arrived = [], rounds
    for count in kept:
        alphas.append(count / arrived if arrived > 0 else None)
        arrived = count
    return alphas, 1 + sum(kept) / rounds


def pooled(cards):
    total = sum(n for n, _ in cards)
    return [sum(n / total * s for (n, _), s in zip(cards, place)) for place in zip(*(s for _, s in cards))]


def totals(report):
    return [r for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"]


def chosen(report):
    rows = sorted(totals(report), key=lambda row: -row["ratio_to_plain"])
    if len(rows) == 2 and rows[0]["prompts"] >= 20:
        (two,) = report["compared"]
        if two["interval"][0] <= 1.02 and rows[1]["ratio_interval"][0] > rows[0]["ratio_interval"][0]:
            return rows[1]
    return rows[0]


def by_ifs(report):
    row = chosen(report)
    if row["prompts"] < 20:
        return "too few prompts", None, []
    low, high = row["ratio_interval"]
    if low <= 1:
        return "don't" if high < 1 else "unclear", row["arm"], []
    kinds = [r for r in report["rows"] if r["arm"] == row["arm"] and r["kind"] != "overall"]
    return "deploy", row["arm"], [r["kind"] for r in kinds if r["ratio_to_plain"] < 1]


RIGHT = {
    "8.whole": [token_by_token],
    "8.survival": [by_counts],
    "8.decide": [lambda report: [by_ifs(report)[0].replace("'", "’"), by_ifs(report)[1], set(by_ifs(report)[2])]],
}  # fmt: skip
WRONG = {
    "8.whole": {
        "something else": (lambda *case: 1.0, "the answer is 1.8 times as fast; yours is 1. What is the whole time"),
    },
    "8.survival": {
        "something else": (lambda cards: ([0.5] * len(cards[0][1]), by_counts(cards)[1]), "Of the rounds that got to a place"),
        "other tokens": (lambda cards: (by_counts(cards)[0], 2), "tokens per pass are 2.85; yours are 2. How many drafts"),
        "a list that stops": (lambda cards: (conditional(pooled(cards)), 1 + sum(pooled(cards))), "no round reached"),
    },
    "8.decide": {
        "another drafter": (lambda report: (by_ifs(report)[0], "some", []), "The drafters of this report are"),
        "always unclear": (lambda report: ("unclear", *by_ifs(report)[1:]), "lookup / eagle from 1.05 to 1.26; 30 prompts) the decision should be 'deploy'"),
        "None for unclear": (lambda report: found if (found := by_ifs(report))[0] != "unclear" else None, "returns nothing"),
        "no look at the number of prompts": (lambda report: [r["ratio_interval"][0] for r in report["rows"] if r["kind"] == "overall" and r["arm"] != "plain"], "fewer than 20 prompts and no interval"),
        "other kinds": (lambda report: (*by_ifs(report)[:2], ["chat"]), "of this drafter below 1"),
    },
}  # fmt: skip
