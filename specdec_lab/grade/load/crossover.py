"""Exercise 7: where they begin to lose."""

from collections.abc import Callable

from specdec_lab.grade.cases import Mistake, explained, named, told
from specdec_lab.grade.load.gain import BEND, FLAT, LINE, POWER, ROWS, STAIRS, WITH_THE_BATCH, Pass, _like, _rows, gain
from specdec_lab.grade.part import StillOpen, Wrong, begun, part, whole
from specdec_lab.theory import expected_tokens


def crossover(
    T: Pass, gamma: int, alpha: float, most: int, gain: Callable[..., float] = gain, loses=lambda g: g < 1
) -> int | None:
    return next((texts for texts in range(1, most + 1) if loses(gain(T, texts, gamma, alpha))), None)


def paying(T: Pass, gamma: int, alpha: float, most: int) -> list[int]:
    return [texts for texts in range(1, most + 1) if gain(T, texts, gamma, alpha) >= 1]


def for_good(T: Pass, gamma: int, alpha: float, most: int) -> int | None:
    """The fewest texts from which on it always loses: what a search by halves or from above finds."""
    first = max(paying(T, gamma, alpha, most), default=0) + 1
    return first if first <= most else None


CROSSOVERS = (
    (BEND, 3, 0.8, 64),
    (BEND, 3, 0.8, 29),
    (BEND, 3, 0.8, 30),
    (BEND, 2, 0.6, 64),
    (LINE, 5, 0.6, 200),
    (STAIRS, 2, 0.7, 64),  # loses from 17 texts on, pays again with 25, and loses from 33 on
    (FLAT, 4, 0.5, 100),
    (ROWS, 3, 0.8, 20),
    (ROWS, 1, 1.0, 50),
    (BEND, 4, 0.0, 64),
    (BEND, 0, 0.8, 64),
)


def _by(formula: Callable[..., float]) -> Callable[..., int | None]:
    return lambda T, gamma, alpha, most: crossover(T, gamma, alpha, most, formula)


def _other(
    change: Callable[[int], object], instead_of_none: Callable[[int], object] = lambda most: None
) -> Callable[..., object]:
    """The right answer, changed; and what stands in place of None."""

    def made(T: Pass, gamma: int, alpha: float, most: int) -> object:
        found = crossover(T, gamma, alpha, most)
        return instead_of_none(most) if found is None else change(found)

    return made


CROSSOVER_MISTAKES = (
    *(
        Mistake("This is the largest number of texts for which it still pays; the next one is asked for.", formula)
        for formula in (
            _other(lambda found: found - 1 or None, lambda most: most),
            _other(lambda found: found - 1, lambda most: most),
            _other(lambda found: found - 1),
            lambda *case: max(paying(*case), default=None),
            lambda *case: max(paying(*case), default=0),
        )
    ),
    Mistake(
        "With a gain of exactly 1 nothing is lost yet.",
        lambda T, gamma, alpha, most: crossover(T, gamma, alpha, most, loses=lambda g: g <= 1),
    ),
    Mistake(
        "There the wider pass begins to cost more. It loses only when it costs more than the tokens that it writes, E for one.",
        _by(lambda T, texts, gamma, alpha: T(texts) / T(texts * (gamma + 1))),
    ),
    Mistake(
        "There the wider pass begins to cost more than a pass for one text. It loses only when it costs more than what it writes is worth.",
        _by(lambda T, texts, gamma, alpha: T(1) / T(texts * (gamma + 1))),
    ),
    Mistake(
        "Compare with a pass without drafts over the same batch, and not over one text.",
        _by(_rows(lambda texts, gamma: texts * (gamma + 1), lambda texts: 1)),
    ),
    Mistake("`most` itself counts, too.", lambda T, gamma, alpha, most: crossover(T, gamma, alpha, most - 1)),
    *(
        Mistake("Where it pays up to `most`, return None.", _other(lambda found: found, what))
        for what in (lambda most: most, lambda most: most + 1, lambda most: 0, lambda most: -1)
    ),
    Mistake(
        "Each text brings γ + 1 rows into the pass, not γ.", _by(_rows(lambda texts, gamma: texts * gamma or texts))
    ),
    Mistake(
        "Each text brings drafts of its own: count γ + 1 rows for each.", _by(_rows(lambda texts, gamma: texts + gamma))
    ),
    Mistake(
        "These are rows; the number of texts is asked for.",
        lambda T, gamma, alpha, most: _other(lambda found: found * (gamma + 1))(T, gamma, alpha, most),
    ),
    Mistake(
        "The corrected or bonus token is missing in the tokens per pass.",
        _by(_like(lambda alpha, gamma: expected_tokens(alpha, gamma) - 1)),
        6,
    ),
    Mistake(
        "Not all drafts are accepted: the tokens per pass follow from α.", _by(_like(lambda alpha, gamma: gamma + 1))
    ),
    Mistake(
        "A draft counts only if all before it survived: 1 + γ·α is too much.",
        _by(_like(lambda alpha, gamma: 1 + gamma * alpha)),
    ),
    Mistake(
        "The gain need not fall evenly: it may lose, pay again, and lose. The fewest texts are asked for, so try one text, then two, and so on.",
        for_good,
    ),
)


@part("7.crossover", points=2)
def crossovers(made: Callable[[Pass, int, float, int], int | None]) -> None:
    """crossover(T, gamma, alpha, most) → the fewest texts with which drafting loses, or None."""
    begun(made)
    values = [made(*case) for case in CROSSOVERS]
    if all(value is None or value is Ellipsis for value in values):
        raise StillOpen
    found = [None if value is None else whole(value, "The number of texts") for value in values]
    for case, value in zip(CROSSOVERS, found):
        right = crossover(*case)
        if value != right:
            T, gamma, alpha, most = case
            before = f"For {T}, γ = {gamma}, α = {told(alpha)} and at most {most} texts the answer is {right}; yours is {value}."
            mistake = explained(CROSSOVER_MISTAKES, CROSSOVERS, found, lambda a, b: a == b)
            if mistake is None and loses_with_texts(made):
                raise Wrong(f"{before} {WITH_THE_BATCH}", misconception=13)
            raise named(mistake, before, "For how many texts is the gain of part 1 below 1 for the first time?")


def loses_with_texts(made: Callable[[Pass, int, float, int], int | None]) -> bool:
    """Finds a crossover where the gain is above 1 for any number of texts, and a later one for better drafts."""
    worse, better = (made(POWER, 4, alpha, 10_000) for alpha in (0.7, 0.95))
    return worse is not None and worse > 1 and (better is None or better > worse)
