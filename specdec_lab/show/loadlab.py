"""The Load Lab: the same arrivals served without drafts, always with drafts, by the load, and by the drafts' chances."""

from collections.abc import Mapping, Sequence
from itertools import islice
from statistics import fmean

from specdec_lab.errors import LabError
from specdec_lab.measure.serving import (
    Arrival,
    ByConfidence,
    Outcome,
    Policy,
    ServingLog,
    StepCosts,
    always,
    bursts,
    drawn,
    load_aware,
    never,
    scheduled,
    simulate,
    written,
)
from specdec_lab.show.charts import Line, Plot
from specdec_lab.show.live import Live
from specdec_lab.show.table import table

TOKENS = 32, 96  # new tokens that a request wants: fewest, most
REQUESTS = 120  # at every load, so that every picture is drawn as fast
POINTS = 80  # of a line over time
LETTERS = 90  # characters of ASCII, from # on
HEADS = ("", "mean", "half within", "95 % within", "tokens/s", "steps with drafts", "switches")


def capacity(costs: StepCosts) -> float:
    """Requests a second that plain decoding can serve at most, with its largest measured batch."""
    most = max(costs.sizes)
    return 1 / (fmean(TOKENS) * costs(most, 0) / most + costs.join)


def arrivals(in_bursts: bool, seed: int = 0) -> list[Arrival]:
    """REQUESTS arrivals or so, one in a unit of time on average; in bursts, a fifth of the time holds most of them."""
    pieces = [(REQUESTS / 10, 0.4), (REQUESTS / 40, 3.4)] * 8 if in_bursts else [(REQUESTS, 1.0)]
    return bursts(pieces, TOKENS, seed)


def traffic(costs: StepCosts, load: float, in_bursts: bool, seed: int = 0) -> list[Arrival]:
    """The arrivals, at `load` times what plain decoding can serve."""
    rate = load * capacity(costs)
    return [Arrival(a.at / rate, a.tokens) for a in arrivals(in_bursts, seed)]


def row(name: str, log: ServingLog) -> tuple[str, ...]:
    """A policy under HEADS: milliseconds a token, tokens a second, and how often drafts were on."""
    times = [f"{1e3 * seconds:.1f}" for seconds in (log.mean, log.percentile(0.5), log.percentile(0.95))]
    drafting = sum(s.gamma > 0 for s in log.steps) / len(log.steps)
    return (name, *times, f"{log.throughput:.0f}", f"{drafting:.0%}", str(log.switches))


def usual(costs: StepCosts, outcomes: Sequence[Outcome]) -> dict[str, Policy]:
    """The policies that a server may have, each at its best: γ for `always` is the best for a single text."""
    tokens = written(outcomes, {gamma for _, gamma in costs.measured})
    schedule = costs.schedule(tokens)
    best = schedule[0][2] or max(tokens)
    found = {"never": never, f"always {best}": always(best), "by load": scheduled(schedule)}
    return found | ({"by confidence": ByConfidence(costs, outcomes)} if outcomes[0].chances else {})


def latency_by_throughput(
    costs: StepCosts, outcomes: Sequence[Outcome], loads: Sequence[float], in_bursts: bool = False
) -> dict[str, list[tuple[float, float]]]:
    """For each of the `usual` policies a curve over the loads: (tokens a second of the server, milliseconds a token).

    Args:
        loads: as shares of what plain decoding can serve at most.
    """
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, policy in usual(costs, outcomes).items():
        for load in loads:
            log = simulate(traffic(costs, load, in_bursts), policy, costs, outcomes, most=max(costs.sizes))
            curves.setdefault(name, []).append((log.throughput, 1e3 * log.mean))
    return curves


