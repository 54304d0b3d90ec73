"""What a drafter should gain on prompts that nobody has decoded yet, from parts that are measured apart.

S(γ) = E(γ) / (d(γ) + v(γ) + o), as in lesson 05. What happens in rounds is counted on other prompts: E(γ), and how many
drafts there are. What it costs is measured without rounds: v in bare passes of the target, d beside plain
decoding. Only o, the loop's own time, is that of the counted rounds.

E(γ) is counted and not computed from single drafts as 1 + α + … + α^γ (Leviathan et al. 2023, equation 1): that takes
all places to be alike, and a trained draft's second and third guess are worse than its first (lesson 05 shows how much
this changes).
"""

import copy
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_lab.clock import Stopwatch, read_clock
from specdec_lab.engine.decode import Keep, Request, Stops, verify_drafts
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.together import together
from specdec_lab.lab import Lab
from specdec_lab.measure.bench import usual
from specdec_lab.measure.costs import pass_times, speedup_of_round
from specdec_lab.measure.results import tokens_per_pass

STEPS = 16  # of plain decoding in each text, beside which drafting is timed


@dataclass(frozen=True)
class Drafted:
    """A proposal that was only timed.

    drafts: how many. seconds: that they took. done: how many layers of the verify pass had been run for them.
    """

    drafts: int
    seconds: float
    done: int


def predicted(
    lab: Lab, drafter: Drafter, gamma: int, texts: Sequence[Sequence[int]], **settings
) -> tuple[float, tuple[float, float]]:
    """How many times as fast as plain decoding this drafter should be, with up to γ drafts a round; and between what so
    many other texts would have foretold in 95 of 100 cases: E depends on the texts, and a pilot has few.

    Args:
        texts: prompts, as token ids; not those of the run that is predicted.
        settings: those of `Lab.settings`.
    """
    counts, rounds, steps, drafted = {}, [], [], []
    for i, text in enumerate(texts):
        trace = lab.speculative(text, copy.copy(drafter), gamma=gamma, keep=Keep(), request=i, **settings)
        plain = lab.plain(text, request=i, **settings)
        if trace.interrupted or plain.interrupted:
            raise KeyboardInterrupt
        counts[i] = len(trace.tokens), len(trace.rounds)
        rounds, steps = rounds + trace.rounds, steps + plain.rounds
        drafted += beside_plain(lab, copy.copy(drafter), gamma, text, **settings)
    cost = drafting_costs(drafted)
    passes = bare_passes(lab, {(done, n + 1) for n, (_, done) in cost.items()})
    step = passes[0, 1] + statistics.median(s.seconds.loop for s in steps)
    # A number of drafts that never came up beside plain decoding costs what the nearest one does.
    nearest = [min(cost, key=lambda n: abs(n - len(r.drafted))) for r in rounds]
    d = statistics.fmean(cost[n][0] for n in nearest) / step
    v = statistics.fmean(passes[cost[n][1], n + 1] for n in nearest) / step
    o = usual(rounds, "loop") / step
    emitted, interval = tokens_per_pass(counts)
    ratio, low, high = (speedup_of_round(tokens, d, v, o) for tokens in (emitted, *interval))
    return ratio, (low, high)


def drafting_costs(drafted: Sequence[Drafted]) -> dict[int, tuple[float, int]]:
    """{number of drafts: (median seconds that they took, layers of the verify pass that were run for them)}."""
    found = defaultdict(list)
    for d in drafted:
        found[d.drafts].append(d)
    return {n: (statistics.median(d.seconds for d in some), some[0].done) for n, some in found.items()}


def bare_passes(lab: Lab, wanted: set[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """{(done, k): median seconds of a pass over k tokens through all layers but the first `done`}.

    For all that are wanted, and for (0, 1), the pass of plain decoding.
    """
    found = {}
    for first in {done for done, _ in wanted} | {0}:
        widths = sorted({k for done, k in wanted if done == first} | {1})
        times = pass_times(lab.target, widths, first=first)
        found |= {(first, k): statistics.median(seconds) for k, seconds in times.items()}
    return found


def beside_plain(lab: Lab, drafter: Drafter, gamma: int, text: Sequence[int], **settings) -> Iterator[Drafted]:
    """Drafts at each place of a text that is decoded plainly. Every proposal is thrown away."""
    settings = lab.settings(**settings) | {"stops": Stops(STEPS)}
    request = Request(lab.target, text, drafter, **settings)
    cached = request.begin().cached
    while request.stop is None:
        start = read_clock()
        (proposal,) = together([request.drafting(gamma)])
        lab.target.synchronize()
        seconds = read_clock() - start
        yield Drafted(len(proposal.tokens), seconds, proposal.started[0] if proposal.started else 0)
        cached.rewind([len(request.text) - 1])  # an early exit has gone ahead
        verify_drafts(cached, [request], [Proposal([])], Stopwatch())
