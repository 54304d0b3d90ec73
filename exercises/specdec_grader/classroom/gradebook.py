"""A class at a glance, from nbgrader's gradebook and the graded notebooks beside it: who is where, and what is commonly believed."""

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_grader.classroom.nbgrader_course import require_nbgrader
from specdec_lab.course.quiz import MISCONCEPTIONS
from specdec_lab.errors import LabError

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


def read_class(gradebook: Path) -> dict:
    """What `specdec-lab class-report --json` prints.

    Returns:
        {"assignments": [name], "beliefs": [{"number", "belief", "students": how many}], "students": [{"name",
        "points": {assignment: {"points", "max_points", "waits_for_a_hand"}}, "beliefs": [number]}]}

    Raises:
        LabError: when it is no gradebook.
    """
    require_nbgrader()
    from sqlalchemy.exc import SQLAlchemyError

    if not gradebook.is_file():
        raise LabError(
            f"{gradebook} is not there: it is the file gradebook.db of a course that `specdec-lab course` wrote."
        )
    graded = gradebook.absolute().parent / "autograded"
    students = []
    try:
        with opened(gradebook) as book:
            assignments = sorted(a.name for a in book.assignments)
            for name in sorted(s.id for s in book.students):
                points, found = {}, set()
                for s in book.student_submissions(name):
                    waits = s.needs_manual_grade
                    points[s.assignment.name] = dict(points=s.score, max_points=s.max_score, waits_for_a_hand=waits)
                    found = found.union(*map(beliefs, (graded / name / s.assignment.name).glob("*.ipynb")))
                students.append({"name": name, "points": points, "beliefs": sorted(found)})
    except (SQLAlchemyError, sqlite3.Error) as e:
        raise LabError(f"{gradebook} is no gradebook ({type(e).__name__}).") from e
    counts = Counter(number for s in students for number in s["beliefs"])
    common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))  # the most frequent first
    named = [{"number": number, "belief": MISCONCEPTIONS[number], "students": n} for number, n in common]
    return {"schema": 1, "assignments": assignments, "students": students, "beliefs": named}


@contextmanager
def opened(gradebook: Path) -> Iterator["Gradebook"]:
    """A copy, to be read, where no sign in a folder's name means something in a database's address, as ? and # do."""
    from nbgrader.api import Gradebook

    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(gradebook, Path(folder) / "gradebook.db")
        with closing(sqlite3.connect(path)) as file:  # nbgrader would make a gradebook of an empty file
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'student'").fetchone():
                raise LabError(f"{gradebook} is no gradebook: it holds no table of students.")
        with Gradebook(f"sqlite:///{path}", "speculative_decoding") as book:
            yield book


def beliefs(path: Path) -> set[int]:
    """The misconceptions that the checks of a graded notebook found."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        found = {o.get("metadata", {}).get("specdec_lab", {}).get("misconception") for o in outputs}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return set()
    return {number for number in found if number in MISCONCEPTIONS}
