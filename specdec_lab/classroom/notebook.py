"""Grading a learner's notebook: its code runs in a kernel of its own, which can be stopped, and the checks are the course's."""

import json
import logging
import os
import re
import tempfile
from pathlib import Path

from specdec_lab.course.judges.check import RESULTS
from specdec_lab.course.judges.part import PARTS
from specdec_lab.errors import LabError
from specdec_lab.say import Say, silent

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
CHECK = re.compile(r'\bcheck\("([\w.-]+)"')
ANSWER = re.compile(r"<!-- answer ([\w.-]+): (\d+) points -->")
CELL_SECONDS = 60  # a limit for cells that never end
QUIET = logging.getLogger(f"{__name__}.kernel")  # what happens there is told in our words
QUIET.setLevel(logging.CRITICAL + 1)
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
    notebook = read(Path(path))
    original = exercise_of(notebook, Path(path))
    assembled = with_checks(notebook, original)
    results = run(assembled, Path(path).name, say, seconds)
    parts = [verdict(id, results) for id in ids(original, CHECK)]
    by_hand = [
        {"id": id, "points": 0.0, "max_points": int(points), "status": "by hand", "message": "is read by a person."}
        for cell in original["cells"]
        for id, points in ANSWER.findall("".join(cell["source"]))
    ]
    return {
        "notebook": Path(path).name,
        "points": sum(p["points"] for p in parts),
        "max_points": sum(p["max_points"] for p in parts),
        "parts": parts + by_hand,
    }


def read(path: Path) -> dict:
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except OSError as e:
        raise LabError(f"{path} cannot be read ({e.strerror}).") from e
    except Exception as e:  # nbformat raises many kinds
        raise LabError(f"{path.name} is no notebook, or a damaged one ({type(e).__name__}).") from e


def ids(notebook: dict, pattern: re.Pattern) -> list[str]:
    """The ids in its code or text, each once, in their order."""
    return list(dict.fromkeys(m[1] for cell in notebook["cells"] for m in pattern.finditer("".join(cell["source"]))))


def exercise_of(notebook: dict, path: Path) -> dict:
    """The exercise, as it was given out, that this notebook is an answer to.

    Raises:
        LabError: when there is none.
    """
    known = {p.stem: p for p in EXERCISES.glob("*.ipynb")}
    name = notebook["metadata"].get("specdec_lab", {}).get("exercise") or path.stem
    if name not in known:
        raise LabError(
            f"{path.name} is none of the course's exercises: it should be one of {', '.join(sorted(known))}."
        )
    return read(known[name])


def with_checks(notebook: dict, original: dict) -> dict:
    """The learner's cells, with every check as it was given out; those that are gone come at the end."""
    import nbformat

    given = {
        id: cell
        for cell in original["cells"]
        for id in CHECK.findall("".join(cell["source"]))
        if cell["cell_type"] == "code"
    }
    names = {cell["metadata"]["nbgrader"]["grade_id"]: id for id, cell in given.items()}
    cells, seen = [], set()
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        own = names.get(cell["metadata"].get("nbgrader", {}).get("grade_id"))
        found = [own] if own else [i for i in CHECK.findall(cell["source"]) if i in given]
        cells += [nbformat.v4.new_code_cell(given[i]["source"]) for i in found] or [
            nbformat.v4.new_code_cell(cell["source"])
        ]
        seen.update(found)
    cells += [nbformat.v4.new_code_cell(cell["source"]) for id, cell in given.items() if id not in seen]
    imports = nbformat.v4.new_code_cell("from specdec_lab import check")
    made = nbformat.v4.new_notebook(cells=[imports, *cells])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def run(notebook: dict, name: str, say: Say, seconds: float) -> dict[str, dict]:
    """The verdict of each check that was reached, by part."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        env = os.environ | {RESULTS: str(results)}
        for _ in range(RUNS):
            results.unlink(missing_ok=True)
            client = NotebookClient(
                notebook,
                timeout=seconds,
                kernel_name="python3",
                allow_errors=True,
                log=QUIET,
                extra_arguments=["--log-level=ERROR"],
            )
            client.resources = {"metadata": {"path": folder}}  # what it writes goes with it
            started: list[int] = []
            client.on_cell_execute = lambda cell, cell_index, started=started: started.append(cell_index)
            try:
                client.execute(env=env)
                break
            except (CellTimeoutError, DeadKernelError) as e:
                why = "did not come to an end" if isinstance(e, CellTimeoutError) else "stopped Python"
                first = notebook.cells[started[-1]].source.strip().splitlines()[0][:60]
                say(f"{name}: the cell “{first}” {why}, and was left out.")
                notebook.cells[started[-1]].source = "pass"
        lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {found["part"]: found for found in map(json.loads, lines)}


def verdict(id: str, results: dict[str, dict]) -> dict:
    found = results.get(id)
    if found is None:
        message = "its check was not reached: something before it went wrong."
        return {"id": id, "points": 0.0, "max_points": PARTS[id].points, "status": "missing", "message": message}
    return {"id": id, **{key: found[key] for key in ("points", "max_points", "status", "message")}}
