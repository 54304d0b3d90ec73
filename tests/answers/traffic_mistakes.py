"""Answers to exercise 8, each with one mistake that its judges know, computed as a learner would."""

from itertools import accumulate, pairwise
from operator import mul
from statistics import fmean

from answers.traffic import by_counts, by_ifs, chosen, pooled, token_by_token, with_decision, with_kinds

from specdec_lab.theory import expected_tokens as E


def places(cards):
    return len(cards[0][1])


def with_alphas(alphas):
    return lambda cards: (alphas(cards), by_counts(cards)[1])


def with_tokens(tokens):
    return lambda cards: (by_counts(cards)[0], tokens(cards))


def alone(card):
    return by_counts([(1, card[1])])[0]


def weighed(weight):
    """The mean of the cards' own rates, over those that have one."""

    def made(cards):
        found = []
        for i in range(places(cards)):
            known = [(weight(n), alone((n, s))[i]) for n, s in cards if weight(n) and alone((n, s))[i] is not None]
            found.append(sum(w * a for w, a in known) / sum(w for w, _ in known) if known else None)
        return found

    return made


def unknown(value):
    return with_alphas(lambda cards: [value if a is None else a for a in by_counts(cards)[0]])


def ends(row):
    return row["ratio_interval"] or (0, 0)


def named(rows, key=lambda row: row["ratio_to_plain"]):
    """The drafter of the row that is the largest by some key; the rest is as if it were right."""
    return lambda report: (by_ifs(report)[0], sorted(rows(report), key=key)[-1]["arm"], [])


def overall(report):
    return [row for row in report["rows"] if row["kind"] == "overall" and row["arm"] != "plain"]


def mean_over_kinds(report):
    def mean(row):
        return fmean(r["ratio_to_plain"] for r in report["rows"] if r["kind"] != "overall" and r["arm"] == row["arm"])

    return by_ifs(report)[0], max(overall(report), key=mean)["arm"], []


def by_interval(decide, few=5, without=None):
    """The decision by the two ends; without: where there is no interval."""

    def made(row, right):
        if row["prompts"] < few:
            return "unclear"
        return decide(*row["ratio_interval"]) if row["ratio_interval"] else without or "unclear"

    return with_decision(made)


def usual(low, high):
    return "deploy" if low > 1 else "don't" if high < 1 else "unclear"


def kinds(loses, when=("deploy",)):
    """The kinds of the right drafter that lose, by some measure."""

    def made(report, decision):
        best = chosen(report)
        rows = [r for r in report["rows"] if r["arm"] == best["arm"] and r["kind"] != "overall"]
        return [r["kind"] for r in rows if loses(r, best)] if decision in when else []

    return with_kinds(made)


def at_a_loss(row, best):
    return row["ratio_to_plain"] < 1


