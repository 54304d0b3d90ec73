"""Long work says what it is doing, a sentence at a time, to whoever asked for it."""

from collections.abc import Callable

Say = Callable[[str], None]


def silent(line: str) -> None:
    """For whoever does not want to hear it."""
