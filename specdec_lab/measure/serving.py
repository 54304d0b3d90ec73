"""A server under load: requests arrive, wait, are decoded in a batch, and leave.

`serve` does it for real. `simulate` computes it from what steps cost, where an hour passes in a
moment. Both write the same log, so that one can be checked against the other. Before each step a
policy decides how many drafts its rounds have.
"""

import itertools
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specdec_lab.clock import read_clock
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.formats import percentile

if TYPE_CHECKING:  # the judges simulate, and must not wait for torch
    from specdec_lab.engine.batch import Batch
    from specdec_lab.engine.decode import Request

Policy = Callable[[int, int], int]  # (texts in this step, γ of the step before) → γ; 0 drafts nothing

WORTH = 1.02  # times the tokens a second that more drafts must promise before a schedule takes them


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


def load_aware(gamma: int, off_above: int, on_below: int | None = None) -> Policy:
    """γ drafts while few texts run, none while many do.

    Args:
        off_above: with more texts than this, speculation is turned off.
        on_below: with fewer texts than this it is turned on again (hysteresis); default: as soon as there are no more
            than off_above.
    """
    off_from = off_above + 1
    back_below = off_from if on_below is None else on_below
    return lambda running, last: gamma if running < (off_from if last else back_below) else 0


def scheduled(schedule: Sequence[tuple[int, int, int]]) -> Policy:
    """γ by the number of texts, as engines take it: (from, to, γ), both ends included; no drafts beyond the last."""
    return lambda running, last: next((gamma for low, high, gamma in schedule if low <= running <= high), 0)


class StepCosts:
    """Seconds of a step by the texts in it and γ; between the measured numbers of texts on a straight line.

    Args:
        measured: {(texts, γ): seconds}, with the same numbers of texts for each γ.
        join: seconds that each new text adds to the step in which it joins, for its prompt.

    Raises:
        LabError: when asked for a γ, or more texts, than were measured.
    """

    def __init__(self, measured: Mapping[tuple[int, int], float], join: float = 0.0):
        self.measured, self.join = dict(measured), join
        self.sizes = sorted({texts for texts, _ in self.measured})

    def __call__(self, texts: int, gamma: int) -> float:
        above = next((n for n in self.sizes if n >= texts), None)
        if above is None or (above, gamma) not in self.measured:
            raise LabError(f"What {texts} texts with γ = {gamma} cost was not measured: stay within what was.")
        below = max((n for n in self.sizes if n <= texts), default=above)
        share = (texts - below) / (above - below) if above > below else 0.0
        return self.measured[below, gamma] * (1 - share) + self.measured[above, gamma] * share

    def crossover(self, gamma: int, tokens: float) -> int | None:
        """The fewest texts with which drafts no longer pay; None when they pay with as many as were measured.

        Args:
            tokens: what a round with γ drafts writes for each text.
        """
        numbers = range(1, self.sizes[-1] + 1)
        return next((n for n in numbers if self(n, gamma) >= tokens * self(n, 0)), None)

    def schedule(self, tokens: Mapping[int, float]) -> list[tuple[int, int, int]]:
        """The best γ by the number of texts, as (from, to, γ): that with which a step writes most tokens a second.

        With more texts γ rises only where this is better by WORTH: two measured prices that lie nearer differ by
        chance, and a schedule that goes down and up again would follow it.

        Args:
            tokens: for each γ, what its rounds write for each text; 1 for γ = 0.
        """
        chosen: dict[int, int] = {}
        for n in range(1, self.sizes[-1] + 1):
            speed = {gamma: tokens[gamma] / self(n, gamma) for gamma in tokens}
            best, same = max(speed, key=speed.get), chosen.get(n - 1)
            chosen[n] = best if same is None or best < same or speed[best] > WORTH * speed[same] else same
        found = []
        for gamma, numbers in itertools.groupby(chosen, key=chosen.get):
            stretch = list(numbers)
            found.append((stretch[0], stretch[-1], gamma))
        return found


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


def drawn(accepted: Sequence[int], seed: int = 0) -> Iterator[int]:
    """For each of endlessly many rounds, how many drafts it accepts: drawn at random from `accepted`."""
    dice = random.Random(seed)
    while True:
        yield dice.choice(accepted)


def simulate(
    arrivals: Sequence[Arrival],
    policy: Policy,
    costs: StepCosts,
    accepted: Sequence[int],
    *,
    most: int = 64,
    seed: int = 0,
) -> ServingLog:
    """What a server would do with these arrivals.

    Args:
        accepted: the accepted drafts of many rounds, from traces, with the largest γ in use. Rounds are
            drawn from them; where γ is smaller, no more than γ count.
        most: texts decoded at once; further ones wait.

    Raises:
        LabError: for a policy whose γ has no measured cost.
    """
    rounds, log = drawn(accepted, seed), ServingLog()
    waiting = deque(sorted(arrivals, key=lambda a: a.at))
    running: list[list] = []  # [arrival, when its first step began, tokens written]
    now, gamma = 0.0, 0
    while waiting or running:
        if not running:
            now = max(now, waiting[0].at)
        joined = 0
        while waiting and waiting[0].at <= now and len(running) < most:
            running.append([waiting.popleft(), now, 0])
            joined += 1
        gamma = policy(len(running), gamma)
        seconds = costs(len(running), gamma) + joined * costs.join
        begin, now, written = now, now + seconds, 0
        for row in running:
            new = min(1 + min(gamma, next(rounds)), row[0].tokens - row[2])
            row[2] += new
            written += new
        log.steps.append(Step(begin, seconds, len(running), gamma, written))
        log.served += [Served(a.at, begun, now, n) for a, begun, n in running if n == a.tokens]
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
        rounds = batch.step(gamma)
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
