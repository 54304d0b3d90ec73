"""Looking at what a learner's code returned: a number, a list, or nothing yet."""

import math
from collections.abc import Sequence
from typing import Any

from specdec_lab.course.mistake import StillOpen, Wrong

RETURNED = "What your function returns"


def nothing(value: object) -> bool:
    """Whether it is what a stub gives."""
    return value is None or value is Ellipsis


def begun(value: object) -> object:
    """The value, unless it is what a stub gives."""
    if nothing(value):
        raise StillOpen
    return value


def number(value: object, what: str = RETURNED) -> float:
    """A finite number that the learner's code gave as `what`."""
    begun(value)
    try:
        found = float(value)  # also a tensor of one number
    except (TypeError, ValueError, RuntimeError):
        raise Wrong(f"{what} should be a number; it is {shown(value)}.") from None
    if not math.isfinite(found):
        raise Wrong(f"{what} should be a finite number; it is {found}.")
    return found


def whole(value: object, what: str = RETURNED) -> int:
    found = number(value, what)
    if not found.is_integer():
        raise Wrong(f"{what} should be a whole number; it is {found:g}.")
    return int(found)


def listed(value: object, length: int | None = None, what: str = RETURNED) -> list:
    """A list, tuple or tensor that the learner's code gave as `what`, of so many items."""
    begun(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Wrong(f"{what} should be a list; it is {shown(value)}.")
    if length is not None and len(value) != length:
        raise Wrong(f"{what} should have {length} items; it has {len(value)}: {shown(value)}.")
    return list(value)


def same(a: Any, b: Any, tolerance: float = 1e-6) -> bool:
    """Whether two results are equal: numbers but for rounding, lists item by item, and all else to the letter."""
    if isinstance(a, float | int) and isinstance(b, float | int):
        return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    return a == b


def common_start(a: Sequence, b: Sequence) -> int:
    """How many items a and b have in common at their beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def cut(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[:most] + "…"


def shown(value: object, most: int = 80) -> str:
    """A value as Python writes it, cut where it is long."""
    try:
        return cut(repr(value), most)
    except Exception:  # a class of the learner's own may fail here
        return f"a {type(value).__name__}"
