"""Exercise 9: questions about a fixed case. Their mistakes are known by what is answered, so a formula has no arguments."""

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from specdec_lab.course.judges.part import part
from specdec_lab.course.judges.question import Mistake, Question
from specdec_lab.course.judges.reading import begun, listed, number, same, shown
from specdec_lab.course.judges.wrong import StillOpen, Wrong


def given(made: object) -> object:
    """What the learner's function returned."""
    begun(made)
    return begun(made() if callable(made) else made)


def fixed(right: Any, seen: Any = "", equal: Callable[..., bool] = operator.eq, **about: Any) -> Question:
    """A question whose right answer is always the same."""
    return Question(cases=[()], right=lambda: right, seen=seen, equal=equal, **about)


def one_number(what: str, right: float, room: float, **about: Any) -> Question:
    """room: how far the number may be off, for rounding; a part of it, where it is above 1."""
    return fixed(right, read=partial(number, what=what), equal=partial(same, tolerance=room), **about)


def numbers(what: str, right: Sequence[float], room: float, **about: Any) -> Question:
    """A list of numbers, with room for each."""
    return fixed(
        right,
        read=lambda value: [number(x, f"Each item of the {what}") for x in listed(value, len(right), f"The {what}")],
        equal=lambda found, known: all(same(a, b, room) for a, b in zip(found, known)),
        **about,
    )


def several(id: str, questions: dict[str, Question]) -> None:
    """Register a part that asks for several things; each right one earns its share, and the first wrong one is told."""

    @part(id, points=1, asks=list(questions.values()))
    def judge(made: object) -> None:
        values = listed(given(made), None, "What your function returns")
        if len(values) != len(questions):
            names = ", ".join(questions)
            raise Wrong(f"Your function should return {len(questions)} things: {names}. It returns {len(values)}.")
        if all(v is None or v is Ellipsis for v in values):
            raise StillOpen
        wrong = []
        for (name, question), value in zip(questions.items(), values):
            try:
                question.compare([question.read(value)])
            except StillOpen:
                wrong.append(Wrong(f"Still missing: {name}."))
            except Wrong as e:
                wrong.append(Wrong(f"About {name}: {e}", misconception=e.misconception))
        if wrong:
            raise Wrong(str(wrong[0]), 1 - len(wrong) / len(questions), wrong[0].misconception)


def choice(id: str, right: str, wrong: Sequence[Mistake]) -> None:
    """Register a part that asks for a letter; wrong says for each other letter why it is not the right one."""
    question = fixed(right, hint="", mistakes=wrong, read=letter)
    part(id, points=1, asks=[question])(lambda made: question.compare([letter(given(made))]))


def letter(value: object) -> str:
    found = value.strip(" .()").upper() if isinstance(value, str) else None
    if found not in ("A", "B", "C", "D"):
        raise Wrong(f"Return one letter, “A”, “B”, “C” or “D”; you return {shown(value)}.")
    return found
