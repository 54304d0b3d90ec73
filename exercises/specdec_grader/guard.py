"""Running a learner's code: it may raise, loop, print without end or stop Python; the notebook goes on."""

import contextlib
import io
import signal
import threading
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from specdec_grader.mistakes import StillOpen, Wrong
from specdec_lab.formats import cut

T = TypeVar("T")
SHOWN = 300  # characters of what the code printed
PATIENCE = 6  # times a limit: so long code may take that waits, or that others on the machine leave no processor
AGAIN = 0.1  # seconds from one ring of an alarm to the next
MISSED = 1.0  # and to one more, where a ring came just before a wait began, which it then did not end


class TimeUp(BaseException):
    """Raised inside code that runs too long. No Exception: a bare `except Exception` does not stop it."""


def limited(call: Callable[[], T], seconds: float, spent: Callable[[], float] = time.monotonic) -> T:
    """What `call` returns; TimeUp is raised inside it when it takes longer.

    Where there are no alarms (Windows, other threads than the first), it is not limited.

    Args:
        spent: the clock that counts, in seconds.
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


class Capped(io.StringIO):
    """Keeps the beginning of what is written and drops the rest."""

    def write(self, text: str) -> int:
        if self.tell() < 10 * SHOWN:
            super().write(text[: 10 * SHOWN])
        return len(text)


def guarded(
    call: Callable[[], object], seconds: float, said: list[str], elsewhere: Callable[[], float] = float
) -> None:
    """Call it: it ends within `seconds`, writes nowhere, and fails only with a `Wrong` or a `StillOpen`.

    Args:
        seconds: of processor time, so that a busy machine takes none of it away.
        said: gets a sentence about what was printed, if anything was.
        elsewhere: the seconds that another process spends on it.
    """
    printed, computed, clock = Capped(), time.process_time() + elsewhere(), time.monotonic()

    def spent() -> float:
        waited = (time.monotonic() - clock) / PATIENCE
        return max(time.process_time() + elsewhere() - computed, waited)

    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            limited(call, seconds, spent)
    except (Wrong, StillOpen, KeyboardInterrupt):
        raise
    except TimeUp:
        raise Wrong(
            f"Your code did not come to an end within {seconds:g} seconds of processor time. Is there a loop that never "
            "stops, or does it compute much more than it needs?"
        ) from None
    except BaseException as e:  # SystemExit, too
        raise explain_error(e) from None
    finally:
        text = " ".join(printed.getvalue().split())
        if text:
            said.append(f"(Your code printed: {cut(text, SHOWN)})")


def explain_error(e: BaseException) -> Wrong | StillOpen:
    """What an error of the learner's own code means."""
    if isinstance(e, NotImplementedError):
        still_open = StillOpen()
        still_open.unwritten = True
        return still_open
    if isinstance(e, RecursionError):
        return Wrong("Your code calls itself without end (RecursionError).")
    case = getattr(e, "case", "")  # which question.called names
    told = (
        f"Your code raised {type(e).__name__}{f': {e}' if str(e) else ''}{failing_line(e)}{case and f', for {case}'}."
    )
    if isinstance(e, TypeError) and "NoneType" in str(e):
        told += " Something that it uses is None: a value that may be missing, or a function of an earlier part that is still open?"
    return Wrong(told)


def learner_frames(e: BaseException) -> list[traceback.FrameSummary]:
    """The way to the exception, through the learner's own code alone."""
    others = "specdec_lab", "specdec_grader", "site-packages", "lib/python"
    return [f for f in traceback.extract_tb(e.__traceback__) if not any(other in f.filename for other in others)]


def failing_line(e: BaseException) -> str:
    """The last line of the learner's own code on the way to the exception, as far as one can tell."""
    if isinstance(line := getattr(e, "line", None), str):  # it comes from another process
        return f", in the line “{line}”" if line else ""
    mine = learner_frames(e)
    return f", in the line “{mine[-1].line}”" if mine and mine[-1].line else ""
