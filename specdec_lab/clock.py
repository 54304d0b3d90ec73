"""The clock of all measurements. It stands still while something is made once that later rounds only use."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_stood = 0.0


def read_clock() -> float:
    """Seconds, from some moment on, without those in which the clock stood still."""
    return time.perf_counter() - _stood


@contextmanager
def standing() -> Iterator[None]:
    """Within this the clock stands still."""
    global _stood
    begin = time.perf_counter()
    try:
        yield
    finally:
        _stood += time.perf_counter() - begin
