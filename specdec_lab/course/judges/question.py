"""A question with one right answer and known wrong ones: the mistake that explains all that a learner's code gives is named.

Most parts of the exercises ask for a formula. The learner's function is called with several cases. If
it is wrong in one of them, the first mistake whose own results are the same *in every case* is told.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_lab.course.judges.reading import cut, nothing, number, same
from specdec_lab.course.mistake import Mistake, StillOpen, Wrong
from specdec_lab.formats import bare, short

ROUNDED = Mistake("Near, but rounded: do not round inside a calculation.", earned=0.5)


def nearly(found: Any, right: Any) -> bool:
    """Whether a number, or each of a list, may be the right one rounded to one decimal."""
    return all(map(nearly, found, right)) if isinstance(right, list) else abs(found - right) < 0.06


@dataclass(frozen=True)
class Question:
    """One thing that a part asks for.

    Args:
        right: the right answer to a case, which is a tuple of arguments.
        seen: what is said of the first case with a wrong result: a template with a place for each argument,
            {found} and {right}; or (case, found, right) → a sentence.
        hint: said where no mistake's results are those that were found. It may be (case, found) → a sentence, or a
            `Mistake` that shows in another way than by its results; the case is the first with a wrong result.
        read: makes a returned value comparable, or raises what is wrong with its form.
        near: told where no mistake explains the results and all of them may be right ones that were rounded.
    """

    cases: Sequence[tuple]
    right: Callable[..., Any]
    seen: str | Callable[[tuple, Any, Any], str] = ""
    hint: str | Callable[[tuple, Any], str | Mistake] = ""
    mistakes: Sequence[Mistake] = ()
    read: Callable[[Any], Any] = number
    equal: Callable[[Any, Any], bool] = same
    near: Mistake | None = None

    def judge(self, made: Callable[..., object]) -> None:
        """Ask the learner's function. Raises `Wrong`, or `StillOpen` where nothing is there yet."""
        self.compare([self.read(value) for value in answers(made, self.cases)])

    def compare(self, found: Sequence[Any], earned: float = 0.0) -> None:
        """Look at what was found for each case.

        Args:
            earned: the share of the points that other questions of the part have earned already.

        Raises:
            Wrong: naming the mistake, if it is a known one.
        """
        if first := self.first_wrong(found):
            mistake = self.explained(found) or self.hinted(*first[:2])
            raise Wrong(f"{self.said_of(*first)} {mistake.said}".strip(), max(earned, mistake.earned), mistake.belief)

    def first_wrong(self, found: Sequence[Any]) -> tuple[tuple, Any, Any] | None:
        """The first case with a wrong result, what was found there, and what is right."""
        rows = ((case, value, self.right(*case)) for case, value in zip(self.cases, found))
        return next((row for row in rows if not self.equal(*row[1:])), None)

    def explained(self, found: Sequence[Any]) -> Mistake | None:
        """The first mistake that gives what was found in every case."""
        for mistake in self.mistakes:
            if any(all(map(self.equal, found, wrong)) for wrong in mistake.gives(self.cases)):
                return mistake
        right = (self.right(*case) for case in self.cases)
        return self.near if self.near and all(map(nearly, found, right)) else None

    def hinted(self, case: tuple, found: Any) -> Mistake:
        hint = self.hint(case, found) if callable(self.hint) else self.hint
        return hint if isinstance(hint, Mistake) else Mistake(hint)

    def said_of(self, case: tuple, found: Any, right: Any) -> str:
        if callable(self.seen):
            return self.seen(case, found, right)
        return self.seen.format(*map(pretty, case), found=pretty(found), right=pretty(right))


def answers(made: Callable[..., object], cases: Sequence[tuple], names: Sequence[str] = ()) -> list[object]:
    """What the learner's function gives for each case; it gets copies of the arguments.

    Args:
        names: what the cases are called, where their arguments are too long to be read.

    Raises:
        StillOpen: when there is nothing for any case. Wrong: when there is nothing for some.
    """
    found = [made(*copy.deepcopy(case)) for case in cases]
    empty = [n for n, value in enumerate(found) if nothing(value)]
    if len(empty) == len(cases):
        raise StillOpen
    if empty:
        case = cases[empty[0]]
        asked = names[empty[0]] if names else cut(pretty(case if len(case) > 1 else case[0]), 120)
        raise Wrong(f"Your function returns nothing for {asked}: is there a way through it without a return?")
    return found


def pretty(value: object) -> str:
    """A value as the lessons write it: numbers with few digits, and .75 for 0.75."""
    if isinstance(value, bool) or not isinstance(value, float | int | tuple | list):
        return repr(value)
    if isinstance(value, tuple | list):
        inside = ", ".join(pretty(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return bare(short(value))
