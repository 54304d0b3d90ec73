"""The clock of all measurements, and a limit of time for code that is not ours.

The clock stands still while something is made once that later rounds only use.
"""

import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
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


AGAIN = 0.1  # seconds from one ring of an alarm to the next
MISSED = 1.0  # and to one more, where a ring came just before a wait began, which it then did not end


class TimeUp(BaseException):
    """Raised inside code that runs too long. No Exception: a bare `except Exception` does not stop it."""


def limited(call: Callable[[], T], seconds: float, spent: Callable[[], float] = time.monotonic) -> T:
    """What `call` returns; TimeUp is raised inside it when it takes longer.

    Args:
        spent: the clock that counts, in seconds.

    Such a call is a learner's function, or a model's chat template.
    Where there are no alarms (Windows, other threads than the first), it is not limited.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return call()

    def run() -> T:
        return call()

    over = False

    def on_alarm(signum: int, frame: FrameType | None) -> None:
        if over:
            return
        # Only while the call runs: raised on the way out, it would escape from whoever handles the first one.
        while frame and frame.f_code is not run.__code__:
            frame = frame.f_back
        late = frame and spent() >= ends
        # It rings again, since the clock that counts may be another one, and for code that catches everything and goes
        # on. Each ring sets the next one: a timer that goes on by itself would ring inside of this function, and inside
        # of that, where a ring takes long to deliver. So only a slow one does. It is needed: a ring between Python's
        # last look for signals and the call that waits is seen after the wait, and until then none would follow.
        signal.setitimer(signal.ITIMER_REAL, AGAIN, MISSED)
        if late:
            raise TimeUp

    ends = spent() + seconds
    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds, MISSED)
    try:
        return run()
    finally:
        over = True  # from here on no ring sets another one, so the next line ends them all
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
