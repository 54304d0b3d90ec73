"""Exercise 1: idle math."""

import math
from collections.abc import Callable, Sequence

from specdec_lab.grade.part import StillOpen, Wrong, begun, number, part, shown

Formula = Callable[..., float]
Mistake = tuple[Formula, str]  # what a mistaken answer computes, and what is said about it


def close(a: float, b: float) -> bool:
    """Equal but for rounding: bytes are billions, and seconds are thousandths."""
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-30)


def compare(what: str, made: Formula, right: Formula, cases: Sequence[tuple], mistakes: Sequence[Mistake]) -> None:
    """A formula of the learner's, on all cases; a mistake is named if it explains all that was returned."""
    begun(made)
    found = [a_number(made(*case), f"What {what} returns") for case in cases]
    wanted = [right(*case) for case in cases]
    if all(map(close, found, wanted)):
        return

    def explains(wrong: Formula) -> bool:
        return all(close(value, wrong(*case)) for value, case in zip(found, cases))

    for wrong, said in mistakes:
        if explains(wrong):
            raise Wrong(said)
    for round_off in (math.floor, round, math.ceil):
        if explains(lambda *case, f=round_off: f(right(*case))):
            raise Wrong(f"{what} is rounded to whole numbers. Return the number as it is.")
    for factor, said in SCALES:
        if explains(lambda *case, f=factor: f * right(*case)):
            raise Wrong(f"{what}: {said}")
    case, value, want = next((c, f, w) for c, f, w in zip(cases, found, wanted) if not close(f, w))
    arguments = ", ".join(f"{x:g}" for x in case)
    raise Wrong(f"{what}({arguments}) is {value:.4g} with your code, and it should be {want:.4g}.")


def a_number(value: object, what: str) -> float:
    if isinstance(value, str):  # float() would take "2.5"
        raise Wrong(f"{what} should be a number; it is the text {shown(value)}.")
    return number(value, what)


SCALES = (
    (8.0, "all your numbers are 8 times too large. Are these bits? A byte has 8 bits."),
    (1 / 8, "all your numbers are 8 times too small: you divide by 8 once too often."),
    (2.0, "all your numbers are twice too large: a factor of 2 stands where it should not, or is missing below."),
    (0.5, "all your numbers are half of what they should be: look for a missing factor of 2, or for one too many."),
    *((10.0**-e, f"your numbers are 10^{e} times too small. Keep the plain units, without {unit}.") for e, unit in
      ((9, "giga"), (6, "mega"), (3, "kilo"))),
    *((10.0**e, f"your numbers are 10^{e} times too large. Keep the plain units: seconds, bytes.") for e in (3, 6, 9)),
    (1 / 2**30, "your numbers are in units of 2^30. Keep plain bytes."),
)  # fmt: skip


# Part 1

MODELS = ((8e9, 16, 1), (135e6, 32, 5), (70e9, 4, 1), (8e9, 4.5, 64), (3e9, 8, 5), (1e9, 6, 2))


