"""What a drafter should gain, from numbers that are measured apart: no round with γ drafts is timed for it.

S(γ) = E(γ) / (d(γ) + v(γ) + o), as in lesson 05. v comes from bare passes of the target, d from drafting beside
plain decoding, and E from the share of single drafts that are accepted, as if every place were alike:
E(γ) = 1 + α + … + α^γ (Leviathan et al. 2023, equation 1). o is that of rounds with one
draft. Where it misses the clock, one of these does not hold.
"""

import copy
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_lab import theory
from specdec_lab.engine.decode import Keep, Request, Stops, Stopwatch
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.together import together
from specdec_lab.engine.trace import Round
from specdec_lab.lab import Lab
from specdec_lab.measure.costs import pass_times

STEPS = 16  # of plain decoding in each text, beside which drafting is timed


@dataclass(frozen=True)
class Drafted:
    """A proposal that was only timed. part: which part of the drafter made it. done: layers of the verify pass that it ran."""

    part: str
    drafts: int
    seconds: float
    done: int


class Single:
    """γ = 1 in every round, in the place of an `AutoGamma`: counts what becomes of the drafts of each part."""

    def __init__(self):
        self.drafted, self.accepted = Counter(), Counter()

    def choose(self, part: str) -> int:
        self.part = part
        return 1

    def observe(self, r: Round) -> None:
        self.drafted[self.part] += len(r.drafted)
        self.accepted[self.part] += r.accepted

    def alpha(self, part: str) -> float:
        return self.accepted[part] / self.drafted[part] if self.drafted[part] else 0.0


def predicted_ratio(lab: Lab, drafter: Drafter, gamma: int, texts: Sequence[Sequence[int]], **settings) -> float:
    """How many times as fast as plain decoding it should be, with up to γ drafts a round.

    Args:
        texts: prompts, other ones than those of the run that is predicted.
        settings: those of `Lab.settings`.
    """
    single, drafted, loops, plain_loops = Single(), [], [], []
    for i, text in enumerate(texts):
        trace = lab.speculative(text, copy.copy(drafter), gamma=single, keep=Keep(), request=i, **settings)
        loops += [r.seconds.loop for r in trace.rounds]
        plain_loops += [r.seconds.loop for r in lab.plain(text, request=i, **settings).rounds]
        drafted += beside_plain(lab, copy.copy(drafter), gamma, text, **settings)
    passes = {}
    for done in {d.done for d in drafted} | {0}:
        widths = sorted({d.drafts + 1 for d in drafted if d.done == done} | {1})
        times = pass_times(lab.target, widths, first=done)
        passes |= {(done, k): statistics.median(seconds) for k, seconds in times.items()}
    emitted = sum(theory.expected_tokens(single.alpha(d.part), d.drafts) for d in drafted)
    seconds = sum(d.seconds + passes[d.done, d.drafts + 1] for d in drafted) + len(drafted) * statistics.fmean(loops)
    return emitted / seconds * (passes[0, 1] + statistics.fmean(plain_loops))


def beside_plain(lab: Lab, drafter: Drafter, gamma: int, text: Sequence[int], **settings) -> Iterator[Drafted]:
    """Drafts at each place of a text that is decoded plainly. Every proposal is thrown away."""
    settings = lab.settings(**settings) | {"stops": Stops(STEPS)}
    request = Request(lab.target, text, drafter, **settings)
    cached = request.begin().cached
    while request.stop is None:
        part, start = drafter.part(request.text), time.perf_counter()
        (proposal,) = together([request.drafting(gamma)])
        lab.target.synchronize()
        yield Drafted(
            part, len(proposal.tokens), time.perf_counter() - start, proposal.started[0] if proposal.started else 0
        )
        cached.rewind([len(request.text) - 1])  # an early exit has gone ahead
        rows = cached.extend([request.text[-1:]])
        request.settle(Proposal([]), rows.logits[0], rows.hidden[0], Stopwatch())
