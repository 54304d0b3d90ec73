"""The mistakes of a question, each written as the change that a learner makes to the right answer.

    gamma * c → c
        One draft costs c, and a round makes γ of them.
    v[gamma] → sum(v[: gamma + 1])
    v[gamma] → gamma + 1
        The target scores all rows in one pass.
    return E(alpha, gamma)
        These are the tokens of a round. A round also costs time: divide by it. [belief 7; earns ½]

A line that begins at the margin is one way to make the mistake: what stands in the right answer, an arrow, and what
stands there in its place; several changes of one answer have a semicolon between them. A line without an arrow is the
whole body of the function. A change is made wherever its left side stands, so write enough of it: `v[gamma]`, not
`gamma`. Below, indented, stands the sentence that is told, and in brackets the number of the misconception behind it
(specdec_lab/data/misconceptions.json) and the share of the points that is earned all the same, as ½, ¼ or ⅔. The first
mistake that gives the learner's results is told.
"""

import inspect
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from specdec_grader.mistake import Mistake
from specdec_lab.course.quiz import MISCONCEPTIONS


def mistakes_of(text: str, right: Callable[..., Any]) -> Iterator[Mistake]:
    """The mistakes that `text` lists, as changes of the function `right`.

    Raises:
        ValueError: for a change of something that does not stand there, a sentence without a change or a change without
            a sentence, and for other words in the brackets.
    """
    head, _, body = textwrap.dedent(inspect.getsource(right)).partition("\n")
    ways: list[str] = []
    lines = [line for line in text.splitlines() if line.strip()]
    for is_sentence, block in groupby(lines, key=lambda line: line.startswith(" ")):
        if not is_sentence:
            ways = list(block)
            continue
        said, belief, earned = marked(" ".join(map(str.strip, block)))
        if not ways:
            raise ValueError(f"no change leads to “{said}”")
        made = [compiled(f"{head}\n{changed(body, way)}", right) for way in ways]
        yield Mistake(said, *made, belief=belief, earned=earned)
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


def marked(sentence: str) -> tuple[str, int | None, float]:
    """A sentence without its brackets; the belief and the share that stand there."""
    said, bracket, marks = sentence.removesuffix("]").rpartition(" [") if sentence.endswith("]") else (sentence, "", "")
    found = re.fullmatch(r"(?:belief (\d+))?(?:(?<=\d); )?(?:earns ([¼½¾⅓⅔]))?", marks)
    if not found or (bracket and not marks):
        raise ValueError(f"“{marks}” is neither “belief 7” nor “earns ½”, nor both with a semicolon between them")
    belief, share = int(found[1]) if found[1] else None, found[2]
    if belief and belief not in MISCONCEPTIONS:
        raise ValueError(f"there is no misconception {belief}")
    return said, belief, unicodedata.numeric(share) if share else 0.0
