"""Answers to 7.gain."""

import torch

from specdec_lab import theory


def by_sum(T, texts, gamma, alpha):
    E = sum(alpha**i for i in range(gamma + 1))
    return E * T(texts) / T(texts * (gamma + 1))


def closed_form(T, texts, gamma, alpha):
    E = gamma + 1 if alpha == 1 else (1 - alpha ** (gamma + 1)) / (1 - alpha)
    with_drafts = texts * E / T(texts * (gamma + 1))
    without = texts / T(texts)
    return with_drafts / without


class Speed:
    def __call__(self, T, texts, gamma, alpha):
        reach = torch.full((gamma,), alpha, dtype=torch.float64).cumprod(0)
        cost = torch.tensor([T(texts + texts * gamma), T(texts)], dtype=torch.float64)
        return (1 + reach.sum()) * cost[1] / cost[0]


def with_e(E):
    return lambda T, texts, gamma, alpha: E(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


def with_rows(rows, plain=lambda texts: texts):
    return lambda T, texts, gamma, alpha: theory.expected_tokens(alpha, gamma) * T(plain(texts)) / T(rows(texts, gamma))


def tokens_only(T, texts, gamma, alpha):
    return theory.expected_tokens(alpha, gamma)


def falling_alpha(T, texts, gamma, alpha):
    return by_sum(T, texts, gamma, alpha / texts**0.5)


def falling_tokens(T, texts, gamma, alpha):
    return by_sum(T, texts, gamma, alpha) / texts


def no_care_for_one(T, texts, gamma, alpha):
    return (1 - alpha ** (gamma + 1)) / (1 - alpha) * T(texts) / T(texts * (gamma + 1))


RIGHT = {"7.gain": [by_sum, closed_form, Speed()]}
WRONG = {
    "7.gain": {
        "tokens per pass": (tokens_only, "tokens per pass", 7),
        "upside down": (lambda *case: 1 / by_sum(*case), "upside down", None),
        "γ rows": (with_rows(lambda n, g: n * g if g else n), "γ + 1 rows into the pass", None),
        "drafts counted once": (with_rows(lambda n, g: n + g), "drafts of its own", None),
        "one text alone": (with_rows(lambda n, g: g + 1, lambda n: 1), "one text alone", None),
        "against one text": (with_rows(lambda n, g: n * (g + 1), lambda n: 1), "and not over one text", None),
        "texts on one side": (lambda T, n, g, a: n * by_sum(T, n, g, a), "on both sides", None),
        "tokens a second": (
            lambda T, n, g, a: n * theory.expected_tokens(a, g) / T(n * (g + 1)),
            "compares them with what the batch does",
            None,
        ),
        "tokens a second of a text": (
            lambda T, n, g, a: theory.expected_tokens(a, g) / T(n * (g + 1)),
            "compares them with a pass without",
            None,
        ),
        "only accepted drafts": (with_e(lambda a, g: theory.expected_tokens(a, g) - 1), "bonus token is missing", 6),
        "γ times α": (with_e(lambda a, g: 1 + g * a), "all before it survived", None),
        "all accepted": (with_e(lambda a, g: g + 1), "Not all drafts are accepted", None),
        "a power less": (with_e(lambda a, g: sum(a**i for i in range(g))), "one power of α more", None),
        "a power more": (with_e(lambda a, g: sum(a**i for i in range(g + 2))), "one power of α less", None),
        "costs only": (lambda T, n, g, a: T(n) / T(n * (g + 1)), "the costs only", None),
        "costs only, upside down": (lambda T, n, g, a: T(n * (g + 1)) / T(n), "the costs only", None),
        "α falls with the batch": (falling_alpha, "worse in a fuller batch", 13),
        "tokens fall with the batch": (falling_tokens, "worse in a fuller batch", 13),
        "no care for α = 1": (no_care_for_one, "ZeroDivisionError", None),
        "something else": (lambda T, n, g, a: 2.0, "with and without", None),
        "a text": (lambda T, n, g, a: f"{by_sum(T, n, g, a):.2f}x", "should be a number", None),
        "nothing for γ = 0": (lambda T, n, g, a: by_sum(T, n, g, a) if g else None, "returns nothing for", None),
    }
}
