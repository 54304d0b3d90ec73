"""Exercise 7: crossover(T, D, gamma, alpha, most) → the fewest texts with which drafts lose, or None; D(n) is a pass of the drafter."""

from collections.abc import Callable
from dataclasses import replace

from specdec_grader.kit import Mistake, Question, StillOpen, nothing, part, whole
from specdec_grader.sheets.load.gain import fuller
from specdec_grader.sheets.load.machines import BEND, EVEN, FLAT, FREE, LINE, POWER, ROWS, SMALL, STAIRS, Pass
from specdec_lab.theory import expected_tokens as E

Crossover = Callable[[Pass, Pass, int, float, int], int | None]
Gain = Callable[[Pass, Pass, int, int, float], float]


def gain_with(
    tokens: Callable[[float, int], float] = E,
    rows: Callable[[int, int], int] = lambda texts, n: texts * (n + 1),
    drafting: Callable[[Pass, int, int], float] = lambda D, texts, n: n * D(texts),
    plain: Callable[[int], int] = lambda texts: texts,
) -> Gain:
    """The gain, or one with something changed: tokens a pass, the target's rows, what drafting costs, rows without drafts."""

    def gain(T: Pass, D: Pass, texts: int, gamma: int, alpha: float) -> float:
        return tokens(alpha, gamma) * T(plain(texts)) / (drafting(D, texts, gamma) + T(rows(texts, gamma)))

    return gain


def fewest(loses: Callable[[float], bool] = lambda g: g < 0.999999, **changed: Callable) -> Crossover:
    """The crossover, or that of a changed gain."""
    gain = gain_with(**changed)
    return lambda T, D, gamma, alpha, most: next(
        (n for n in range(1, most + 1) if loses(gain(T, D, n, gamma, alpha))), None
    )


def last_that_pays(T: Pass, D: Pass, gamma: int, alpha: float, most: int) -> int:
    gain = gain_with()
    return max((n for n in range(1, most + 1) if gain(T, D, n, gamma, alpha) >= 1), default=0)


def no_drafting(D: Pass, texts: int, n: int) -> float:
    return 0.0


crossover = fewest()
CROSSOVER = Question(
    right=crossover,
    cases=((BEND, EVEN, 3, 0.8, 64), (BEND, EVEN, 3, 0.8, 26), (BEND, EVEN, 3, 0.8, 27), (BEND, SMALL, 2, 0.6, 64), (LINE, SMALL, 5, 0.7, 200),
           (STAIRS, EVEN, 2, 0.7, 64),  # loses from 17 texts on, pays again with 25, and loses from 33 on
           (FLAT, FREE, 4, 0.5, 100), (FLAT, SMALL, 4, 0.5, 100),  # the drafter alone makes the loss
           (ROWS, FREE, 3, 0.8, 20), (ROWS, FREE, 1, 1.0, 50), (BEND, SMALL, 4, 0.0, 64), (BEND, EVEN, 0, 0.8, 64)),
    seen="For {}, {}, γ = {}, α = {} and at most {} texts the answer is {right}; yours is {found}.",
    hint="For how many texts do the drafter's passes and the target's wide one cost more than E plain passes for the first time?",
    mistakes=[
        Mistake("This is the largest number of texts for which it still pays; the next one is asked for.",
                lambda *case: (crossover(*case) or case[-1] + 1) - 1,
                lambda *case: (crossover(*case) or case[-1] + 1) - 1 or None,
                lambda *case: (found := crossover(*case)) and found - 1,
                last_that_pays,
                lambda *case: last_that_pays(*case) or None),
        Mistake("With a gain of exactly 1 nothing is lost yet.", fewest(lambda g: g <= 1)),
        Mistake("The drafter's passes are missing. The drafts are not free here.", fewest(drafting=no_drafting)),
        Mistake("The drafter needs a pass for each place: γ passes in a step, one after the other.",
                fewest(drafting=lambda D, texts, n: D(texts)), fewest(drafting=lambda D, texts, n: D(texts * n))),
        Mistake("The drafter drafts for all texts at once: its passes go over a row for each text.",
                fewest(drafting=lambda D, texts, n: n * D(1)), fewest(drafting=lambda D, texts, n: texts * n * D(1))),
        Mistake("A pass of the drafter goes over one row for each text; only the target's has γ + 1.",
                fewest(drafting=lambda D, texts, n: n * D(texts * (n + 1))), fewest(drafting=lambda D, texts, n: n * D(texts * n))),
        Mistake("The drafter makes γ passes. The token behind the drafts is the target's own.", fewest(drafting=lambda D, texts, n: (n + 1) * D(texts)), belief=10),
        Mistake("There a step with drafts begins to cost more. It loses only when it costs more than the tokens that it writes, E for one.",
                fewest(tokens=lambda a, n: 1)),
        Mistake("There a step with drafts begins to cost more than a pass for one text. It loses only when it costs more than what it writes is worth.",
                fewest(tokens=lambda a, n: 1, plain=lambda texts: 1)),
        Mistake("Compare with a pass without drafts over the same batch, and not over one text.", fewest(plain=lambda texts: 1)),
        Mistake("`most` itself counts, too.", lambda T, D, n, a, most: crossover(T, D, n, a, most - 1)),
        Mistake("Where it pays up to `most`, return None.",
                *(lambda *case, none=none: crossover(*case) or none for none in (0, -1)),
                *(lambda *case, more=more: crossover(*case) or case[-1] + more for more in (0, 1))),
        Mistake("Each text brings γ + 1 rows into the target's pass, not γ.", fewest(rows=lambda texts, n: texts * n or texts)),
        Mistake("Each text brings drafts of its own: count γ + 1 rows for each.", fewest(rows=lambda texts, n: texts + n)),
        Mistake("Not all drafts are accepted: the tokens per pass follow from α.", fewest(tokens=lambda a, n: n + 1)),
        Mistake("These are rows; the number of texts is asked for.", lambda T, D, n, *rest: (found := crossover(T, D, n, *rest)) and found * (n + 1)),
        Mistake("The corrected or bonus token is missing in the tokens per pass.", fewest(tokens=lambda a, n: E(a, n) - 1), belief=6),
        Mistake("A draft counts only if all before it survived: 1 + γ·α is too much.", fewest(tokens=lambda a, n: 1 + n * a)),
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
        """What `fuller` says, if it finds a crossover where the gain is always above 1, and a later one for better drafts."""
        worse, better = (made(POWER, FREE, 4, alpha, 10_000) for alpha in (0.7, 0.95))
        fell = worse is not None and worse > 1 and (better is None or better > worse)
        return fuller(lambda T: made(T, FREE, 4, 0.7, 40)) if fell else CROSSOVER.hint

    replace(CROSSOVER, hint=hint).compare(found)
