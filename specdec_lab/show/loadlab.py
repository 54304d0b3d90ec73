"""The Load Lab: the same arrivals served by policies: no drafts, always, on and off, a list by load, and by the drafts' chances."""

from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import fmean

from specdec_lab.errors import LabError
from specdec_lab.measure.serving import (
    Arrival,
    ByConfidence,
    Outcome,
    Policy,
    StepCosts,
    bursts,
    drawn,
    scheduled,
    tokens_per_round,
)
from specdec_lab.show.live import Live

TOKENS = 32, 96  # new tokens that a request wants: fewest, most
REQUESTS = 120  # at every load, so that every picture is drawn as fast
LETTERS = 90  # characters of ASCII, from # on


def capacity(costs: StepCosts) -> float:
    """Requests a second that plain decoding can serve at most, with its largest measured batch."""
    most = max(costs.sizes)
    return 1 / (fmean(TOKENS) * costs(most, 0) / most + costs.join)


def arrivals(in_bursts: bool, seed: int = 0) -> list[Arrival]:
    """REQUESTS arrivals or so, one in a unit of time on average; in bursts, a fifth of the time holds most of them."""
    pieces = [(REQUESTS / 10, 0.4), (REQUESTS / 40, 3.4)] * 8 if in_bursts else [(REQUESTS, 1.0)]
    return [Arrival(round(a.at, 3), a.tokens) for a in bursts(pieces, TOKENS, seed)]  # short, for the page


def traffic(costs: StepCosts, load: float, in_bursts: bool, seed: int = 0) -> list[Arrival]:
    """The arrivals, at `load` times what plain decoding can serve."""
    rate = load * capacity(costs)
    return [Arrival(a.at / rate, a.tokens) for a in arrivals(in_bursts, seed)]


def table_of(name: str, policy: Policy, most: int, gammas: Sequence[int]) -> dict[int, list[int]]:
    """All that a policy answers: for each γ of the step before, its γ with 1, 2, … `most` texts."""
    answers = {last: [policy(texts, last) for texts in range(1, most + 1)] for last in gammas}
    for row in answers.values():
        for texts, gamma in enumerate(row, start=1):
            if gamma not in gammas:
                known = ", ".join(map(str, gammas))
                wish = f"With {texts} texts the policy “{name}” wants γ = {gamma}, which was not measured"
                raise LabError(f"{wish}: let it choose among {known}.")
    return answers


class LoadLab(Live):
    """Policies on the same arrivals, with sliders for the load and for their limits.

    Args:
        machines: by name, what steps cost there, and the outcomes of many rounds; numbers are accepted drafts. Every
            second one is served. The others choose the list of “by load” and, if they have chances, “by confidence”.
        mine: further policies, `(texts, last γ) → γ`; the last one is drawn over time. They are asked once for every
            number of texts and every γ, since the page has no Python to ask.
    """

    scripts = ("common.js", "controls.js", "serving.js", "loadlab.js")

    def __init__(
        self,
        machines: Mapping[str, tuple[StepCosts, Sequence[Outcome | int]]],
        mine: Mapping[str, Policy] | None = None,
    ):
        if not machines:
            raise LabError("The Load Lab needs a machine: its name, what steps cost there, and the outcomes of rounds.")
        self.machines = {name: (costs, list(map(shown, outcomes))) for name, (costs, outcomes) in machines.items()}
        self.mine = dict(mine or {})
        most = max(max(costs.sizes) for costs, _ in self.machines.values())
        gammas = sorted({gamma for costs, _ in self.machines.values() for _, gamma in costs.measured})
        came = {"steady": arrivals(False), "bursts": arrivals(True)}
        rounds = max(sum(a.tokens for a in each) for each in came.values())  # no server takes more
        first, *_ = self.machines
        costs, rounds_there = self.machines[first]
        lost = costs.crossover(gammas[-1], tokens_per_round(rounds_there, [gammas[-1]])[gammas[-1]])
        limit = max(1, (lost or max(costs.sizes) + 1) - 1)
        start = {"load": 70, "bursts": False, "gamma": str(gammas[-1]), "off": limit, "on": limit + 1}
        super().__init__(
            {
                "machines": {name: machine_data(*machine, rounds) for name, machine in self.machines.items()},
                "arrivals": {name: [[a.at, a.tokens] for a in each] for name, each in came.items()},
                "mine": {name: table_of(name, policy, most, gammas) for name, policy in self.mine.items()},
                "gammas": [str(gamma) for gamma in gammas if gamma],
                "start": {"machine": first, **start},
            }
        )


def shown(outcome: Outcome | int) -> Outcome:
    """As the page has it: chances with two digits."""
    if not isinstance(outcome, Outcome):
        return Outcome(outcome)
    return Outcome(outcome.accepted, tuple(round(chance, 2) for chance in outcome.chances))


def machine_data(costs: StepCosts, outcomes: Sequence[Outcome], rounds: int) -> dict:
    """What the page computes with: costs, so many drawn rounds, and for each γ what a round writes and its limit."""
    # A policy that was chosen by the rounds that it is served with would look better than it is.
    chosen, served = (outcomes[::2], outcomes[1::2]) if len(outcomes) > 1 else (outcomes, outcomes)
    gammas = {gamma for _, gamma in costs.measured}
    tokens = {gamma: n for gamma, n in tokens_per_round(outcomes, gammas).items() if gamma}
    known = {outcome: i for i, outcome in enumerate(dict.fromkeys(served))}
    draws = islice(drawn(served), rounds)
    by_load = scheduled(costs.schedule(tokens_per_round(chosen, gammas)))
    by_confidence = ByConfidence(costs, chosen).best if outcomes[0].chances else None
    return {
        "measured": [[texts, gamma, seconds] for (texts, gamma), seconds in costs.measured.items()],
        "free": [[texts, gamma, seconds] for (texts, gamma), seconds in (costs.free or costs.measured).items()],
        "join": costs.join,
        "catch_up": costs.catch_up,
        "capacity": capacity(costs),
        "outcomes": [[outcome.accepted, list(outcome.chances)] for outcome in known],
        "rounds": "".join(map(letters, (known[outcome] for outcome in draws))),  # shorter than a list
        "list": [by_load(texts, 0) for texts in range(1, max(costs.sizes) + 1)],
        "best": by_confidence and list(by_confidence.items()),
        "tokens": tokens,
        "limits": {gamma: costs.crossover(gamma, e) for gamma, e in tokens.items()},
    }


def letters(number: int) -> str:
    """A number below 8,100 as two characters."""
    return chr(35 + number // LETTERS) + chr(35 + number % LETTERS)
