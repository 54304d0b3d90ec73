"""The collected notebooks of an nbgrader course graded again, where no code of theirs can reach the marks."""

from collections.abc import Iterator
from pathlib import Path

from specdec_grader.classroom.gradebook import opened
from specdec_grader.classroom.nbgrader_course import require_nbgrader
from specdec_grader.notebook import grade_each
from specdec_grader.reader import exercises
from specdec_lab.errors import LabError, Say, silent


def grade_again(course: Path, say: Say = silent, unlocked: bool = False) -> dict:
    """What `specdec-lab regrade --json` prints.

    Returns:
        {"notebooks": how many, "differences": [{"student", "assignment", "part", "nbgrader": points or None, "here":
        points, "message"}], "problems": [a sentence for each notebook that could not be graded]}

    Raises:
        LabError: when the folder holds no course.
    """
    require_nbgrader()
    collected = sorted((course / "submitted").glob("*/*/*.ipynb"))
    if not (course / "gradebook.db").is_file() or not collected:
        raise LabError(f"{course} holds no gradebook.db, or nothing in submitted/: it should be a course's folder.")
    differences, problems = [], []
    with opened(course / "gradebook.db") as book:
        for path in collected:
            student, assignment = path.parts[-3:-1]
            say(f"{student}: {assignment} …")
            if assignment not in exercises():
                problems.append(f"{student}: {assignment} is none of the course's exercises.")
                continue
            (graded,) = grade_each([path], say, unlocked, assignment)
            if "error" in graded:
                problems.append(f"{student}: {graded['error']}")
                continue
            marks = dict(marks_of(book, student, assignment))
            for part in graded["parts"]:
                old = marks.get(part["id"])
                if part["status"] != "by hand" and (old is None or abs(old - part["points"]) > 0.005):
                    differences.append(
                        {"student": student, "assignment": assignment, "part": part["id"], "nbgrader": old}
                        | {"here": part["points"], "message": part["message"]}
                    )
    return {"schema": 1, "notebooks": len(collected), "differences": differences, "problems": problems}


def marks_of(book, student: str, assignment: str) -> Iterator[tuple[str, float]]:
    """The points that nbgrader gave for each part; nothing where it has not graded yet."""
    from nbgrader.api import MissingEntry

    cells = {check.grade_id: id for id, check in exercises()[assignment].checks.items()}
    try:
        for notebook in book.find_submission(assignment, student).notebooks:
            for mark in notebook.grades:
                if mark.name in cells:
                    yield cells[mark.name], mark.auto_score or 0.0
    except MissingEntry:
        return
