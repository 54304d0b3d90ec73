"""A limit of time for code that is not ours: a learner's function, a model's chat template."""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


class TimeUp(BaseException):
    """Raised inside code that runs too long. No Exception: a bare `except Exception` does not stop it."""


def limited(call: Callable[[], T], seconds: float) -> T:
    """What `call` returns; TimeUp is raised inside it when it takes longer.

    Where there are no alarms (Windows, other threads than the first), it is not limited.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return call()

    def run() -> T:
        return call()

    def on_alarm(signum: int, frame: FrameType | None) -> None:
        # Only while the call runs: raised on the way out, it would escape from whoever handles the first one.
        while frame:
            if frame.f_code is run.__code__:
                raise TimeUp
            frame = frame.f_back

    before = signal.signal(signal.SIGALRM, on_alarm)
    # It rings again, for code that catches everything and goes on.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
    try:
        return run()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
