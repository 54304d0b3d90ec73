"""Racing two ways of decoding fairly: interleaved, in one process, on the same prompt."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

from specdec_lab import quick
from specdec_lab.engine.trace import Trace


@dataclass(frozen=True)
class Race:
    """Seconds of each repeat, prefill excluded, and the last trace of each arm.

    A ratio above 1 means that speculation was faster, per token.
    """

    plain_seconds: list[float]
    speculative_seconds: list[float]
    plain: Trace
    speculative: Trace

    @property
    def ratios(self) -> list[float]:
        return [a / b for a, b in zip(self.plain_seconds, self.speculative_seconds)]

    @property
    def ratio(self) -> float:
        """Median over the repeats."""
        return statistics.median(self.ratios)


def race(plain: Callable[[], Trace], speculative: Callable[[], Trace], repeats: int = 3) -> Race:
    """Run both arms by turns, the one that goes first changing each time.

    Raises:
        KeyboardInterrupt: when an arm was interrupted.
    """
    seconds: dict[str, list[float]] = {"plain": [], "speculative": []}
    last = {}
    arms = [("plain", plain), ("speculative", speculative)]
    for i in range(quick.repeats(repeats)):
        for name, run in arms if i % 2 == 0 else reversed(arms):
            last[name] = run()
            if last[name].interrupted:
                raise KeyboardInterrupt  # half a text would be a false time
            seconds[name].append(last[name].seconds / len(last[name].tokens))
    return Race(seconds["plain"], seconds["speculative"], last["plain"], last["speculative"])
