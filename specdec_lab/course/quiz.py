"""The self-check quizzes: what is asked. How an answer is judged, and what is said about it, is in show/quiz.js.

The items of a lesson are in data/quiz/<lesson>.json; those with numbers in `problems`.
"""

import json
from dataclasses import dataclass
from importlib import resources
from random import Random

from specdec_lab.course.problems import Problem, variants
from specdec_lab.errors import LabError

CONFIDENCE = ("guess", "think so", "sure")
FOLDER = resources.files("specdec_lab") / "data" / "quiz"
HANDFUL = 6  # versions of a problem that a page holds: a retry has other numbers


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


@dataclass(frozen=True)
class Item:
    """One item of a quiz: a question with choices, or the name of a problem with numbers."""

    id: str
    question: str = ""
    choices: tuple[Choice, ...] = ()
    problem: str = ""

    def versions(self) -> list[Choices | Problem]:
        """The item as a page may ask it, the same at every call: shuffled, or with a handful of numbers."""
        rng = Random(self.id)
        if self.problem:
            found = variants(self.problem)
            return rng.sample(found, min(HANDFUL, len(found)))
        return [Choices(self.question, tuple(rng.sample(self.choices, len(self.choices))))]


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
