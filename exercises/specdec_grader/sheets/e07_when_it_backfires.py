"""Exercise 7: what drafts are worth in a batch, where they begin to lose, and a policy for a server."""

import functools
import itertools
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from specdec_grader.coerce import listed, nothing, number, reject_empty, shown, whole
from specdec_grader.mistakes import Wrong
from specdec_grader.part import part, part_of_one
from specdec_grader.question import ROUNDED, for_each, question, results
from specdec_grader.supplied.arrivals import (
    CATCH_UP,
    COSTS,
    DAY,
    GAMMAS,
    MOST,
    NIGHT,
    NOON,
    STEP,
    served,
    times,
    with_fixed_gamma,
)
from specdec_lab.measure.serving import Policy, ServingLog
from specdec_lab.theory import expected_tokens as E

# Machines


@dataclass(frozen=True)
class Pass:
    """What a pass over n rows costs. name: T for the target's, D for a drafter's."""

    formula: str
    cost: Callable[[int], float]
    name: str = "T"

    def __call__(self, n: int) -> float:
        return self.cost(n)

    def __repr__(self) -> str:
        return f"{self.name}(n) = {self.formula}"


BEND = Pass("max(1, n/40)", lambda n: max(1.0, n / 40))
LINE = Pass("2 + n/16", lambda n: 2 + n / 16)
STAIRS = Pass("3 · ⌈n/24⌉", lambda n: 3.0 * math.ceil(n / 24))
FLAT = Pass("1", lambda n: 1.0)
AS_MANY_AS_ROWS = Pass("n", lambda n: float(n))

FREE = Pass("0", lambda n: 0.0, "D")
EVEN = Pass("0.1", lambda n: 0.1, "D")
SMALL = Pass("max(0.1, n/300)", lambda n: max(0.1, n / 300), "D")

# 7.gain


def gain(T, texts, gamma, alpha):
    return E(alpha, gamma) * T(texts) / T(texts * (gamma + 1))


GAIN = question(
    gain,
    read=functools.partial(number, what="The gain"),
    near=ROUNDED,
    cases=(
        (BEND, 1, 3, 0.8),
        (BEND, 8, 3, 0.8),
        (BEND, 16, 3, 0.8),
        (BEND, 64, 3, 0.8),
        (LINE, 4, 5, 0.6),
        (STAIRS, 9, 2, 0.5),
        (FLAT, 50, 4, 0.7),
        (AS_MANY_AS_ROWS, 9, 3, 0.8),
        (BEND, 20, 0, 0.8),
        (BEND, 9, 4, 0.0),
        (BEND, 30, 2, 1.0),
    ),
    seen="For {}, {} texts, γ = {} and α = {} the gain is {right}; yours is {found}.",
    hint="How many tokens does a step write, and what does it cost, with and without?",
)


part_of_one("7.gain", points=2, asked=GAIN)


# 7.crossover


def last_that_pays(T: Pass, D: Pass, gamma: int, alpha: float, most: int) -> int:
    def gain(texts: int) -> float:
        return E(alpha, gamma) * T(texts) / (gamma * D(texts) + T(texts * (gamma + 1)))

    return max((texts for texts in range(1, most + 1) if gain(texts) >= 1), default=0)


def from_above(T: Pass, D: Pass, gamma: int, alpha: float, most: int) -> int | None:
    """What a search by halves or from above finds: the fewest texts behind which it never pays again."""
    last = last_that_pays(T, D, gamma, alpha, most)
    return last + 1 if last < most else None


def crossover(T, D, gamma, alpha, most):
    for texts in range(1, most + 1):
        with_drafts = gamma * D(texts) + T(texts * (gamma + 1))
        if E(alpha, gamma) * T(texts) / with_drafts < 0.999999:
            return texts
    return None


CROSSOVER = question(
    crossover,
    cases=(
        (BEND, EVEN, 3, 0.8, 64),
        (BEND, EVEN, 3, 0.8, 26),
        (BEND, EVEN, 3, 0.8, 27),
        (BEND, SMALL, 2, 0.6, 64),
        (LINE, SMALL, 5, 0.7, 200),
        (STAIRS, EVEN, 2, 0.7, 64),  # loses from 17 texts on, pays again with 25, and loses from 33 on
        (FLAT, FREE, 4, 0.5, 100),
        (FLAT, SMALL, 4, 0.5, 100),  # the drafter alone makes the loss
        (AS_MANY_AS_ROWS, FREE, 3, 0.8, 20),
        (AS_MANY_AS_ROWS, FREE, 1, 1.0, 50),
        (BEND, SMALL, 4, 0.0, 64),
        (BEND, EVEN, 0, 0.8, 64),
    ),
    seen="For {}, {}, γ = {}, α = {} and at most {} texts the answer is {right}; yours is {found}.",
    hint="For how many texts do the drafter's passes and the target's wide one cost more than E plain passes for the first time?",
)


