"""What passes, rounds and whole texts cost on this machine, and when such times cannot be trusted.

Everything is timed in turns, one sample of each after another, and the median is taken, so that
whatever else the machine does hits all alike.
"""

import copy
import itertools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from specdec_lab.clock import read_clock
from specdec_lab.drafters import ReplayDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request, Stops
from specdec_lab.engine.drafter import Drafter
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.formats import short
from specdec_lab.measure.serving import StepCosts
from specdec_lab.models.base import Model, Row

SAMPLES = 7  # times that each is measured: one slow moment does not move their median
WARM_UP = 1  # times before that: a first pass of a width takes longer than all later ones

DOUBTFUL_RATIO = 0.95  # A wider pass that takes less than this share of the narrowest one is doubtful.
DOUBTFUL_FALL = 0.9  # The same against any narrower pass: there a wider one may be a little faster, by another method.
SMALL_SPREAD = 0.05  # A spread below this share of the narrowest pass hides nothing that a lesson speaks about.
RACE_SPREAD = 1.3  # If the largest ratio is more than so many times the smallest, their median says little.
MEASURE_AGAIN = "Probably another program was running: measure again, when nothing else runs."


def seconds_of(model: Model, do: Callable[[], object]) -> float:
    """Wall-clock seconds of `do`, from an idle device until the device has finished."""
    model.synchronize()
    begin = read_clock()
    do()
    model.synchronize()
    return read_clock() - begin


def pass_times(
    model: Model, widths: Sequence[int], held: int = 256, samples: int = SAMPLES, first: int = 0
) -> dict[int, list[float]]:
    """T(k): seconds of one pass over k new tokens behind `held` cached ones, measured `samples` times for each k.

    Args:
        widths: the k.
        held: fewer where the context is short.
        first: run only the layers from this one on.
    """
    if not widths or not all(isinstance(k, int) and k >= 1 for k in widths):
        raise LabError(f"The widths of passes are {list(widths)!r:.60}: they must be whole numbers from 1 on.")
    held = max(0, min(held, model.context - max(widths)))
    cached = model.cached()
    cached.prefill([0] * held)
    rows = cached.extend([[0] * max(widths)], layers=(0, first), logits=False).hidden if first else None
    times: dict[int, list[float]] = {k: [] for k in widths}
    for turn in range(samples + WARM_UP):
        for k in widths:
            cached.rewind([held])
            new = rows[:, :k] if first else [[0] * k]
            seconds = seconds_of(model, partial(cached.extend, new, layers=(first, model.layers)))
            if turn >= WARM_UP:
                times[k].append(seconds)
    return times


def width_at(times: Mapping[int, Sequence[float]], factor: float) -> float | None:
    """The k at which T(k) is `factor` times T(1), on straight lines between the measured k; None if it is nowhere.

    Args:
        times: T(k) as `pass_times` returns it, with k = 1 among them.
        factor: above 1.
    """
    T = {k: statistics.median(seconds) for k, seconds in times.items()}
    for a, b in itertools.pairwise(sorted(T)):
        if T[b] >= factor * T[1]:
            return a + (b - a) * (factor * T[1] - T[a]) / (T[b] - T[a])
    return None


def times_as_long(times: Mapping[int, Sequence[float]], k: int, of: int = 1) -> float:
    """T(k) / T(of), from the medians of what `pass_times` returns."""
    return statistics.median(times[k]) / statistics.median(times[of])


def doubts(times: Mapping[int, Sequence[float]]) -> str | None:
    """What speaks against the result of `pass_times`, as a sentence that asks to measure again; None if nothing does.

    Either a pass over more tokens took less time, or one and the same pass differs more from time to
    time than the widest does from the narrowest.
    """
    T = {k: statistics.median(times[k]) for k in sorted(times)}
    first = min(T)
    falls = [
        (T[b] / T[a], a, b)
        for a in T
        for b in T
        if a < b and T[b] < (DOUBTFUL_RATIO if a == first else DOUBTFUL_FALL) * T[a]
    ]
    if falls:
        ratio, a, b = min(falls)
        return (
            f"These times are doubtful: {b} tokens took {short(ratio)} times as long as {a}. Measure again, when nothing else "
            f"runs: if it stays, this machine's products of matrices run better with {b} rows than with {a}."
        )
    spread = statistics.median(_middle_half(seconds) for seconds in times.values())
    effect = T[max(T)] - T[first]
    if spread > max(effect, SMALL_SPREAD * T[first]):
        return (
            f"These times say little: one and the same pass differs by {1e3 * spread:.2g} ms from time to time, and "
            f"{max(T)} tokens by {1e3 * effect:.2g} ms from {first}. {MEASURE_AGAIN}"
        )
    return None


def _middle_half(seconds: Sequence[float]) -> float:
    """The distance between the ends of the middle half of some times (interquartile range): one slow moment does not
    change it.
    """
    low, _, high = statistics.quantiles(seconds, n=4, method="inclusive") if len(seconds) > 1 else [0.0] * 3
    return high - low


