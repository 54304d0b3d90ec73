"""Racing two ways of decoding fairly: interleaved, in one process, on the same prompt."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from specdec_lab import quick
from specdec_lab.engine.trace import Trace


@dataclass(frozen=True)
class Race:
    """ratios: plain seconds a token over speculative ones, one a repeat, prefill excluded; above 1 speculation was
    faster. plain, speculative: the last trace of each."""

    ratios: list[float]
    plain: Trace
    speculative: Trace

    @property
    def ratio(self) -> float:
        """Median over the repeats."""
        return statistics.median(self.ratios)


def race(plain: Callable[[], Trace], speculative: Callable[[], Trace], repeats: int = 3) -> Race:
    """Run both by turns, the one that goes first changing each time.

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
