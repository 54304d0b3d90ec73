"""Exercise 7: crossover(T, gamma, alpha, most) → the fewest texts with which drafts lose, or None."""

from collections.abc import Callable
from dataclasses import replace

from specdec_lab.course.judges.kit import Mistake, Question, StillOpen, nothing, part, whole
from specdec_lab.course.judges.load.gain import WORSE_DRAFTS, WRONG_GAINS, Gain, gain, gain_over, gain_with
from specdec_lab.course.judges.load.machines import BEND, FLAT, LINE, POWER, ROWS, STAIRS, Pass
from specdec_lab.theory import expected_tokens as E

Crossover = Callable[[Pass, int, float, int], int | None]


def fewest(gain: Gain, loses: Callable[[float], bool] = lambda g: g < 1) -> Crossover:
    """The crossover of another gain."""
    return lambda T, gamma, alpha, most: next((n for n in range(1, most + 1) if loses(gain(T, n, gamma, alpha))), None)


def last_that_pays(T: Pass, gamma: int, alpha: float, most: int) -> int:
    return max((n for n in range(1, most + 1) if gain(T, n, gamma, alpha) >= 1), default=0)


crossover = fewest(gain)
CROSSOVER = Question(
    right=crossover,
    cases=((BEND, 3, 0.8, 64), (BEND, 3, 0.8, 29), (BEND, 3, 0.8, 30), (BEND, 2, 0.6, 64), (LINE, 5, 0.6, 200),
           (STAIRS, 2, 0.7, 64),  # loses from 17 texts on, pays again with 25, and loses from 33 on
           (FLAT, 4, 0.5, 100), (ROWS, 3, 0.8, 20), (ROWS, 1, 1.0, 50), (BEND, 4, 0.0, 64), (BEND, 0, 0.8, 64)),
    seen="For {}, γ = {}, α = {} and at most {} texts the answer is {right}; yours is {found}.",
    hint="For how many texts is the gain of part 1 below 1 for the first time?",
    mistakes=[
        Mistake("This is the largest number of texts for which it still pays; the next one is asked for.",
                lambda *case: (crossover(*case) or case[-1] + 1) - 1,
                lambda *case: (crossover(*case) or case[-1] + 1) - 1 or None,
                lambda *case: (found := crossover(*case)) and found - 1,
                last_that_pays,
                lambda *case: last_that_pays(*case) or None),
        Mistake("With a gain of exactly 1 nothing is lost yet.", fewest(gain, lambda g: g <= 1)),
        Mistake("There the wider pass begins to cost more. It loses only when it costs more than the tokens that it writes, E for one.",
                fewest(lambda T, texts, n, a: T(texts) / T(texts * (n + 1)))),
        Mistake("There the wider pass begins to cost more than a pass for one text. It loses only when it costs more than what it writes is worth.",
                fewest(lambda T, texts, n, a: T(1) / T(texts * (n + 1)))),
        Mistake("Compare with a pass without drafts over the same batch, and not over one text.",
                fewest(gain_over(lambda texts, n: texts * (n + 1), lambda texts: 1))),
        Mistake("`most` itself counts, too.", lambda T, n, a, most: crossover(T, n, a, most - 1)),
        Mistake("Where it pays up to `most`, return None.",
                *(lambda *case, none=none: crossover(*case) or none for none in (0, -1)),
                *(lambda *case, more=more: crossover(*case) or case[-1] + more for more in (0, 1))),
        *(m.adapted(fewest) for m in WRONG_GAINS),
        Mistake("These are rows; the number of texts is asked for.", lambda T, n, *rest: (found := crossover(T, n, *rest)) and found * (n + 1)),
        Mistake("The corrected or bonus token is missing in the tokens per pass.", fewest(gain_with(lambda a, n: E(a, n) - 1)), belief=6),
        Mistake("A draft counts only if all before it survived: 1 + γ·α is too much.", fewest(gain_with(lambda a, n: 1 + n * a))),
        # This is what a search by halves or from above finds.
        Mistake("The gain need not fall evenly: it may lose, pay again, and lose. The fewest texts are asked for, so try one text, then two, and so on.",
                lambda *case: last + 1 if (last := last_that_pays(*case)) < case[-1] else None)])  # fmt: skip


@part("7.crossover", points=2, asks=[CROSSOVER])
def judge_crossover(made: Crossover) -> None:
    values = [made(*case) for case in CROSSOVER.cases]
    if all(map(nothing, values)):  # None is an answer, but not to all cases
        raise StillOpen
    found = [None if value is None else whole(value, "The number of texts") for value in values]

    def hint(case: tuple, found: int | None) -> str | Mistake:
        """`WORSE_DRAFTS`, if it finds a crossover where the gain is always above 1, and a later one for better drafts."""
        worse, better = (made(POWER, 4, alpha, 10_000) for alpha in (0.7, 0.95))
        fell = worse is not None and worse > 1 and (better is None or better > worse)
        return WORSE_DRAFTS if fell else CROSSOVER.hint

    replace(CROSSOVER, hint=hint).compare(found)
