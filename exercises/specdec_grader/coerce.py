"""Looking at what a learner's code returned: a number, a list, or nothing yet."""

import ast
import dis
import inspect
import itertools
import math
import re
import textwrap
import types
from collections.abc import Collection, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from contextlib import suppress
from fractions import Fraction
from typing import Any

from specdec_grader.mistakes import StillOpen, Wrong
from specdec_lab.formats import cut

RETURNED = "What your function returns"
DEEPEST = 20  # lists in lists
MOST_ITEMS = 100_000  # of what is gone through once
# What stands for a list of items, beside lists: a generator, `reversed`, `iter` and `map`, views of a dict, a range, a deque.
GONE_THROUGH = (Iterator, KeysView, ValuesView, ItemsView, Sequence)
NO_WORK = {"RESUME", "COPY_FREE_VARS", "NOP", "LOAD_CONST", "POP_TOP", "RETURN_VALUE", "RETURN_CONST"}


def is_stub(function: object) -> bool:
    """Whether a function does nothing: its body is `...`, as it was given out, or `pass`.

    An answer that stands there without `return` is something, where its source can be read: Python compiles it to nothing.
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType) or not {i.opname for i in dis.get_instructions(code)} <= NO_WORK:
        return False
    with suppress(Exception):  # a cell may be gone, and a lambda is a part of a line
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
        _, *rest = body = next(node.body for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        found = [s.value.value for s in rest or body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)]
        return not any(value is not Ellipsis for value in found)
    return True


def to_builtin(value: Any, deep: int = 0) -> Any:
    """The value in Python's own types: numbers of numpy and torch, arrays, fractions and subclasses become what they stand for.

    Both routes to a mark read a learner's answer through this, so that what is right in one is right in the other.
    What is no plain data stays as it is.
    """
    if value is None or value is Ellipsis or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # a subclass may show itself otherwise
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    if deep < DEEPEST:
        for kind in (list, tuple, set, frozenset):
            if isinstance(value, kind):
                return kind(to_builtin(item, deep + 1) for item in value)
        if isinstance(value, dict):
            return {to_builtin(k, deep + 1): to_builtin(v, deep + 1) for k, v in value.items()}
        if hasattr(type(value), "tolist"):  # a tensor, an array, or one number of theirs
            return to_builtin(value.tolist(), deep + 1)
        if isinstance(value, Mapping):
            return to_builtin(dict(value), deep)
        if isinstance(value, GONE_THROUGH) and not isinstance(value, bytes | bytearray | memoryview):
            return [to_builtin(item, deep + 1) for item in itertools.islice(value, MOST_ITEMS)]
        if hasattr(type(value), "__float__") and not callable(value):  # a fraction or a decimal
            return float(value)
    return value


def nothing(value: object) -> bool:
    """Whether it is what a stub gives."""
    return value is None or value is Ellipsis


def reject_empty(value: Any, what: str = RETURNED) -> Any:
    """The value, unless it is what a stub gives: then StillOpen, which says what is missing."""
    if nothing(value):
        raise StillOpen(what)
    return value


def number(value: Any, what: str = RETURNED) -> float:
    """A finite number that the learner's code gave as `what`; a tensor or an array of one number counts as that number."""
    reject_empty(value, what)
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if with_comma(value):
        raise Wrong(
            f"{what} should be one number; it is {shown(value)}. Python writes a point, as in 0.75; a comma makes two numbers."
        )
    no_number = Wrong(f"{what} should be a number; it is {shown(value)}.")
    if isinstance(value, str | list):  # float() would take "2.5"
        raise no_number
    try:
        found = float(value)  # also a tensor of one number
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise no_number from None
    if not math.isfinite(found):
        raise Wrong(f"{what} should be a finite number; it is {found}.")
    return found


TYPED = re.compile(r"[≈~\s]*([-+]?[\d.]+(?:e[-+]?\d+)?(?:\s*/\s*\d+)?)\s*(%|[^\W\d]*|×)[^\d,]*", re.I)
UNITS = {"%": 0.01, "s": 1000}  # what a time is asked for in are milliseconds


def typed(value: Any, what: str) -> float:
    """A number that somebody typed: also in quotes, as a fraction, in percent, or with its unit."""
    if isinstance(value, str) and (found := TYPED.fullmatch(value)):
        with suppress(ValueError, ZeroDivisionError, OverflowError):
            value = float(Fraction("".join(found[1].split()))) * UNITS.get(found[2], 1)
    return number(value, what)


def word(value: object, known: Collection[str], what: str = RETURNED) -> str:
    """One of the known words; capitals, spaces, hyphens and the kind of an apostrophe do not count."""

    def letters(text: str) -> str:
        return re.sub(r"[\W_]", "", text).casefold()

    for one in known:
        if isinstance(value, str) and letters(value) == letters(one):
            return one
    raise Wrong(f"{what} should be {' or '.join(f'“{one}”' for one in known)}; it is {shown(value)}.")


def with_comma(value: object) -> bool:
    """Whether somebody may have written 0,75 for 0.75."""
    if isinstance(value, str):
        return bool(re.fullmatch(r"\s*-?\d+,\d+\s*", value))
    return isinstance(value, tuple) and len(value) == 2 and all(type(x) is int for x in value)


def whole(value: object, what: str = RETURNED) -> int:
    found = number(value, what)
    if not found.is_integer():
        raise Wrong(f"{what} should be a whole number; it is {found:g}.")
    return int(found)


def listed(value: Any, length: int | None = None, what: str = RETURNED, ordered: bool = True) -> list:
    """A list, tuple or tensor that the learner's code gave as `what`, of so many items.

    Args:
        ordered: the order of its items counts; where it does not, a set will do.
    """
    reject_empty(value, what)
    if not ordered and isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Wrong(f"{what} should be a list{f' of {length} items' if length else ''}; it is {shown(value)}.")
    if length is not None and len(value) != length:
        raise Wrong(f"{what} should have {length} items; it has {len(value)}: {shown(value)}.")
    return list(value)


def same(a: Any, b: Any, tolerance: float = 1e-6) -> bool:
    """Whether two results are equal: numbers but for rounding, lists item by item, and all else to the letter."""
    if isinstance(a, float | int) and isinstance(b, float | int):
        return a == b or abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)) < math.inf
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    return a == b


def common_start(a: Sequence, b: Sequence) -> int:
    """How many items a and b have in common at their beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def shown(value: object, most: int = 80) -> str:
    """A value as Python writes it, cut where it is long."""
    try:
        return cut(repr(value), most)
    except Exception:  # a class of the learner's own may fail here
        return f"a {type(value).__name__}"
