"""Exercise 7: what drafts are worth in a batch, where they begin to lose, and a policy."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import StillOpen, Wrong, begun, number, part, same, shown, whole
from specdec_lab.numbers import bare
from specdec_lab.serving import Arrival, Policy, Record, StepCosts, always, bursts, never, simulate
from specdec_lab.theory import expected_tokens


@dataclass(frozen=True)
class Pass:
    """What a pass over n rows costs."""

    formula: str
    cost: Callable[[int], float]

    def __call__(self, n: int) -> float:
        return self.cost(n)

    def __repr__(self) -> str:
        return f"T(n) = {self.formula}"


BEND = Pass("max(1, n/40)", lambda n: max(1.0, n / 40))
LINE = Pass("2 + n/16", lambda n: 2 + n / 16)
STAIRS = Pass("3 · ⌈n/24⌉", lambda n: 3.0 * math.ceil(n / 24))
FLAT = Pass("1", lambda n: 1.0)
ROWS = Pass("n", lambda n: float(n))
POWER = Pass("n^.43", lambda n: n ** (math.log(2) / math.log(5)))  # five times the rows cost twice as much, at any size

# Part 1: the gain


def gain(T: Pass, texts: int, gamma: int, alpha: float) -> float:
    return expected_tokens(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


GAINS = (
    (BEND, 1, 3, 0.8),
    (BEND, 8, 3, 0.8),
    (BEND, 16, 3, 0.8),
    (BEND, 64, 3, 0.8),
    (LINE, 4, 5, 0.6),
    (STAIRS, 9, 2, 0.5),
    (FLAT, 50, 4, 0.7),
    (ROWS, 9, 3, 0.8),
    (BEND, 20, 0, 0.8),
    (BEND, 9, 4, 0.0),
    (BEND, 30, 2, 1.0),
)


def _like(E: Callable[[float, int], float]) -> Callable[..., float]:
    return lambda T, texts, gamma, alpha: E(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


def _rows(rows: Callable[[int, int], int], plain: Callable[[int], int] = lambda texts: texts) -> Callable[..., float]:
    return lambda T, texts, gamma, alpha: expected_tokens(alpha, gamma) * T(plain(texts)) / T(rows(texts, gamma))


GAIN_MISTAKES = (
    Mistake(
        "These are the tokens per pass. They are the gain only while the wider pass costs no more.",
        lambda T, texts, gamma, alpha: expected_tokens(alpha, gamma),
        7,
    ),
    Mistake("It is upside down: above 1 must be a gain.", lambda *case: 1 / gain(*case)),
    Mistake("Each text brings γ + 1 rows into the pass, not γ.", _rows(lambda texts, gamma: texts * gamma or texts)),
    Mistake(
        "Each text brings drafts of its own: count γ + 1 rows for each.", _rows(lambda texts, gamma: texts + gamma)
    ),
    Mistake(
        "This is the gain of one text alone: all texts are in the same pass.",
        _rows(lambda texts, gamma: gamma + 1, lambda texts: 1),
    ),
    Mistake(
        "Compare with a pass without drafts over the same batch, T(texts), and not over one text.",
        _rows(lambda texts, gamma: texts * (gamma + 1), lambda texts: 1),
    ),
    Mistake(
        "Without drafts the batch also writes one token for each text: the number of texts is on both sides.",
        lambda T, texts, gamma, alpha: texts * gain(T, texts, gamma, alpha),
    ),
    Mistake(
        "These are the tokens of a batch by the cost of its pass; the gain compares them with what the batch does without drafts.",
        lambda T, texts, gamma, alpha: texts * expected_tokens(alpha, gamma) / T(texts * (gamma + 1)),
    ),
    Mistake(
        "These are the tokens of one text by the cost of the pass; the gain compares them with a pass without drafts.",
        lambda T, texts, gamma, alpha: expected_tokens(alpha, gamma) / T(texts * (gamma + 1)),
    ),
    Mistake(
        "The corrected or bonus token is missing: with α = 0 a round still writes one token.",
        _like(lambda alpha, gamma: expected_tokens(alpha, gamma) - 1),
        6,
    ),
    Mistake(
        "A draft counts only if all before it survived: place i is reached with α^(i−1), not always.",
        _like(lambda alpha, gamma: 1 + gamma * alpha),
    ),
    Mistake("Not all drafts are accepted: the tokens per pass follow from α.", _like(lambda alpha, gamma: gamma + 1)),
    Mistake(
        "Sum up one power of α more: 1 + α + … + α^γ has γ + 1 terms.",
        _like(lambda alpha, gamma: sum(alpha**i for i in range(gamma))),
    ),
    Mistake(
        "Sum up one power of α less: 1 + α + … + α^γ has γ + 1 terms.",
        _like(lambda alpha, gamma: sum(alpha**i for i in range(gamma + 2))),
    ),
    Mistake(
        "This compares the costs only; the pass with drafts also writes more.",
        lambda T, texts, gamma, alpha: T(texts) / T(texts * (gamma + 1)),
    ),
    Mistake(
        "This compares the costs only; the pass with drafts also writes more.",
        lambda T, texts, gamma, alpha: T(texts * (gamma + 1)) / T(texts),
    ),
)


@part("7.gain", points=2)
def gains(made: Callable[[Pass, int, int, float], float]) -> None:
    """gain(T, texts, gamma, alpha) → how many times as many tokens a second."""
    found = [number(value, "The gain") for value in answers(made, GAINS)]
    for case, value in zip(GAINS, found):
        right = gain(*case)
        if not same(value, right):
            T, texts, gamma, alpha = case
            before = f"For {T}, {texts} texts, γ = {gamma} and α = {told(alpha)} the gain is {told(right)}; yours is {told(value)}."
            mistake = explained(GAIN_MISTAKES, GAINS, found)
            if mistake is None and falls_with_texts(made):
                raise Wrong(f"{before} {WITH_THE_BATCH}", misconception=13)
            raise named(mistake, before, "How many tokens does a step write, and what does it cost, with and without?")


WITH_THE_BATCH = (
    "Your drafts get worse in a fuller batch. The target says the same about each text, however many others there are."
)


def falls_with_texts(made: Callable[[Pass, int, int, float], float]) -> bool:
    """Right for one text, and lower for more, on a machine where rows are free."""
    one, many = (number(made(FLAT, texts, 4, 0.7), "The gain") for texts in (1, 64))
    return same(one, expected_tokens(0.7, 4)) and many < 0.999 * one


# Part 2: the crossover


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


# Part 3: a policy

GAMMAS = (0, 2, 4)
SIZES = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64)
MOST = SIZES[-1]
MEASURED = {  # seconds: flat at first, then in proportion to the rows, and half a millisecond for each draft
    (texts, gamma): round(0.020 * (1 + (texts * (gamma + 1) / 28) ** 3) ** (1 / 3) + 0.0005 * gamma, 4)
    for texts in SIZES
    for gamma in GAMMAS
}
CATCH_UP = 0.020  # seconds for each text, when drafts come back and the draft model must read what it missed
ACCEPTED = (0, 0, 1, 1, 2, 3, 4, 4, 4, 4)  # accepted drafts of ten rounds with γ = 4
STEP = {gamma: 1 + fmean(min(n, gamma) for n in ACCEPTED) for gamma in GAMMAS}  # tokens a step, for each text
NIGHT, NOON, DAY = "night, low load", "noon, full load", "a day of bursts"
NEAR = {NIGHT: 1.05, NOON: 1.03}
BETTER = 0.95  # of the mean of the better one, over the day


class Server(StepCosts):
    """The step costs, and what it costs when drafts come back after a step without. One for each simulation."""

    def __init__(self, catch_up: float = CATCH_UP):
        super().__init__(MEASURED)
        self.catch_up, self.last = catch_up, 0

    def __call__(self, texts: int, gamma: int) -> float:
        back, self.last = gamma > 0 and not self.last, gamma
        return super().__call__(texts, gamma) + back * self.catch_up * texts


@functools.cache
def arrivals(when: str) -> list[Arrival]:
    """The same requests for every policy."""
    if when == NIGHT:
        return bursts([(100, 0.4)], seed=1)
    return bursts([(30, 20.0)], seed=11) if when == NOON else bursts([(20, 0.4), (5, 20.0)] * 6, seed=21)


def serving(policy: Policy, when: str, catch_up: float = CATCH_UP) -> Record:
    return simulate(arrivals(when), policy, Server(catch_up), ACCEPTED, most=MOST, seed=1)


Times = tuple[float, float]  # seconds a token: mean, and what 95 % stay within


def times(record: Record) -> Times:
    return record.mean, record.percentile(0.95)


@functools.cache
def fixed(gamma: int, when: str) -> Times:
    return times(serving(always(gamma) if gamma else never, when))


def compare(policy: Policy) -> None:
    """Print what users see with no drafts, with four always, and with a policy: milliseconds a token."""
    if policy(1, 0) is None:
        print("Nothing to compare yet: your policy returns nothing.")
        return
    print(
        f"{'ms a token: mean / 95 % within':32}{'never':>14}{'always 4':>16}{'yours':>16}   drafts switched on or off"
    )
    for when in (NIGHT, NOON, DAY):
        record = serving(policy, when)
        cells = [
            f"{1e3 * mean:.1f} / {1e3 * most:.1f}" for mean, most in (fixed(0, when), fixed(4, when), times(record))
        ]
        print(f"{when:32}{cells[0]:>14}{cells[1]:>16}{cells[2]:>16}{record.switches:8} times")


def reached(found: dict[str, Times]) -> dict[str, bool]:
    """Which of the three goals are reached."""
    day = [fixed(gamma, DAY) for gamma in (0, 4)]
    return {
        NIGHT: all(a <= NEAR[NIGHT] * b for a, b in zip(found[NIGHT], fixed(4, NIGHT))),
        NOON: all(a <= NEAR[NOON] * b for a, b in zip(found[NOON], fixed(0, NOON))),
        DAY: found[DAY][0] <= BETTER * min(day)[0] and found[DAY][1] < min(most for _, most in day),
    }


POINTS = {NIGHT: 1, NOON: 1, DAY: 2}


def asked(made: Policy, texts: int, last: int) -> int:
    value = made(texts, last)
    if value is None or value is Ellipsis:
        raise Wrong(f"Your policy returns nothing for texts = {texts} and last = {last}: return 0 for no drafts.")
    gamma = whole(value, "What your policy returns")
    if gamma not in GAMMAS:
        raise Wrong(
            f"Your policy returned {shown(value)} for texts = {texts}. What γ = {gamma} costs was not measured: use 0, 2 or 4."
        )
    return gamma


@part("7.policy", points=sum(POINTS.values()), seconds=60)
def policy(made: Policy) -> None:
    """my_policy(texts, last) → γ."""
    begun(made)
    begun(made(1, 0))

    def alone() -> bool:  # a policy may want to see a few quiet steps first
        return any(asked(made, 1, 0) for _ in range(100))

    starts = alone()
    drafts = {(n, last): asked(made, n, last) for n in range(1, MOST + 1) for last in GAMMAS}
    if not any(drafts.values()) and not starts:
        raise Wrong("Your policy never drafts, not even for a single text, where drafts are nearly free.")
    if not starts and any(drafts[MOST, last] for last in GAMMAS):
        raise Wrong("It is the other way round: draft while few texts are there, and not while the batch is full.")
    if not starts or not alone():
        raise Wrong(
            "Once your policy has left drafts off, they never come back: after a step with γ = 0 it returns 0 even for one text."
        )
    if all(drafts[MOST, last] for last in GAMMAS):
        g = drafts[MOST, 4]
        raise Wrong(f"Your policy drafts even when the batch is full: {price(MOST, g)}.", earned(made))
    records = {when: serving(lambda texts, last: asked(made, texts, last), when) for when in POINTS}
    found = {when: times(record) for when, record in records.items()}
    goals = reached(found)
    if not all(goals.values()):
        raise Wrong(advice(made, goals, records, drafts), share(goals))


def earned(made: Policy) -> float:
    return share(reached({when: times(serving(made, when)) for when in POINTS}))


def share(goals: dict[str, bool]) -> float:
    return sum(POINTS[when] for when, good in goals.items() if good) / sum(POINTS.values())


def price(texts: int, gamma: int) -> str:
    costs = StepCosts(MEASURED)
    return bare(
        f"with {texts} texts and γ = {gamma} a step writes {STEP[gamma]:.1f} times as many tokens as one without drafts, "
        f"and takes {costs(texts, gamma) / costs(texts, 0):.1f} times as long"
    )


def advice(made: Policy, goals: dict[str, bool], records: dict[str, Record], drafts: dict[tuple[int, int], int]) -> str:
    """What was found, and what it comes from."""
    when = next(w for w in POINTS if not goals[w])
    others = [("never", fixed(0, when)), ("always", fixed(4, when))]
    compared = "; ".join(f"{name}: {1e3 * mean:.1f} and {1e3 * most:.1f}" for name, (mean, most) in others)
    mean, most = times(records[when])
    found = f"{when[0].upper()}{when[1:]}: {1e3 * mean:.1f} ms a token, 95 % within {1e3 * most:.1f} ({compared})."
    switches = max(r.switches for r in records.values())
    free = {w: times(serving(made, w, catch_up=0.0)) for w in POINTS}
    if switches > 100 or all(reached(free).values()):
        return (
            f"{found} Drafts went on and off {records[when].switches} times, and each time they come back the draft model must "
            f"catch up, {1e3 * CATCH_UP:.0f} ms for each text. Let them come back only when few texts are left."
        )
    limit = max((n for (n, last), g in drafts.items() if g and last), default=0)
    g = max(drafts[limit, last] for last in GAMMAS) if limit else 0
    costs = StepCosts(MEASURED)
    if limit and STEP[g] * costs(limit, 0) < costs(limit, g):
        return f"{found} Your policy still drafts where it loses: {price(limit, g)}."
    if not goals[NIGHT]:
        return f"{found} With one or two texts rows are nearly free: which γ writes most there?"
    return f"{found} Your policy stops too early, or comes back too late: with {limit + 1} texts drafts may still pay."
