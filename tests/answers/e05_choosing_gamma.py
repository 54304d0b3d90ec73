"""Answers to exercise 5."""

from statistics import fmean

import torch

from specdec_lab.theory import expected_tokens as E


def by_formula(alpha, gamma, c, v, o):
    return E(alpha, gamma) / (gamma * c + v[gamma] + o)


def gains(alpha, d, v, o):
    return [1.0] + [E(alpha, n) / (d[n] + v[n] + o) for n in range(1, len(v))]


def by_list(*case):
    return gains(*case).index(max(gains(*case)))


def by_halving(gamma, cost):
    if cost > E(1.0, gamma):
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if E(middle, gamma) < cost else (low, middle)
    return high


def by_grid(gamma, cost, step=0.0001, most=1.0):
    return next((i * step for i in range(int(most / step) + 1) if E(i * step, gamma) >= cost), None)


def gain(row):
    tokens, passes = map(sum, zip(*row["texts"]))
    return tokens / passes / (row["d"] + row["v"] + row["o"])


def mean_gain(row):
    return fmean(gain(row | {"texts": [text]}) for text in row["texts"])


def pick(key=gain, pays=lambda row: gain(row) > 1):
    def answer(rows):
        best = max(rows, key=key)
        return (best["draft"], best["gamma"]) if pays(best) else (None, 0)

    return answer


RIGHT = {
    "5.speedup": [lambda a, n, c, v, o: (a ** torch.arange(n + 1).double()).sum() / (n * c + torch.tensor(v).double()[n] + o)],
    "5.best": [by_list],
    "5.least": [by_halving, by_grid],
    "5.pick": [pick(), lambda rows: pick()(rows) if pick()(rows)[1] else (None, None)],
}  # fmt: skip
WRONG = {
    "5.speedup": {
        "γ + 2 rows": (lambda a, n, c, v, o: by_formula(a, n, c, v[1:], o), "beyond the end of v"),
        "α = 1 divides by 0": (lambda a, n, c, v, o: (1 - a ** (n + 1)) / (1 - a) / (n * c + v[n] + o), "divides by 0"),
    },
    "5.best": {
        "the speed-up": (lambda *case: max(gains(*case)), "this is the speed-up", None, 1),
        "no room": (lambda *case: by_list(*case) if max(gains(*case)[1:]) else 0, "room for γ = 0 only", None, 1.5),
        "beyond the lists": (lambda a, d, v, o: len(v), "no such γ in the lists"),
    },
    "5.least": {
        "beyond 1": (lambda n, x: by_grid(n, x, most=10), "no α is enough"),
        "rounded to two places": (lambda n, x: round(by_halving(n, x), 2) if x <= n + 1 else None, "Near, but not near enough", None, 1.5),
        "nothing at the lower edge": (lambda n, x: by_halving(n, x) if x > 1 else None, "never loses", None, 1.5),
    },
    "5.pick": {
        "the mean of ratios, to see whether it pays": (pick(pays=lambda row: mean_gain(row) > 1), "mean of ratios there"),
        "nothing where nothing pays": (lambda rows: pick()(rows) if pick()(rows)[0] else None, "returns nothing; give (None, 0)", None, 2),
        "swapped": (lambda rows: pick()(rows)[::-1], "swapped", None, 0),
    },
}  # fmt: skip
