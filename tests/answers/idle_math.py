"""Answers to exercise 1."""

from fractions import Fraction

import torch

from specdec_lab.measure.roofline import Machine, Work


def bytes_read(weights, bits, k):
    return weights * bits / 8


def bytes_by_weight(weights, bits, k):
    each = bits * 0.125
    return torch.tensor(weights * each, dtype=torch.float64)


def ceiling(bytes_a_pass, bandwidth, texts):
    return texts * bandwidth / bytes_a_pass


def ceiling_by_seconds(bytes_a_pass, bandwidth, texts):
    seconds = bytes_a_pass / bandwidth
    return texts / seconds


def crossing(bandwidth, arithmetic, bits):
    return arithmetic * bits / (16 * bandwidth)


def crossing_by_weight(bandwidth, arithmetic, bits):
    return (bits / 8 / bandwidth) / (2 / arithmetic)


def crossing_from_the_package(bandwidth, arithmetic, bits):
    reading, computing = Work(1000, 1000 * bits / 8).floor(Machine(bandwidth, arithmetic, 0), 1)
    return reading / computing


def seconds(k, weights, bits, bandwidth, arithmetic):
    reading, computing = weights * bits / 8 / bandwidth, 2 * weights * k / arithmetic
    return reading if reading > computing else computing


def seconds_from_the_crossing(k, weights, bits, bandwidth, arithmetic):
    if k < crossing(bandwidth, arithmetic, bits):
        return bytes_read(weights, bits, k) / bandwidth
    return 2 * k * weights / arithmetic


def seconds_from_the_package(k, weights, bits, bandwidth, arithmetic):
    return max(Work(weights, weights * bits / 8).floor(Machine(bandwidth, arithmetic, 0), k))


def v(gamma, T):
    return T(gamma + 1) / T(1)


def v_from_a_list(gamma, T):
    times = [T(k) for k in range(1, gamma + 2)]
    return times[-1] / times[0]


def with_v(wrong):
    return seconds, wrong


def with_seconds(wrong):
    return wrong, v


def v_that_asks_for_too_much(gamma, T):
    return T(1000) / T(1)


