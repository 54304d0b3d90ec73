"""Parts of exercises: what is checked, how it is judged, and what is said about it.

A part is judged by a plain function that takes what the learner made and raises `Wrong` with a
sentence about that very mistake. Nothing is judged by a clock.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specdec_lab.course.judges.guard import guarded
from specdec_lab.course.judges.wrong import StillOpen, Wrong
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.errors import LabError

if TYPE_CHECKING:
    from specdec_lab.course.judges.question import Question

RIGHT, WRONG, OPEN = "right", "wrong", "open"


@dataclass(frozen=True)
class Verdict:
    """status: right, wrong or open (nothing is there yet)."""

    part: str
    status: str
    points: float
    max_points: int
    message: str
    misconception: int | None = None

    @property
    def line(self) -> str:
        symbol = {RIGHT: "✓", WRONG: "✗", OPEN: "·"}[self.status]
        return f"{symbol} {self.part}: {self.message} ({self.points:g} of {self.max_points} points)"


@dataclass(frozen=True)
class Part:
    """judge takes what the learner made; seconds is a limit for code that never ends, not a measure of speed.

    asks: the questions behind it, one for each thing that the learner's function returns.
    """

    id: str
    points: int
    judge: Callable[..., None]
    seconds: float = 20.0
    asks: Sequence["Question"] = ()


PARTS: dict[str, Part] = {}


def part(id: str, points: int, seconds: float = 20.0, asks: Sequence["Question"] = ()):
    """Register a judge under the id of its part."""

    def register(judge: Callable[..., None]) -> Callable[..., None]:
        PARTS[id] = Part(id, points, judge, seconds, asks)
        return judge

    return register


def judged(id: str, *made: object) -> Verdict:
    """The verdict on what the learner made for a part.

    Raises:
        LabError: when there is no such part.
    """
    if id not in PARTS:
        raise LabError(f"There is no part {id!r}: run the check as it stood in the exercise.")
    this = PARTS[id]
    said: list[str] = []
    try:
        guarded(lambda: this.judge(*made), this.seconds, said)
    except StillOpen:
        return Verdict(id, OPEN, 0.0, this.points, "still open. Write your answer above and run this cell again.")
    except Wrong as e:
        message = str(e)
        if e.misconception:
            message += f" The belief behind this is common, and wrong: “{MISCONCEPTIONS[e.misconception]}”."
        return Verdict(id, WRONG, round(e.earned * this.points, 2), this.points, message, e.misconception)
    return Verdict(id, RIGHT, float(this.points), this.points, " ".join(["right.", *said]))


# What judges share: looking at what student code returned.


def begun(value: object) -> object:
    """The value, unless it is what a stub gives: nothing."""
    if value is None or value is Ellipsis:
        raise StillOpen
    return value


def number(value: object, what: str) -> float:
    """A finite number that the learner's code gave as `what`."""
    begun(value)
    try:
        found = float(value)  # also a tensor of one number
    except (TypeError, ValueError, RuntimeError):
        raise Wrong(f"{what} should be a number; it is {shown(value)}.") from None
    if not math.isfinite(found):
        raise Wrong(f"{what} should be a finite number; it is {found}.")
    return found


def whole(value: object, what: str) -> int:
    found = number(value, what)
    if not found.is_integer():
        raise Wrong(f"{what} should be a whole number; it is {found:g}.")
    return int(found)


def listed(value: object, length: int | None, what: str) -> list:
    """A list, tuple or tensor that the learner's code gave as `what`, of so many items."""
    begun(value)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Wrong(f"{what} should be a list; it is {shown(value)}.")
    if length is not None and len(value) != length:
        raise Wrong(f"{what} should have {length} items; it has {len(value)}: {shown(value)}.")
    return list(value)


def same(a: float, b: float, tolerance: float = 1e-6) -> bool:
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def shown(value: object, most: int = 80) -> str:
    """A value as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except Exception:  # a class of the learner's own may fail here
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else text[:most] + "…"
