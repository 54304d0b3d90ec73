"""Exercise 9 asks about given numbers: its functions have no arguments, so a mistake's result is a value, no formula."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from specdec_grader.kit import Question, begun, listed, nothing, number, part, same, shown
from specdec_lab.course.mistake import Mistake, StillOpen, Wrong


def given(made: object) -> object:
    """What the learner's function returned; some hand in the answer itself."""
    return begun(made() if callable(made) else made)


def fixed(right: Any, **about: Any) -> Question:
    """A question whose right answer is always the same."""
    return Question(cases=[()], right=lambda: right, **about)


def by_hand(value: object, what: str) -> float:
    """A number of a list that was typed: also one in quotes."""
    with suppress(ValueError):
        value = float(value) if isinstance(value, str) else value
    return number(value, what)


def one_number(what: str, right: float, room: float, **about: Any) -> Question:
    """room: how far the number may be off, for rounding; a part of it, where it is above 1."""
    return fixed(right, read=partial(by_hand, what=what), equal=partial(same, tolerance=room), **about)


def numbers(what: str, right: Sequence[float], room: float, **about: Any) -> Question:
    """A list of numbers, with room for each."""

    def read(value: object) -> list[float]:
        return [by_hand(x, f"Each item of the {what}") for x in listed(value, len(right), f"The {what}")]

    return fixed(right, read=read, equal=partial(same, tolerance=room), **about)


def several(id: str, questions: dict[str, Question]) -> None:
    """Register a part that asks for several things; each right one earns its share, and the first wrong one is told."""

    @part(id, points=1, asks=list(questions.values()), few=True)
    def judge(made: object) -> None:
        values = listed(given(made))
        if len(values) != len(questions):
            names = ", ".join(questions)
            raise Wrong(f"Your function should return {len(questions)} things: {names}. It returns {len(values)}.")
        if all(map(nothing, values)):
            raise StillOpen
        wrong = []
        for (name, question), value in zip(questions.items(), values):
            try:
                question.compare([question.read(value)])
            except StillOpen:
                wrong.append(Wrong(f"Still missing: {name}."))
            except Wrong as e:
                wrong.append(Wrong(f"About {name}: {e}", belief=e.belief))
        if wrong:
            raise Wrong(str(wrong[0]), 1 - len(wrong) / len(questions), wrong[0].belief)


def choice(id: str, right: str, *wrong: Mistake) -> None:
    """Register a part that asks for a letter; wrong says for each other letter why it is not the right one."""
    question = fixed(right, mistakes=wrong, read=letter)
    part(id, points=1, asks=[question], few=True)(lambda made: question.compare([letter(given(made))]))


def letter(value: object) -> str:
    begins = re.match(r"\W*([A-Da-d])(\W|$)", value) if isinstance(value, str) else None
    if not begins:
        raise Wrong(f"Return one letter, “A”, “B”, “C” or “D”; you return {shown(value)}.")
    return begins[1].upper()
