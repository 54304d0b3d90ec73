"""Answers to exercise 1."""

from fractions import Fraction

import torch


def seconds(k, weights, bits, bandwidth, arithmetic):
    reading, computing = weights * bits / 8 / bandwidth, 2 * weights * k / arithmetic
    return reading if reading > computing else computing


def v(gamma, T):
    return T(gamma + 1) / T(1)


def unwritten(gamma, T):
    raise NotImplementedError


def printing(gamma, T):
    print(v(gamma, T))


RIGHT = {
    "1.bytes": [lambda w, b, k: w * b / 8, lambda w, b, k: torch.tensor(w) * b * 0.125, lambda w, b, k: Fraction(w) * Fraction(b) / 8],
    "1.ceiling": [lambda size, r, n: n * r / size, lambda size, r, n: n / (size / r), lambda size, r, n: sum(r / size for _ in range(n))],
    "1.crossing": [lambda r, ops, b: ops * b / (16 * r), lambda r, ops, b: (b / 8 / r) / (2 / ops), lambda r, ops, b: Fraction(b) / 16 * Fraction(ops / r)],
    "1.v": [
        (seconds, v),
        (lambda k, w, b, r, ops: w * b / 8 / r * max(1, 16 * k * r / ops / b), lambda n, T: [T(k) for k in range(1, n + 2)][-1] / T(1)),
    ],
}  # fmt: skip
WRONG = {
    "1.bytes": {
        "something else": (
            lambda w, b, k: w * b / 16 + w / 4,
            "bytes_read(8e+09, 16, 1) is 1e+10 with your code, and it should be 1.6e+10.",
        )
    },
    "1.ceiling": {"whole passes": (lambda size, rate, n: n * (rate // size), "it should be")},
    "1.crossing": {"something else": (lambda rate, ops, b: 300, "with your code, and it should be")},
    "1.v": {
        "asks for too much": (
            (seconds, lambda n, T: T(1000) / T(1)),
            "pass_seconds is right. In v: Your code asks for T(1000), which is no pass of",
            None,
            2,
        ),
        "v says that it is open": ((seconds, unwritten), "Now write v"),
        "v prints": ((seconds, printing), "In v: Your function returns nothing"),
    },
}
