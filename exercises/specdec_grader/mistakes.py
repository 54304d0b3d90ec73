"""Mistakes: the known ones, which `known/` lists for each exercise, and one that was found in a learner's answer.

known/README.md says how they are written. The first mistake that gives the learner's results is told.
"""

import inspect
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib import resources
from itertools import groupby
from typing import Any

from specdec_lab.course.quiz import MISCONCEPTIONS


class Mistake:
    """A known mistake.

    Args:
        said: one sentence or two for the learner.
        results: what the mistake gives, one for each way to make it: a formula of a case's arguments, or the wrong
            result itself where it is the same in every case.
        belief: the number of the misconception behind it, where a common one is.
        earned: the share of the points that is earned all the same, 0 to 1.
        name: what a judge calls it that has to tell it from another one; most have none.
    """

    def __init__(self, said: str, *results: Any, belief: int | None = None, earned: float = 0.0, name: str = ""):
        self.said, self.results, self.belief, self.earned, self.name = said, results, belief, earned, name

    def gives(self, cases: Sequence[tuple]) -> Iterator[list]:
        """The wrong results in these cases, for each way that leads to one in all of them."""
        for result in self.results:
            with suppress(ArithmeticError, LookupError, ValueError):
                yield [result(*case) if callable(result) else result for case in cases]

    def adapted(self, change: Callable[[Callable], Callable]) -> "Mistake":
        """The same mistake in another question; change: a formula of this one → the formula there."""
        return Mistake(self.said, *map(change, self.results), belief=self.belief, earned=self.earned)


class Wrong(Exception):
    """What a judge raises: what is wrong, in one sentence or two for the learner. belief, earned: as of a `Mistake`."""

    def __init__(self, said: str, earned: float = 0.0, belief: int | None = None):
        super().__init__(said)
        self.earned, self.belief = earned, belief


class StillOpen(Exception):
    """Nothing is there yet, as from a stub. Its text says which result, `wanted` what it should be, as a sentence.

    Attributes:
        unwritten: the code itself says so, by NotImplementedError.
    """

    unwritten = False

    def __init__(self, what: str = "", wanted: str = ""):
        super().__init__(what)
        self.wanted = wanted


# Known mistakes


def known_mistakes(right: Callable[..., Any], sheet: str = "", heading: str = "") -> list[Mistake]:
    """The mistakes that `known/` lists for the function `right`, as changes of it.

    Args:
        sheet, heading: where they stand, if not in the file of its module under its name.

    Raises:
        KeyError: where there is no such heading. ValueError: as `mistakes_in`.
    """
    sections = sections_of(sheet or right.__module__.rpartition(".")[2])
    text = "".join(text for names, text in sections if (heading or right.__name__) in names)
    if not text:
        raise KeyError(f"no section of known/ is about {heading or right.__name__}")
    return list(mistakes_in(text, right))


@cache
def sections_of(sheet: str) -> list[tuple[list[str], str]]:
    """The sections of a file of `known/`: the names in the heading, and what stands below it."""
    text = (resources.files("specdec_grader") / "known" / f"{sheet}.md").read_text(encoding="utf-8")
    return [(names.split(", "), body) for names, body in re.findall(r"(?ms)^## ([^\n]+)\n(.*?)(?=^## |\Z)", text)]


def mistakes_in(text: str, right: Callable[..., Any]) -> Iterator[Mistake]:
    """The mistakes that a section lists, as changes of the function `right`.

    Raises:
        ValueError: for a line that is neither a change nor part of a sentence, a change of something that does not stand
            there, a sentence without a change or a change without a sentence, and for other words in the brackets.
    """
    head, _, body = textwrap.dedent(inspect.getsource(right)).partition("\n")
    ways: list[str] = []
    for mark, block in groupby(filter(str.strip, text.splitlines()), key=lambda line: line[:2]):
        lines = [line[2:].strip() for line in block]
        if mark == "- ":
            ways = [line.removeprefix("`").removesuffix("`") for line in lines]
        elif mark != "> ":
            raise ValueError(f"“{mark}{lines[0]}” begins neither with “- ”, a change, nor with “> ”, a sentence")
        else:
            said, about = split_brackets(" ".join(lines))
            if not ways:
                raise ValueError(f"no change leads to “{said}”")
            formulas = [compiled(f"{head}\n{changed(body, way)}", right) for way in ways]
            yield Mistake(said, *formulas, **about)
            ways = []
    if ways:
        raise ValueError(f"no sentence stands below “{ways[-1]}”")


def compiled(source: str, right: Callable[..., Any]) -> Callable[..., Any]:
    """The function that `source` defines, among the names that the right one uses."""
    made: dict[str, Any] = {}
    exec(compile(source, f"<a change of {right.__name__}>", "exec"), right.__globals__, made)
    return made[right.__name__]


def changed(body: str, way: str) -> str:
    """The body of the right answer with the changes of one line."""
    if "→" not in way:
        return f"    {way.strip()}"
    for change in way.split(";"):
        before, after = map(str.strip, change.split("→"))
        if before not in body:
            raise ValueError(f"“{before}” does not stand in the right answer")
        body = body.replace(before, after)
    return body


def split_brackets(sentence: str) -> tuple[str, dict[str, Any]]:
    """A sentence without its brackets, and what stands in them: belief, earned and name, as of a `Mistake`."""
    if not sentence.endswith("]"):
        return sentence, {}
    said, _, inside = sentence.removesuffix("]").rpartition(" [")
    about: dict[str, Any] = {}
    for mark in inside.split("; "):
        found = re.fullmatch(r"belief (?P<belief>\d+)|earns (?P<earned>[¼½¾⅓⅔])|name (?P<name>\w+)", mark)
        if not found:
            raise ValueError(f"“{inside}” is neither “belief 7” nor “earns ½”, nor both with a semicolon between them")
        about |= {key: value for key, value in found.groupdict().items() if value}
    if "belief" in about:
        about["belief"] = int(about["belief"])
        if about["belief"] not in MISCONCEPTIONS:
            raise ValueError(f"there is no misconception {about['belief']}")
    if "earned" in about:
        about["earned"] = unicodedata.numeric(about["earned"])
    return said, about
