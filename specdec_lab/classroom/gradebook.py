"""A class at a glance, from nbgrader's gradebook and the graded notebooks beside it: who is where, and what is commonly believed."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from specdec_lab.classroom.nbgrader_course import nbgrader_api
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.errors import LabError


@dataclass
class Student:
    """points: assignment → (points, of how many, waits for a hand). beliefs: numbers of misconceptions found."""

    name: str
    points: dict[str, tuple[float, float, bool]] = field(default_factory=dict)
    beliefs: set[int] = field(default_factory=set)


def read_class(gradebook: Path) -> tuple[list[str], list[Student]]:
    """The assignments, and every student of a gradebook.

    Raises:
        LabError: when it is no gradebook.
    """
    nbgrader_api()
    from nbgrader.api import Gradebook
    from sqlalchemy.exc import SQLAlchemyError

    if not gradebook.is_file():
        raise LabError(
            f"{gradebook} is not there: it is the file gradebook.db of a course that `specdec-lab course` wrote."
        )
    root = gradebook.absolute().parent
    try:
        with Gradebook(f"sqlite:///{gradebook.absolute()}", "speculative_decoding") as book:
            assignments = sorted(a.name for a in book.assignments)
            students = [Student(s.id) for s in sorted(book.students, key=lambda s: s.id)]
            for student in students:
                for submission in book.student_submissions(student.name):
                    name = submission.assignment.name
                    student.points[name] = submission.score, submission.max_score, submission.needs_manual_grade
                    for path in (root / "autograded" / student.name / name).glob("*.ipynb"):
                        student.beliefs |= beliefs(path)
    except SQLAlchemyError as e:
        raise LabError(f"{gradebook} is no gradebook ({type(e).__name__}).") from e
    return assignments, students


def beliefs(path: Path) -> set[int]:
    """The misconceptions that the checks of a graded notebook named."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return set()
    printed = "".join("".join(o.get("text", "")) for c in cells for o in c.get("outputs", []))
    return {number for number, belief in MISCONCEPTIONS.items() if f"“{belief}”" in printed}


def as_data(assignments: list[str], students: list[Student]) -> dict:
    """Plain data: {"assignments", "students": [{"name", "points", "beliefs"}], "beliefs": [{"number", "belief", "students"}]}."""
    common = Counter(number for s in students for number in s.beliefs)
    return {
        "schema": 1,
        "assignments": assignments,
        "students": [
            {
                "name": s.name,
                "points": {
                    a: {"points": got, "max_points": most, "waits_for_a_hand": waits}
                    for a, (got, most, waits) in s.points.items()
                },
                "beliefs": sorted(s.beliefs),
            }
            for s in students
        ],
        "beliefs": [
            {"number": number, "belief": MISCONCEPTIONS[number], "students": n}
            for number, n in sorted(common.items(), key=lambda pair: (-pair[1], pair[0]))
        ],
    }