RIGHT = {
    "1.bytes": [bytes_read, bytes_by_weight, lambda w, b, k: Fraction(w) * Fraction(b) / 8],
    "1.ceiling": [ceiling, ceiling_by_seconds, lambda size, rate, n: sum(rate / size for _ in range(n))],
    "1.crossing": [crossing, crossing_by_weight, crossing_from_the_package],
    "1.v": [
        (seconds, v),
        (seconds_from_the_crossing, v_from_a_list),
        (seconds_from_the_package, lambda gamma, T: torch.tensor(T(1 + gamma), dtype=torch.float64) / T(1)),
    ],
}
WRONG = {
    "1.bytes": {
        "bits": (lambda w, b, k: w * b, "A byte has 8 bits", None),
        "k times": (lambda w, b, k: w * b / 8 * k, "read once in a pass", None),
        "the share of a token": (lambda w, b, k: w * b / 8 / k, "the share of one token", None),
        "k times the bits": (lambda w, b, k: w * b * k, "two mistakes", None),
        "operations": (lambda w, b, k: 2 * w * k, "number of operations", None),
        "always two bytes": (lambda w, b, k: 2 * w, "right for 16 bits only", None),
        "always four bytes": (lambda w, b, k: 4 * w, "right for 32 bits only", None),
        "one byte": (lambda w, b, k: w, "one byte for every weight", None),
        "whole bytes": (lambda w, b, k: w * (b // 8), "drops the fraction", None),
        "upside down": (lambda w, b, k: w * 8 / b, "upside down", None),
        "eight twice": (lambda w, b, k: w * b / 64, "once too often", None),
        "gigabytes": (lambda w, b, k: w * b / 8e9, "without giga", None),
        "gibibytes": (lambda w, b, k: w * b / 8 / 2**30, "units of 2^30", None),
        "something else": (lambda w, b, k: w * b / 16 + w / 4, "should be 1.6e+10", None),
        "text": (lambda w, b, k: f"{w * b / 8} bytes", "should be a number", None),
        "a list": (lambda w, b, k: [w * b / 8, k], "should be a number", None),
        "wrong arguments": (lambda w, b: w * b / 8, "TypeError", None),
    },
    "1.ceiling": {
        "seconds": (lambda size, rate, n: size / rate, "seconds of one pass", None),
        "upside down": (lambda size, rate, n: n * size / rate, "upside down", None),
        "seconds of a token": (lambda size, rate, n: size / rate / n, "for one token of all texts", None),
        "one text": (lambda size, rate, n: rate / size, "does not depend on texts", None),
        "texts share": (lambda size, rate, n: rate / (size * n), "as if the weights were read again", None),
        "no bytes": (lambda size, rate, n: rate * n, "bytes of a pass are missing", None),
        "whole tokens": (lambda size, rate, n: n * rate // size, "rounded", None),
        "whole passes": (lambda size, rate, n: n * (rate // size), "it should be", None),
        "a thousandth": (lambda size, rate, n: n * rate / size / 1000, "without kilo", None),
        "infinite": (lambda size, rate, n: float("inf"), "finite", None),
        "raises": (lambda size, rate, n: size / (n - 1), "ZeroDivisionError", None),
    },
    "1.crossing": {
        "no bits": (lambda rate, ops, bits: ops / rate, "bits is missing", None),
        "one operation": (lambda rate, ops, bits: ops / rate * bits / 8, "twice too large", None),
        "times two": (lambda rate, ops, bits: ops / rate * bits / 8 * 2, "four times too large", None),
        "bits for bytes": (lambda rate, ops, bits: ops / rate * bits / 2, "8 times too large", None),
        "bits, one operation": (lambda rate, ops, bits: ops / rate * bits, "16 times too large", None),
        "upside down": (lambda rate, ops, bits: rate / ops * 16 / bits, "upside down", None),
        "exchanged": (lambda rate, ops, bits: rate / ops * bits / 16, "are exchanged", None),
        "bits below": (lambda rate, ops, bits: ops / rate * 16 / bits, "bits is upside down", None),
        "bytes below": (lambda rate, ops, bits: ops / rate / (bits / 8 * 2), "bits is upside down", None),
        "whole": (lambda rate, ops, bits: int(ops / rate * bits / 16), "rounded", None),
        "the next whole": (lambda rate, ops, bits: -(-ops / rate * bits // 16), "rounded", None),
        "half": (lambda rate, ops, bits: ops / rate * bits / 32, "half of what they should be", None),
        "something else": (lambda rate, ops, bits: 300, "with your code, and it should be", None),
        "a function": (lambda rate, ops, bits: crossing, "should be a number", None),
    },
    "1.v": {
        "adds": (with_seconds(lambda k, w, b, r, a: w * b / 8 / r + 2 * w * k / a), "at the same time", None),
        "the shorter": (with_seconds(lambda k, w, b, r, a: min(w * b / 8 / r, 2 * w * k / a)), "the shorter", None),
        "reading": (with_seconds(lambda k, w, b, r, a: w * b / 8 / r), "reading alone", None),
        "computing": (with_seconds(lambda k, w, b, r, a: 2 * w * k / a), "computing alone", None),
        "k passes": (with_seconds(lambda k, *rest: k * seconds(1, *rest)), "multiply the time of one token", None),
        "reads k times": (
            with_seconds(lambda k, w, b, r, a: max(k * w * b / 8 / r, 2 * w * k / a)),
            "read once, and all k tokens use them",
            None,
        ),
        "without k": (with_seconds(lambda k, *rest: seconds(1, *rest)), "does not depend on k", None),
        "one operation": (with_seconds(lambda k, w, b, r, a: max(w * b / 8 / r, w * k / a)), "two operations", None),
        "bits": (with_seconds(lambda k, w, b, r, a: max(w * b / r, 2 * w * k / a)), "bits are not bytes", None),
        "passes a second": (with_seconds(lambda *case: 1 / seconds(*case)), "passes a second", None),
        "milliseconds": (with_seconds(lambda *case: 1000 * seconds(*case)), "10^3 times too large", None),
        "zero": (with_seconds(lambda *case: 0), "is 0 with your code, and it should be", None),
        "always two bytes": (with_seconds(lambda k, w, b, *rest: seconds(k, w, 16, *rest)), "it should be", None),
        "γ tokens": (with_v(lambda gamma, T: T(gamma) / T(1)), "the last token of the text goes through", None),
        "γ + 2 tokens": (with_v(lambda gamma, T: T(gamma + 2) / T(1)), "not put into it", None),
        "no unit": (with_v(lambda gamma, T: T(gamma + 1)), "divide by T(1)", None),
        "γ, and no unit": (with_v(lambda gamma, T: T(gamma)), "a pass over γ tokens", None),
        "v upside down": (with_v(lambda gamma, T: T(1) / T(gamma + 1)), "upside down", None),
        "compared with γ": (with_v(lambda gamma, T: T(gamma + 1) / T(gamma)), "an ordinary pass has one", None),
        "compared with none": (with_v(lambda gamma, T: T(gamma + 1) / T(0)), "a pass over no token", None),
        "the rest": (with_v(lambda gamma, T: T(gamma + 1) / T(1) - 1), "v is the whole pass", None),
        "the difference": (with_v(lambda gamma, T: T(gamma + 1) - T(1)), "how many ordinary passes", None),
        "per token": (with_v(lambda gamma, T: T(gamma + 1) / T(1) / (gamma + 1)), "not of one token", None),
        "five passes": (with_v(lambda gamma, T: (gamma + 1) * T(1) / T(1)), "one pass: T(γ + 1)", None),
        "free": (with_v(lambda gamma, T: 1), "cost nothing", None),
        "asks for too much": (with_v(v_that_asks_for_too_much), "asks for T(1000)", None),
        "v not written": (with_v(lambda gamma, T: None), "Now write v", None),
        "v is text": (with_v(lambda gamma, T: "2"), "In v: What v returns should be a number; it is the text", None),
        "v raises": (with_v(lambda gamma, T: T[gamma + 1]), "TypeError", None),
    },
}
