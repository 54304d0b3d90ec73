"""The quiz as a learner sees it: say it in your own words, choose, read the reason, and again. It runs in the page."""

import re
from collections.abc import Iterable
from dataclasses import asdict
from html import escape

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.course.problems import Problem
from specdec_lab.course.quiz import CONFIDENCE, Choices, items
from specdec_lab.show.live import Recorded
from specdec_lab.show.page import as_text


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

    def write(self, id: str, kind: str, value: object) -> None:
        self.ledger.attempt(id, **value)
        if value not in self.attempts.setdefault(id, []):
            self.attempts[id].append(value)

    def entered(self) -> dict:
        return {id: list(attempts) for id, attempts in self.attempts.items()}

    def picture(self) -> str:
        fold = '<details style="margin-bottom:1em"><summary>Answer</summary>'
        return "".join(f"{question}{fold}{answer}</details>" for question, answer in self.pages())

    def text(self) -> str:
        questions, answers = zip(*self.pages())
        return "\n".join([*map(as_text, questions), "", "Answers", *map(as_text, answers)])

    def pages(self) -> list[tuple[str, str]]:
        """Each item as two pieces of HTML, the question and its answer; the same at every call."""
        pages = []
        for i, item in enumerate(self.items, 1):
            posed = item.versions()[0]
            if isinstance(posed, Problem):
                choices, answer = "", f"<p>{posed.shown}. {marked_up(posed.how)}</p>"
            else:
                choices = bullets(c.text for c in posed.choices)
                answer = bullets(f"{'✓' if c.right else '✗'} {c.text}. {c.reason}" for c in posed.choices)
            name = f"Question {i} of {len(self.items)}."
            pages.append((f"<p><b>{name}</b> {marked_up(posed.question)}</p>{choices}", answer))
        return pages


def as_data(posed: Choices | Problem) -> dict:
    """What the page needs to ask this and to judge an answer."""
    if isinstance(posed, Choices):
        return asdict(posed)
    mistakes = [{"said": m.said, "results": m.results, "belief": m.belief} for m in posed.mistakes]
    fields = {key: getattr(posed, key) for key in ("question", "answer", "how", "unit", "tolerance")}
    return {**fields, "mistakes": mistakes}


def beliefs_of(asked: list[dict]) -> set[int]:
    """The numbers of the misconceptions that the answers of these items may show."""
    versions = [version for item in asked for version in item["versions"]]
    in_words = {c["misconception"] for version in versions for c in version.get("choices", ())}
    return in_words | {m["belief"] for version in versions for m in version.get("mistakes", ())}


def marked_up(text: str) -> str:
    """Plain text as HTML; what stands between backticks is code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def bullets(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{marked_up(line)}</li>' for line in lines)}</ul>"


def quiz(lesson: str) -> Quiz:
    """The self-check of a lesson, such as "01". Every answer is kept in the ledger.

    Raises:
        LabError: for a lesson without a quiz.
    """
    return Quiz(lesson, Ledger())
