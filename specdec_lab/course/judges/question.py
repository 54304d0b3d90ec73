"""A question with one right answer and known wrong ones: the mistake that explains all that a learner's code gives is named.

Most parts of the exercises ask for a formula. The learner's function is called with several cases. If
it is wrong in one of them, the first mistake whose own results are the same *in every case* is told.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specdec_lab.course.judges.reading import begun, number, same
from specdec_lab.course.judges.wrong import StillOpen, Wrong
from specdec_lab.formats import bare, short

ROUNDED = "Near, but rounded: do not round inside a calculation."
NEAR = 0.06  # what rounding to one decimal can change


class Mistake:
    """What is said about a wrong answer, and the formulas that lead to it.

    Args:
        formulas: what the mistake computes, each with the arguments of the function that is judged.
        belief: the number of the misconception behind it, if a common one is.
        earned: the share of the points that is earned all the same, 0 to 1.
        equal: for a mistake with many results, such as numbers in some other order: (found, one such result) → is it
            this mistake? Without it the question's own equal decides.
    """

    def __init__(
        self,
        said: str,
        *formulas: Callable[..., Any],
        belief: int | None = None,
        earned: float = 0.0,
        equal: Callable[[Any, Any], bool] | None = None,
    ):
        self.said, self.formulas, self.belief, self.earned, self.equal = said, formulas, belief, earned, equal


@dataclass(frozen=True)
class Question:
    """One thing that a part asks for.

    Args:
        right: the right answer to a case, which is a tuple of arguments.
        seen: what is said of the first case with a wrong result: a template with a place for each argument,
            {found} and {right}; or (case, found, right) → a sentence.
        hint: said when no mistake explains the results; or (case, found) → what is said, a sentence or a `Mistake`.
        what: what a result is called; it must be a number, unless `read` says otherwise.
        read: makes a returned value comparable, or raises what is wrong with its form.
        rounded: how far results may be off to be told as rounded ones; None where this has no meaning.
        raises: errors of the learner's code that are a mistake of their own.
    """

    cases: Sequence[tuple]
    right: Callable[..., Any]
    seen: str | Callable[[tuple, Any, Any], str]
    hint: str | Callable[[tuple, Any], str | Mistake]
    mistakes: Sequence[Mistake]
    what: str = "What your function returns"
    read: Callable[[Any], Any] | None = None
    equal: Callable[[Any, Any], bool] = same
    rounded: float | None = None
    raises: Mapping[type[Exception], Mistake] = field(default_factory=dict)

    def judge(self, made: Callable[..., object], beyond: Callable[[], Mistake | None] = lambda: None) -> None:
        """Ask the learner's function. Raises `Wrong`, or `StillOpen` where nothing is there yet."""
        try:
            found = answers(made, self.cases)
        except tuple(self.raises) as e:
            mistake = next(m for error, m in self.raises.items() if isinstance(e, error))
            raise Wrong(mistake.said, mistake.earned, mistake.belief) from None
        self.compare([self.read(value) if self.read else number(value, self.what) for value in found], beyond=beyond)

    def compare(
        self, found: Sequence[Any], earned: float = 0.0, beyond: Callable[[], Mistake | None] = lambda: None
    ) -> None:
        """Look at what was found for each case.

        Args:
            earned: the share of the points that other questions of the part have earned already.
            beyond: looks for a mistake that has no formula, where none with a formula explains what was found.

        Raises:
            Wrong: naming the mistake, if it is a known one.
        """
        right = [self.right(*case) for case in self.cases]
        off = (row for row in zip(self.cases, found, right) if not self.equal(row[1], row[2]))
        if not (first := next(off, None)):
            return
        mistake = self.explained(found) or beyond()
        if not mistake and self.rounded and all(abs(a - b) < self.rounded for a, b in zip(found, right)):
            mistake = Mistake(ROUNDED, earned=0.5)
        if not mistake:
            hint = self.hint if isinstance(self.hint, str) else self.hint(*first[:2])
            mistake = hint if isinstance(hint, Mistake) else Mistake(hint)
        raise Wrong(f"{self.said_of(*first)} {mistake.said}".strip(), max(earned, mistake.earned), mistake.belief)

    def said_of(self, case: tuple, found: Any, right: Any) -> str:
        if isinstance(self.seen, str):
            return self.seen.format(*map(pretty, case), found=pretty(found), right=pretty(right))
        return self.seen(case, found, right)

    def explained(self, found: Sequence[Any]) -> Mistake | None:
        """The first mistake that gives what was found in every case."""
        return next((m for m in self.mistakes if any(self.gives(f, found, m.equal) for f in m.formulas)), None)

    def gives(self, formula: Callable[..., Any], found: Sequence[Any], equal: Callable | None) -> bool:
        equal = equal or self.equal
        try:
            return all(equal(value, formula(*case)) for case, value in zip(self.cases, found))
        except (ArithmeticError, LookupError, ValueError):  # a mistake that cannot be made in all cases
            return False


def answers(made: Callable[..., object], cases: Sequence[tuple]) -> list[object]:
    """What the learner's function gives for each case; it gets copies of the arguments.

    Raises:
        StillOpen: when there is nothing for any case. Wrong: when there is nothing for some.
    """
    begun(made)
    found = [made(*copy.deepcopy(case)) for case in cases]
    empty = [case for case, value in zip(cases, found) if value is None or value is Ellipsis]
    if len(empty) == len(cases):
        raise StillOpen
    if empty:
        asked = pretty(empty[0] if len(empty[0]) > 1 else empty[0][0])
        asked = asked if len(asked) <= 120 else asked[:120] + "…"
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
