"""A quiz question with numbers: a function of its numbers, so that a retry can ask with other ones.

It is written as a text: the question, and the results that somebody may find. The first is the answer, with the
calculation. The others are what usual mistakes lead to, and what is said to them; #7 is the belief behind one (see
MISCONCEPTIONS), and None stands where a mistake cannot be made with these numbers. Answers are judged in show/quiz.js.
"""

import itertools
import re
from ast import literal_eval
from collections.abc import Callable, Sequence

from specdec_lab.course.mistake import Mistake
from specdec_lab.formats import short

RESULT = re.compile(r"\n *(\S+)(?: #(\d+))? \| ")  # the result, and the belief behind it


class Problem:
    """A question with its numbers filled in.

    Args:
        text: as the module's docstring says.
        unit: such as "s"; empty for chances, ratios and counts.
        tolerance: as a share of the answer; 0 for counts.

    Attributes:
        how: the calculation.
        mistakes: those that can be made with these numbers. Their results are numbers.
    """

    def __init__(self, text: str, unit: str = "", tolerance: float = 0.02):
        question, *found = RESULT.split(text)
        results, beliefs = [literal_eval(result) for result in found[0::3]], found[1::3]
        said = [re.sub(r"\s*\n\s*", " ", part.strip()) for part in (question, *found[2::3])]
        self.question, self.how, self.answer = said[0], said[1], results[0]
        self.mistakes = [
            Mistake(sentence, result, belief=int(belief) if belief else None)
            for sentence, result, belief in zip(said[2:], results[1:], beliefs[1:])
            if result is not None
        ]
        self.unit, self.tolerance = unit, tolerance

    @property
    def shown(self) -> str:
        """The answer with its unit."""
        return f"{short(self.answer)} {self.unit}" if self.unit else short(self.answer)

    @property
    def clear(self) -> bool:
        """Whether the answer and every mistake can be told apart: they differ by more than twice the tolerance."""
        values = [self.answer, *(result for m in self.mistakes for result in m.results)]
        return not any(
            abs(a - b) <= 2 * self.tolerance * max(abs(a), abs(b)) + 1e-9 for a, b in itertools.combinations(values, 2)
        )


PROBLEMS: dict[str, tuple[Callable[..., Problem], dict[str, Sequence]]] = {}


def problem(unit: str = "", tolerance: float = 0.02, **choices: Sequence):
    """Register a question and the values that each of its numbers can take."""

    def register(text: Callable[..., str]):
        PROBLEMS[text.__name__] = lambda *args, **numbers: Problem(text(*args, **numbers), unit, tolerance), choices
        return text

    return register


def variants(name: str) -> list[Problem]:
    """All versions of a problem whose answers can be told apart."""
    make, choices = PROBLEMS[name]
    versions = (make(**dict(zip(choices, values))) for values in itertools.product(*choices.values()))
    return [version for version in versions if version.clear]
