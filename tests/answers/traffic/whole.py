"""Answers to 8.whole."""

import torch


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


RIGHT = {"8.whole": [two_times, token_by_token, by_share]}
WRONG = {
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
    }
}