ONE_CARD, MEAN = "This is one card", "Cards differ in their rounds"
EXACTLY, NO_INTERVAL, EMPTY = "An end of exactly 1", "Where there is no interval", "the list is empty"
OF_KINDS, IN_ANY_CASE, LEFT = (
    "the intervals of single kinds",
    "Name the drafter in any case",
    "leave it off where it loses",
)
RIGHT = {}
WRONG = {
    "8.whole": {
        "the first token faster": (lambda first, t, n, s: (first + (n - 1) * t) / (first / s + (n - 1) * t), "reading the prompt has no drafts", 15),
        "one token more before": (lambda first, t, n, s: (first + n * t) / (first + (n - 1) * t / s), "in one of the two only"),
        "upside down": (lambda *case: 1 / token_by_token(*case), "It is upside down"),
        "times the ratio": (lambda first, t, n, s: (first + (n - 1) * t) / (first + (n - 1) * t * s), "divide by the ratio"),
        "seconds": (lambda first, t, n, s: first + (n - 1) * t / s, "These are the seconds with drafts"),
        "saved": (lambda first, t, n, s: (n - 1) * t - (n - 1) * t / s, "the seconds that are saved"),
        "a mean by time": (lambda first, t, n, s: (first + (n - 1) * t * s) / (first + (n - 1) * t), "weighted by time"),
        "a mean": (lambda first, t, n, s: fmean([1, s]), "You take a mean of ratios. Divide"),
    },
    "8.survival": {
        "survival": (with_alphas(pooled), "This is survival itself"),
        "one rate": (with_alphas(lambda cards: [fmean(pooled(cards))] * places(cards)), "one rate for all places", 5),
        "0 for unknown": (unknown(0), "None, and not 0"),
        "1 for unknown": (unknown(1), "None, and not 1"),
        "None for 0": (with_alphas(lambda cards: [a or None for a in by_counts(cards)[0]]), "α is 0 there"),
        "the mean over cards with rounds": (with_alphas(weighed(lambda n: n > 0)), MEAN),
        "the mean of survival": (with_alphas(lambda cards: alone((1, [fmean(p) for p in zip(*(s for _, s in cards))]))), MEAN),
        "weighed with rounds": (with_alphas(weighed(lambda n: n)), "by all of their rounds"),
        "the first card": (with_alphas(lambda cards: alone(cards[0])), ONE_CARD),
        "the last card": (with_alphas(lambda cards: alone(cards[-1])), ONE_CARD),
        "multiplied": (with_alphas(lambda cards: list(accumulate(pooled(cards), mul))), "You multiply the survivals up"),
        "subtracted": (with_alphas(lambda cards: [a - b for a, b in pairwise([1, *pooled(cards)])]), "A rate is a quotient"),
        "upside down": (with_alphas(lambda cards: [a / b if b else None for a, b in pairwise([1, *pooled(cards)])]), "Upside down"),
        "by the first place": (with_alphas(lambda cards: [s / pooled(cards)[0] if pooled(cards)[0] else None for s in pooled(cards)]), "at the first place"),
        "accepted": (with_tokens(lambda cards: sum(pooled(cards))), "adds in each round is missing", 6),
        "the formula with mean survival": (with_tokens(lambda cards: E(fmean(pooled(cards)), places(cards))), "one rate into the formula"),
        "the formula with mean α": (with_tokens(lambda cards: E(fmean(a for a in by_counts(cards)[0] if a is not None), places(cards))), "one rate into the formula"),
        "the formula with the first α": (with_tokens(lambda cards: E(by_counts(cards)[0][0], places(cards))), "one rate into the formula"),
        "the mean of cards": (with_tokens(lambda cards: fmean(1 + sum(s) for _, s in cards)), "You take the mean over cards"),
        "the mean of cards with rounds": (with_tokens(lambda cards: fmean(1 + sum(s) for n, s in cards if n)), "You take the mean over cards"),
        "added up": (with_tokens(lambda cards: 1 + sum(x for _, s in cards for x in s)), "You add up the cards"),
        "tokens of the first card": (with_tokens(lambda cards: 1 + sum(cards[0][1])), ONE_CARD),
        "tokens of the last card": (with_tokens(lambda cards: 1 + sum(cards[-1][1])), ONE_CARD),
        "all": (with_tokens(lambda cards: places(cards) + 1), "Not all drafts are accepted"),
        "full rounds": (with_tokens(lambda cards: 1 + places(cards) * pooled(cards)[-1]), "in which all drafts were kept"),
    },
    "8.decide": {
        "plain decoding": (named(lambda report: [r for r in report["rows"] if r["kind"] == "overall"]), "A drafter is asked for"),
        "a mean of kinds": (mean_over_kinds, "a mean of ratios over kinds"),
        "the best kind": (named(lambda report: [r for r in report["rows"] if r["arm"] != "plain"]), "the best row of all kinds"),
        "the best high end": (lambda report: (by_ifs(report)[0], max(overall(report), key=lambda r: ends(r)[1])["arm"], []), "best high end"),
        "the best low end": (lambda report: (by_ifs(report)[0], max(overall(report), key=lambda r: ends(r)[0])["arm"], []), "best low end"),
        "the first": (lambda report: (by_ifs(report)[0], overall(report)[0]["arm"], []), "the first drafter in the report"),
        "the slowest": (lambda report: (by_ifs(report)[0], min(overall(report), key=lambda r: r["ratio_to_plain"])["arm"], []), "the slowest drafter"),
        "no name unless deployed": (lambda report: (by_ifs(report)[0], by_ifs(report)[1] if by_ifs(report)[0] == "deploy" else None, []), IN_ANY_CASE),
        "no name where left off": (lambda report: (by_ifs(report)[0], None if by_ifs(report)[0] == "don't" else by_ifs(report)[1], []), IN_ANY_CASE),
        "tokens per pass": (with_decision(lambda row, right: "deploy" if row["tokens_per_pass"] > 1 else "unclear" if row["tokens_per_pass"] == 1 else "don't"), "You decide by the tokens per pass", 7),
        "the ratio": (with_decision(lambda row, right: usual(row["ratio_to_plain"], row["ratio_to_plain"])), "by the ratio alone"),
        "the high end": (by_interval(lambda low, high: "deploy" if high > 1 else "don't"), "as soon as the high end is a gain"),
        "any number of prompts": (by_interval(usual, few=0), "fewer than 5 prompts"),
        "more than five prompts": (by_interval(usual, few=6), "5 prompts are enough"),
        "no interval, don't": (by_interval(usual, few=0, without="don't"), NO_INTERVAL),
        "no interval, deploy": (by_interval(usual, few=0, without="deploy"), NO_INTERVAL),
        "low end of 1": (by_interval(lambda low, high: "deploy" if low >= 1 else usual(low, high)), EXACTLY),
        "high end of 1": (by_interval(lambda low, high: "don't" if high <= 1 else usual(low, high)), EXACTLY),
        "either end of 1": (by_interval(lambda low, high: "deploy" if low >= 1 else "don't" if high <= 1 else "unclear"), EXACTLY),
        "never unclear": (by_interval(lambda low, high: "deploy" if low > 1 else "don't"), "holds a gain and a loss"),
        "never don't": (by_interval(lambda low, high: "deploy" if low > 1 else "unclear"), "it is not unclear"),
        "the low end": (by_interval(lambda low, high: "deploy" if low > 1 else "don't" if low < 1 else "unclear"), "the high end may still be a gain"),
        "where it gains": (kinds(lambda row, best: row["ratio_to_plain"] > 1), LEFT),
        "where it does not lose": (kinds(lambda row, best: not row["ratio_to_plain"] < 1), LEFT),
        "no kinds": (with_kinds(lambda *found: []), "There are kinds where it loses"),
        "a ratio of 1": (kinds(lambda row, best: row["ratio_to_plain"] <= 1), "exactly 1 loses nothing"),
        "whatever is decided": (kinds(at_a_loss, ("deploy", "don't", "unclear")), EMPTY),
        "where it is unclear": (kinds(at_a_loss, ("deploy", "unclear")), EMPTY),
        "low ends of kinds": (kinds(lambda row, best: not row["ratio_interval"] or row["ratio_interval"][0] <= 1), OF_KINDS),
        "high ends of kinds": (kinds(lambda row, best: bool(row["ratio_interval"]) and row["ratio_interval"][1] < 1), OF_KINDS),
        "tokens of kinds": (kinds(lambda row, best: row["tokens_per_pass"] <= 1), "do not tell where it loses", 7),
        "below the mean": (kinds(lambda row, best: row["ratio_to_plain"] < best["ratio_to_plain"]), "the border is 1"),
    },
}  # fmt: skip
