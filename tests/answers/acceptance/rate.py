"""Answers to 4.rate."""

import statistics

import torch


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


def proposed(texts):
    return drafts(texts).count("accepted") / len(drafts(texts))


RIGHT = {"4.rate": [by_counting, by_walking, by_mean]}
WRONG = {
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
    }
}
