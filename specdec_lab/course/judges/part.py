"""Parts of exercises: what is checked, how it is judged, and what is said about it.

A part is judged by a plain function that takes what the learner made and raises `Wrong` with a
sentence about that very mistake. Nothing is judged by a clock.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specdec_lab.course.judges.guard import guarded
from specdec_lab.course.judges.question import Question
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.mistake import StillOpen, Wrong
from specdec_lab.course.reading import begun
from specdec_lab.errors import LabError

RIGHT, WRONG, OPEN = "right", "wrong", "open"


@dataclass(frozen=True)
class Judgement:
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
    asks: Sequence[Question] = ()


PARTS: dict[str, Part] = {}


def part(id: str, points: int, **more):
    """Register a judge under the id of its part; more: seconds and asks of the `Part`."""

    def register(judge: Callable[..., None]) -> Callable[..., None]:
        PARTS[id] = Part(id, points, judge, **more)
        return judge

    return register


def judged(id: str, *made: object) -> Judgement:
    """The verdict on what the learner made for a part.

    Raises:
        LabError: when there is no such part.
    """
    if id not in PARTS:
        raise LabError(f"There is no part {id!r}: run the check as it stood in the exercise.")
    this = PARTS[id]
    printed: list[str] = []
    try:
        if made:
            begun(made[0])
        guarded(lambda: this.judge(*made), this.seconds, printed)
    except StillOpen:
        return Judgement(id, OPEN, 0.0, this.points, "still open. Write your answer above and run this cell again.")
    except Wrong as e:
        message = str(e)
        if e.belief:
            message += f" The belief behind this is common, and wrong: “{MISCONCEPTIONS[e.belief]}”."
        return Judgement(id, WRONG, round(e.earned * this.points, 2), this.points, message, e.belief)
    return Judgement(id, RIGHT, float(this.points), this.points, " ".join(["right.", *printed]))
