"""What a user sees when something is wrong: one sentence that says what and what to do."""

from contextlib import contextmanager


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
    except (MemoryError, RuntimeError) as e:
        # The CPU's allocator and MPS have no error class of their own; CUDA's is a RuntimeError too.
        signs = ("not enough memory", "can't allocate memory", "out of memory")
        if isinstance(e, RuntimeError) and not any(sign in str(e) for sign in signs):
            raise
        raise LabError(f"Not enough memory to {what}: {remedy}.") from e
