"""A ready course for nbgrader: the exercises as assignments, released and in a gradebook.

nbgrader's own autograde runs a notebook's code as the teacher and reads the marks from what it prints. In this course
`in_jail.InJail` stands in its place: the notebook is graded as `specdec-lab grade` does it, and nbgrader keeps the marks.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_grader.notebook import EXERCISES
from specdec_lab.course.working_copy import cleared
from specdec_lab.errors import LabError

if TYPE_CHECKING:
    from nbgrader.apps import NbGraderAPI

SOLUTIONS = EXERCISES.parent / "solutions"
CONFIG = '''"""nbgrader's settings for this course. Its commands are run in this folder."""

from specdec_grader.classroom.in_jail import preprocessors

c = get_config()  # noqa: F821  nbgrader provides it
c.CourseDirectory.course_id = "speculative_decoding"
c.CourseDirectory.root = {root!r}
c.ClearSolutions.code_stub = {{"python": {stub!r}}}
c.ClearSolutions.text_stub = {text!r}
# The learners' code runs locked in, and reaches no mark.
c.Autograde.sanitize_preprocessors, c.Autograde.autograde_preprocessors = preprocessors()
# What they write is shown in your pages, and runs nothing there.
c.HTMLExporter.filters = {{"markdown2html": "specdec_grader.classroom.in_jail.harmless"}}
# c.InJail.unlocked = True  # without bubblewrap: it runs as you, and can read and write all of your files
'''
STUB = "...  # your answer"  # a function then returns nothing, and does not raise
TEXT_STUB = "*Your answer here.*"


def write_course(out: Path) -> list[str]:
    """Write the course into an empty or new folder; returns the names of its assignments.

    Raises:
        LabError: when the folder holds something, or nbgrader is not installed.
    """
    if out.exists() and any(out.iterdir()):
        raise LabError(f"{out} is not empty: choose a new folder, so that no gradebook is overwritten.")
    require_nbgrader()
    import nbformat

    out = out.absolute()
    names = sorted(p.stem for p in SOLUTIONS.glob("*.ipynb"))
    for name in names:
        notebook = cleared(nbformat.read(SOLUTIONS / f"{name}.ipynb", as_version=4))
        folder = out / "source" / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")
    (out / "nbgrader_config.py").write_text(CONFIG.format(root=str(out), stub=STUB, text=TEXT_STUB), encoding="utf-8")
    api = nbgrader_api(out)
    for name in names:
        done = api.generate_assignment(name)
        if not done["success"]:
            log = [line for line in str(done.get("log", "")).splitlines() if "Error" in line] or ["no message"]
            raise LabError(f"nbgrader could not make the assignment {name}: {log[-1].strip()}")
    return names


def require_nbgrader() -> None:
    """Raises LabError when nbgrader is not installed."""
    if find_spec("nbgrader") is None:
        raise LabError("nbgrader is not installed here: run  pip install -c constraints.txt -e '.[class]'  first.")


def nbgrader_api(root: Path) -> "NbGraderAPI":
    """nbgrader for the course in the folder `root`."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    # nbgrader starts a program of its own environment, which need not be the active one.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    config = Config()
    text = (root / "nbgrader_config.py").read_text(encoding="utf-8")
    exec(compile(text, "nbgrader_config.py", "exec"), {"get_config": lambda: config})
    config.CourseDirectory.root = str(root)  # it may have been moved
    return NbGraderAPI(CourseDirectory(config=config), config=config)
