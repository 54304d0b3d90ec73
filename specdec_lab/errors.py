"""What a user sees when something is wrong: one sentence that says what and what to do."""

from contextlib import contextmanager

import torch


class LabError(Exception):
    """A mistake in the input or the machine's state, told in one clear sentence."""

    def _render_traceback_(self):
        # IPython calls this instead of printing its own traceback: a notebook shows the sentence alone.
        return [f"specdec_lab: {self}"]


@contextmanager
def explain_memory(what: str, remedy: str):
    """Turn an allocator's failure inside the block into one sentence.

    Raises:
        LabError: when the CPU or GPU allocator ran out of memory.
    """
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as e:
        raise LabError(f"Not enough memory to {what}: {remedy}.") from e
    except RuntimeError as e:
        if "not enough memory" in str(e) or "can't allocate memory" in str(e):  # CPU allocator
            raise LabError(f"Not enough memory to {what}: {remedy}.") from e
        raise
