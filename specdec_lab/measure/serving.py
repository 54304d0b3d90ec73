"""A server under load: requests arrive, wait, are decoded in a batch, and leave.

`serve` does it for real. `simulate` computes it from what steps cost, where an hour passes in a
moment. Both write the same log, so that one can be checked against the other. Before each step a
policy decides how many drafts its rounds have.
"""

import functools
import itertools
import math
import operator
import random
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from specdec_lab.clock import read_clock
from specdec_lab.engine.confidence import to_check
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.formats import percentile

if TYPE_CHECKING:  # the judges simulate, and must not wait for torch
    from specdec_lab.engine.batch import Batch
    from specdec_lab.engine.decode import Request
    from specdec_lab.engine.trace import Trace

# (texts in this step, γ of the step before) → γ; 0 drafts nothing. One that has `seconds(texts, γ)`, as `ByConfidence`,
# also lets a step check only the drafts that are worth their row, by its own `to_check` if it has one.
Policy = Callable[[int, int], int]

TRIES = 40  # batches drawn to see what a γ would write


@dataclass(frozen=True)
class Arrival:
    """A request: `at` seconds after the start, for `tokens` new tokens."""

    at: float
    tokens: int


@dataclass(frozen=True)
class Served:
    """When a request came, began to be decoded and was done, in seconds after the start."""

    at: float
    begun: float
    done: float
    tokens: int

    @property
    def per_token(self) -> float:
        """Seconds a token as its user sees them: from arrival to the end, the waiting included."""
        return (self.done - self.at) / self.tokens


@dataclass(frozen=True)
class Step:
    """One step of the server: when it began, what it took, and what it did."""

    at: float
    seconds: float
    running: int
    gamma: int
    tokens: int


@dataclass
class ServingLog:
    """What a server did: requests in the order in which they were done, and every step."""

    served: list[Served] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def throughput(self) -> float:
        """Tokens a second, from the first arrival to the end."""
        return sum(s.tokens for s in self.served) / (max(s.done for s in self.served) - min(s.at for s in self.served))

    @property
    def mean(self) -> float:
        """Seconds a token, mean over requests."""
        return sum(s.per_token for s in self.served) / len(self.served)

    def percentile(self, share: float) -> float:
        """Seconds a token that `share` of the requests stay within, such as 0.95."""
        return percentile((s.per_token for s in self.served), share)

    @property
    def switches(self) -> int:
        """How often speculation went on or off between two steps."""
        on = [step.gamma > 0 for step in self.steps]
        return sum(a != b for a, b in itertools.pairwise(on))


def never(running: int, last: int) -> int:
    """The policy that never drafts."""
    return 0


def always(gamma: int) -> Policy:
    """γ drafts, however many texts run."""
    return lambda running, last: gamma


def scheduled(schedule: Sequence[tuple[int, int, int]]) -> Policy:
    """γ by the number of texts, as engines take it: (from, to, γ), both ends included; no drafts beyond the last."""
    return lambda running, last: next((gamma for low, high, gamma in schedule if low <= running <= high), 0)


@dataclass(frozen=True)
class Outcome:
    """One round of a real text, as a simulation draws it: how many drafts it accepted, and what chances they were given.

    chances: see `confidence.survival`; empty where they are not known.
    """

    accepted: int
    chances: tuple[float, ...] = ()


def sampled_rounds(traces: "Iterable[Trace]") -> list[Outcome]:
    """Of all whole rounds of these traces, with the chances that the draft gave its favourites."""
    rounds = [r for trace in traces for r in trace.rounds if r.stop is None]
    if any(not d.q_top for r in rounds for d in r.drafted):
        raise LabError("These traces were kept without the drafts' favourites: decode with keep=Keep(top=1).")
    chances = (itertools.accumulate((d.q_top[0][1] for d in r.drafted), operator.mul) for r in rounds)
    return [Outcome(r.accepted, tuple(falling)) for r, falling in zip(rounds, chances)]


