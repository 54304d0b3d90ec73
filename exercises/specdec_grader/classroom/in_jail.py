"""What nbgrader's autograde does in this course in place of running a notebook itself, and how its pages show a text."""

import re
import uuid
from pathlib import Path

import bleach
import nbformat
from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets import Bool

from specdec_grader.checks import output
from specdec_grader.learner.jail import OPEN
from specdec_grader.notebook import EXERCISES, calls, grade_apart
from specdec_grader.part import Verdict


def preprocessors() -> tuple[list[type], list[type]]:
    """nbgrader's own two lists: what makes a notebook whole again, with `AllCells` before it; and what grades it, with
    `InJail` in place of what runs the code.
    """
    first, second = (
        trait.default_args[0] for trait in (Autograde.sanitize_preprocessors, Autograde.autograde_preprocessors)
    )
    return [AllCells, *first], [InJail if p is Execute else p for p in second]


def given_out(resources: dict) -> tuple[NotebookNode, dict[str, NotebookNode]]:
    """The exercise as it was given out, and its cells by the names that nbgrader has for them."""
    path = EXERCISES / f"{resources['nbgrader']['notebook']}.ipynb"
    if not path.is_file():
        raise NbGraderException(f"{path.stem} is none of the course's exercises.")
    exercise = nbformat.read(path, as_version=4)
    return exercise, {c.metadata.nbgrader.grade_id: c for c in exercise.cells if "nbgrader" in c.metadata}


class AllCells(NbGraderPreprocessor):
    """Put back each cell of the exercise that is gone, and take away all metadata that are not the exercise's: nbgrader
    fails on some, and its pages show others as they are.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        exercise, asked = given_out(resources)
        nb.metadata = exercise.metadata
        here = set()
        for cell in nb.cells:
            about = cell.metadata.get("nbgrader")
            id = about.get("grade_id") if isinstance(about, dict) else None
            known = isinstance(id, str) and id in asked
            cell.metadata = NotebookNode({"nbgrader": about} if known else {})
            if "id" in cell:
                cell.id = uuid.uuid4().hex[:8]
            here |= {id} if known else set()
        nb.cells += [cell for id, cell in asked.items() if id not in here]
        return nb, resources


# How a cell of text is shown: as HTML that looks like the exercise, runs nothing and loads nothing.
TAGS = {*bleach.ALLOWED_TAGS, *(f"h{n}" for n in range(1, 7)), "table", "thead", "tbody", "tr", "th", "td"}
TAGS |= {"p", "br", "hr", "pre", "div", "span", "img", "details", "summary", "sub", "sup", "del", "kbd", "dl", "dt", "dd"}  # fmt: skip
ATTRIBUTES = {("a", "href"): r"(https?|mailto):.*", ("img", "src"): r"data:image/.*", ("img", "alt"): ".*"}
OF_CODE = r"highlight|[a-z]\w{0,2}"  # the classes of coloured code: others would move things on the page


def is_harmless(tag: str, name: str, value: str) -> bool:
    allowed = OF_CODE if name == "class" else ATTRIBUTES.get((tag, name))
    return bool(allowed and re.fullmatch(allowed, value.strip(), re.I | re.S))


@pass_context
def harmless(context: Context, source: str) -> str:
    """Markdown as HTML, for nbconvert: what could run is shown as the text that it is."""
    attachments = context.get("cell", {}).get("attachments", {})
    renderer = IPythonRenderer(escape=False, attachments=attachments, exclude_anchor_links=True)
    html = MarkdownWithMath(renderer=renderer).render(source)
    return bleach.clean(html, TAGS, is_harmless, protocols=["http", "https", "mailto", "data"])


class InJail(NbGraderPreprocessor):
    """Grade the notebook as it was handed in, and write each verdict where nbgrader looks for it."""

    unlocked = Bool(False, help="without bubblewrap the code runs as you").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        about = resources["nbgrader"]
        course = CourseDirectory(parent=self)
        folder = course.format_path(course.submitted_directory, about["student"], about["assignment"])
        path = Path(folder, f"{about['notebook']}.ipynb")
        found = grade_apart(path, self.log.warning, self.unlocked, about["notebook"])
        if "error" in found:
            raise NbGraderException(found["error"])
        if not found["locked"]:
            self.log.warning(OPEN)
        verdicts = {part["id"]: part for part in found["parts"]}
        checks = {id: calls(cell.source) for id, cell in given_out(resources)[1].items() if cell.cell_type == "code"}
        for cell in nb.cells:
            if cell.cell_type == "code":
                here = checks.get(cell.metadata.get("nbgrader", {}).get("grade_id"), ())
                cell.outputs = [output for check in here for output in outputs(verdicts[check.part])]
                cell.execution_count = None
        return nb, resources


def outputs(verdict: dict) -> list[NotebookNode]:
    """What `check` leaves in a notebook: the card, and the points, which nbgrader reads."""
    keys = ("status", "points", "max_points", "message", "misconception")
    card = output(Verdict(verdict["id"], *(verdict[key] for key in keys)))
    points = {"text/plain": repr(float(verdict["points"]))}
    return [new_output("display_data", **card), new_output("execute_result", data=points)]
