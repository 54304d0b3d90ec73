"""The quiz as a learner sees it: say it in your own words, choose, read the reason, and again. It runs in the page."""

from dataclasses import asdict
from typing import Any

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.problems import Problem
from specdec_lab.course.quiz import CONFIDENCE, Choices, items
from specdec_lab.show.live import Recorded


class Quiz(Recorded):
    """The items of a lesson: the next one appears when the one before it has been answered.

    `state` begins empty, whatever the ledger holds: who runs the cell again wants to be asked again.
    """

    scripts = ("common.js", "controls.js", "forms.js", "quiz.js")

    def __init__(self, lesson: str, ledger: Ledger):
        self.items = items(lesson)
        self.attempts: dict[str, list[dict]] = {}  # at this widget
        asked = [{"id": item.id, "versions": [*map(as_data, item.versions())]} for item in self.items]
        beliefs = {str(n): said for n, said in MISCONCEPTIONS.items() if n in beliefs_of(asked)}
        data = {"items": asked, "beliefs": beliefs, "confidence": CONFIDENCE}
        super().__init__(data, "quiz", [item.id for item in self.items], {}, ledger)

    def write(self, id: str, kind: str, value: Any, made: str) -> None:
        self.ledger.attempt(id, **value)
        if value not in self.attempts.setdefault(id, []):
            self.attempts[id].append(value)

    def entered(self) -> dict:
        return {id: list(attempts) for id, attempts in self.attempts.items()}


def as_data(posed: Choices | Problem) -> dict:
    """What the page needs to ask this and to judge an answer."""
    if isinstance(posed, Choices):
        return asdict(posed)
    mistakes = [mistake._asdict() for mistake in posed.mistakes]
    fields = {key: getattr(posed, key) for key in ("question", "answer", "how", "unit", "tolerance")}
    return {**fields, "mistakes": mistakes}


def beliefs_of(asked: list[dict]) -> set[int]:
    """The numbers of the misconceptions that the answers of these items may show."""
    versions = [version for item in asked for version in item["versions"]]
    in_words = {c["misconception"] for version in versions for c in version.get("choices", ())}
    return in_words | {m["belief"] for version in versions for m in version.get("mistakes", ())}


def quiz(lesson: str) -> Quiz:
    """The self-check of a lesson, such as "01". Every answer is kept in the ledger.

    Raises:
        LabError: for a lesson without a quiz.
    """
    return Quiz(lesson, Ledger())
