"""Racing two ways of decoding fairly: interleaved, in one process, on the same prompt."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from specdec_lab import quick
from specdec_lab.engine.trace import Trace
from specdec_lab.formats import short
from specdec_lab.measure.doubts import AGAIN, LEAST
from specdec_lab.typed import typed

APART = 1.3  # if the largest ratio is more than so many times the smallest, their median says little


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
        if one_round < LEAST:
            return f"These times are doubtful: a round took {short(one_round)} times as long as a plain step. {AGAIN}"
        low, high = min(self.ratios), max(self.ratios)
        if high > APART * low:
            return f"These times say little: {short(low)} times as fast in one race, {short(high)} in another. {AGAIN}"
        return None


@typed
def race(plain: Callable[[], Trace], speculative: Callable[[], Trace], repeats: int = 3) -> Race:
    """Run both in turns; the one that goes first changes each time.

    Raises:
        KeyboardInterrupt: when one was interrupted.
    """
    arms, traces, ratios = [("plain", plain), ("speculative", speculative)], {}, []
    for _ in range(quick.repeats(repeats)):
        for name, run in arms:
            traces[name] = run()
            if traces[name].interrupted:
                raise KeyboardInterrupt  # half a text would be a false time
        arms.reverse()
        seconds = {name: trace.seconds / len(trace.tokens) for name, trace in traces.items()}
        ratios.append(seconds["plain"] / seconds["speculative"])
    return Race(ratios, **traces)