class StepCosts:
    """Seconds of a step by the texts in it and γ; between the measured numbers of texts on a straight line.

    Args:
        measured: {(texts, γ): seconds}, with the same numbers of texts for each γ.
        join: seconds that each new text adds to the step in which it joins, for its prompt.
        free: the same steps with drafts that cost nothing; what remains of `measured` is the drafting. None: the
            drafts of `measured` cost nothing.
        catch_up: seconds for each token that a text wrote in steps without drafts, in the step in which it drafts again:
            a drafter that was off must read the rows that it missed.
    """

    def __init__(
        self,
        measured: Mapping[tuple[int, int], float],
        join: float = 0.0,
        free: Mapping[tuple[int, int], float] | None = None,
        catch_up: float = 0.0,
    ):
        self.measured, self.join, self.free, self.catch_up = dict(measured), join, free and dict(free), catch_up
        self.sizes = sorted({texts for texts, _ in self.measured})

    def __call__(self, texts: int, gamma: int) -> float:
        above = next((n for n in self.sizes if n >= texts), None)
        if above is None or (above, gamma) not in self.measured:
            raise LabError(f"What {texts} texts with γ = {gamma} cost was not measured: stay within what was.")
        below = max((n for n in self.sizes if n <= texts), default=above)
        share = (texts - below) / (above - below) if above > below else 0.0
        return self.measured[below, gamma] * (1 - share) + self.measured[above, gamma] * share

    def seconds_by_rows(self, texts: int, gamma: int) -> Callable[[int], float]:
        """Seconds of a step with γ drafts for each text, by the rows of its pass, where not all drafts are checked.

        What was measured is bent a little, so that each further row costs as much as the one before it, or more: of the
        measured points only those are used that lie on a curve from below (their lower convex hull).
        """
        free = StepCosts(self.free or self.measured)
        drafting = self(texts, gamma) - free(texts, gamma)
        points = [(texts * (g + 1), free(texts, g)) for g in sorted({g for _, g in free.measured})]
        hull: list[tuple[float, float]] = []
        for x, y in points:
            while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0]) >= (y - hull[-2][1]) * (
                hull[-1][0] - hull[-2][0]
            ):
                hull.pop()
            hull.append((x, y))
        rows, costs = zip(*hull)

        def seconds(n: int) -> float:
            i = min(max(1, bisect_left(rows, n)), len(rows) - 1)
            slope = (costs[i] - costs[i - 1]) / (rows[i] - rows[i - 1])
            return drafting + costs[i - 1] + slope * (n - rows[i - 1])

        return seconds

    def crossover(self, gamma: int, tokens: float) -> int | None:
        """The fewest texts from which on drafts do not pay; None when they pay with as many as were measured.

        Args:
            tokens: what a round with γ drafts writes for each text.
        """
        numbers = range(1, self.sizes[-1] + 1)
        pays = max((n for n in numbers if self(n, gamma) < tokens * self(n, 0)), default=0)
        return pays + 1 if pays < self.sizes[-1] else None

    def schedule(self, tokens: Mapping[int, float]) -> list[tuple[int, int, int]]:
        """The best γ by the number of texts, as (from, to, γ): that with which a step writes most tokens a second.

        γ never rises with more texts, since each draft then has more rivals for the same arithmetic (in a mixture of
        experts it might). Two measured prices that lie near each other differ by chance, and a list that goes down and
        up again would follow it. Of all lists that only fall, this is the one with the largest product of paces.

        Args:
            tokens: for each γ, what its rounds write for each text; 1 for γ = 0.
        """
        best: dict[int, tuple[float, list[int]]] = {gamma: (0.0, []) for gamma in sorted(tokens)}  # by the last γ
        for n in range(1, self.sizes[-1] + 1):
            longer = {}
            for gamma in best:
                score, chosen = max((best[last] for last in best if last >= gamma), key=operator.itemgetter(0))
                longer[gamma] = score + math.log(tokens[gamma] / self(n, gamma)), [*chosen, gamma]
            best = longer
        _, chosen = max(best.values(), key=operator.itemgetter(0))
        found = []
        for gamma, numbers in itertools.groupby(enumerate(chosen, start=1), key=operator.itemgetter(1)):
            stretch = [n for n, _ in numbers]
            found.append((stretch[0], stretch[-1], gamma))
        return found


class ByConfidence:
    """γ by the number of texts; and of these drafts only those are checked that are worth their row (see `confidence`).

    Args:
        outcomes: of rounds with the largest γ; from them follows what each γ would write.
    """

    def __init__(self, costs: StepCosts, outcomes: Sequence[Outcome], seed: int = 0):
        self.costs, dice = costs, random.Random(seed)
        self.seconds = functools.cache(costs.seconds_by_rows)  # of a step with so many texts and this γ, by its rows
        self.gammas = sorted({gamma for _, gamma in costs.measured})
        self.best: dict[int, int] = {}
        for texts in costs.sizes:
            batches = [dice.choices(outcomes, k=texts) for _ in range(TRIES)]
            self.best[texts] = max(self.gammas, key=lambda gamma, n=texts, them=batches: self.pace(n, gamma, them))

    def pace(self, texts: int, gamma: int, batches: Sequence[Sequence[Outcome]]) -> float:
        """Tokens a second over these batches."""
        steps = [one_step(batch, gamma, self.costs, self) for batch in batches]
        return sum(sum(new) for new, _ in steps) / sum(seconds for _, seconds in steps)

    def __call__(self, running: int, last: int) -> int:
        """The γ of the nearest measured number of texts that is not smaller, if there is one."""
        return self.best[next((n for n in self.costs.sizes if n >= running), self.costs.sizes[-1])]


def tokens_per_round(outcomes: "Sequence[Outcome | int]", gammas: Iterable[int]) -> dict[int, float]:
    """What a round with γ drafts writes on average, for each γ; 1 for γ = 0."""
    accepted = [o.accepted if isinstance(o, Outcome) else o for o in outcomes]
    return {gamma: 1 + fmean(min(n, gamma) for n in accepted) for gamma in sorted(gammas)}


def seconds_by_rows_of(policy: Policy | None, texts: int, gamma: int) -> Callable[[int], float] | None:
    """Seconds of a step by the rows of its pass, for a policy that checks some drafts only; None where all are checked."""
    return policy.seconds(texts, gamma) if gamma and hasattr(policy, "seconds") else None


