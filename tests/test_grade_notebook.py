"""Grading notebooks: whatever a learner did to one, it is graded or refused with a sentence, and the others are not touched."""

import json
from pathlib import Path

import nbformat
import pytest

from specdec_lab.classroom import notebook as module
from specdec_lab.classroom.learner import Learner
from specdec_lab.classroom.notebook import CHECK, EXERCISES, grade
from specdec_lab.cli import main
from specdec_lab.course.judges.part import PARTS
from specdec_lab.errors import LabError

SOLUTIONS = Path(__file__).parents[1] / "solutions"


def notebook(solved: bool = True, stem: str = "06_variants") -> nbformat.NotebookNode:
    """Without the cell that compares two drafters: it is no part of a mark, and torch would be imported for it each time."""
    made = nbformat.read((SOLUTIONS if solved else EXERCISES) / f"{stem}.ipynb", as_version=4)
    made.cells = [c for c in made.cells if not c.source.startswith("compare(")]
    return made


def graded(tmp_path, made: nbformat.NotebookNode, **more) -> tuple[dict, list[str]]:
    nbformat.write(made, tmp_path / "mine.ipynb")
    said: list[str] = []
    return grade(tmp_path / "mine.ipynb", said.append, **more), said


def status(result: dict) -> list[str]:
    return [p["status"] for p in result["parts"]]


def put(made: nbformat.NotebookNode, code: str, at: int = 0) -> nbformat.NotebookNode:
    made.cells.insert(at, nbformat.v4.new_code_cell(code))
    return made


def solution_cells(made: nbformat.NotebookNode) -> list:
    return [c for c in made.cells if c.metadata.get("nbgrader", {}).get("solution")]


def test_a_solved_notebook_has_full_marks_under_any_name(tmp_path):
    result, said = graded(tmp_path, notebook())
    assert (result["notebook"], result["points"], result["max_points"], said) == ("mine.ipynb", 6.0, 6, [])
    assert status(result) == ["right", "right"]
    assert set(result["parts"][0]) == {"id", "points", "max_points", "status", "message"}


def test_a_half_solved_one_has_half(tmp_path):
    half, solved = notebook(solved=False), notebook()
    solution_cells(half)[0].source = solution_cells(solved)[0].source
    result, _ = graded(tmp_path, half)
    assert (status(result), result["points"]) == (["right", "open"], 3.0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "did not come to an end"),
        ("import os\nos._exit(1)", "stopped Python"),
    ],
)
def test_a_cell_that_hangs_or_kills_is_left_out_and_the_rest_is_graded(tmp_path, monkeypatch, code, said):
    """Beside a cell that makes a lot of noise and ends in an error, which changes nothing."""
    run = Learner.run

    def patient(self, source):  # a busy machine may take long for the other cells
        self.seconds = 2.0 if source == code else 600
        run(self, source)

    monkeypatch.setattr(Learner, "run", patient)
    noise = "import sys\nfor _ in range(50):\n    print('x' * 1_000_000)\nprint('oh', file=sys.stderr)\n1 / 0"
    result, told = graded(tmp_path, put(put(notebook(), code), noise))
    assert status(result) == ["right", "right"]
    assert len(told) == 1 and said in told[0] and told[0].startswith("mine.ipynb: the cell “")


def test_a_syntax_error_costs_its_own_part_only(tmp_path):
    made = notebook()
    solution_cells(made)[0].source = "def propose(text, gamma)\n    return []"
    result, said = graded(tmp_path, made)
    assert (status(result), result["points"], said) == (["missing", "right"], 3.0, [])
    assert "was not reached" in result["parts"][0]["message"]


def test_checks_that_were_deleted_edited_or_faked_are_the_courses_again(tmp_path):
    made = notebook(solved=False)
    first, second = (c for c in made.cells if CHECK.search(c.source))
    made.cells.remove(first)
    second.source = "3.0"  # its id still says what it was
    result, _ = graded(tmp_path, made)
    assert (status(result), result["points"]) == (["open", "open"], 0.0)
    faked = put(notebook(solved=False), "def check(id, made):\n    return 3.0", at=len(notebook().cells))
    assert graded(tmp_path, faked)[0]["points"] == 0.0


def test_a_check_of_nothing_that_is_asked_for_is_a_cell_like_others(tmp_path):
    """A learner may try what `check` does; that ended the grading of the whole class."""
    made = notebook()
    for code in ("check()", "check(5)", 'check("6.nothing", 1)', "check(*[1])"):
        put(made, code)
    result, said = graded(tmp_path, made)
    assert (status(result), said) == (["right", "right"], [])


def test_written_answers_are_listed_and_counted_nowhere(monkeypatch):
    """A person gives their points: who solved all that can be checked has all points that are said."""
    monkeypatch.setattr(module, "run", lambda *given: {})
    result = grade(EXERCISES / "09_checkpoint.ipynb")
    by_hand = [p for p in result["parts"] if p["status"] == "by hand"]
    assert by_hand and all((p["points"], p["max_points"] > 0) == (0.0, True) for p in by_hand)
    checked = sum(part.points for id, part in PARTS.items() if id.startswith("9."))
    assert (result["points"], result["max_points"]) == (0.0, checked)


def test_what_is_none_of_the_exercises_is_refused(tmp_path):
    (tmp_path / "broken.ipynb").write_text("{", encoding="utf-8")
    with pytest.raises(LabError, match="is no notebook"):
        grade(tmp_path / "broken.ipynb")
    with pytest.raises(LabError, match="cannot be read"):
        grade(tmp_path / "nowhere.ipynb")
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")])
    with pytest.raises(LabError, match="none of the course's exercises"):
        graded(tmp_path, other)


def test_a_batch_goes_on_past_a_bad_one_and_says_that_it_runs_code(tmp_path, capsys):
    nbformat.write(notebook(), tmp_path / "good.ipynb")
    (tmp_path / "bad.ipynb").write_text("{", encoding="utf-8")
    assert main(["grade", str(tmp_path / "bad.ipynb"), str(tmp_path / "good.ipynb"), "--json"]) == 0
    out, err = capsys.readouterr()
    bad, good = json.loads(out)
    assert "is no notebook" in bad["error"] and good["points"] == 6.0
    assert "is run, as you" in err
    assert main(["grade", str(tmp_path / "good.ipynb")]) == 0
    assert "good.ipynb: 6 of 6 points\n  ✓ 6.propose: right." in capsys.readouterr().out
    assert main(["grade", str(tmp_path / "bad.ipynb"), "--json"]) == 2
