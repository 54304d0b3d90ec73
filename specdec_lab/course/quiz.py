"""The self-check quizzes: what is asked, how an answer is judged, what is said about it.

The items of a lesson are in data/quiz/<lesson>.json; those with numbers in `problems`.
"""

import json
from dataclasses import dataclass
from importlib import resources
from random import Random

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.problems import Judged, Problem, pose_problem
from specdec_lab.errors import LabError

CONFIDENCE = ("guess", "think so", "sure")
FOLDER = resources.files("specdec_lab") / "data" / "quiz"


@dataclass(frozen=True)
class Choice:
    """reason: what is said to whoever chooses it. misconception: the number of the belief behind it."""

    text: str
    reason: str
    right: bool = False
    misconception: int | None = None


@dataclass(frozen=True)
class Choices:
    """A question with its choices in the order in which they are shown."""

    question: str
    choices: tuple[Choice, ...]

    def judge(self, chosen: int) -> Judged:
        choice = self.choices[chosen]
        return Judged(choice.right, choice.reason, choice.misconception)


@dataclass(frozen=True)
class Item:
    """One item of a quiz: a question with choices, or the name of a problem with numbers."""

    id: str
    question: str = ""
    choices: tuple[Choice, ...] = ()
    problem: str = ""

    def pose(self, rng: Random, before: "Choices | Problem | None" = None) -> "Choices | Problem":
        """The item as it is asked now: shuffled, or with other numbers than `before`."""
        if self.problem:
            return pose_problem(self.problem, rng, before)
        return Choices(self.question, tuple(rng.sample(self.choices, len(self.choices))))


def lessons() -> list[str]:
    """The lessons that have a quiz, such as "01"."""
    return sorted(f.name.removesuffix(".json") for f in FOLDER.iterdir() if f.name.endswith(".json"))


def items(lesson: str) -> list[Item]:
    """The items of a lesson, in order.

    Raises:
        LabError: for a lesson without a quiz.
    """
    if lesson not in lessons():
        raise LabError(f"There is no quiz for lesson {lesson!r}: choose one of {', '.join(lessons())}.")
    found = json.loads((FOLDER / f"{lesson}.json").read_text(encoding="utf-8"))
    return [Item(**{**item, "choices": tuple(Choice(**c) for c in item.get("choices", ()))}) for item in found]


def answer(
    ledger: Ledger, item: Item, posed: Choices | Problem, chosen: float, confidence: str, said: str = ""
) -> Judged:
    """Judge an answer and keep it.

    Args:
        chosen: the number of a choice, from 0, as they were posed; or the number that was entered.
        confidence: one of CONFIDENCE.
        said: what the learner recalled before the choices.
    """
    judged = posed.judge(chosen)
    ledger.attempt(
        item.id,
        question=posed.question,
        said=said,
        chosen=posed.choices[chosen].text if isinstance(posed, Choices) else chosen,
        right=judged.right,
        confidence=confidence,
        misconception=judged.belief,
    )
    return judged


def feedback(judged: Judged, confidence: str) -> list[str]:
    """What is said about an answer, in sentences."""
    lines = [("Right. " if judged.right else "Not yet. ") + judged.reason]
    if judged.belief:
        lines.append(f"The belief behind this is common, and wrong: “{MISCONCEPTIONS[judged.belief]}”.")
    if confidence == "sure" and not judged.right:
        lines.append("You were sure. Such a belief is worth a second look at the lesson.")
    if confidence == "guess" and judged.right:
        lines.append("You guessed. Could you now say the reason without reading it?")
    return lines
