"""The clock of all measurements. It stands still while something is made once that later rounds only use."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_stood = 0.0


def read_clock() -> float:
    """Seconds, from some moment on, without those in which the clock stood still."""
    return time.perf_counter() - _stood


@contextmanager
def clock_paused() -> Iterator[None]:
    """Within this the clock stands still."""
    global _stood
    begin = time.perf_counter()
    try:
        yield
    finally:
        _stood += time.perf_counter() - begin


class Stopwatch:
    """Where a round's time goes: `lap(part)` counts all time since the lap before as that part's.

    Args:
        seconds: what has been counted already.
    """

    def __init__(self, seconds: Mapping[str, float] = {}):
        self.seconds = defaultdict(float, seconds)
        self._since = read_clock()

    def lap(self, part: str) -> None:
        now = read_clock()
        self.seconds[part] += now - self._since
        self._since = now
