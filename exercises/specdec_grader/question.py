"""A question with one right formula and known wrong ones. A wrong answer is told which of them it is.

The learner's function is called with several cases. If a result is wrong, the sentence has two halves: what the
function gave in the first wrong case, and the first known mistake that gives the same results *in every case*.
Where no mistake does, a hint stands in its place.
"""

import copy
import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import resources
from typing import Any

from specdec_grader.coerce import nothing, number, same, whole
from specdec_grader.guard import explain_error
from specdec_grader.mistakes import Mistake, StillOpen, Wrong, known_mistakes
from specdec_lab.formats import cut, short

ROUNDED = Mistake("Near, but rounded: do not round inside a calculation.", earned=0.5)

PERCENT = Mistake("This is right in percent: divide by 100.")


def hundredth(found: Any) -> Any:
    """A number, or each of a list, divided by 100."""
    return [hundredth(x) for x in found] if isinstance(found, list) else found / 100 if type(found) is float else found


def nearly(found: Any, right: Any) -> bool:
    """Whether a number, or each of a list, may be the right one rounded to one decimal."""
    return all(map(nearly, found, right)) if isinstance(right, list) else abs(found - right) < 0.06


@dataclass(frozen=True)
class Question:
    """One thing that a part asks for.

    Args:
        cases: tuples of arguments for the learner's function.
        right: the formula: the arguments of a case → the right result.
        seen: the first half of the sentence: a template with a place for each argument of the first wrong case,
            {found} and {right}; or (case, found, right) → a sentence.
        hint: the second half where no mistake fits: a sentence; or (case, found) → a sentence, or a `Mistake` that
            was found in another way than by its results.
        read: makes a returned value comparable, or raises what is wrong with its form.
        near: told where no mistake explains the results and all of them may be right ones that were rounded: they differ
            by less than 0.06. A small term that is left out looks the same, so it has to stand among the mistakes.
    """

    cases: Sequence[tuple]
    right: Callable[..., Any]
    seen: str | Callable[[tuple, Any, Any], str] = ""
    hint: Any = ""  # str | Callable[[tuple, Any], str | Mistake]
    mistakes: Sequence[Mistake] = ()
    read: Callable[[Any], Any] = number
    equal: Callable[[Any, Any], bool] = same
    near: Mistake | None = None

    def judge(self, made: Callable[..., object], *, earned: float = 0.0) -> None:
        """Call the learner's function with all cases, and `compare`. Raises `StillOpen` where nothing is there yet."""
        self.compare([self.read(value) for value in results(made, self)], earned)

    def compare(self, found: Sequence[Any], earned: float = 0.0) -> None:
        """Raises `Wrong` if a result is wrong; `found` has the result of each case.

        Args:
            earned: the share of the points that other questions of the part have earned already.
        """
        if first := self.first_wrong(found):
            case, value, right = first
            mistake = self.known_mistake(found) or self.hint_for(case, value)
            seen = self.seen_in(case, value, right)
            raise Wrong(f"{seen} {mistake.said}".strip(), max(earned, mistake.earned), mistake.belief)

    def first_wrong(self, found: Sequence[Any]) -> tuple[tuple, Any, Any] | None:
        """The first case with a wrong result, what was found there, and what is right."""
        rows = ((case, value, self.right(*case)) for case, value in zip(self.cases, found))
        return next((row for row in rows if not self.equal(*row[1:])), None)

    def mistake(self, name: str) -> Mistake:
        """The mistake of this name, which stands in its brackets in known/."""
        return next(mistake for mistake in self.mistakes if mistake.name == name)

    def known_mistake(self, found: Sequence[Any]) -> Mistake | None:
        """The first mistake that gives what was found in every case."""
        for mistake in self.mistakes:
            if any(all(map(self.equal, found, wrong)) for wrong in mistake.gives(self.cases)):
                return mistake
        right = [self.right(*case) for case in self.cases]
        if all(map(self.equal, map(hundredth, found), right)):
            return PERCENT
        return self.near if self.near and all(map(nearly, found, right)) else None

    def hint_for(self, case: tuple, found: Any) -> Mistake:
        hint: Any = self.hint(case, found) if callable(self.hint) else self.hint
        return hint if isinstance(hint, Mistake) else Mistake(hint)

    def seen_in(self, case: tuple, found: Any, right: Any) -> str:
        if callable(self.seen):
            return self.seen(case, found, right)
        yours, wanted = shown_to_differ(found, right)
        return self.seen.format(*map(pretty, case), found=yours, right=wanted)


def question(right: Callable[..., Any], mistakes: Sequence[Mistake] = (), **more) -> Question:
    """A question whose mistakes are changes of the right answer, as known/ lists them below the name of `right`.

    Args:
        mistakes: further ones, which are no changes of this answer. They come last.
        more: the other fields of the `Question`.
    """
    return Question(right=right, mistakes=[*known_mistakes(right), *mistakes], **more)


