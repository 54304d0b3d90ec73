"""What nbgrader's autograde does in this course in place of running a notebook itself."""

from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets import Bool

from specdec_lab.classroom.notebook import grade_apart
from specdec_lab.classroom.reader import exercises
from specdec_lab.course.judges.part import Judgement
from specdec_lab.show.feedback import output


def preprocessors() -> list[type]:
    """nbgrader's own list, with `InJail` in place of what runs the code."""
    return [InJail if p is Execute else p for p in Autograde.autograde_preprocessors.default_args[0]]


class InJail(NbGraderPreprocessor):
    """Grade the notebook as it was handed in, and write each verdict where nbgrader looks for it."""

    unlocked = Bool(False, help="run the code also where nothing locks it in").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        about = resources["nbgrader"]
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
