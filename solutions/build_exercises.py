"""Make solutions/*.ipynb and exercises/*.ipynb from solutions/src/*.md, the one source of both.

A solution is the source, executed. An exercise is the solution without what stands between
BEGIN SOLUTION and END SOLUTION, not executed; nbgrader's own tool takes it out. Both carry
the metadata by which nbgrader knows what to grade. `tests/test_exercises.py` fails when a file differs from its source.

    python solutions/build_exercises.py [NAME …]     execute and store (all, or those whose name contains NAME)
"""

import re
import sys
from pathlib import Path

import nbformat
from nbgrader.preprocessors import ClearSolutions
from traitlets.config import Config

HERE = Path(__file__).parent
CHECK = re.compile(r'\bcheck\("([\w.-]+)"')
sys.path.insert(0, str(HERE.parent / "lessons"))
import build as lessons  # noqa: E402
from specdec_grader.checks import PARTS  # noqa: E402
from specdec_grader.classroom.course import STUB, TEXT_STUB  # noqa: E402
from specdec_grader.notebook import ANSWER, EXERCISES  # noqa: E402


def from_source(source: Path) -> nbformat.NotebookNode:
    """The solution, not executed."""
    notebook = lessons.from_source(source, terms=False)
    for cell in notebook.cells:
        if found := CHECK.search(cell.source):
            mark(cell, f"check-{found[1]}", points=PARTS[found[1]].points, grade=True, locked=True)
        elif found := ANSWER.search(cell.source):
            mark(cell, f"answer-{found[1]}", points=int(found[2]), grade=True, solution=True)
        elif "### BEGIN SOLUTION" in cell.source:
            mark(cell, f"solution-{cell.id}", solution=True)
    return notebook


def mark(cell: nbformat.NotebookNode, grade_id: str, points: int | None = None, **what: bool) -> None:
    flags = {"grade": False, "locked": False, "solution": False, "task": False} | what
    own = {"grade_id": grade_id.replace(".", "-"), "schema_version": 3, **flags} | (
        {"points": points} if points is not None else {}
    )
    cell.metadata["nbgrader"] = own


def exercise(solution: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """What the learner gets: the same cells, with stubs in place of answers, and no results."""
    notebook = nbformat.from_dict(solution)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    settings = Config()
    settings.ClearSolutions.code_stub = {"python": STUB}
    settings.ClearSolutions.text_stub = TEXT_STUB
    settings.ClearSolutions.enforce_metadata = False
    cleared, _ = ClearSolutions(config=settings).preprocess(notebook, {})
    for cell in cleared.cells:
        if "nbgrader" in cell.metadata:  # nbgrader adds what it would have added at release
            cell.metadata["nbgrader"].pop("checksum", None)
    return cleared


def build(source: Path) -> None:
    notebook = from_source(source)
    write(exercise(notebook), EXERCISES / f"{source.stem}.ipynb")
    lessons.execute(notebook, HERE)
    lessons.store(notebook, HERE / f"{source.stem}.ipynb")
    print(f"{source.stem}: solution and exercise")


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for source in sorted((HERE / "src").glob("*.md")):
        if not sys.argv[1:] or any(name in source.stem for name in sys.argv[1:]):
            build(source)