def batch_costs(
    target: Model,
    prompt: Sequence[int],
    sizes: Sequence[int] = (1, 2, 4, 8, 16),
    gammas: Sequence[int] = (0, 1, 2, 4),
    samples: int = 5,
    say: Say = silent,
    drafter: Drafter | None = None,
) -> dict[tuple[int, int], float]:
    """Median seconds of a real step of a `Batch`, by (texts in it, γ).

    More rows are never cheaper: where a step with more texts or more drafts took less time, by chance, the price of the
    smaller one stands.

    Args:
        prompt: what each text goes on from. It is read once.
        drafter: None: drafts that cost nothing. Nearly all of those are wrong, which does not change what a step
            costs.
    """
    seconds: dict[tuple[int, int], list[float]] = {}
    batches = {}
    for size, batch in running_batches(target, prompt, sizes, drafter):
        say(f"Filling a batch of {size} …")
        batch.step(max(gammas))
        batches[size] = batch
    for done in range(samples):
        say(f"Timing batches: {done} of {samples} times …")
        for size, batch in batches.items():
            for gamma in gammas:
                seconds.setdefault((size, gamma), []).append(seconds_of(target, partial(batch.step, gamma)))
    measured: dict[tuple[int, int], float] = {}
    for size, gamma in sorted(seconds):
        narrower = (s for (n, g), s in measured.items() if n <= size and g <= gamma)
        measured[size, gamma] = max(statistics.median(seconds[size, gamma]), *narrower, 0.0)
    return measured


def running_batches(
    target: Model, prompt: Sequence[int], sizes: Sequence[int], drafter: Drafter | None
) -> Iterator[tuple[int, Batch]]:
    """Batches of these sizes whose texts all go on from this prompt and never end; the prompt is read once.

    Args:
        drafter: None: drafts that cost nothing.
    """
    drafter = drafter or ReplayDrafter([0] * target.context, 1.0)
    source = target.cached()
    hidden = source.prefill(prompt[:-1], drafter.depths)

    class Reader(Request):
        def begin(self) -> Row:
            self.row = Row(target.cached(0))
            self.row.cached.join(source)
            self.drafter.start(self.row, prompt, hidden)
            return self.row

    for size in dict.fromkeys(sizes):
        batch = Batch(target, size)
        for i in range(size):
            batch.submit(Reader(target, prompt, copy.copy(drafter), stops=Stops(10**6), uniforms=Uniforms(0, i)))
        yield size, batch


def catch_up_cost(
    target: Model, drafter: Drafter, prompt: Sequence[int], texts: int = 4, missed: int = 16, samples: int = 5
) -> float:
    """Seconds for each token that a text wrote without drafts, in the step in which it drafts again.

    Real steps of a `Batch` with one draft for each text: the first after `missed` plain steps takes longer than the
    second. The median difference is divided by the tokens that the drafter had missed. Where it hides in the noise of
    the steps it is 0.
    """
    ((_, batch),) = running_batches(target, prompt, [texts], drafter)
    more = []
    for _ in range(samples + WARM_UP):
        for _ in range(missed):
            batch.step(0)
        first, second = (seconds_of(target, partial(batch.step, 1)) for _ in range(2))
        more.append(first - second)
    return max(0.0, statistics.median(more[WARM_UP:]) / (missed * texts))


def join_cost(target: Model, prompt: Sequence[int], samples: int = 5) -> float:
    """Median seconds that a text adds to the step in which it joins a batch: its prompt is read, its cache copied."""
    shared = target.cached(0)

    def join() -> None:
        shared.join(Request(target, prompt, ReplayDrafter([], 1.0)).begin().cached)

    times = [seconds_of(target, join) for _ in range(samples + 1)]
    return statistics.median(times[1:])  # the first one warms up


def step_costs(
    target: Model,
    prompt: Sequence[int],
    drafter: Drafter,
    sizes: Sequence[int] = (1, 2, 4, 8, 16, 32),
    gammas: Sequence[int] = (0, 1, 2, 4),
    samples: int = 5,
    say: Say = silent,
) -> StepCosts:
    """All prices that a simulation of a server needs: of steps with this drafter and with drafts that cost nothing, of a
    text that joins, and of drafts that come back.
    """
    how = {"sizes": sizes, "gammas": gammas, "samples": samples, "say": say}
    real, free = (batch_costs(target, prompt, drafter=one, **how) for one in (drafter, None))
    catch_up = catch_up_cost(target, drafter, prompt, texts=min(16, max(sizes)), samples=samples)
    return StepCosts(real, join=join_cost(target, prompt, samples), free=free, catch_up=catch_up)


@dataclass(frozen=True)
class Race:
    """What `race` measured.

    ratios: for each repeat, plain seconds a token / speculative seconds a token, without the prefill; above 1
        speculation was faster.
    plain, speculative: the last trace of each.
    """

    ratios: list[float]
    plain: Trace
    speculative: Trace

    @property
    def ratio(self) -> float:
        """Median over the repeats."""
        return statistics.median(self.ratios)

    @property
    def doubt(self) -> str | None:
        """What speaks against these times, as a sentence that asks to measure again; None if nothing does."""
        one_round = self.speculative.tokens_per_pass / self.ratio
        if one_round < DOUBTFUL_RATIO:
            return f"These times are doubtful: a round took {short(one_round)} times as long as a plain step. {MEASURE_AGAIN}"
        low, high = min(self.ratios), max(self.ratios)
        if high > RACE_SPREAD * low:
            return f"These times say little: {short(low)} times as fast in one race, {short(high)} in another. {MEASURE_AGAIN}"
        return None


def race(plain: Callable[[], Trace], speculative: Callable[[], Trace], repeats: int = 3) -> Race:
    """Run both in turns; the one that goes first changes each time."""
    arms, traces, ratios = [("plain", plain), ("speculative", speculative)], {}, []
    for _ in range(repeats):
        for name, run in arms:
            traces[name] = run()
            if traces[name].interrupted:
                raise KeyboardInterrupt  # half a text would be a false time
        arms.reverse()
        seconds = {name: trace.seconds / len(trace.tokens) for name, trace in traces.items()}
        ratios.append(seconds["plain"] / seconds["speculative"])
    return Race(ratios, **traces)
