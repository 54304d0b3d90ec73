"""What an exercise asks cannot be copied from a lesson: neither its code, nor the case of a checkpoint part, nor its words.

The checkpoint is compared with the quizzes and with the other exercises, too. A worked case may be the lesson's.
"""

import difflib
import functools
import io
import json
import re
import textwrap
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from specdec_grader.checks import PARTS

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "lessons" / "src").glob("*.md"))
EXERCISES = sorted((ROOT / "solutions" / "src").glob("*.md"))
CHECKPOINT = next(path for path in EXERCISES if path.stem.endswith("checkpoint"))
PIECE = 5  # so many signs in a row are a piece of code
MOST = 0.25  # a solution of which a smaller share stands in one cell of a lesson is not printed there


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# Code


def signs(code: str) -> list[str]:
    """The words and signs of some code, without its layout and its comments."""
    try:
        found = [t for t in tokenize.generate_tokens(io.StringIO(textwrap.dedent(code)).readline) if t.string.strip()]
    except tokenize.TokenError:  # what a shell is told, a formula, …
        return []
    return [t.string for t in found if t.type != tokenize.COMMENT]


@functools.cache
def printed() -> dict[str, list[str]]:
    """The code of each cell of the lessons."""
    cells = {}
    for path in LESSONS:
        for n, code in enumerate(re.findall(r"^```[^\n]*\n(.*?)^```", read(path), re.S | re.M), start=1):
            cells[f"{path.stem}, piece {n}"] = signs(code)
    return cells


def solutions() -> Iterator[tuple[str, list[str]]]:
    for path in EXERCISES:
        for cell in re.findall(r"^```python\n(.*?)^```", read(path), re.S | re.M):
            name = re.findall(r"^def (\w+)", cell, re.M)
            for code in re.findall(r"### BEGIN SOLUTION\n(.*?)\n *### END SOLUTION", cell, re.S):
                yield f"{path.stem}: {', '.join(name)}", signs(code)


def share(solution: list[str], cell: list[str]) -> float:
    """The share of a solution that stands in a cell, in the same order and in pieces."""
    blocks = difflib.SequenceMatcher(None, cell, solution, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks if block.size >= PIECE) / len(solution)


@pytest.mark.parametrize(("name", "solution"), [pytest.param(*x, id=x[0]) for x in solutions()])
def test_no_lesson_prints_the_code_of_a_solution(name, solution):
    shares = {where: share(solution, cell) for where, cell in printed().items()}
    where = max(shares, key=shares.__getitem__)
    assert shares[where] < MOST, f"{shares[where]:.0%} of {name} stands in {where}"


# Numbers and words


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"(?<![\w.])-?\d*\.?\d+(?![\w]|\.\d)", text)]


def words(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z]+', text.lower()))} "


def stands_in(some: list[float], all_of: list[float]) -> bool:
    """Whether these numbers stand there one behind the other."""
    return any(all_of[i : i + len(some)] == some for i in range(len(all_of) - len(some) + 1))


def blocks(path: Path) -> Iterator[tuple[str, str]]:
    for text in re.split(r"\n\s*\n", read(path)):
        yield path.stem, text


@functools.cache
def elsewhere() -> list[tuple[str, str]]:
    """What a learner may have read: (where it stands, a paragraph, a table, a cell or a quiz question)."""
    sources = (path for path in (*LESSONS, *EXERCISES) if path != CHECKPOINT)
    found = [block for path in sources for block in blocks(path)]
    for path in sorted((ROOT / "specdec_lab" / "data" / "quiz").glob("*.json")):
        asked = [version for item in json.loads(read(path)) for version in item.get("versions", [item])]
        found += [(f"quiz {path.stem}", f"{x['question']} {x.get('how') or x['choices']}") for x in asked]
    return found


def cases() -> dict[str, str]:
    """What each part of the checkpoint asks about: its text, up to its first cell."""
    texts = read(CHECKPOINT).split("\n## Part ")[1:]
    asked = [(re.search(r'check\("(9\.\w+)"', text), text.partition("\n```python")[0]) for text in texts]
    return {found[1]: text for found, text in asked if found}  # the two quick checks have no numbers


def table(text: str) -> list[list[str]]:
    return [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("|")]


def groups(text: str) -> list[list[float]]:
    """The numbers in each pair of round brackets, and in each row of a table."""
    return [numbers(x) for x in (*re.findall(r"\(([^()]*)\)", text), *map(" ".join, table(text)))]


def rows(case: str) -> list[list[float]]:
    """The distributions and the log of a case."""
    case = case.partition("*The form")[0]
    lines, found = table(case), groups(case)
    for head, line in zip(lines, lines[2:]):  # a count for each number of accepted drafts: also round by round
        if "accepted drafts" in head[0]:
            times = [(n, int(m)) for h, c in zip(head, line) for n, m in zip(numbers(h), numbers(c))]
            found.append([n for n, often in times for _ in range(often)])
    # Three whole numbers may stand anywhere by chance.
    return [row for row in found if len(row) > 7 or (len(row) > 2 and any(x % 1 for x in row))]


def answers(part: str) -> list[object]:
    """All that is asked for, item by item."""
    rights = [question.right() for question in PARTS[part].asks]
    return [x for right in rights for x in (right if isinstance(right, list | tuple) else [right])]


@pytest.mark.parametrize("part", cases())
class TestCase:
    def test_its_numbers_are_fresh(self, part):
        for row in rows(cases()[part]):
            assert not [(where, text) for where, text in elsewhere() if stands_in(row, numbers(text))], row

    def test_its_words_are_fresh(self, part):
        sentences = [x for x in answers(part) if isinstance(x, str) and " " in x]
        drafts = " ".join(re.findall(r"^\| \d+ \| `(\w+)` \|", cases()[part], re.M))
        for sentence in filter(None, [*sentences, drafts]):
            assert not [where for where, text in elsewhere() if words(sentence) in words(text)], sentence
