"""Exercise 1, from a data sheet.

1.bytes: bytes_read(weights, bits, k) → bytes that a pass over k tokens reads
1.ceiling: most_tokens(bytes_a_pass, bandwidth, texts) → tokens a second of all texts together
1.crossing: crossing(bandwidth, arithmetic, bits) → the k where computing takes as long as reading
1.v: pass_seconds(k, weights, bits, bandwidth, arithmetic) → seconds, and v(gamma, T) → plain passes
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from specdec_grader.guard import verdict_on
from specdec_grader.kit import Mistake, Question, StillOpen, Wrong, begun, number, part, told_apart
from specdec_grader.part import RETURNS_NOTHING

Formula = Callable[..., float]

FACTORS = {
    8.0: "all your numbers are 8 times too large. Are these bits? A byte has 8 bits.",
    1 / 8: "all your numbers are 8 times too small: you divide by 8 once too often.",
    2.0: "all your numbers are twice too large: a factor of 2 stands where it should not, or is missing below.",
    0.5: "all your numbers are half of what they should be: look for a missing factor of 2, or for one too many.",
    **{10.0**-e: f"your numbers are 10^{e} times too small. Keep the plain units, without {unit}." for e, unit in ((9, "giga"), (6, "mega"), (3, "kilo"))},
    **{10.0**e: f"your numbers are 10^{e} times too large. Keep the plain units: seconds, bytes." for e in (3, 6, 9)},
    1 / 2**30: "your numbers are in units of 2^30. Keep plain bytes.",
}  # fmt: skip
ROUNDINGS = (math.floor, round, math.ceil)


def question(
    name: str, right: Formula, cases: Sequence[tuple], *own: Mistake, whole: bool = False, but: Sequence[float] = ()
) -> Question:
    """A question for a function of this name: with mistakes of its own, and with rounding and wrong units.

    Args:
        whole: the right results are whole numbers, so that rounding them is no mistake.
        but: factors for which it has a mistake of its own.
    """

    def hint(case: tuple, found: float) -> str:
        arguments = ", ".join(str(x) if callable(x) else f"{x:g}" for x in case)
        yours, wanted = told_apart(found, right(*case))
        return f"{name}({arguments}) is {yours} with your code, and it should be {wanted}."

    factors = {factor: said for factor, said in FACTORS.items() if factor not in but}
    often = [Mistake(f"{name}: {said}", lambda *case, f=factor: f * right(*case)) for factor, said in factors.items()]
    if not whole:
        rounded = [lambda *case, to=to: to(right(*case)) for to in ROUNDINGS]
        often += [Mistake(f"{name} is rounded to whole numbers. Return the number as it is.", *rounded)]
    read = partial(number, what=f"What {name} returns")
    return Question(cases, right, hint=hint, mistakes=[*own, *often], read=read, equal=close)


def close(a: float, b: float) -> bool:
    """Equal but for rounding: bytes are billions, and seconds are thousandths."""
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-30)


BYTES = question("bytes_read", lambda w, bits, k: w * bits / 8,
    ((8e9, 16, 1), (135e6, 32, 5), (70e9, 4, 1), (8e9, 4.5, 64), (3e9, 8, 5), (1e9, 6, 2), (1000, 8, 64)),
    Mistake("Your bytes grow with k. The weights are read once in a pass, and all k tokens use them.", lambda w, bits, k: w * bits / 8 * k),
    Mistake("You divide by k: this is the share of one token. The question is what the whole pass reads.", lambda w, bits, k: w * bits / 8 / k),
    Mistake("There are two mistakes: these are bits and not bytes, and the weights are read once, not k times.", lambda w, bits, k: w * bits * k),
    Mistake("2 · weights · k is the number of operations. The question is how many bytes are read.", lambda w, bits, k: 2 * w * k),
    Mistake("You count two bytes for every weight. That is right for 16 bits only: use bits.", lambda w, bits, k: 2 * w),
    Mistake("You count four bytes for every weight. That is right for 32 bits only: use bits.", lambda w, bits, k: 4 * w),
    Mistake("bits // 8 drops the fraction, so that 4 bits become 0 bytes. Divide with /.", lambda w, bits, k: w * (bits // 8)),
    Mistake("bits / 8 is upside down: with more bits for each weight, there is more to read.", lambda w, bits, k: w * 8 / bits),
    Mistake("You count one byte for every weight: use bits.", lambda w, bits, k: w),
    whole=True)  # fmt: skip
CEILING = question("most_tokens", lambda size, b, n: n * b / size,
    ((16e9, 3350e9, 1), (4e9, 50e9, 1), (540e6, 20e9, 1), (16e9, 3350e9, 8), (140e9, 3350e9, 64), (2e9, 75e9, 3)),
    Mistake("bytes / bandwidth is the seconds of one pass. The question is how many tokens there are in one second.", lambda size, b, n: size / b),
    Mistake("Your fraction is upside down: a faster memory should give more tokens a second.", lambda size, b, n: n * size / b),
    Mistake("This is the seconds for one token of all texts. The question is how many tokens there are in one second.", lambda size, b, n: size / b / n),
    Mistake("Your number does not depend on texts. It is right for each text; how many tokens do all together get?", lambda size, b, n: b / size),
    Mistake("You divide by texts, as if the weights were read again for each. One reading serves all texts of a pass.", lambda size, b, n: b / size / n),
    Mistake("The bytes of a pass are missing.", lambda size, b, n: n * b))  # fmt: skip
CROSSING = question("crossing", lambda b, a, bits: a / b * bits / 16,
    ((3350e9, 989e12, 16), (3350e9, 989e12, 4), (100e9, 1000e9, 8), (50e9, 130e9, 4.5), (20e9, 60e9, 32), (1000e9, 300e12, 6)),
    Mistake("bits is missing. This is right for 16 bits only: smaller weights are read faster.", lambda b, a, bits: a / b),
    Mistake("Your k is twice too large: each weight means two operations, one multiplication and one addition.", lambda b, a, bits: a / b * bits / 8),
    Mistake("Your k is four times too large. The two operations of a weight make computing longer: divide by 2.", lambda b, a, bits: a / b * bits / 4),
    Mistake("Your k is 8 times too large: the bandwidth is in bytes a second, and bits are not bytes.", lambda b, a, bits: a / b * bits / 2),
    Mistake("Your k is 16 times too large: bits are not bytes, and each weight means two operations.", lambda b, a, bits: a / b * bits),
    Mistake("Your number is upside down: it is one divided by the k where the lines cross.", lambda b, a, bits: b / a * 16 / bits),
    Mistake("bandwidth and arithmetic are exchanged: with more arithmetic the lines cross later, at a larger k.",
            *(lambda b, a, bits, f=f: b / a * bits / f for f in (16, 8, 4, 2, 1))),
    Mistake("bits is upside down: smaller weights are read faster, so the lines cross at a smaller k.",
            *(lambda b, a, bits, f=f: a / b / bits * f for f in (16, 8, 4, 2, 1))),
    but=(2, 8))  # fmt: skip


def times(k: int, weights: float, bits: float, bandwidth: float, arithmetic: float) -> tuple[float, float]:
    """Seconds of (reading, computing)."""
    return weights * bits / 8 / bandwidth, 2 * weights * k / arithmetic


SHEETS = (
    (8e9, 16, 3350e9, 989e12),  # crosses at 295
    (1e9, 4, 50e9, 500e9),  # at 2.5
    (135e6, 32, 20e9, 8e9),  # at .8: compute-bound from the first token
)
PASS = question("pass_seconds", lambda *case: max(times(*case)), tuple((k, *sheet) for sheet in SHEETS for k in (1, 2, 5, 64, 400)),
    Mistake("You add reading and computing. They go on at the same time, so the longer one is the limit.", lambda *case: sum(times(*case))),
    Mistake("You take the shorter of the two. A pass is not done before both are.", lambda *case: min(times(*case))),
    Mistake("This is reading alone. With many tokens computing takes longer than that.", lambda *case: times(*case)[0]),
    Mistake("This is computing alone. With few tokens reading takes longer than that.", lambda *case: times(*case)[1]),
    # max(k · reading, computing) is the same number.
    Mistake("You multiply the time of one token by k, or that of reading. The weights are read once, and all k tokens use them.",
            lambda k, *sheet: k * max(times(1, *sheet))),
    Mistake("Your time does not depend on k: with k tokens there is k times as much to compute.", lambda k, *sheet: max(times(1, *sheet))),
    Mistake("Computing is half of what it should be: each weight means two operations for each token.", lambda k, *sheet: max(times(k / 2, *sheet))),
    Mistake("Reading is 8 times too long: the bandwidth is in bytes a second, and bits are not bytes.",
            lambda k, *sheet: max(8 * times(k, *sheet)[0], times(k, *sheet)[1])),
    Mistake("This is passes a second. The question is how many seconds a pass takes.", lambda *case: 1 / max(times(*case))))  # fmt: skip


@dataclass(frozen=True)
class WatchedCurve:
    """T, as v gets it. It refuses numbers of tokens that no pass of these rounds has."""

    curve: Callable[[int], float]

    def __call__(self, k: int) -> float:
        if k not in range(13):
            raise Wrong(f"Your code asks for T({k}), which is no pass of a round with these drafts.")
        return self.curve(int(k))

    def __repr__(self) -> str:
        return "T"


# A curve with a step, as real machines have: no formula gives its values.
MEASURED = (0.0198, 0.0201, 0.0214, 0.0209, 0.0233, 0.0240, 0.0262, 0.0249, 0.0391, 0.0394, 0.0388, 0.0407, 0.0415)
CURVES = (lambda k: max(0.0027, 0.0009 * k), lambda k: 0.010 + 0.0008 * k**1.5, MEASURED.__getitem__)
V = question("v", lambda n, T: T(n + 1) / T(1), tuple((n, WatchedCurve(T)) for T in CURVES for n in (0, 1, 2, 4, 7, 10)),
    Mistake("You use a pass over γ tokens. Besides the γ drafts, the last token of the text goes through the pass.", lambda n, T: T(n) / T(1)),
    Mistake("This is in seconds. v is in units of a plain pass: divide by T(1).", lambda n, T: T(n + 1)),
    Mistake("This is in seconds, and of a pass over γ tokens; v is T(γ + 1) / T(1).", lambda n, T: T(n)),
    Mistake("Your fraction is upside down: a pass that takes longer should give a larger v.", lambda n, T: T(1) / T(n + 1)),
    Mistake("You compare with a pass over γ tokens; a plain pass has one.", lambda n, T: T(n + 1) / T(n)),
    Mistake("You divide by T(0), a pass over no token; a plain pass has one.", lambda n, T: T(n + 1) / T(0)),
    Mistake("You use a pass over γ + 2 tokens. The bonus is chosen after the pass, not put into it.", lambda n, T: T(n + 2) / T(1)),
    Mistake("You subtract the plain pass. v is the whole pass: it is 1 if the drafts cost nothing.", lambda n, T: T(n + 1) / T(1) - 1),
    Mistake("You subtract the plain pass. v says how many plain passes the wide one takes: divide.", lambda n, T: T(n + 1) - T(1)),
    Mistake("You divide by the γ + 1 tokens as well. v is the cost of the whole pass, not of one token.", lambda n, T: T(n + 1) / T(1) / (n + 1)),
    Mistake("You take γ + 1 plain passes. The wide pass is one pass: T(γ + 1) says what it costs.", lambda n, T: n + 1),
    Mistake("You say that the drafts cost nothing. Whether they do is what T tells: use it.", 1))  # fmt: skip

part("1.bytes", points=1, asks=[BYTES])(BYTES.judge)
part("1.ceiling", points=2, asks=[CEILING])(CEILING.judge)
part("1.crossing", points=2, asks=[CROSSING])(CROSSING.judge)


@part("1.v", points=3, asks=[PASS, V])
def pass_and_v(pass_seconds: Formula, v: Formula | None = None) -> None:
    """pass_seconds earns two points, v one, each by itself."""
    wrong: dict[str, Wrong] = {}
    unwritten: set[str] = set()
    for name, question, made in (("pass_seconds", PASS, pass_seconds), ("v", V, v)):
        try:
            question.judge(begun(made))
        except Exception as error:  # the other half is judged all the same
            e = error if isinstance(error, Wrong | StillOpen) else verdict_on(error)
            if isinstance(e, Wrong):
                wrong[name] = Wrong(str(e) if str(e).startswith(name) else f"In {name}: {e}", belief=e.belief)
            elif e.unwritten or getattr(made, "stub", True):
                unwritten.add(name)
                wrong[name] = Wrong(f"Now write {name}.")
            else:
                wrong[name] = Wrong(f"In {name}: {RETURNS_NOTHING}")
    if len(unwritten) == 2:
        raise StillOpen
    if len(wrong) == 2:
        raise next(e for name, e in wrong.items() if name not in unwritten)
    if "v" in wrong:
        raise Wrong(f"pass_seconds is right. {wrong['v']}", 2 / 3, wrong["v"].belief)
    if "pass_seconds" in wrong:
        raise Wrong(f"v is right. {wrong['pass_seconds']}", 1 / 3, wrong["pass_seconds"].belief)
