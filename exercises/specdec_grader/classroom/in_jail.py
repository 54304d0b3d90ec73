"""What nbgrader's autograde does in this course in place of running a notebook itself."""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets import Bool

from specdec_grader.card import output
from specdec_grader.notebook import grade_apart
from specdec_grader.part import Judgement
from specdec_grader.reader import EXERCISES, exercises


def preprocessors() -> tuple[list[type], list[type]]:
    """nbgrader's own two lists: what makes a notebook whole again, with `AllCells` before it; and what grades it, with
    `InJail` in place of what runs the code.
    """
    first, second = (
        trait.default_args[0] for trait in (Autograde.sanitize_preprocessors, Autograde.autograde_preprocessors)
    )
    return [AllCells, *first], [InJail if p is Execute else p for p in second]


class AllCells(NbGraderPreprocessor):
    """Put back each cell of the exercise that is gone, and take away what is no metadata of nbgrader's: it fails on both."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        here = set()
        for cell in nb.cells:
            about = cell.metadata.get("nbgrader")
            if isinstance(about, dict) and isinstance(about.get("grade_id"), str):
                here.add(about["grade_id"])
            else:
                cell.metadata.pop("nbgrader", None)
        original = EXERCISES / f"{resources['nbgrader']['notebook']}.ipynb"
        for cell in nbformat.read(original, as_version=4).cells if original.is_file() else []:
            if cell.metadata.get("nbgrader", {}).get("grade_id") not in {None, *here}:
                nb.cells.append(cell)
        return nb, resources


class InJail(NbGraderPreprocessor):
    """Grade the notebook as it was handed in, and write each verdict where nbgrader looks for it."""

    unlocked = Bool(False, help="run the code also where nothing locks it in").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        about = resources["nbgrader"]
        if about["notebook"] not in exercises():
            raise NbGraderException(f"{about['notebook']} is none of the course's exercises.")
        course = CourseDirectory(parent=self)
        folder = course.format_path(course.submitted_directory, about["student"], about["assignment"])
        path = Path(folder, f"{about['notebook']}.ipynb")
        found = grade_apart(path, self.log.warning, self.unlocked, about["notebook"])
        if "error" in found:
            raise NbGraderException(found["error"])
        verdicts = {part["id"]: part for part in found["parts"]}
        part_of = {check.grade_id: id for id, check in exercises()[about["notebook"]].checks.items()}
        for cell in nb.cells:
            if cell.cell_type == "code":
                part = part_of.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
                cell.outputs, cell.execution_count = (outputs(verdicts[part]) if part else []), None
        return nb, resources


def outputs(verdict: dict) -> list[NotebookNode]:
    """What `check` leaves in a notebook: the card, and the points, which nbgrader reads."""
    keys = ("status", "points", "max_points", "message", "misconception")
    card = output(Judgement(verdict["id"], *(verdict[key] for key in keys)))
    points = {"text/plain": repr(float(verdict["points"]))}
    return [new_output("display_data", **card), new_output("execute_result", data=points)]
