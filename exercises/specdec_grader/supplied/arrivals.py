"""Exercise 7: a made-up server, its prices, its requests, and what users see with a policy."""

import functools
from statistics import fmean

from specdec_lab.measure.serving import Policy, ServingLog, StepCosts, always, bursts, simulate

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
ACCEPTED_BY_ROUND = (0, 0, 1, 1, 2, 3, 4, 4, 4, 4)  # accepted drafts of ten rounds with γ = 4
STEP = {gamma: 1 + fmean(min(n, gamma) for n in ACCEPTED_BY_ROUND) for gamma in GAMMAS}  # tokens a step, for each text
NIGHT, NOON, DAY = "night, low load", "noon, full load", "a day of bursts"
ARRIVALS = {  # the same requests for every policy
    NIGHT: bursts([(100, 0.4)], seed=1),
    NOON: bursts([(30, 20.0)], seed=11),
    DAY: bursts([(20, 0.4), (5, 20.0)] * 6, seed=21),
}


class Server(StepCosts):
    """The step costs, and what it costs when drafts come back after a step without. One for each simulation."""

    def __init__(self, catch_up: float):
        super().__init__(MEASURED)
        self.at_return, self.last = catch_up, 0

    def __call__(self, texts: int, gamma: int) -> float:
        back, self.last = gamma > 0 and not self.last, gamma
        return super().__call__(texts, gamma) + back * self.at_return * texts


def served(policy: Policy, catch_up: float = CATCH_UP) -> dict[str, ServingLog]:
    """What happens to the requests at each time."""
    return {
        when: simulate(arrivals, policy, Server(catch_up), ACCEPTED_BY_ROUND, most=MOST, seed=1)
        for when, arrivals in ARRIVALS.items()
    }


@functools.cache
def with_fixed_gamma(gamma: int) -> dict[str, ServingLog]:
    return served(always(gamma))


def times(log: ServingLog) -> tuple[float, float]:
    """Milliseconds a token: the mean, and what 95 % of the requests stay within."""
    return 1e3 * log.mean, 1e3 * log.percentile(0.95)


def compare(policy: Policy) -> None:
    """Print what users see with no drafts, with four always, and with a policy: milliseconds a token."""
    if policy(1, 0) is None:
        print("Nothing to compare yet: your policy returns nothing.")
        return
    head = "ms a token: mean / 95 % within"
    print(f"{head:32}{'never':>14}{'always 4':>16}{'yours':>16}   drafts switched on or off")
    for when, log in served(policy).items():
        pairs = (times(log) for log in (with_fixed_gamma(0)[when], with_fixed_gamma(4)[when], log))
        never, four, yours = (f"{mean:.1f} / {p95:.1f}" for mean, p95 in pairs)
        print(f"{when:32}{never:>14}{four:>16}{yours:>16}{log.switches:8} times")
