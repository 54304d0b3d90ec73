"""The collected notebooks of an nbgrader course graded again, where no code of theirs can reach the marks."""

from collections.abc import Iterator
from pathlib import Path

from specdec_lab.classroom.gradebook import opened
from specdec_lab.classroom.nbgrader_course import require_nbgrader
from specdec_lab.classroom.notebook import exercise_of, grade, parts_of, read
from specdec_lab.errors import LabError
from specdec_lab.say import Say, silent


def grade_again(course: Path, say: Say = silent) -> dict:
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
            try:
                found = grade(path, say)["parts"]
            except LabError as e:
                problems.append(f"{student}: {e}")
                continue
            marks = dict(marks_of(book, student, assignment, path))
            for part in found:
                old = marks.get(part["id"])
                if part["status"] != "by hand" and (old is None or abs(old - part["points"]) > 0.005):
                    differences.append(
                        {"student": student, "assignment": assignment, "part": part["id"], "nbgrader": old}
                        | {"here": part["points"], "message": part["message"]}
                    )
    return {"schema": 1, "notebooks": len(collected), "differences": differences, "problems": problems}


def marks_of(book, student: str, assignment: str, path: Path) -> Iterator[tuple[str, float]]:
    """The points that nbgrader gave for each part; nothing where it has not graded yet."""
    from nbgrader.api import MissingEntry

    cells = {cell: id for id, cell in parts_of(exercise_of(read(path), path)).items()}
    try:
        for notebook in book.find_submission(assignment, student).notebooks:
            for mark in notebook.grades:
                if mark.name in cells:
                    yield cells[mark.name], mark.auto_score or 0.0
    except MissingEntry:
        return
