"""Reading what a learner hands in: cells and their source, whatever else the file holds, or a sentence that says why not."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from specdec_lab.errors import LabError
from specdec_lab.files import check_plain

EXERCISES = Path(__file__).resolve().parents[1]
ANSWER = re.compile(r"<!-- answer ([\w.-]+): (\d+) points -->")
LARGEST = 50_000_000  # bytes of a notebook
MOST_CELLS = 2_000
LONGEST = 300_000  # characters of a cell; Python's parser fails on much longer ones


@dataclass(frozen=True)
class Cell:
    """grade_id: what nbgrader calls the cell, empty for a learner's own."""

    kind: str
    source: str
    grade_id: str = ""


@dataclass(frozen=True)
class Check:
    """A call `check("4.rate", alpha_hat)`, as it stands in the exercise.

    Attributes:
        made: what is handed in, as it is written there.
        grade_id: what nbgrader calls its cell.
    """

    part: str
    made: tuple[str, ...]
    grade_id: str = ""


@dataclass(frozen=True)
class Exercise:
    """An exercise, as it was given out. written: its written answers, with the points that a person may give."""

    name: str
    checks: dict[str, Check]
    written: dict[str, int]


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook. Whatever has another form than a notebook's is left out.

    Raises:
        LabError: when the file cannot be read, or holds no cells.
    """
    try:
        check_plain(path)
        if path.is_symlink():
            raise LabError(f"{path.name} is a link to another file: hand in the notebook itself.")
        if path.stat().st_size > LARGEST:
            raise LabError(f"{path.name} is larger than {LARGEST // 10**6} MB: no notebook of the course is.")
        data = path.read_bytes()
        if not data.strip():
            raise LabError(f"{path.name} is empty: save the notebook again, and hand that in.")
        data = json.loads(data.decode(json.detect_encoding(data), errors="replace"))  # some editors save UTF-16
    except OSError as e:
        raise LabError(f"{path} cannot be read ({e.strerror}).") from e
    except (ValueError, RecursionError, MemoryError) as e:
        raise LabError(f"{path.name} is no notebook, or a damaged one ({type(e).__name__}).") from e
    cells = data.get("cells") if isinstance(data, dict) else None
    if cells is None and isinstance(data, dict):  # the third version of the format
        sheets = data.get("worksheets")
        cells = [c for sheet in sheets if isinstance(sheet, dict) for c in as_list(sheet.get("cells"))] if isinstance(sheets, list) else None  # fmt: skip
    if not isinstance(cells, list):
        raise LabError(f"{path.name} is no notebook: there are no cells in it.")
    if len(cells) > MOST_CELLS:
        raise LabError(f"{path.name} has more than {MOST_CELLS} cells: no notebook of the course has.")
    return [a_cell(cell) for cell in cells if isinstance(cell, dict)]


def as_list(value: object) -> list:
    return value if isinstance(value, list) else []


def as_dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def a_cell(cell: dict) -> Cell:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    grade_id = as_dict(as_dict(cell.get("metadata")).get("nbgrader")).get("grade_id")
    return Cell(
        kind=cell["cell_type"] if isinstance(cell.get("cell_type"), str) else "raw",
        source=source if isinstance(source, str) else "",
        grade_id=grade_id if isinstance(grade_id, str) else "",
    )


def calls(source: str) -> Iterator[Check]:
    """The calls of `check` in a cell's source that stand as statements of their own; none where it is no Python."""
    if len(source) > LONGEST or "check" not in source:
        return
    try:
        # Lines that only IPython reads, such as !ls and %time, are no Python.
        body = ast.parse(re.sub(r"(?m)^[^\S\n]*[!%].*$", "", source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in body:
        call = getattr(statement, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) == "check":
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                try:
                    yield Check(first.value, tuple(map(ast.unparse, call.args[1:])))
                except RecursionError:
                    return


def is_only_checks(source: str) -> bool:
    """Whether a cell does nothing but call `check`."""
    if len(source) > LONGEST:
        return False
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return len(body) == len(list(calls(source)))


@cache
def exercises() -> dict[str, Exercise]:
    """The course's exercises, by name."""
    found = {}
    for path in sorted(EXERCISES.glob("*.ipynb")):
        cells = read_cells(path)
        checks = {
            c.part: Check(c.part, c.made, cell.grade_id)
            for cell in cells
            if cell.kind == "code"
            for c in calls(cell.source)
        }
        written = {id: int(points) for cell in cells for id, points in ANSWER.findall(cell.source)}
        found[path.stem] = Exercise(path.stem, checks, written)
    return found


def exercise_of(cells: Sequence[Cell], name: str) -> Exercise:
    """The exercise that these cells are an answer to: that of the file's name, if a part of it is there; else the one
    that most of the checks, and of the functions that are handed in, belong to.

    Args:
        name: the file's.

    Raises:
        LabError: when there is none.
    """
    known, seen = exercises(), Counter()
    for cell in cells:
        parts = {c.part for c in calls(cell.source)}
        for exercise in known.values():
            ids = {c.grade_id for c in exercise.checks.values()}
            names = {made for c in exercise.checks.values() for made in c.made}
            defined = set(re.findall(r"(?m)^(?:def |)(\w+) *[=(]", cell.source))
            seen[exercise.name] += (
                3 * len(parts & set(exercise.checks)) + 3 * (cell.grade_id in ids) + len(defined & names)
            )
    named = [n for n in known if n.lower() in name.lower()]
    if named and (seen[named[0]] or not seen.total()):
        return known[named[0]]
    if seen.total():
        return known[max(sorted(seen), key=seen.__getitem__)]
    raise LabError(
        f"{name} is an answer to none of the course's exercises: no part of one is in it. If it is one, name the file so: "
        f"{', '.join(known)}."
    )
