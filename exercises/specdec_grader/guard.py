"""Running a learner's code: it may raise, loop, print without end or stop Python; the notebook goes on."""

import contextlib
import io
import time
import traceback
from collections.abc import Callable

from specdec_grader.mistakes import StillOpen, Wrong
from specdec_lab.clock import TimeUp, limited
from specdec_lab.formats import cut

SHOWN = 300  # characters of what the code printed
PATIENCE = 6  # times a limit: so long code may take that waits, or that others on the machine leave no processor


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
        raise verdict_on(e) from None
    finally:
        text = " ".join(printed.getvalue().split())
        if text:
            said.append(f"(Your code printed: {cut(text, SHOWN)})")


def verdict_on(e: BaseException) -> Wrong | StillOpen:
    """What an error of the learner's own code means."""
    if isinstance(e, NotImplementedError):
        still_open = StillOpen()
        still_open.unwritten = True
        return still_open
    if isinstance(e, RecursionError):
        return Wrong("Your code calls itself without end (RecursionError).")
    told = f"Your code raised {type(e).__name__}{f': {e}' if str(e) else ''}{failing_line(e)}."
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