@part("7.crossover", points=2, asks=[CROSSOVER])
def judge_crossover(made: Callable[[Pass, Pass, int, float, int], int | None]) -> None:
    values = for_each(made, CROSSOVER.cases)
    if all(map(nothing, values)):  # None is an answer, but not to all cases
        results(made, CROSSOVER)
    found = [None if value is None else whole(value, "The number of texts") for value in values]
    CROSSOVER.compare(found)


# 7.policy: my_policy(texts, last) → γ of the next step, 0, 2 or 4; `last` is γ of the step before

POINTS = {NIGHT: 1, NOON: 1, DAY: 2}


@part("7.policy", points=sum(POINTS.values()), seconds=60, shows=True)
def judge_policy(made: Policy) -> None:
    reject_empty(made(1, 0))
    policy = functools.partial(ask, made)

    def drafts_alone() -> bool:  # a policy may want to see a few quiet steps first
        return any(policy(1, 0) for _ in range(100))

    starts = drafts_alone()
    drafts = asked_with_its_own(policy)
    full = [gamma for (texts, _), gamma in drafts.items() if texts == MOST]
    if not any(drafts.values()) and not starts:
        raise Wrong("Your policy never drafts, not even for a single text, where drafts are nearly free.")
    if not starts and any(full):
        raise Wrong("It is the other way round: draft while few texts are there, and not while the batch is full.")
    if not starts or not drafts_alone():
        said = "Once your policy has left drafts off, they never come back:"
        raise Wrong(f"{said} after a step with γ = 0 it returns 0 even for one text.")
    logs = served(policy)
    unreached = missed(logs)
    earned = 1 - sum(POINTS[when] for when in unreached) / sum(POINTS.values())
    if all(full):
        raise Wrong(f"Your policy drafts even when the batch is full: {price(MOST, full[-1])}.")
    if unreached:
        raise Wrong(f"{as_users_see(unreached[0], logs)} {advice(policy, unreached, logs, drafts)}", earned)


def ask(made: Policy, texts: int, last: int) -> int:
    value = made(texts, last)
    if nothing(value):
        raise Wrong(f"Your policy returns nothing for texts = {texts} and last = {last}: return 0 for no drafts.")
    gamma = whole(value, "What your policy returns")
    if gamma not in GAMMAS:
        known = f"What γ = {gamma} costs was not measured: use 0, 2 or 4."
        raise Wrong(f"Your policy returned {shown(value)} for texts = {texts}. {known}")
    return gamma


def asked_with_its_own(policy: Policy) -> dict[tuple[int, int], int]:
    """γ by (texts, last), for all texts, and for each `last` that can come: 0, and what the policy itself gives."""
    drafts: dict[tuple[int, int], int] = {}
    lasts = [0]
    for last in lasts:
        for texts in range(1, MOST + 1):
            drafts[texts, last] = policy(texts, last)
        lasts += sorted({g for (_, at), g in drafts.items() if at == last} - set(lasts))
    for texts, last in itertools.product(range(1, MOST + 1), GAMMAS):  # what never comes, it need not know
        if last not in lasts:
            with suppress(Exception):
                drafts[texts, last] = policy(texts, last)
    return drafts


def missed(logs: dict[str, ServingLog]) -> list[str]:
    """The times whose goal is not reached."""

    def within(when: str, gamma: int, room: float) -> bool:
        return all(a <= room * b for a, b in zip(times(logs[when]), times(with_fixed_gamma(gamma)[when])))

    mean, p95 = times(logs[DAY])
    means, p95s = zip(times(with_fixed_gamma(0)[DAY]), times(with_fixed_gamma(4)[DAY]))
    reached = {
        NIGHT: within(NIGHT, gamma=4, room=1.05),
        NOON: within(NOON, gamma=0, room=1.03),
        DAY: mean <= 0.95 * min(means) and p95 < min(p95s),
    }
    return [when for when in POINTS if not reached[when]]


