"""How far a long cell is: a line in the notebook that changes in place. In a terminal it says nothing."""

from collections.abc import Iterable, Iterator

from IPython import get_ipython
from IPython.display import display

GONE = {"text/html": "", "text/plain": ""}  # as HTML, nothing takes no room


class OneLine:
    """Call it with a sentence, as often as you like: the newest one stands there. For the `say` of long measurements.

    Behind `with`, the line goes away at the end.
    """

    def __init__(self):
        self._shown = None

    def __call__(self, line: str) -> None:
        if not hasattr(get_ipython(), "kernel"):
            return
        if self._shown is None:
            self._shown = display({"text/plain": line}, raw=True, display_id=True)
        else:
            self._shown.update({"text/plain": line} if line else GONE, raw=True)

    def __enter__(self) -> "OneLine":
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown is not None:
            self("")


def each(items: Iterable, what: str) -> Iterator:
    """The items, one after the other, and meanwhile a line such as "3 of 24 texts"; it goes away at the end."""
    items = list(items)
    with OneLine() as say:
        for done, item in enumerate(items):
            say(f"{done} of {len(items)} {what} …")
            yield item
