"""Exercise 7: gain(T, texts, gamma, alpha) → how many times as many tokens a second a batch writes with drafts."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from specdec_grader.kit import ROUNDED, Mistake, Question, number, part, same
from specdec_grader.sheets.load.machines import BEND, FLAT, LINE, ROWS, STAIRS, Pass
from specdec_lab.theory import expected_tokens as E

Gain = Callable[[Pass, int, int, float], float]


def gain_with(tokens: Callable[[float, int], float]) -> Gain:
    """The gain with other tokens a pass, from α and γ."""
    return lambda T, texts, gamma, alpha: tokens(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


def gain_over(rows: Callable[[int, int], int], plain: Callable[[int], int] = lambda texts: texts) -> Gain:
    """The gain with other rows, from texts and γ, in the pass with drafts; and from texts in the plain one."""
    return lambda T, texts, gamma, alpha: E(alpha, gamma) * T(plain(texts)) / T(rows(texts, gamma))


gain = gain_with(E)
GAIN = Question(
    right=gain, read=partial(number, what="The gain"), near=ROUNDED,
    cases=((BEND, 1, 3, 0.8), (BEND, 8, 3, 0.8), (BEND, 16, 3, 0.8), (BEND, 64, 3, 0.8), (LINE, 4, 5, 0.6), (STAIRS, 9, 2, 0.5),
           (FLAT, 50, 4, 0.7), (ROWS, 9, 3, 0.8), (BEND, 20, 0, 0.8), (BEND, 9, 4, 0.0), (BEND, 30, 2, 1.0)),
    seen="For {}, {} texts, γ = {} and α = {} the gain is {right}; yours is {found}.",
    hint="How many tokens does a step write, and what does it cost, with and without?",
    mistakes=[
        Mistake("These are the tokens per pass. They are the gain only while the wider pass costs no more.", lambda T, texts, n, a: E(a, n), belief=7),
        Mistake("It is upside down: above 1 must be a gain.", lambda *case: 1 / gain(*case)),
        Mistake("Each text brings γ + 1 rows into the pass, not γ.", gain_over(lambda texts, n: texts * n or texts)),
        Mistake("Each text brings drafts of its own: count γ + 1 rows for each.", gain_over(lambda texts, n: texts + n)),
        Mistake("Not all drafts are accepted: the tokens per pass follow from α.", gain_with(lambda a, n: n + 1)),
        Mistake("This is the gain of one text alone: all texts are in the same pass.", gain_over(lambda texts, n: n + 1, lambda texts: 1)),
        Mistake("Compare with a pass without drafts over the same batch, T(texts), and not over one text.",
                gain_over(lambda texts, n: texts * (n + 1), lambda texts: 1)),
        Mistake("Without drafts the batch also writes one token for each text: the number of texts is on both sides.",
                lambda T, texts, n, a: texts * gain(T, texts, n, a)),
        Mistake("These are the tokens of a batch by the cost of its pass; the gain compares them with what the batch does without drafts.",
                lambda T, texts, n, a: texts * E(a, n) / T(texts * (n + 1))),
        Mistake("These are the tokens of one text by the cost of the pass; the gain compares them with a pass without drafts.",
                lambda T, texts, n, a: E(a, n) / T(texts * (n + 1))),
        Mistake("The corrected or bonus token is missing: with α = 0 a round still writes one token.", gain_with(lambda a, n: E(a, n) - 1), belief=6),
        Mistake("A draft counts only if all before it survived: place i is reached with α^(i−1), not always.", gain_with(lambda a, n: 1 + n * a)),
        Mistake("Sum up one power of α more: 1 + α + … + α^γ has γ + 1 terms.", gain_with(lambda a, n: E(a, n - 1))),
        Mistake("Sum up one power of α less: 1 + α + … + α^γ has γ + 1 terms.", gain_with(lambda a, n: E(a, n + 1))),
        Mistake("This compares the costs only; the pass with drafts also writes more.",
                lambda T, texts, n, a: T(texts) / T(texts * (n + 1)), lambda T, texts, n, a: T(texts * (n + 1)) / T(texts))])  # fmt: skip

FULLER = (
    "Your drafts get worse in a fuller batch. The target says the same about each text, however many others there are."
)
WORSE_DRAFTS = Mistake(FULLER, belief=13)
NEVER_ASKS = (
    "Your code never asks T. It is a function, and another one for each machine: T(k) is what a pass over k rows costs."
)


def asks_T(call: Callable[[Pass], object]) -> bool:
    """Whether the learner's code asks the machine that it is given what a pass costs."""
    asked: list[int] = []
    call(lambda k: asked.append(k) or FLAT(k))
    return bool(asked)


def fuller(call: Callable[[Pass], object]) -> str | Mistake:
    """What is said where a gain falls with the texts though rows are free: T was not asked, or the drafts got worse."""
    return WORSE_DRAFTS if asks_T(call) else NEVER_ASKS


@part("7.gain", points=2, asks=[GAIN])
def judge_gain(made: Gain) -> None:
    def hint(case: tuple, found: float) -> str | Mistake:
        """What `fuller` says, if it is right for one text and lower for more, on a machine where rows are free."""
        one, many = (GAIN.read(made(FLAT, texts, 4, 0.7)) for texts in (1, 64))
        worse = same(one, E(0.7, 4)) and many < 0.999 * one
        return fuller(lambda T: made(T, 64, 4, 0.7)) if worse else GAIN.hint

    replace(GAIN, hint=hint).judge(made)
