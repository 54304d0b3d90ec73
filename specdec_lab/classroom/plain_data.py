"""What two processes tell each other when a notebook is graded: lines of JSON that hold plain data, and numbers for all else.

A function or an object stays in its process. The other side gets a number, and what it looks like.
"""

import json
from collections.abc import Callable
from typing import Any, BinaryIO

LONGEST = 4_000_000  # bytes of a line
DEEPEST = 20  # lists in lists
LOOKS = 200  # characters of how an object looks


class Broken(Exception):
    """The other side has ended, or sends what is no message."""


class Wire:
    """A line of JSON for each message."""

    def __init__(self, reads: BinaryIO, writes: BinaryIO):
        self.reads, self.writes = reads, writes

    def send(self, message: dict) -> None:
        """Raises ValueError for a message that is too long, Broken when nobody listens."""
        line = json.dumps(message).encode()
        if len(line) > LONGEST:
            raise ValueError(f"more than {LONGEST // 10**6} MB are too much to be passed on")
        try:
            self.writes.write(line + b"\n")
            self.writes.flush()
        except (OSError, ValueError) as e:
            raise Broken from e

    def receive(self) -> dict:
        try:
            line = self.reads.readline(LONGEST + 2)
            message = json.loads(line) if line.endswith(b"\n") else None
        except (OSError, ValueError, RecursionError) as e:
            raise Broken from e
        if not isinstance(message, dict):
            raise Broken
        return message


def pack(value: Any, keep: Callable[[Any], dict], deep: int = 0) -> Any:
    """The value as JSON can hold it.

    Args:
        keep: takes what is no plain data, and gives what is sent in its place.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    if value is Ellipsis:
        return {"ellipsis": True}
    if deep < DEEPEST:
        for kind in (list, tuple, set, frozenset):
            if isinstance(value, kind):
                items = [pack(item, keep, deep + 1) for item in value]
                return items if kind is list else {kind.__name__: items}
        if isinstance(value, dict):
            return {"dict": [[pack(part, keep, deep + 1) for part in pair] for pair in value.items()]}
        if hasattr(value, "tolist") and not isinstance(value, type):  # a tensor or an array
            return pack(value.tolist(), keep, deep + 1)
        if hasattr(type(value), "__float__") and not callable(value):  # a fraction or a decimal
            return float(value)
    return keep(value)


def unpack(packed: Any, kept: Callable[[dict], Any], deep: int = 0) -> Any:
    """What `pack` packed. Raises Broken for anything else.

    Args:
        kept: takes what the other side sent in place of an object.
    """
    if deep > DEEPEST + 2:
        raise Broken
    if isinstance(packed, list):
        return [unpack(item, kept, deep + 1) for item in packed]
    if not isinstance(packed, dict):
        return packed
    if "ellipsis" in packed:
        return Ellipsis
    try:
        for kind in (tuple, set, frozenset):
            if kind.__name__ in packed:
                return kind(unpack(packed[kind.__name__], kept, deep + 1))
        if "dict" in packed:
            return {unpack(k, kept, deep + 1): unpack(v, kept, deep + 1) for k, v in packed["dict"]}
    except (TypeError, ValueError) as e:
        raise Broken from e
    return kept(packed)


def look(value: object) -> str:
    """How an object looks, as Python writes it, cut where it is long."""
    try:
        return repr(value)[:LOOKS]
    except Exception:  # a class may fail here
        return f"a {type(value).__name__}"
