"""Grading a learner's notebook: its code runs in a kernel of its own, which can be stopped, and the checks are the course's."""

import json
import logging
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_lab.course.judges.check import RESULTS
from specdec_lab.course.judges.part import PARTS
from specdec_lab.errors import LabError
from specdec_lab.say import Say, silent

if TYPE_CHECKING:
    from nbformat import NotebookNode

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
CHECK = re.compile(r'\bcheck\("([\w.-]+)"')
ANSWER = re.compile(r"<!-- answer ([\w.-]+): (\d+) points -->")
CELL_SECONDS = 60  # a limit for cells that never end
RUNS = 4  # a cell that stops Python or never ends is left out, and the rest runs again, so often
QUIET = logging.getLogger(f"{__name__}.kernel")  # what happens there is told in our words
QUIET.setLevel(logging.CRITICAL + 1)


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
    checks = {id: cell for cell in original.cells if cell.cell_type == "code" for id in CHECK.findall(cell.source)}
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


def with_checks(notebook: "NotebookNode", checks: dict[str, "NotebookNode"]) -> "NotebookNode":
    """The learner's code, with every check as it was given out; those that are gone come at the end.

    Args:
        checks: the cells of the exercise that hold a check, by part.
    """
    from nbformat.v4 import new_code_cell, new_notebook

    part_of = {cell.metadata["nbgrader"]["grade_id"]: id for id, cell in checks.items()}
    sources, seen = ["from specdec_lab import check"], set()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        own = part_of.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        found = [own] if own else [id for id in CHECK.findall(cell.source) if id in checks]
        sources += [checks[id].source for id in found] or [cell.source]
        seen.update(found)
    sources += [cell.source for id, cell in checks.items() if id not in seen]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=list(map(new_code_cell, sources)), metadata={"kernelspec": kernel})


def run(notebook: "NotebookNode", name: str, say: Say, seconds: float) -> dict[str, dict]:
    """The verdict of each check that was reached, by part."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        for _ in range(RUNS):
            results.unlink(missing_ok=True)
            started: list[int] = []
            client = NotebookClient(
                notebook, timeout=seconds, kernel_name="python3", allow_errors=True, log=QUIET,
                extra_arguments=["--log-level=ERROR"],
                resources={"metadata": {"path": folder}},  # what it writes goes with it
                on_cell_execute=lambda cell, cell_index, started=started: started.append(cell_index),
            )  # fmt: skip
            try:
                client.execute(env=os.environ | {RESULTS: str(results)})
                break
            except (CellTimeoutError, DeadKernelError) as e:
                why = "did not come to an end" if isinstance(e, CellTimeoutError) else "stopped Python"
                guilty = notebook.cells[started[-1]]
                say(f"{name}: the cell “{guilty.source.strip().splitlines()[0][:60]}” {why}, and was left out.")
                guilty.source = "pass"
        lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {found["part"]: found for found in map(json.loads, lines)}
