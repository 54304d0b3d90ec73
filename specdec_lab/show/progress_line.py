"""How far a long cell is: a line in the notebook that changes in place. In a terminal it says nothing."""

import sys
import threading
import time
from collections.abc import Iterable, Iterator

GONE = {"text/html": "", "text/plain": ""}  # as HTML, nothing takes no room
TICK = 5  # seconds after which a line that stands says how long all has taken


class OneLine:
    """Call it with a sentence, as often as you like: the newest one stands there. For the `say` of long measurements.

    Behind `with`, the line begins with the sentence that it was given, the seconds go on beside it, and it goes away at the
    end.
    """

    def __init__(self, line: str = ""):
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        # Whoever loads in the background shows nothing: its cell has ended.
        here = hasattr(shell, "kernel") and threading.current_thread() is threading.main_thread()
        self._shell, self._line, self._shown = shell if here else None, line, None
        self._ended, self._turn = False, threading.RLock()

    def __call__(self, line: str) -> None:
        self._line = line
        self._show(line)

    def _show(self, line: str) -> None:
        if self._shell is None:
            return
        from IPython.display import display

        form = {"text/plain": line} if line else GONE
        if self._shown is None:
            self._shown = display(form, raw=True, display_id=True)
        else:
            self._shown.update(form, raw=True)

    def __enter__(self) -> "OneLine":
        if self._line:
            self._show(self._line)
        if self._shell:
            threading.Thread(target=self._count, args=(self._shell, self._shell.execution_count), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._turn:
            self._ended = True
            if self._shown is not None:
                self._show("")

    def _count(self, shell, cell: int) -> None:
        begin = time.monotonic()
        while not self._ended and shell.execution_count == cell:  # else the cell was stopped
            time.sleep(TICK)
            with self._turn:
                if self._line and not self._ended:
                    self._show(f"{self._line} ({time.monotonic() - begin:.0f} s)")


def each(items: Iterable, what: str) -> Iterator:
    """The items, one after the other, and meanwhile a line such as "3 of 24 texts"; it goes away at the end."""
    items = list(items)
    with OneLine() as say:
        for done, item in enumerate(items):
            say(f"{done} of {len(items)} {what} …")
            yield item
