"""What a user is told: one sentence on what is wrong and what to do; and what long work is doing."""

import threading
from collections.abc import Callable
from contextlib import contextmanager


class LabError(Exception):
    """A mistake in the input or the machine's state, told in one clear sentence.

    Whatever takes a value raises it where the value is not what its docstring says.
    """

    def _render_traceback_(self):
        # IPython calls this instead of printing its own traceback: a notebook shows the sentence alone.
        return [f"specdec_lab: {self}"]


@contextmanager
def explain_memory(what: str, remedy: str):
    """Turn an allocator's failure inside the block into one sentence."""
    try:
        yield
    except (MemoryError, RuntimeError) as e:
        # The CPU's allocator and MPS have no error class of their own; CUDA's is a RuntimeError too.
        signs = ("not enough memory", "can't allocate memory", "out of memory")
        if isinstance(e, RuntimeError) and not any(sign in str(e) for sign in signs):
            raise
        raise LabError(f"Not enough memory to {what}: {remedy}.") from e


Say = Callable[[str], None]  # Long work tells it what it is doing, a sentence at a time.


def silent(line: str) -> None:
    """The `Say` of whoever does not want to hear it."""


@contextmanager
def say_if_slow(say: Say, line: str, seconds: float = 5.0):
    """Say the line once, where the block has not ended after so many seconds."""
    timer = threading.Timer(seconds, say, [line])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
