"""The quiz as a learner sees it: say it in your own words, choose, read the reason, and again."""

import re
from collections.abc import Callable, Iterable
from html import escape
from random import Random

import ipywidgets as w

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.problems import Problem
from specdec_lab.course.quiz import CONFIDENCE, Choices, Item, answer, feedback, items
from specdec_lab.errors import LabError
from specdec_lab.formats import read_number
from specdec_lab.show.page import as_text
from specdec_lab.show.widget import StoredWidget, field, said

KEYS = '<div style="opacity:.8">By keyboard: Tab goes on, Space chooses, Enter presses a button.</div>'
LABEL, WIDE = "80px", {"width": "98%", "max_width": "760px"}


def marked_up(text: str) -> str:
    """Plain text as HTML; what stands between backticks is code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


class ItemView:
    """One item: the question, one's own words, then the choices or a number, and what is said about it.

    Args:
        checked: called with the judgement after each answer.
    """

    def __init__(self, item: Item, name: str, ledger: Ledger, rng: Random, checked: Callable[[bool], None]):
        self.item, self.name, self.ledger, self.rng, self.checked = item, name, ledger, rng, checked
        self.question, self.feedback = w.HTML(layout=WIDE), w.HTML(layout=WIDE)
        own_words = "in your own words first; nobody judges this"
        self.words = field("recall", own_words, LABEL, w.Textarea, rows=2, layout=WIDE)
        self.ready = w.Button(description="show the choices")
        self.choices = w.RadioButtons(options=[], description="answer", layout=WIDE)
        self.number, self.unit = field("answer", "a number", LABEL, layout={"width": "240px"}), w.Label()
        self.confidence = w.RadioButtons(options=CONFIDENCE, value=None, description="how sure?")
        self.check, self.again = w.Button(description="check"), w.Button(description="again")
        entry = w.HBox([self.number, self.unit]) if item.problem else self.choices
        self.answering = w.VBox([entry, self.confidence, w.HBox([self.check, self.again]), self.feedback])
        recall = [] if item.problem else [self.words, self.ready]
        self.answering.layout.display = "none" if recall else None
        self.box = w.VBox([self.question, *recall, self.answering])
        self.ready.on_click(self.show_choices)
        self.check.on_click(self.judge)
        self.again.on_click(self.ask)
        self.posed = None
        self.ask()

    def ask(self, button: object = None) -> None:
        """Ask, or ask again: shuffled, or with fresh numbers."""
        self.posed = self.item.pose(self.rng, self.posed)
        self.question.value = f"<p style='line-height:1.5'><b>{self.name}</b> {marked_up(self.posed.question)}</p>"
        if isinstance(self.posed, Choices):
            self.choices.options = [(c.text, i) for i, c in enumerate(self.posed.choices)]
            self.choices.value = None
        else:
            self.number.value, self.unit.value = "", self.posed.unit
        self.confidence.value, self.feedback.value, self.done = None, "", False

    def show_choices(self, button: object = None) -> None:
        self.answering.layout.display = None

    def judge(self, button: object = None) -> None:
        if self.done:
            return
        try:
            chosen = self.chosen()
        except LabError as e:
            self.feedback.value = said(escape(str(e)))
            return
        judged = answer(self.ledger, self.item, self.posed, chosen, self.confidence.value, self.words.value.strip())
        first, *lines = feedback(judged, self.confidence.value)
        if self.item.problem or not judged.right:
            lines.append(f"Press “again” for {'other numbers' if self.item.problem else 'another try'}.")
        lines = [f"{'✓' if judged.right else '✗'} {first}", *lines, self.ledger.news()]
        self.feedback.value = said("<br>".join(map(marked_up, lines)))
        self.done = True
        self.checked(judged.right)

    def chosen(self) -> float:
        """Raises LabError while something is missing."""
        if isinstance(self.posed, Problem):
            value = read_number(self.number.value, self.posed.unit)
        else:
            value = self.choices.value
        if value is None:
            raise LabError("Choose one of the answers first.")
        if self.confidence.value is None:
            raise LabError("Say how sure you are, too.")
        return value


class Quiz(StoredWidget):
    """The items of a lesson: the next one appears when the one before it has been answered."""

    def __init__(self, lesson: str, ledger: Ledger, rng: Random):
        self.items = items(lesson)
        self.first = {}  # number of an item → whether its first answer was right
        self.views = [
            ItemView(item, self.name(i), ledger, rng, lambda right, i=i: self.answered(i, right))
            for i, item in enumerate(self.items)
        ]
        self.result = w.HTML()
        self.shown = w.VBox([self.views[0].box])
        self.box = w.VBox([w.HTML(KEYS), self.shown, self.result])

    def name(self, i: int) -> str:
        return f"Question {i + 1} of {len(self.items)}."

    def answered(self, i: int, right: bool) -> None:
        """Show the next item, or what came out in the end."""
        self.first.setdefault(i, right)
        self.shown.children = [view.box for view in self.views[: len(self.first) + 1]]
        if len(self.first) == len(self.items):
            good = sum(self.first.values())
            self.result.value = said(f"<p><b>{good} of {len(self.items)} right at the first attempt.</b></p>")

    def html(self) -> str:
        fold = '<details style="margin-bottom:1em"><summary>Answer</summary>'
        return "".join(f"{asked}{fold}{told}</details>" for asked, told in self.pages())

    def text(self) -> str:
        asked, told = zip(*self.pages())
        return "\n".join([*map(as_text, asked), "", "Answers", *map(as_text, told)])

    def pages(self) -> list[tuple[str, str]]:
        """Each item as two pieces of HTML, the question and its answer; the same at every call."""
        pages = []
        for i, item in enumerate(self.items):
            posed = item.pose(Random(item.id))
            if isinstance(posed, Problem):
                choices, told = "", f"<p>{posed.shown}. {marked_up(posed.how)}</p>"
            else:
                choices = bullets(c.text for c in posed.choices)
                told = bullets(f"{'✓' if c.right else '✗'} {c.text}. {c.reason}" for c in posed.choices)
            pages.append((f"<p><b>{self.name(i)}</b> {marked_up(posed.question)}</p>{choices}", told))
        return pages


def bullets(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{marked_up(line)}</li>' for line in lines)}</ul>"


def quiz(lesson: str) -> Quiz:
    """The self-check of a lesson, such as "01". Every answer is kept in the ledger.

    Raises:
        LabError: for a lesson without a quiz.
    """
    return Quiz(lesson, Ledger(), Random())