def one_step(
    drawn: Sequence[Outcome], gamma: int, costs: StepCosts, policy: Policy | None = None
) -> tuple[list[int], float]:
    """The tokens that each text of a step writes, and the seconds that it takes."""
    texts = len(drawn)
    seconds = seconds_by_rows_of(policy, texts, gamma)
    if seconds is None:
        return [1 + min(gamma, o.accepted) for o in drawn], costs(texts, gamma)
    counts = getattr(policy, "to_check", to_check)([o.chances[:gamma] for o in drawn], seconds)
    return [1 + min(n, o.accepted) for n, o in zip(counts, drawn)], seconds(texts + sum(counts))


def bursts(rates: Sequence[tuple[float, float]], tokens: tuple[int, int] = (32, 96), seed: int = 0) -> list[Arrival]:
    """Random arrivals: for each (seconds, requests a second) a stretch of a Poisson process.

    Args:
        tokens: the fewest and the most new tokens that a request wants.
    """
    dice, arrivals, begin = random.Random(seed), [], 0.0
    for seconds, rate in rates:
        at = begin
        while rate > 0 and (at := at + dice.expovariate(rate)) < begin + seconds:
            arrivals.append(Arrival(at, dice.randint(*tokens)))
        begin += seconds
    return arrivals


def drawn(outcomes: Sequence[Outcome], seed: int = 0) -> Iterator[Outcome]:
    """Endlessly many rounds, drawn at random from these."""
    if not outcomes:
        raise LabError("There are no rounds to draw from: decode some texts first.")
    dice = random.Random(seed)
    while True:
        yield dice.choice(outcomes)


def simulate(
    arrivals: Sequence[Arrival],
    policy: Policy,
    costs: StepCosts,
    outcomes: Sequence[Outcome | int],
    *,
    most: int = 64,
    seed: int = 0,
) -> ServingLog:
    """What a server would do with these arrivals.

    Args:
        outcomes: of many rounds with the largest γ in use; a number is that of the accepted drafts. Rounds are drawn from
            them; where γ is smaller, no more than γ drafts count.
        most: texts decoded at once; further ones wait.
    """
    rounds = drawn([o if isinstance(o, Outcome) else Outcome(o) for o in outcomes], seed)
    log = ServingLog()
    waiting = deque(sorted(arrivals, key=lambda a: a.at))
    running: list[list] = []  # [arrival, when its first step began, tokens written, those of them without drafts]
    now, gamma = 0.0, 0
    while waiting or running:
        if not running:
            now = max(now, waiting[0].at)
        joined = 0
        while waiting and waiting[0].at <= now and len(running) < most:
            running.append([waiting.popleft(), now, 0, 0])
            joined += 1
        gamma = policy(len(running), gamma)
        tokens, seconds = one_step(list(itertools.islice(rounds, len(running))), gamma, costs, policy)
        seconds += joined * costs.join
        if gamma:
            seconds += costs.catch_up * sum(missed for *_, missed in running)
        begin, now, written = now, now + seconds, 0
        for row, new in zip(running, tokens):
            new = min(new, row[0].tokens - row[2])
            row[2] += new
            row[3] = 0 if gamma else row[3] + new
            written += new
        log.steps.append(Step(begin, seconds, len(running), gamma, written))
        log.served += [Served(a.at, begun, now, n) for a, begun, n, _ in running if n == a.tokens]
        running = [row for row in running if row[2] < row[0].tokens]
    return log


def serve(
    batch: "Batch",
    arrivals: Sequence[Arrival],
    request: "Callable[[int, Arrival], Request]",
    policy: Policy,
    say: Say = silent,
) -> ServingLog:
    """The same for real: requests are submitted when their time has come, by the clock.

    Args:
        request: makes number i of the arrivals.
    """
    log, gamma = ServingLog(), 0
    waiting = deque(sorted(enumerate(arrivals), key=lambda pair: pair[1].at))
    running: list[list] = []  # [arrival, trace, when its first step began]
    start = read_clock()
    while waiting or len(batch):
        now = read_clock() - start
        while waiting and waiting[0][1].at <= now:
            i, arrival = waiting.popleft()
            running.append([arrival, batch.submit(request(i, arrival)), None])
        if not len(batch):
            time.sleep(min(0.05, max(0.0, waiting[0][1].at - now)))
            continue
        gamma = policy(len(batch), gamma)
        rounds = batch.step(gamma, seconds_by_rows_of(policy, len(batch), gamma))
        done = read_clock() - start
        log.steps.append(Step(now, done - now, len(rounds), gamma, sum(len(r.tokens) for r in rounds)))
        for row in running:
            arrival, trace, _ = row
            if len(trace.rounds) == 1:
                row[2] = now
            if trace.stop is not None:
                log.served.append(Served(arrival.at, row[2], done, len(trace.tokens)))
                say(f"{len(log.served)} of {len(arrivals)} requests done")
        running = [row for row in running if row[1].stop is None]
    return log