def picture(
    costs: StepCosts,
    outcomes: Sequence[Outcome | int],
    load: float,
    gamma: int,
    policies: Mapping[str, Policy],
    in_bursts: bool,
) -> str:
    """A table of all policies on the same arrivals, and what the last of them did over time."""
    came = traffic(costs, load / 100, in_bursts)
    logs = {name: simulate(came, p, costs, outcomes, most=max(costs.sizes)) for name, p in policies.items()}
    tokens = written(outcomes, {gamma})[gamma]
    limit = costs.crossover(gamma, tokens)
    pays = f"with {limit} texts or more, so many drafts no longer pay"
    if limit is None:
        pays = "but here drafting pays at every size of the batch"
    name, last = list(logs.items())[-1]
    steps = last.steps[:: max(1, len(last.steps) // POINTS)]
    texts = Line("texts", [(s.at, s.running) for s in steps], dots=False)
    gammas = Line("γ", [(s.at, s.gamma) for s in steps], dots=False)
    drawn = Plot(f"What “{name}” did", [texts, gammas], "seconds", "texts in the batch; γ")
    return (
        f'<div style="font-size:15px;max-width:820px"><div>{len(came)} requests, {load} % of what plain decoding can serve. With γ = {gamma} a round writes '
        f"{tokens:.2f} tokens, however many texts there are. What a step costs grows with them: {pays}.</div>"
        f"{table(HEADS, [row(name, log) for name, log in logs.items()], row_heads=True, align='right')}"
        "<div style='font-size:12px'>Milliseconds a token, from a request's arrival to its end.</div>"
        f"{drawn.svg()}</div>"
    )


def table_of(name: str, policy: Policy, most: int, gammas: Sequence[int]) -> dict[int, list[int]]:
    """All that a policy answers: for each γ of the step before, its γ with 1, 2, … `most` texts.

    Raises:
        LabError: when one of them was not measured.
    """
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
        machines: by name, what steps cost there, and the outcomes of many rounds; numbers are accepted drafts. With
            chances there is a policy more: by confidence.
        mine: further policies, `(texts, last γ) → γ`; the last one is drawn over time. They are asked once for every
            number of texts and every γ, since the page has no Python to ask.

    Raises:
        LabError: for a policy that wants a γ that was not measured.
    """

    scripts = ("common.js", "controls.js", "serving.js", "loadlab.js")

    def __init__(
        self,
        machines: Mapping[str, tuple[StepCosts, Sequence[Outcome | int]]],
        mine: Mapping[str, Policy] | None = None,
    ):
        self.machines = {name: (costs, list(map(shown, outcomes))) for name, (costs, outcomes) in machines.items()}
        self.mine = dict(mine or {})
        most = max(max(costs.sizes) for costs, _ in self.machines.values())
        gammas = sorted({gamma for costs, _ in self.machines.values() for _, gamma in costs.measured})
        came = {"steady": arrivals(False), "bursts": arrivals(True)}
        rounds = max(sum(a.tokens for a in each) for each in came.values())  # no server takes more
        first, *_ = self.machines
        limit = max(1, max(self.machines[first][0].sizes) // 4)
        start = {"load": 40, "bursts": False, "gamma": str(gammas[-1]), "off": limit, "on": limit + 1}
        super().__init__(
            {
                "machines": {name: machine_data(*machine, rounds) for name, machine in self.machines.items()},
                "arrivals": {name: [[a.at, a.tokens] for a in each] for name, each in came.items()},
                "mine": {name: table_of(name, policy, most, gammas) for name, policy in self.mine.items()},
                "gammas": [str(gamma) for gamma in gammas if gamma],
                "heads": HEADS,
                "start": {"machine": first, **start},
            }
        )

    def picture(self) -> str:
        start = self.data["start"]
        costs, outcomes = self.machines[start["machine"]]
        gamma, off = int(start["gamma"]), start["off"]
        policies = {"never": never, "always": always(gamma), "by load": load_aware(gamma, off, start["on"])}
        if outcomes[0].chances:
            policies["by confidence"] = ByConfidence(costs, outcomes)
        drawn = picture(costs, outcomes, start["load"], gamma, policies | self.mine, start["bursts"])
        return f"<b>Load Lab</b>{drawn}"


def shown(outcome: Outcome | int) -> Outcome:
    """As the page has it: chances with two digits."""
    if not isinstance(outcome, Outcome):
        return Outcome(outcome)
    return Outcome(outcome.accepted, tuple(round(chance, 2) for chance in outcome.chances))


def machine_data(costs: StepCosts, outcomes: Sequence[Outcome], rounds: int) -> dict:
    """What the page computes with: costs, so many drawn rounds, and for each γ what a round writes and its limit."""
    gammas = {gamma for _, gamma in costs.measured}
    tokens = {gamma: n for gamma, n in written(outcomes, gammas).items() if gamma}
    known = {outcome: i for i, outcome in enumerate(dict.fromkeys(outcomes))}
    draws = islice(drawn(outcomes), rounds)
    by_confidence = ByConfidence(costs, outcomes).best if outcomes[0].chances else None
    return {
        "measured": [[texts, gamma, seconds] for (texts, gamma), seconds in costs.measured.items()],
        "free": [[texts, gamma, seconds] for (texts, gamma), seconds in (costs.free or costs.measured).items()],
        "join": costs.join,
        "capacity": capacity(costs),
        "outcomes": [[outcome.accepted, list(outcome.chances)] for outcome in known],
        "rounds": "".join(map(letters, (known[outcome] for outcome in draws))),  # shorter than a list
        "best": by_confidence and list(by_confidence.items()),
        "tokens": tokens,
        "limits": {gamma: costs.crossover(gamma, e) for gamma, e in tokens.items()},
    }


def letters(number: int) -> str:
    """A number below 8,100 as two characters."""
    return chr(35 + number // LETTERS) + chr(35 + number % LETTERS)


load_lab = LoadLab  # as notebooks call it
