"""A class at a glance, from nbgrader's gradebook and the graded notebooks beside it: who is where, and what is commonly believed."""

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path

from specdec_grader.classroom.course import require_nbgrader
from specdec_lab.course.quiz import MISCONCEPTIONS
from specdec_lab.errors import LabError
from specdec_lab.show.table import markdown_table, one_line


def read_class(gradebook: Path) -> dict:
    """What `specdec-lab class-report --json` prints.

    Returns:
        {"assignments": [name], "beliefs": [{"number", "belief", "students": how many}], "students": [{"name",
        "points": {assignment: {"points", "max_points", "waits_for_a_hand"}}, "beliefs": [number]}]}

    Raises:
        LabError: when it is no gradebook.
    """
    require_nbgrader()
    if not gradebook.is_file():
        raise LabError(
            f"{gradebook} is not there: it is the file gradebook.db of a course that `specdec-lab course` wrote."
        )
    try:
        assignments, students = rows_of(gradebook)
    except sqlite3.Error as e:
        raise LabError(f"{gradebook} is no gradebook ({type(e).__name__}).") from e
    for student in students:
        graded = (gradebook.absolute().parent / "autograded" / student["name"]).glob("*/*.ipynb")
        student["beliefs"] = sorted(set().union(*map(beliefs, graded)))
    counts = Counter(number for s in students for number in s["beliefs"])
    common = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))  # the most frequent first
    named = [{"number": number, "belief": MISCONCEPTIONS[number], "students": n} for number, n in common]
    return {"schema": 1, "assignments": assignments, "students": students, "beliefs": named}


def rows_of(gradebook: Path) -> tuple[list[str], list[dict]]:
    """The names of the assignments, and each student with the points of each submission.

    Raises:
        sqlite3.Error: when it is no gradebook.
    """
    from nbgrader.api import Gradebook

    with tempfile.TemporaryDirectory() as folder:
        # A copy: no sign in its name means something in a database's address, as ? and # do, and nothing is changed.
        copy = shutil.copy(gradebook, Path(folder) / "gradebook.db")
        with closing(sqlite3.connect(copy)) as file:  # nbgrader would make a gradebook of any file
            file.execute("SELECT id FROM student")
        with Gradebook(f"sqlite:///{copy}", "speculative_decoding") as book:
            students = [
                {
                    "name": student.id,
                    "points": {
                        s.assignment.name: {
                            "points": s.score, "max_points": s.max_score, "waits_for_a_hand": s.needs_manual_grade,
                        }
                        for s in book.student_submissions(student.id)
                    },
                }
                for student in sorted(book.students, key=lambda student: student.id)
            ]  # fmt: skip
            return sorted(str(a.name) for a in book.assignments), students


def beliefs(path: Path) -> set[int]:
    """The misconceptions that the checks of a graded notebook found."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        found = {o.get("metadata", {}).get("specdec_lab", {}).get("misconception") for o in outputs}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return set()
    return {number for number in found if number in MISCONCEPTIONS}


def body(data: dict) -> str:
    """The report as Markdown: a row for each student and the common misconceptions, from what `read_class` returns."""
    names, students = data["assignments"], data["students"]
    rows = [
        (s["name"], *(points(s["points"].get(a)) for a in names), ", ".join(map(str, s["beliefs"])) or "–")
        for s in students
    ]
    beliefs = [(b["number"], b["belief"], b["students"]) for b in data["beliefs"]]
    waiting = sum(found["waits_for_a_hand"] for s in students for found in s["points"].values())
    numbers = [name.partition("_")[0] for name in names]  # ten columns have no room for names
    parts = [
        f"{len(students)} students. ✎ marks what waits for a written answer to be read ({waiting}).",
        markdown_table(("student", *numbers, "misconceptions"), rows),
        "## Common misconceptions",
        markdown_table(("number", "belief", "students"), beliefs) if beliefs else "None was found.",
        f"Assignments: {one_line(', '.join(names))}.",
    ]
    return "\n\n".join(parts)


def points(found: dict | None) -> str:
    if found is None:
        return "–"
    return f"{found['points']:g}/{found['max_points']:g}{' ✎' if found['waits_for_a_hand'] else ''}"
