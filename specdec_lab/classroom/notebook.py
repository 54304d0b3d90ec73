"""Grading a learner's notebook: its code runs in a process of its own (learner), and the judges stay in this one."""

import ast
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_lab.classroom.learner import Ended, Learner
from specdec_lab.course.judges.check import PARTS, judged
from specdec_lab.errors import LabError
from specdec_lab.files import check_plain
from specdec_lab.say import Say, silent

if TYPE_CHECKING:
    from nbformat import NotebookNode

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
CHECK = re.compile(r'\bcheck\("([\w.-]+)"')
ANSWER = re.compile(r"<!-- answer ([\w.-]+): (\d+) points -->")
CELL_SECONDS = 60  # a limit for cells that never end
RUNS = 4  # a cell that stops Python or never ends is left out, and the rest runs again, so often


def grade(path: str | Path, say: Say = silent, seconds: float = CELL_SECONDS) -> dict:
    """Run a notebook, and return {"notebook", "points", "max_points", "parts": [{"id", "points", "max_points", "status", "message"}]}.

    status: right, wrong, open, missing (its check was not reached), or by hand (a written answer; a
    person gives its points, which are counted nowhere here). The checks are taken from the
    exercise as it was given out, wherever they are in the notebook, and added where they are not.

    Args:
        say: told about cells that were left out.

    Raises:
        LabError: for what is no notebook, or none of the exercises.
    """
    path = Path(path)
    notebook = read(path)
    original = exercise_of(notebook, path)
    checks = checks_of(original)
    verdicts = run(with_checks(notebook, checks), path.name, say, seconds)
    parts = []
    for id in checks:
        missing = {"points": 0.0, "max_points": PARTS[id].points, "status": "missing"}
        missing["message"] = "its check was not reached: something before it went wrong."
        found = verdicts.get(id, missing)
        parts.append({"id": id, **{key: found[key] for key in missing}})
    by_hand = [
        {"id": id, "points": 0.0, "max_points": int(points), "status": "by hand", "message": "is read by a person."}
        for cell in original.cells
        for id, points in ANSWER.findall(cell.source)
    ]
    points, most = (sum(part[key] for part in parts) for key in ("points", "max_points"))
    return {"notebook": path.name, "points": points, "max_points": most, "parts": parts + by_hand}


def read(path: Path) -> "NotebookNode":
    import nbformat

    try:
        check_plain(path)
        return nbformat.read(path, as_version=4)
    except OSError as e:
        raise LabError(f"{path} cannot be read ({e.strerror}).") from e
    except Exception as e:  # nbformat raises many kinds
        raise LabError(f"{path.name} is no notebook, or a damaged one ({type(e).__name__}).") from e


def exercise_of(notebook: "NotebookNode", path: Path) -> "NotebookNode":
    """The exercise, as it was given out, that this notebook is an answer to.

    Raises:
        LabError: when there is none.
    """
    known = {p.stem: p for p in EXERCISES.glob("*.ipynb")}
    name = notebook.metadata.get("specdec_lab", {}).get("exercise") or path.stem
    if name not in known:
        raise LabError(
            f"{path.name} is none of the course's exercises: it should be one of {', '.join(sorted(known))}."
        )
    return read(known[name])


def checks_of(exercise: "NotebookNode") -> dict[str, "NotebookNode"]:
    """Its cells that hold a check, by part."""
    return {id: cell for cell in exercise.cells if cell.cell_type == "code" for id in CHECK.findall(cell.source)}


def parts_of(exercise: "NotebookNode") -> dict[str, str]:
    """What nbgrader calls the cell of each part."""
    return {id: cell.metadata["nbgrader"]["grade_id"] for id, cell in checks_of(exercise).items()}


def with_checks(notebook: "NotebookNode", checks: dict[str, "NotebookNode"]) -> list[str]:
    """The learner's code, cell by cell, with every check as it was given out; those that are gone come at the end.

    Args:
        checks: the cells of the exercise that hold a check, by part.
    """
    part_of = {cell.metadata["nbgrader"]["grade_id"]: id for id, cell in checks.items()}
    sources, seen = [], set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        own = part_of.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        found = [own] if own else [id for id in CHECK.findall(cell.source) if id in checks]
        sources += [checks[id].source for id in found] or [cell.source]
        seen.update(found)
    return sources + [cell.source for id, cell in checks.items() if id not in seen]


def asked(source: str) -> tuple[str, list[str]] | None:
    """Of a check's cell: the part, and what is handed in for it, as it is written there. None for another cell, also where
    a learner called `check` with something else than a part."""
    try:
        (statement,) = ast.parse(source).body
        call = statement.value
        if call.func.id == "check" and call.args[0].value in PARTS:
            return call.args[0].value, [ast.unparse(arg) for arg in call.args[1:]]
    except (SyntaxError, ValueError, AttributeError, IndexError):
        pass
    return None


def run(sources: Sequence[str], name: str, say: Say, seconds: float) -> dict[str, dict]:
    """The verdict of each check that was reached, by part. Cells are run in a new process where one stopped it."""
    verdicts: dict[str, dict] = {}
    left_out: set[int] = set()
    for _ in range(RUNS + sum(map(bool, map(asked, sources)))):
        with Learner(seconds) as learner:
            for at, source in enumerate(sources):
                try:
                    if at not in left_out:
                        check_or_run(learner, source, verdicts)
                except Ended as e:
                    say(f"{name}: the cell “{source.strip().splitlines()[0][:60]}” {e}, and was left out.")
                    left_out.add(at)
                if learner.over:
                    break
            else:
                break
        if len(left_out) == RUNS:
            break
    return verdicts


def check_or_run(learner: Learner, source: str, verdicts: dict[str, dict]) -> None:
    """Run a cell there, or judge a part, once."""
    check = asked(source)
    if check is None:
        learner.run(source)
    elif check[0] not in verdicts:
        with learner.killed_after(
            PARTS[check[0]].seconds + learner.seconds
        ):  # judges stop calls earlier, where there are alarms
            made = learner.values(check[1])
            if made is not None:
                verdicts[check[0]] = asdict(judged(check[0], *made))
