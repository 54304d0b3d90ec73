"""What a user is told: one sentence on what is wrong and what to do; and what long work is doing."""

import functools
import inspect
import numbers
import threading
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

Called = TypeVar("Called", bound=Callable)


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


Say = Callable[[str], None]  # Long work tells it what it is doing, a sentence at a time.


def silent(line: str) -> None:
    """The `Say` of whoever does not want to hear it."""


@contextmanager
def told_if_slow(say: Say, line: str, seconds: float = 5.0):
    """Say the line once, where the block has not ended after so many seconds."""
    timer = threading.Timer(seconds, say, [line])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def typed(called: Called) -> Called:
    """The function, or the class with its `__init__`, which refuses arguments that do not fit its annotations.

    Annotations in quotes, and those of other kinds than classes, unions, sequences, mappings and callables, are not looked at.
    """
    if isinstance(called, type):
        called.__init__ = typed(called.__init__)
        return typing.cast("Called", called)
    signature, name = inspect.signature(called), called.__qualname__.removesuffix(".__init__")

    @functools.wraps(called)
    def checked(*args: Any, **named: Any) -> Any:
        try:
            given = signature.bind(*args, **named).arguments
        except TypeError as e:
            known = [part for part in signature.parameters if part != "self"]
            raise LabError(f"{name}: {e}. It takes {', '.join(known)}.") from e
        for part, value in given.items():
            about = signature.parameters[part]
            if about.kind in (about.VAR_POSITIONAL, about.VAR_KEYWORD) or fits(value, about.annotation):
                continue
            shown = repr(value)[:60]
            raise LabError(f"{name}: {part} is {shown}, but must be {name_of_type(about.annotation)}.")
        return called(*args, **named)

    return typing.cast("Called", checked)


def fits(value: Any, wanted: Any) -> bool:
    if wanted in (Any, inspect.Parameter.empty) or isinstance(wanted, str | TypeVar):
        return True
    if wanted is None or wanted is types.NoneType:
        return value is None
    origin, parts = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is not None and inspect.isclass(origin) and issubclass(origin, Callable):
        return callable(value)
    if origin is not None and inspect.isclass(origin) and issubclass(origin, Sequence):
        listed = value.tolist() if hasattr(type(value), "tolist") else value
        if not isinstance(listed, Sequence) or isinstance(listed, str | bytes):
            return False
        if is_row(origin, parts):
            return len(listed) == len(parts) and all(map(fits, listed, parts))
        return all(fits(x, parts[0]) for x in listed) if parts else True
    if origin is not None and inspect.isclass(origin) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(x, parts[1]) for x in value.values())
    if origin is not None:
        return not inspect.isclass(origin) or isinstance(value, origin)
    if wanted is int:
        return isinstance(value, numbers.Integral) or hasattr(type(value), "__index__")
    if wanted is float:
        return isinstance(value, numbers.Real) or (hasattr(type(value), "__float__") and not callable(value))
    return not inspect.isclass(wanted) or isinstance(value, wanted)


def is_row(origin: type, parts: Sequence[Any]) -> bool:
    """Whether each item of a tuple has a kind of its own."""
    return issubclass(origin, tuple) and bool(parts) and Ellipsis not in parts


WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "True or False",
    types.NoneType: "None",
    None: "None",
}


def name_of_type(wanted: Any) -> str:
    origin, parts = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(name_of_type, parts))
    if origin is not None and inspect.isclass(origin) and issubclass(origin, Callable):
        return "a function"
    if origin is not None and inspect.isclass(origin) and issubclass(origin, Sequence):
        if is_row(origin, parts):
            return f"({', '.join(map(name_of_type, parts))})"
        of = parts[0] if parts else Any
        return "a list" if of is Any else f"a list, with {name_of_type(of)} for each item"
    if origin is not None and inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"a dict, with {name_of_type(parts[1])} for each name"
    if wanted in WORDS:
        return WORDS[wanted]
    name = getattr(wanted, "__name__", str(wanted))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
