"""What two processes tell each other when a notebook is graded: lines of JSON that hold plain data, and numbers for all else.

A function or an object stays in its process. The other side gets a number, and what it looks like.
"""

import json
import random
from collections.abc import Callable
from typing import IO, Any

from specdec_grader.coerce import DEEPEST, to_builtin

LONGEST = 4_000_000  # bytes of a line
MOST_IN_SET = 2_000  # items of a set or a dict
KINDS = {kind.__name__: kind for kind in (tuple, set, frozenset)}
LOOKS = 200  # characters of how an object looks, as Python writes it


class Broken(Exception):
    """The other side has ended, or sends what is no message."""


class Messages:
    """A line of JSON for each."""

    def __init__(self, reads: IO[bytes], writes: IO[bytes]):
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
            line = self.reads.readline(LONGEST + 1)
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
    value = to_builtin(value) if deep == 0 else value
    if value is Ellipsis:
        return {"ellipsis": True}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is random.Random:  # a copy is lent: nobody waits for the other side at each draw
        version, numbers, gauss = value.getstate()
        return {"dice": [version, list(numbers), gauss]}
    if deep <= DEEPEST:
        if isinstance(value, list):
            return [pack(item, keep, deep + 1) for item in value]
        for name, kind in KINDS.items():
            if isinstance(value, kind):
                return {name: [pack(item, keep, deep + 1) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[pack(part, keep, deep + 1) for part in pair] for pair in value.items()]}
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
    if any(
        isinstance(packed.get(kind), list) and len(packed[kind]) > MOST_IN_SET for kind in ("set", "frozenset", "dict")
    ):
        raise Broken  # numbers can be chosen so that a set of them takes minutes
    try:
        if "dice" in packed:
            version, numbers, gauss = packed["dice"]
            dice = random.Random()
            dice.setstate((version, tuple(numbers), gauss))
            return dice
        for name, kind in KINDS.items():
            if name in packed:
                return kind(unpack(packed[name], kept, deep + 1))
        if "dict" in packed:
            return {unpack(k, kept, deep + 1): unpack(v, kept, deep + 1) for k, v in packed["dict"]}
    except (TypeError, ValueError, OverflowError) as e:
        raise Broken from e
    return kept(packed)