def as_users_see(when: str, logs: dict[str, ServingLog]) -> str:
    mean, p95 = times(logs[when])
    others = {"never": times(with_fixed_gamma(0)[when]), "always": times(with_fixed_gamma(4)[when])}
    compared = "; ".join(f"{name}: {mean:.1f} and {p95:.1f}" for name, (mean, p95) in others.items())
    return f"{when[0].upper()}{when[1:]}: {mean:.1f} ms a token, 95 % within {p95:.1f} ({compared})."


def price(texts: int, gamma: int) -> str:
    return (
        f"with {texts} texts and γ = {gamma} a step writes {STEP[gamma]:.1f} times as many tokens as one without drafts, "
        f"and takes {COSTS(texts, gamma) / COSTS(texts, 0):.1f} times as long"
    )


def advice(
    policy: Policy, unreached: list[str], logs: dict[str, ServingLog], drafts: dict[tuple[int, int], int]
) -> str:
    """What the first of the missed goals comes from."""
    if max(log.switches for log in logs.values()) > 100 or not missed(served(policy, catch_up=0.0)):
        return (
            f"Drafts went on and off {logs[unreached[0]].switches} times, and each time they come back the draft model must "
            f"catch up, {1e3 * CATCH_UP:.0f} ms for each text. Let them come back only when few texts are left."
        )
    limit, gamma = max(((n, g) for (n, last), g in drafts.items() if g and last), default=(0, 0))
    if limit and STEP[gamma] * COSTS(limit, 0) < COSTS(limit, gamma):
        return f"Your policy still drafts where it loses: {price(limit, gamma)}."
    if NIGHT in unreached:
        return "With one or two texts rows are nearly free: which γ writes most there?"
    return f"Your policy stops too early, or comes back too late: with {limit + 1} texts drafts may still pay."


# 7.check: to_check(chances, T) → how many drafts of each text go into the pass

NARROW = Pass("max(1, n/6)", lambda n: max(1.0, n / 6))
DIP = Pass("1 + (n > 3)/2", lambda n: 1 + (n > 3) / 2)  # it loses with one row more, and gains with two


def to_check(chances, T):
    slots = [(chance, text) for text, of_text in enumerate(chances) for chance in of_text]
    counts, tokens, rows = [0] * len(chances), len(chances), len(chances)
    for chance, text in sorted(slots, reverse=True):
        if (tokens + chance) / T(rows + 1) < tokens / T(rows):
            break
        counts[text] += 1
        tokens, rows = tokens + chance, rows + 1
    return counts


def best_of_all(chances, T):
    """The cut with the most tokens a second, wherever it lies."""
    slots = sorted(((chance, text) for text, row in enumerate(chances) for chance in row), reverse=True)
    texts = len(chances)

    def pace(n):
        return (texts + sum(chance for chance, _ in slots[:n])) / T(texts + n)

    most = max(range(len(slots) + 1), key=pace)
    return [sum(text == t for _, text in slots[:most]) for t in range(texts)]


def counts_of(value: object) -> list[int]:
    return [whole(n, "The number of drafts of a text") for n in listed(value)]


CHECK = question(
    to_check,
    read=counts_of,
    cases=(
        (((0.9, 0.8, 0.7), (0.5, 0.2), (0.3,)), NARROW),
        (((0.9, 0.8, 0.7), (0.5, 0.2), (0.3,)), FLAT),
        (((0.6, 0.4), (0.95, 0.9, 0.85, 0.75)), NARROW),
        (((0.35, 0.1), (0.45, 0.15), (0.4,), (0.3, 0.2), (0.25,), (0.55, 0.05)), NARROW),
        (((), (0.7, 0.65, 0.3), (0.2, 0.01)), NARROW),
        (((0.99, 0.97), (0.98, 0.96), (0.94, 0.93)), DIP),
        (((0.8, 0.64), (0.7, 0.49), (0.6, 0.36), (0.5, 0.25)), BEND),
        (((0.5, 0.4), (0.3, 0.2)), LINE),
    ),
    seen="For the chances {} and {} the answer is {right}; yours is {found}.",
    hint="Which draft is the likeliest that is left? With it, is tokens / T(rows) as large as before, or larger?",
)
part_of_one("7.check", points=3, asked=CHECK)
