"""For judges that ask a function on several cases and look for the mistake that explains all its answers."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_lab.grade.part import StillOpen, Wrong, begun, same
from specdec_lab.numbers import bare, short


@dataclass(frozen=True)
class Mistake:
    """formula: what the mistake gives, with the arguments of the function that is judged."""

    said: str
    formula: Callable[..., Any]
    misconception: int | None = None
    earned: float = 0.0


def answers(made: Callable[..., object], cases: Sequence[tuple]) -> list[object]:
    """What the learner's function gives for each case; it gets copies of the arguments.

    Raises:
        StillOpen: when there is nothing for any case. Wrong: when there is nothing for some.
    """
    begun(made)
    found = [made(*copy.deepcopy(case)) for case in cases]
    empty = [case for case, value in zip(cases, found) if value is None or value is Ellipsis]
    if len(empty) == len(cases):
        raise StillOpen
    if empty:
        asked = told(empty[0] if len(empty[0]) > 1 else empty[0][0])
        asked = asked if len(asked) <= 120 else asked[:120] + "…"
        raise Wrong(f"Your function returns nothing for {asked}: is there a way through it without a return?")
    return found


def explained(
    mistakes: Sequence[Mistake],
    cases: Sequence[tuple],
    found: Sequence[Any],
    equal: Callable[[Any, Any], bool] = same,
) -> Mistake | None:
    """The first mistake that gives what was found in every case."""

    def fits(mistake: Mistake) -> bool:
        try:
            return all(equal(mistake.formula(*case), value) for case, value in zip(cases, found))
        except (ArithmeticError, LookupError, ValueError):  # a mistake that cannot be made in all cases
            return False

    return next(filter(fits, mistakes), None)


def named(mistake: Mistake | None, before: str, otherwise: str) -> Wrong:
    """What is said about a mistake, or about an answer that no mistake explains."""
    if mistake is None:
        return Wrong(f"{before} {otherwise}")
    return Wrong(f"{before} {mistake.said}", mistake.earned, mistake.misconception)


def told(value: object) -> str:
    """A value as the lessons write it: numbers with few digits, and .75 for 0.75."""
    if isinstance(value, bool) or not isinstance(value, float | int | tuple | list):
        return repr(value)
    if isinstance(value, tuple | list):
        inside = ", ".join(told(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return bare(short(value))
