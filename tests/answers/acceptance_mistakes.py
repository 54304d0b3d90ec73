"""Answers to exercise 4, each with one mistake that its judges know, computed as a learner would."""

from collections import Counter
from statistics import fmean

from answers.acceptance import by_counting, by_search, curve, drafts, flat, resampled, rounds

from specdec_lab.theory import expected_tokens as E


def powers(a, begin, end):
    return sum(a**i for i in range(begin, end))


TOKENS = {  # of one α and one γ
    "without the target's own": (lambda a, n: powers(a, 1, n + 1), "is written in every round", 6),
    "each draft by itself": (lambda a, n: 1 + n * a, "by itself"),
    "accepted, each by itself": (lambda a, n: n * a, "before it were kept. And the target's own", 6),
    "no bonus": (lambda a, n: powers(a, 0, n), "The last power of α is missing", 6),
    "one more": (lambda a, n: powers(a, 0, n + 2), "one power of α too many"),
    "no end": (lambda a, n: powers(a, 0, 1000), "endless drafts"),
    "all or one": (lambda a, n: 1 + n * a**n, "all or nothing"),
    "all or none": (lambda a, n: (n + 1) * a**n, "all or nothing"),
    "one, and one if all are kept": (lambda a, n: 1 + a**n, "all or nothing"),
    "all are kept": (lambda a, n: a**n, "the chance that all drafts are kept"),
    "the most": (lambda a, n: n + 1, "the most tokens a round can write"),
    "a share of the most": (lambda a, n: a * n + a, "the last one is rare"),
    "not divided": (lambda a, n: 1 - a ** (n + 1), "divided by 1 − α"),
}


def first(formula):
    return lambda a, n, e: (formula(a, n), by_search(a, n, e)[1])


def second(gammas=lambda n: range(101), far=0.05):
    def made(a, n, e):
        apart, gamma = min(((abs(E(a, m) - e), i, m) for i, m in enumerate(gammas(n))), default=(9, 0, 0))[::2]
        return E(a, n), gamma if apart <= far else None

    return made


def of_marks(top, bottom):
    """Marks by their first letters: a share of them."""
    return lambda t: sum(Counter(m[0] for m in flat(t))[x] for x in top) / sum(Counter(m[0] for m in flat(t))[x] for x in bottom)  # fmt: skip


def a_round(marks):
    return lambda t: sum(mark in marks for mark in flat(t)) / len(rounds(t))


def favourite(row):
    return sorted(row, key=row.get)[-1]


def chances(p, q):
    return {t: min(1, p.get(t, 0) / q[t]) for t in q}


def apart(p, q):
    return sum(abs(p.get(t, 0) - q.get(t, 0)) for t in {*p, *q})


OWN = "the target's own: it is no draft"
RIGHT = {}
WRONG = {
    "4.overlap": {
        "equal favourites": (lambda p, q: float(favourite(p) == favourite(q)), "have the same favourite", 4),
        "the difference": (lambda p, q: apart(p, q) / 2, "how much p and q differ"),
        "both differences": (lambda p, q: 1 - apart(p, q), "each difference twice"),
        "the drafter's favourite": (lambda p, q: chances(p, q)[favourite(q)], "one draft only", 4),
        "the target's favourite alone": (lambda p, q: min(p[favourite(p)], q[favourite(p)]), "one token only"),
        "p of the drafter's favourite": (lambda p, q: p[favourite(q)], "one token only"),
        "the mean of chances": (lambda p, q: fmean(chances(p, q).values()), "drafted equally often"),
        "the sum of chances": (lambda p, q: sum(chances(p, q).values()), "without weights"),
        "weights of p": (lambda p, q: sum(p[t] * x for t, x in chances(p, q).items()), "with p, but the draft"),
        "upside down": (lambda p, q: sum(q[t] * x for t, x in chances(q, p).items()), "p/q, not q/p"),
        "always 1": (lambda p, q: 1, "Go token by token"),
        "always 0": (lambda p, q: 0, "Go token by token"),
        "one and a half": (lambda p, q: 1.5, "between 0 and 1"),
        "below 0": (lambda p, q: -0.5, "between 0 and 1"),
        "the larger": (lambda p, q: sum(max(p[t], q[t]) for t in p), "not the larger"),
    },
    "4.rate": {
        "by γ times the rounds": (lambda t: flat(t).count("accepted") / max(len(drafts([r])) for r in rounds(t)) / len(rounds(t)), "γ times the rounds", 5),
        "the mean over texts": (lambda t: fmean(by_counting([text]) for text in t), "the texts' own rates"),
        "the mean over rounds": (lambda t: fmean(by_counting([r]) for r in rounds(t) if {"accepted", "rejected"} & set(flat([r]))), "the rounds' own rates"),
        "of all marks": (of_marks("a", "ardcbp"), "divide by all marks"),
        "what is written, of all marks": (of_marks("acbp", "ardcbp"), OWN),
        "what is written, of the drafts": (of_marks("acbp", "ard"), OWN),
        "what is written, of the tested": (of_marks("acbp", "ar"), OWN),
        "of the tested, corrections and bonuses": (of_marks("a", "arcb"), OWN),
        "of the tested, and the target's own": (of_marks("a", "arcbp"), OWN),
        "of what is written": (of_marks("a", "acbp"), OWN),
        "the bonus as an accepted draft": (of_marks("ab", "arb"), OWN),
        "accepted a round": (a_round(["accepted"]), "accepted drafts a round"),
        "written a round": (a_round(["accepted", "corrected", "bonus", "plain"]), "tokens per pass, not α"),
        "the first drafts": (lambda t: fmean(flat([r])[0] == "accepted" for r in rounds(t) if flat([r])[0] != "plain"), "first draft of each round"),
        "full rounds": (a_round(["bonus"]), "without a miss"),
        "the rejected": (of_marks("r", "ar"), "chance of a rejection"),
    },
    "4.tokens": {
        **{name: (curve(formula), *said) for name, (formula, *said) in TOKENS.items()},
        "sorted": (lambda a, g: sorted(curve(E)(a, g)), "in another order"),
        "α = 0 gives 0 for drafts": (curve(lambda a, n: E(a, n) if a or not n else 0), "no draft is kept there"),
    },
    "4.claim": {
        **{name: (first(formula), *said) for name, (formula, *said) in TOKENS.items()},
        "the claimed number": (lambda a, n, e: (e, by_search(a, n, e)[1]), "This is the claimed number"),
        "the γ that was asked for": (lambda a, n, e: (E(a, n), n), "the γ that was asked for"),
        "how many terms": (lambda a, n, e: (E(a, n), None if (m := by_search(a, n, e)[1]) is None else m + 1), "count the terms"),
        "the first that reaches it": (lambda a, n, e: (E(a, n), next((m for m in range(101) if E(a, m) >= e), None)), "first γ that reaches"),
        "never None, and the larger": (second(lambda n: range(100, -1, -1), 99), "and of two that are equally near"),
        "the larger of two": (second(lambda n: range(100, -1, -1)), "the smaller one is asked for"),
        "without γ = 0": (second(lambda n: range(1, 101)), "look at γ = 0"),
        "up to the given γ": (second(lambda n: range(n + 1)), "beyond the γ that was asked for"),
        "up to ten": (second(lambda n: range(11)), "You stop too early"),
    },
    "4.interval": {
        "one half": (resampled(outside=0.25), "holds one half"),
        "99 %": (resampled(outside=0.005), "holds 99 %"),
        "the middle": (resampled(outside=0.4995), "lie in the middle"),
    },
}  # fmt: skip