@part("1.bytes", points=1)
def bytes_read(made: Formula) -> None:
    """bytes_read(weights, bits, k) → bytes that a pass over k tokens reads."""
    compare(
        "bytes_read",
        made,
        lambda weights, bits, k: weights * bits / 8,
        MODELS,
        (
            (
                lambda weights, bits, k: weights * bits / 8 * k,
                "Your bytes grow with k. The weights are read once in a pass, and all k tokens use them.",
            ),
            (
                lambda weights, bits, k: weights * bits / 8 / k,
                "You divide by k: this is the share of one token. The question is what the whole pass reads.",
            ),
            (
                lambda weights, bits, k: weights * bits * k,
                "There are two mistakes: these are bits and not bytes, and the weights are read once, not k times.",
            ),
            (
                lambda weights, bits, k: 2 * weights * k,
                "2 · weights · k is the number of operations. The question is how many bytes are read.",
            ),
            (
                lambda weights, bits, k: 2 * weights,
                "You count two bytes for every weight. That is right for 16 bits only: use bits.",
            ),
            (
                lambda weights, bits, k: 4 * weights,
                "You count four bytes for every weight. That is right for 32 bits only: use bits.",
            ),
            (
                lambda weights, bits, k: weights * (bits // 8),
                "bits // 8 drops the fraction, so that 4 bits become 0 bytes. Divide with /.",
            ),
            (
                lambda weights, bits, k: weights * 8 / bits,
                "bits / 8 is upside down: with more bits for each weight, there is more to read.",
            ),
            (lambda weights, bits, k: weights, "You count one byte for every weight: use bits."),
        ),
    )


# Part 2

DECODED = ((16e9, 3350e9, 1), (4e9, 50e9, 1), (540e6, 20e9, 1), (16e9, 3350e9, 8), (140e9, 3350e9, 64), (2e9, 75e9, 3))


@part("1.ceiling", points=2)
def most_tokens(made: Formula) -> None:
    """most_tokens(bytes_a_pass, bandwidth, texts) → tokens a second of all texts together."""
    compare(
        "most_tokens",
        made,
        lambda size, bandwidth, texts: texts * bandwidth / size,
        DECODED,
        (
            (
                lambda size, bandwidth, texts: size / bandwidth,
                "bytes / bandwidth is the seconds of one pass. The question is how many tokens there are in one second.",
            ),
            (
                lambda size, bandwidth, texts: texts * size / bandwidth,
                "Your fraction is upside down: a faster memory should give more tokens a second.",
            ),
            (
                lambda size, bandwidth, texts: size / bandwidth / texts,
                "This is the seconds for one token of all texts. The question is how many tokens there are in one second.",
            ),
            (
                lambda size, bandwidth, texts: bandwidth / size,
                "Your number does not depend on texts. It is right for each text; how many tokens do all together get?",
            ),
            (
                lambda size, bandwidth, texts: bandwidth / size / texts,
                "You divide by texts, as if the weights were read again for each. One reading serves all texts of a pass.",
            ),
            (lambda size, bandwidth, texts: texts * bandwidth, "The bytes of a pass are missing."),
        ),
    )


# Part 3

SHEETS = (
    (3350e9, 989e12, 16),
    (3350e9, 989e12, 4),
    (100e9, 1000e9, 8),
    (50e9, 130e9, 4.5),
    (20e9, 60e9, 32),
    (1000e9, 300e12, 6),
)


@part("1.crossing", points=2)
def crossing(made: Formula) -> None:
    """crossing(bandwidth, arithmetic, bits) → the k where computing takes as long as reading."""
    compare(
        "crossing",
        made,
        lambda bandwidth, arithmetic, bits: arithmetic / bandwidth * bits / 16,
        SHEETS,
        (
            (
                lambda bandwidth, arithmetic, bits: arithmetic / bandwidth,
                "bits is missing. This is right for 16 bits only: smaller weights are read faster.",
            ),
            (
                lambda bandwidth, arithmetic, bits: arithmetic / bandwidth * bits / 8,
                "Your k is twice too large: each weight means two operations, one multiplication and one addition.",
            ),
            (
                lambda bandwidth, arithmetic, bits: arithmetic / bandwidth * bits / 4,
                "Your k is four times too large. The two operations of a weight make computing longer: divide by 2.",
            ),
            (
                lambda bandwidth, arithmetic, bits: arithmetic / bandwidth * bits / 2,
                "Your k is 8 times too large: the bandwidth is in bytes a second, and bits are not bytes.",
            ),
            (
                lambda bandwidth, arithmetic, bits: arithmetic / bandwidth * bits,
                "Your k is 16 times too large: bits are not bytes, and each weight means two operations.",
            ),
            (
                lambda bandwidth, arithmetic, bits: bandwidth / arithmetic * 16 / bits,
                "Your number is upside down: it is one divided by the k where the lines cross.",
            ),
            *(
                (
                    lambda bandwidth, arithmetic, bits, f=factor: bandwidth / arithmetic * bits * f,
                    "bandwidth and arithmetic are exchanged: with more arithmetic the lines cross later, at a larger k.",
                )
                for factor in (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
            ),
            *(
                (
                    lambda bandwidth, arithmetic, bits, f=factor: arithmetic / bandwidth / bits * f,
                    "bits is upside down: smaller weights are read faster, so the lines cross at a smaller k.",
                )
                for factor in (16, 8, 4, 2, 1)
            ),
        ),
    )


# Part 4

PASSES = tuple(
    (k, *machine)
    for machine in (
        (8e9, 16, 3350e9, 989e12),  # crosses at 295
        (1e9, 4, 50e9, 500e9),  # at 2.5
        (135e6, 32, 20e9, 8e9),  # at .8: compute-bound from the first token
    )
    for k in (1, 2, 5, 64, 400)
)


def floors(k: float, weights: float, bits: float, bandwidth: float, arithmetic: float) -> tuple[float, float]:
    return weights * bits / 8 / bandwidth, 2 * weights * k / arithmetic


PASS_MISTAKES = (
    (
        lambda *case: sum(floors(*case)),
        "You add reading and computing. They go on at the same time, so the longer one is the limit.",
    ),
    (lambda *case: min(floors(*case)), "You take the shorter of the two. A pass is not done before both are."),
    (lambda *case: floors(*case)[0], "This is reading alone. With many tokens computing takes longer than that."),
    (lambda *case: floors(*case)[1], "This is computing alone. With few tokens reading takes longer than that."),
    (
        lambda k, *rest: k * max(floors(1, *rest)),
        "You multiply the time of one token by k. The weights are read once, and all k tokens use them.",
    ),
    (
        lambda k, *rest: max(k * floors(k, *rest)[0], floors(k, *rest)[1]),
        "Reading grows with k in your code. The weights are read once, and all k tokens use them.",
    ),
    (
        lambda k, *rest: max(floors(1, *rest)),
        "Your time does not depend on k: with k tokens there is k times as much to compute.",
    ),
    (
        lambda k, *rest: max(floors(k, *rest)[0], floors(k, *rest)[1] / 2),
        "Computing is half of what it should be: each weight means two operations for each token.",
    ),
    (
        lambda k, *rest: max(8 * floors(k, *rest)[0], floors(k, *rest)[1]),
        "Reading is 8 times too long: the bandwidth is in bytes a second, and bits are not bytes.",
    ),
    (lambda *case: 1 / max(floors(*case)), "This is passes a second. The question is how many seconds a pass takes."),
)


def bend(k: int) -> float:
    return max(0.0027, 0.0009 * k)


def curve(k: int) -> float:
    return 0.010 + 0.0008 * k**1.5


def measured(k: int) -> float:
    """A curve with a step, as real machines have: no formula gives its values."""
    return (0.0198, 0.0201, 0.0214, 0.0209, 0.0233, 0.0240, 0.0262, 0.0249, 0.0391, 0.0394, 0.0388, 0.0407, 0.0415)[k]


CURVES = tuple((gamma, T) for T in (bend, curve, measured) for gamma in (0, 1, 2, 4, 7, 10))

V_MISTAKES = (
    (
        lambda gamma, T: T(gamma) / T(1),
        "You use a pass over γ tokens. Besides the γ drafts, the last token of the text goes through the pass.",
    ),
    (lambda gamma, T: T(gamma + 1), "This is in seconds. v is in units of an ordinary pass: divide by T(1)."),
    (lambda gamma, T: T(gamma), "This is in seconds, and of a pass over γ tokens; v is T(γ + 1) / T(1)."),
    (lambda gamma, T: T(1) / T(gamma + 1), "Your fraction is upside down: a pass that takes longer should give a larger v."),
    (lambda gamma, T: T(gamma + 1) / T(gamma), "You compare with a pass over γ tokens; an ordinary pass has one."),
    (lambda gamma, T: T(gamma + 1) / T(0), "You divide by T(0), a pass over no token; an ordinary pass has one."),
    (lambda gamma, T: T(gamma + 2) / T(1), "You use a pass over γ + 2 tokens. The bonus is chosen after the pass, not put into it."),
    (lambda gamma, T: T(gamma + 1) / T(1) - 1, "You subtract the ordinary pass. v is the whole pass: it is 1 if the drafts cost nothing."),
    (lambda gamma, T: (T(gamma + 1) - T(1)), "You subtract the ordinary pass. v says how many ordinary passes the wide one takes: divide."),
    (lambda gamma, T: T(gamma + 1) / T(1) / (gamma + 1), "You divide by the γ + 1 tokens as well. v is the cost of the whole pass, not of one token."),
    (lambda gamma, T: gamma + 1, "You take γ + 1 ordinary passes. The wide pass is one pass: T(γ + 1) says what it costs."),
    (lambda gamma, T: 1, "You say that the drafts cost nothing. Whether they do is what T tells: use it."),
)  # fmt: skip


@part("1.v", points=3)
def pass_and_v(pass_seconds: Formula, v: Formula | None = None) -> None:
    """pass_seconds(k, weights, bits, bandwidth, arithmetic) → seconds, and v(gamma, T) → ordinary passes."""
    compare("pass_seconds", pass_seconds, lambda *case: max(floors(*case)), PASSES, PASS_MISTAKES)
    try:
        compare("v", v, lambda gamma, T: T(gamma + 1) / T(1), [(g, Asked(T)) for g, T in CURVES], V_MISTAKES)
    except StillOpen:
        raise Wrong("pass_seconds is right. Now write v.", 2 / 3) from None
    except Wrong as e:
        raise Wrong(f"pass_seconds is right. In v: {e}", 2 / 3) from None


class Asked:
    """T, as v gets it: a function of a whole number of tokens."""

    def __init__(self, T: Callable[[int], float]):
        self.T = T

    def __call__(self, k: int) -> float:
        if not isinstance(k, int | float) or k != int(k) or not 0 <= k <= 12:
            raise Wrong(f"Your code asks for T({k}), which is no pass of a round with these drafts.")
        return self.T(int(k))

    def __format__(self, spec: str) -> str:
        return "T"
