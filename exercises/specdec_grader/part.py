"""Parts of exercises: what is checked, how it is judged, and what is said about it.

A part is judged by a plain function that takes what the learner made and raises `Wrong` with a
sentence about that very mistake. Nothing is judged by a clock.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_grader.coerce import RETURNED, is_stub, reject_empty, to_builtin
from specdec_grader.guard import guarded
from specdec_grader.mistakes import StillOpen, Wrong
from specdec_grader.question import Question, RemoteFunction
from specdec_lab.course.quiz import MISCONCEPTIONS
from specdec_lab.errors import LabError

RIGHT, WRONG, OPEN, MISSING = "right", "wrong", "open", "missing"
SYMBOLS = {RIGHT: "✓", WRONG: "✗", OPEN: "·", MISSING: "?"}
RETURNS_NOTHING = "Your function returns nothing (None): does it print its result, or lack a `return`?"


@dataclass(frozen=True)
class Verdict:
    """What is said about an answer to a part.

    status: right, wrong, open (nothing is there yet), or missing (of a graded notebook: there was nothing to judge).
    """

    part: str
    status: str
    points: float
    max_points: int
    message: str
    misconception: int | None = None

    @property
    def line(self) -> str:
        return f"{SYMBOLS[self.status]} {self.part}: {self.message} ({self.points:g} of {self.max_points} points)"


@dataclass(frozen=True)
class Part:
    """judge takes what the learner made; seconds, of processor time, is a limit for code that never ends, not
    a measure of speed.

    asks: the questions behind it, one for each thing that the learner's function returns.
    shows: the judge shows what it judges on, so that code which has seen it could know it the next time.
    """

    id: str
    points: int
    judge: Callable[..., None]
    seconds: float = 60.0
    asks: Sequence[Question] = ()
    shows: bool = False


PARTS: dict[str, Part] = {}


def part(id: str, points: int, **more):
    """Register a judge under the id of its part; more: seconds, asks and shows of the `Part`."""

    def register(judge: Callable[..., None]) -> Callable[..., None]:
        PARTS[id] = Part(id, points, judge, **more)
        return judge

    return register


def part_of_one(id: str, points: int, asked: Question) -> None:
    """Register a part that asks one question, and nothing beside."""
    PARTS[id] = Part(id, points, asked.judge, asks=[asked])


class LocalFunction(RemoteFunction):
    """A learner's function in this process. What it returns is read as it would be from another one."""

    def __init__(self, made: Callable[..., object]):
        self.made, self.stub = made, is_stub(made)

    def __call__(self, *args: Any) -> Any:
        return to_builtin(self.made(*args))

    def many(self, cases: Sequence[tuple]) -> list[Any]:
        return [self(*case) for case in cases]


def grade_part(id: str, *made: object) -> Verdict:
    """The verdict on what the learner made for a part.

    Raises:
        LabError: when there is no such part, or it is handed in another number of things.
    """
    this = PARTS.get(id) if isinstance(id, str) else None
    if this is None:
        raise LabError(f"There is no part {id!r}: run the check as it stood in the exercise.")
    try:
        inspect.signature(this.judge).bind(*made)
    except TypeError:
        raise LabError(f"{id} is handed in otherwise: run the check as it stood in the exercise.") from None
    printed: list[str] = []
    answers = [m if isinstance(m, RemoteFunction) or not callable(m) else LocalFunction(m) for m in made]

    def wrong(message: str, earned: float = 0.0, belief: int | None = None) -> Verdict:
        points = round(min(1.0, max(0.0, earned)) * this.points, 2)
        return Verdict(id, WRONG, points, this.points, message, belief)

    def call_judge() -> None:
        reject_empty(answers[0])
        this.judge(*(a if isinstance(a, RemoteFunction) else to_builtin(a) for a in answers))

    functions = [a for a in answers if isinstance(a, RemoteFunction)]
    try:
        guarded(call_judge, this.seconds, printed, lambda: max((f.spent() for f in functions), default=0.0))
    except StillOpen as e:
        if functions and not e.unwritten and not any(f.stub for f in functions):
            said = RETURNS_NOTHING if str(e) in ("", RETURNED) else f"{e} is None: something is missing there."
            return wrong(" ".join([said + e.wanted, *printed]))
        return Verdict(
            id, OPEN, 0.0, this.points, "still open. Write your answer above, with “return”, and run this cell again."
        )
    except Wrong as e:
        message = str(e)
        if e.belief:
            message += f" The belief behind this is common, and wrong: “{MISCONCEPTIONS[e.belief]}”."
        return wrong(message, e.earned, e.belief)
    return Verdict(id, RIGHT, float(this.points), this.points, " ".join(["right.", *printed]))
