"""Exercise 7: a policy that follows the load."""

import functools
from statistics import fmean

from specdec_lab.grade.part import Wrong, begun, part, shown, whole
from specdec_lab.numbers import bare
from specdec_lab.serving import Arrival, Policy, ServingLog, StepCosts, always, bursts, never, simulate

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


def serving(policy: Policy, when: str, catch_up: float = CATCH_UP) -> ServingLog:
    return simulate(arrivals(when), policy, Server(catch_up), ACCEPTED, most=MOST, seed=1)


Times = tuple[float, float]  # seconds a token: mean, and what 95 % stay within


def times(record: ServingLog) -> Times:
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


def advice(
    made: Policy, goals: dict[str, bool], records: dict[str, ServingLog], drafts: dict[tuple[int, int], int]
) -> str:
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
