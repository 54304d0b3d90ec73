"""Answers to 5.speedup."""

import torch

from specdec_lab.theory import expected_tokens


def by_formula(alpha, gamma, c, v, o):
    return expected_tokens(alpha, gamma) / (gamma * c + v[gamma] + o)


def by_steps(alpha, gamma, c, v, o):
    tokens, chance, time = 1.0, 1.0, v[gamma] + o
    for _ in range(gamma):
        chance *= alpha
        tokens += chance
        time += c
    return tokens / time


def by_tensors(alpha, gamma, c, v, o):
    powers = torch.tensor(alpha, dtype=torch.float64) ** torch.arange(gamma + 1)
    return powers.sum() / (torch.tensor(v, dtype=torch.float64)[gamma] + gamma * c + o)


def E(alpha, gamma):
    return sum(alpha**i for i in range(gamma + 1))


def closed(alpha, gamma, c, v, o):
    return (1 - alpha ** (gamma + 1)) / (1 - alpha) / (gamma * c + v[gamma] + o)


RIGHT = {"5.speedup": [by_formula, by_steps, by_tensors]}
WRONG = {
    "5.speedup": {
        "tokens per pass": (lambda a, n, c, v, o: E(a, n), "also costs time", 7),
        "one draft": (lambda a, n, c, v, o: E(a, n) / (c + v[n] + o), "makes γ of them", None),
        "γ rows": (lambda a, n, c, v, o: E(a, n) / (n * c + v[n - 1] + o), "a pass over γ + 1 rows", None),
        "γ + 2 rows": (lambda a, n, c, v, o: E(a, n) / (n * c + v[n + 1] + o), "beyond the end of v", None),
        "a plain pass": (lambda a, n, c, v, o: E(a, n) / (n * c + 1 + o), "not as much as a plain one", None),
        "the first of v": (lambda a, n, c, v, o: E(a, n) / (n * c + v[0] + o), "not as much as a plain one", None),
        "the last of v": (lambda a, n, c, v, o: E(a, n) / (n * c + v[-1] + o), "the widest pass", None),
        "the sum of v": (lambda a, n, c, v, o: E(a, n) / (n * c + sum(v[: n + 1]) + o), "in one pass", None),
        "a pass for each row": (lambda a, n, c, v, o: E(a, n) / (n * c + (n + 1) + o), "in one pass", None),
        "v for each draft": (lambda a, n, c, v, o: E(a, n) / (n * (c + v[n]) + o), "in one pass", None),
        "no pass": (lambda a, n, c, v, o: E(a, n) / (n * c + o), "pass is missing", None),
        "no drafts": (lambda a, n, c, v, o: E(a, n) / (v[n] + o), "drafts are missing", None),
        "no loop": (lambda a, n, c, v, o: E(a, n) / (n * c + v[n]), "The rest of the loop", None),
        "a loop for each draft": (lambda a, n, c, v, o: E(a, n) / (n * (c + o) + v[n]), "once a round", None),
        "one draft too many": (lambda a, n, c, v, o: E(a, n) / ((n + 1) * c + v[n] + o), "not γ + 1", None),
        "without the target's token": (
            lambda a, n, c, v, o: (E(a, n) - 1) / (n * c + v[n] + o),
            "own token is missing",
            6,
        ),
        "without the bonus": (lambda a, n, c, v, o: E(a, n - 1) / (n * c + v[n] + o), "The last power", 6),
        "each draft by itself": (lambda a, n, c, v, o: (1 + n * a) / (n * c + v[n] + o), "α · γ + 1", None),
        "all kept": (lambda a, n, c, v, o: (n + 1) / (n * c + v[n] + o), "only if all drafts are kept", None),
        "upside down": (lambda a, n, c, v, o: 1 / by_formula(a, n, c, v, o), "the other way up", None),
        "only the cost": (lambda a, n, c, v, o: n * c + v[n] + o, "what a round costs", None),
        "the gain beyond 1": (lambda a, n, c, v, o: by_formula(a, n, c, v, o) - 1, "S is the whole factor", None),
        "a difference": (lambda a, n, c, v, o: E(a, n) - n * c - v[n] - o, "do not take it away", None),
        "rounded": (lambda a, n, c, v, o: round(by_formula(a, n, c, v, o), 2), "do not round", None),
        "α = 1 divides by 0": (closed, "divides by 0", None),
        "v as a number": (lambda a, n, c, v, o: E(a, n) / (n * c + v + o), "TypeError", None),
        "no brackets": (lambda a, n, c, v, o: E(a, n) / n * c + v[n] + o, "which of the four", None),
        "a pair": (lambda a, n, c, v, o: (E(a, n), n * c + v[n] + o), "should be a number", None),
    }
}
