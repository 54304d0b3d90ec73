"""Exercise 7: my_policy(texts, last) → γ of the next step, 0, 2 or 4; `last` is γ of the step before."""

import functools
from statistics import fmean

from specdec_lab.course.judges.part import part
from specdec_lab.course.judges.reading import begun, shown, whole
from specdec_lab.course.judges.wrong import Wrong
from specdec_lab.formats import bare
from specdec_lab.measure.serving import Arrival, Policy, ServingLog, StepCosts, always, bursts, simulate

GAMMAS = (0, 2, 4)
SIZES = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64)
MOST = SIZES[-1]
MEASURED = {  # seconds: flat at first, then in proportion to the rows, and half a millisecond for each draft
    (texts, gamma): round(0.020 * (1 + (texts * (gamma + 1) / 28) ** 3) ** (1 / 3) + 0.0005 * gamma, 4)
    for texts in SIZES
    for gamma in GAMMAS
}
COSTS = StepCosts(MEASURED)
CATCH_UP = 0.020  # seconds for each text, when drafts come back and the draft model must read what it missed
ACCEPTED = (0, 0, 1, 1, 2, 3, 4, 4, 4, 4)  # accepted drafts of ten rounds with γ = 4
STEP = {gamma: 1 + fmean(min(n, gamma) for n in ACCEPTED) for gamma in GAMMAS}  # tokens a step, for each text
NIGHT, NOON, DAY = "night, low load", "noon, full load", "a day of bursts"
POINTS = {NIGHT: 1, NOON: 1, DAY: 2}


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


def records_of(policy: Policy, catch_up: float = CATCH_UP) -> dict[str, ServingLog]:
    return {when: serving(policy, when, catch_up) for when in POINTS}


Times = tuple[float, float]  # milliseconds a token: mean, and what 95 % stay within


def times(record: ServingLog) -> Times:
    return 1e3 * record.mean, 1e3 * record.percentile(0.95)


@functools.cache
def fixed(gamma: int, when: str) -> Times:
    return times(serving(always(gamma), when))


def compare(policy: Policy) -> None:
    """Print what users see with no drafts, with four always, and with a policy: milliseconds a token."""
    if policy(1, 0) is None:
        print("Nothing to compare yet: your policy returns nothing.")
        return
    head = "ms a token: mean / 95 % within"
    print(f"{head:32}{'never':>14}{'always 4':>16}{'yours':>16}   drafts switched on or off")
    for when in POINTS:
        record = serving(policy, when)
        pairs = (fixed(0, when), fixed(4, when), times(record))
        never, four, yours = (f"{mean:.1f} / {most:.1f}" for mean, most in pairs)
        print(f"{when:32}{never:>14}{four:>16}{yours:>16}{record.switches:8} times")


def reached(records: dict[str, ServingLog]) -> dict[str, bool]:
    """Which of the three goals are reached."""
    mean, most = times(records[DAY])
    means, mosts = zip(fixed(0, DAY), fixed(4, DAY))
    return {
        NIGHT: all(a <= 1.05 * b for a, b in zip(times(records[NIGHT]), fixed(4, NIGHT))),
        NOON: all(a <= 1.03 * b for a, b in zip(times(records[NOON]), fixed(0, NOON))),
        DAY: mean <= 0.95 * min(means) and most < min(mosts),
    }


def price(texts: int, gamma: int) -> str:
    return bare(
        f"with {texts} texts and γ = {gamma} a step writes {STEP[gamma]:.1f} times as many tokens as one without drafts, "
        f"and takes {COSTS(texts, gamma) / COSTS(texts, 0):.1f} times as long"
    )


def ask(made: Policy, texts: int, last: int) -> int:
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
def judge_policy(made: Policy) -> None:
    begun(made)
    begun(made(1, 0))
    policy = functools.partial(ask, made)

    def drafts_alone() -> bool:  # a policy may want to see a few quiet steps first
        return any(policy(1, 0) for _ in range(100))

    starts = drafts_alone()
    drafts = {(n, last): policy(n, last) for n in range(1, MOST + 1) for last in GAMMAS}
    full = [drafts[MOST, last] for last in GAMMAS]
    if not any(drafts.values()) and not starts:
        raise Wrong("Your policy never drafts, not even for a single text, where drafts are nearly free.")
    if not starts and any(full):
        raise Wrong("It is the other way round: draft while few texts are there, and not while the batch is full.")
    if not starts or not drafts_alone():
        raise Wrong(
            "Once your policy has left drafts off, they never come back: after a step with γ = 0 it returns 0 even for one text."
        )
    records = records_of(policy)
    goals = reached(records)
    earned = sum(POINTS[when] for when in POINTS if goals[when]) / sum(POINTS.values())
    if all(full):
        raise Wrong(f"Your policy drafts even when the batch is full: {price(MOST, full[-1])}.", earned)
    if not all(goals.values()):
        raise Wrong(advice(policy, goals, records, drafts), earned)


def advice(
    policy: Policy, goals: dict[str, bool], records: dict[str, ServingLog], drafts: dict[tuple[int, int], int]
) -> str:
    """What was found, and what it comes from."""
    when = next(w for w in POINTS if not goals[w])
    mean, most = times(records[when])
    others = (("never", fixed(0, when)), ("always", fixed(4, when)))
    compared = "; ".join(f"{name}: {mean:.1f} and {most:.1f}" for name, (mean, most) in others)
    found = f"{when[0].upper()}{when[1:]}: {mean:.1f} ms a token, 95 % within {most:.1f} ({compared})."
    if max(r.switches for r in records.values()) > 100 or all(reached(records_of(policy, catch_up=0.0)).values()):
        return (
            f"{found} Drafts went on and off {records[when].switches} times, and each time they come back the draft model must "
            f"catch up, {1e3 * CATCH_UP:.0f} ms for each text. Let them come back only when few texts are left."
        )
    limit, gamma = max(((n, g) for (n, last), g in drafts.items() if g and last), default=(0, 0))
    if limit and STEP[gamma] * COSTS(limit, 0) < COSTS(limit, gamma):
        return f"{found} Your policy still drafts where it loses: {price(limit, gamma)}."
    if not goals[NIGHT]:
        return f"{found} With one or two texts rows are nearly free: which γ writes most there?"
    return f"{found} Your policy stops too early, or comes back too late: with {limit + 1} texts drafts may still pay."
