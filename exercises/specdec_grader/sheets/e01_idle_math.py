"""Exercise 1, from a data sheet: the bytes of a pass, tokens a second, where a pass turns compute-bound, and v."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from specdec_grader.coerce import number, reject_empty
from specdec_grader.guard import explain_error
from specdec_grader.mistakes import Mistake, StillOpen, Wrong
from specdec_grader.part import RETURNS_NOTHING, part, part_of_one
from specdec_grader.question import Question, in_enough_digits, question

Formula = Callable[..., float]

TOO_SMALL = "your numbers are 10^{} times too small. Keep the plain units, without {}."
TOO_LARGE = "your numbers are 10^{} times too large. Keep the plain units: seconds, bytes."
FACTORS = {  # what a result is too large by → what is said
    8.0: "all your numbers are 8 times too large. Are these bits? A byte has 8 bits.",
    1 / 8: "all your numbers are 8 times too small: you divide by 8 once too often.",
    2.0: "all your numbers are twice too large: a factor of 2 stands where it should not, or is missing below.",
    0.5: "all your numbers are half of what they should be: look for a missing factor of 2, or for one too many.",
    1e-9: TOO_SMALL.format(9, "giga"),
    1e-6: TOO_SMALL.format(6, "mega"),
    1e-3: TOO_SMALL.format(3, "kilo"),
    1e3: TOO_LARGE.format(3),
    1e6: TOO_LARGE.format(6),
    1e9: TOO_LARGE.format(9),
    1 / 2**10: "your numbers are in units of 1024. Keep plain bytes.",
    1 / 2**20: "your numbers are in units of 1024². Keep plain bytes.",
    1 / 2**30: "your numbers are in units of 1024³. Keep plain bytes.",
}


def quantity(right: Formula, *, counts: bool = False, but: Sequence[float] = (), **more) -> Question:
    """A question for a number with a unit: to the mistakes of its own come wrong units, and rounding to whole numbers.

    Args:
        counts: the right results are whole numbers, so that rounding them is no mistake.
        but: factors for which it has a mistake of its own.
        more: the cases and the mistakes, as of a `question`.
    """
    name = right.__name__

    def hint(case: tuple, found: float) -> str:
        arguments = ", ".join(str(x) if callable(x) else f"{x:g}" for x in case)
        yours, wanted = in_enough_digits(found, right(*case))
        return f"{name}({arguments}) is {yours} with your code, and it should be {wanted}."

    often = [
        Mistake(f"{name}: {said}", lambda *case, factor=factor: factor * right(*case))
        for factor, said in FACTORS.items()
        if factor not in but
    ]
    if not counts:
        rounded = [lambda *case, to=to: to(right(*case)) for to in (math.floor, round, math.ceil)]
        often.append(Mistake(f"{name} is rounded to whole numbers. Return the number as it is.", *rounded))
    read = partial(number, what=f"What {name} returns")
    return question(right, mistakes=often, read=read, equal=close, hint=hint, **more)


def close(a: float, b: float) -> bool:
    """Equal but for rounding: bytes are billions, and seconds are thousandths."""
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-30)


# 1.bytes


def bytes_read(weights, bits, k):
    return weights * bits / 8


BYTES = quantity(
    bytes_read,
    counts=True,
    cases=((8e9, 16, 1), (135e6, 32, 5), (70e9, 4, 1), (8e9, 4.5, 64), (3e9, 8, 5), (1e9, 6, 2), (1000, 8, 64)),
)
part_of_one("1.bytes", points=1, asked=BYTES)


# 1.ceiling


def most_tokens(bytes_a_pass, bandwidth, texts):
    return texts * bandwidth / bytes_a_pass


CEILING = quantity(
    most_tokens,
    cases=((16e9, 3350e9, 1), (4e9, 50e9, 1), (540e6, 20e9, 1), (16e9, 3350e9, 8), (140e9, 3350e9, 64), (2e9, 75e9, 3)),
)
part_of_one("1.ceiling", points=2, asked=CEILING)


# 1.crossing: bits / 8 / bandwidth = k * 2 / arithmetic


def crossing(bandwidth, arithmetic, bits):
    return bits / 16 * arithmetic / bandwidth


CROSSING = quantity(
    crossing,
    but=(2, 8),
    cases=(
        (3350e9, 989e12, 16),
        (3350e9, 989e12, 4),
        (100e9, 1000e9, 8),
        (50e9, 130e9, 4.5),
        (20e9, 60e9, 32),
        (1000e9, 300e12, 6),
    ),
)
part_of_one("1.crossing", points=2, asked=CROSSING)


# 1.v, which asks for two functions

SHEETS = (  # weights, bits, bandwidth, arithmetic
    (8e9, 16, 3350e9, 989e12),  # crosses at 295
    (1e9, 4, 50e9, 500e9),  # at 2.5
    (135e6, 32, 20e9, 8e9),  # at 0.8: compute-bound from the first token
)
TIED = (1e9, 16, 50e9, 400e9)  # at 8, where both jobs take equally long


def pass_seconds(k, weights, bits, bandwidth, arithmetic):
    reading = weights * bits / 8 / bandwidth
    computing = 2 * weights * k / arithmetic
    return max(reading, computing)


# k times the longer one at k = 1, and the longer one of k · reading and computing, are the same number.
PASS = quantity(pass_seconds, cases=[(k, *sheet) for sheet in SHEETS for k in (1, 2, 5, 64, 400)] + [(8, *TIED)])


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


def v(gamma, T):
    return T(gamma + 1) / T(1)


V = quantity(v, cases=[(gamma, WatchedCurve(T)) for T in CURVES for gamma in (0, 1, 2, 4, 7, 10)])


@part("1.v", points=3, asks=[PASS, V])
def judge_pass_and_v(made_pass_seconds: Formula, made_v: Formula | None = None) -> None:
    """pass_seconds earns two points, v one, each by itself."""
    wrong: dict[str, Wrong] = {}
    unwritten: set[str] = set()
    for name, asked, made in (("pass_seconds", PASS, made_pass_seconds), ("v", V, made_v)):
        try:
            asked.judge(reject_empty(made))
        except Exception as error:  # the other half is judged all the same
            e = error if isinstance(error, Wrong | StillOpen) else explain_error(error)
            if isinstance(e, Wrong):
                wrong[name] = Wrong(str(e) if str(e).startswith(name) else f"In {name}: {e}", belief=e.belief)
            elif e.unwritten or getattr(made, "stub", True):
                unwritten.add(name)
                wrong[name] = Wrong(f"Now write {name}.")
            else:
                wrong[name] = Wrong(f"In {name}: {RETURNS_NOTHING}{e.wanted}")
    if len(unwritten) == 2:
        raise StillOpen
    if len(wrong) == 2:
        raise next(e for name, e in wrong.items() if name not in unwritten)
    if "v" in wrong:
        raise Wrong(f"pass_seconds is right. {wrong['v']}", 2 / 3, wrong["v"].belief)
    if "pass_seconds" in wrong:
        raise Wrong(f"v is right. {wrong['pass_seconds']}", 1 / 3, wrong["pass_seconds"].belief)