def results(made: Callable[..., object], *asks: Question, names: Sequence[str] = ()) -> list[object]:
    """What the learner's function gives for each case. There is a question for each thing that it returns.

    Args:
        names: what the cases are called, where their arguments are too long to be read.

    Raises:
        StillOpen: when there is nothing for any case. Wrong: when there is nothing for some.
    """
    cases = asks[-1].cases
    names = names or [named(case) for case in cases]
    found = [called(made, copy.deepcopy(case), name) for case, name in zip(cases, names)]
    empty = [n for n, value in enumerate(found) if nothing(value)]
    if empty:
        right = tuple(asked.right(*cases[empty[0]]) for asked in asks)
        wanted, name = cut(pretty(right if len(asks) > 1 else right[0]), 120), names[empty[0]]
        if len(empty) == len(cases):
            raise StillOpen(wanted=f" For {name} it should return {wanted}.")
        said = f"Your function returns nothing for {name} (None), and it should return {wanted}"
        raise Wrong(f"{said}: is there a way through it without a return?")
    return found


def named(case: tuple) -> str:
    """A case as a learner is told of it."""
    return cut(pretty(case[0] if len(case) == 1 else case), 120)


def called(made: Callable[..., object], case: tuple, name: str = "") -> Any:
    """What the learner's function gives for a case. What it raises carries the case, which `explain_error` tells."""
    try:
        return made(*case)
    except Exception as e:
        e.case = name or named(case)  # type: ignore
        raise


@contextmanager
def at_an_edge(said: str = "", earned: float = 0.75) -> Iterator[None]:
    """What goes wrong here, an error as well as a result, leaves this share. said: the edge, before what an error means."""
    try:
        yield
    except Wrong as e:
        raise Wrong(str(e), max(earned, e.earned), e.belief) from e
    except Exception as e:
        raise Wrong(f"{said} {explain_error(e)}", earned) from e


def points(n: int) -> list[float]:
    """n numbers of [0, 1), equally far from each other, in place of ones that are drawn."""
    return [(i + 0.5) / n for i in range(n)]


def tokens_of(rule: Callable[..., object], cases: Sequence[tuple], size: int) -> list[int]:
    """The tokens, of a vocabulary of this size, that a learner's rule writes for several arguments."""
    tokens = []
    for token, case in zip(for_each(rule, cases), cases):
        if token is None:
            raise Wrong(f"Your rule returns nothing (None) for {named(case)}: it should return a token each time.")
        tokens.append(whole(token, "What your rule returns"))
        if not 0 <= tokens[-1] < size:
            raise Wrong(f"Your rule returned the token {tokens[-1]}, but there are only the tokens 0 to {size - 1}.")
    return tokens


def shown_to_differ(found: Any, right: Any) -> tuple[str, str]:
    """Two results in as many digits as it takes to see that they differ."""
    if pretty(found) != pretty(right) or not all(isinstance(x, int | float) for x in (found, right)):
        return pretty(found), pretty(right)
    return in_enough_digits(found, right)


def in_enough_digits(a: float, b: float) -> tuple[str, str]:
    """Two numbers in as many digits as it takes: 17 of them write each float in another way."""
    pairs = ((f"{a:.{digits}g}", f"{b:.{digits}g}") for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (repr(a), repr(b)))


def pretty(value: object) -> str:
    """A value as the lessons write it: numbers with few digits."""
    if isinstance(value, bool) or not isinstance(value, float | int | tuple | list):
        return repr(value)
    if isinstance(value, tuple | list):
        inside = ", ".join(pretty(item) for item in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    return short(value)


# A learner's function, which may be in another process, where a call takes longer than here


class RemoteFunction(ABC):
    """A learner's function, here or there. `many` calls it once for each case, with less to send than so many single calls.

    Attributes:
        stub: it does nothing yet.
    """

    stub: bool

    @abstractmethod
    def __call__(self, *args: Any) -> Any: ...

    @abstractmethod
    def many(self, cases: Sequence[tuple]) -> list[Any]: ...

    def spent(self) -> float:
        """Seconds that its process has spent, where it is another one."""
        return 0.0


def for_each(made: Callable, cases: Sequence[tuple]) -> list[Any]:
    """What the learner's function gives for each case, wherever it is."""
    with suppress(Exception):
        return made.many(cases) if isinstance(made, RemoteFunction) else [made(*case) for case in cases]
    return [called(made, case) for case in cases]  # one by one, to see in which it fails


# What exercises are judged on, where it is data: the files in data, each with a line about what it holds


@functools.cache
def stored(name: str) -> dict:
    file = resources.files("specdec_grader") / "data" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def table(name: str, rows: Sequence[Sequence]) -> list[dict]:
    """Rows of the file `name`, each with the names of its fields."""
    return [dict(zip(stored(name)["fields"], row)) for row in rows]
