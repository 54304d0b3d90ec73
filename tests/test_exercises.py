"""The exercise notebooks: made from one source with their solutions, solved for full marks, untouched for none, and without an answer in them.

Untouched exercises are run here, in this process; nbval runs the same cells with their solutions in kernels, in the
same `make test`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import build_exercises as build
import nbformat
import pytest
from specdec_grader.part import PARTS

import specdec_lab

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "solutions" / "src").glob("*.md"))


def read(folder: str, source: Path) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / folder / f"{source.stem}.ipynb", as_version=4)


def bare(notebook: nbformat.NotebookNode) -> list:
    return [(c.cell_type, c.source, c.metadata.get("nbgrader"), c.metadata.get("tags")) for c in notebook.cells]


def solution_lines(source: Path) -> set[str]:
    """Lines that only a solution has, and that say enough to be one."""
    inside = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", source.read_text(encoding="utf-8"), re.S)
    lines = {line.strip() for region in inside for line in region.splitlines()}
    return {line for line in lines if len(line) > 8}


def code_of(source: Path, with_model: bool) -> list[str]:
    """The code of an exercise; without the cells tagged “model”, which load one and give no points, if so asked."""
    cells = [cell for cell in read("exercises", source).cells if cell.cell_type == "code"]
    return [cell.source for cell in cells if with_model or "model" not in cell.metadata.get("tags", [])]


def points(text: str) -> int:
    """Of all checks and written answers."""
    return sum(PARTS[i].points for i in build.CHECK.findall(text)) + sum(int(n) for _, n in build.ANSWER.findall(text))


def test_every_part_is_asked_for_once():
    asked = [m for s in SOURCES for m in build.CHECK.findall(s.read_text(encoding="utf-8"))]
    assert sorted(asked) == sorted(PARTS)
    folders = ({p.stem for p in (ROOT / folder).glob("*.ipynb")} for folder in ("solutions", "exercises"))
    assert all(found == {s.stem for s in SOURCES} for found in folders)


def test_a_check_does_not_wait_for_torch():
    """It would take seconds in the first cell of every exercise; nor does the first round of the course."""
    first = "import specdec_lab as sd; sd.round_by_hand('We', 'go home', 'go home now')"
    script = (
        f"import sys; sys.modules['torch'] = None; from specdec_grader import check; print(check.__name__); {first}"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("check\n", "")


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: s.stem)
class TestExercise:
    def test_both_notebooks_are_what_the_source_says(self, source):
        made = build.from_source(source)
        assert bare(read("solutions", source)) == bare(made), "run `make exercises`"
        assert bare(read("exercises", source)) == bare(build.exercise(made)), "run `make exercises`"

    def test_no_answer_is_in_the_exercise(self, source):
        text = (ROOT / "exercises" / f"{source.stem}.ipynb").read_text(encoding="utf-8")
        assert "BEGIN SOLUTION" not in text and "END SOLUTION" not in text
        for line in solution_lines(source):
            assert json.dumps(line, ensure_ascii=False)[1:-1] not in text, line
        for cell in read("exercises", source).cells:
            assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)

    def test_the_solution_earns_full_marks(self, source):
        for cell in read("solutions", source).cells:
            if found := build.CHECK.search(cell.source):
                told = [o.data for o in cell.outputs if o.output_type == "display_data"]
                assert f"✓ {found[1]}: right" in "".join(data["text/plain"] for data in told)
                earned = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
                assert earned == [str(float(PARTS[found[1]].points))]  # what nbgrader reads
            if cell.cell_type == "code":
                assert not any(o.output_type == "error" or o.get("name") == "stderr" for o in cell.outputs)

    def test_the_untouched_exercise_runs_through_and_earns_nothing(self, source, fresh_ledger, capsys, monkeypatch):
        monkeypatch.chdir(ROOT / "exercises")
        names: dict = {}
        cells = code_of(source, with_model=False)
        assert any(map(build.CHECK.search, cells))
        for cell in cells:
            if build.CHECK.search(cell):
                capsys.readouterr()
                assert repr(eval(cell, names)) == "0.0" and "still open" in capsys.readouterr().out, cell
            else:
                exec(cell, names)

    def test_it_has_what_an_exercise_needs(self, source):
        text = source.read_text(encoding="utf-8")
        head, *parts = text.split("\n## Part ")
        assert parts
        assert source.stem == "09_checkpoint" or sum("**Core. " in piece for piece in parts) == 2
        for piece in parts:
            assert re.search(
                r"\*\*((Core|Further)\. )?Difficulty: (easy|medium|hard)\. About \d+ minutes?\. \d+ points?\.\*\*",
                piece,
            )
            assert piece.count("<details><summary>Hint ") == 3 or source.stem == "09_checkpoint"
            assert build.CHECK.search(piece)
            assert int(re.search(r"(\d+) points?\.\*\*", piece)[1]) == points(piece)
        assert int(re.search(r"(\d+) points", head)[1]) == points(text)


@pytest.mark.parametrize(
    "source", [s for s in SOURCES if '"model"]' in s.read_text(encoding="utf-8")], ids=lambda s: s.stem
)
def test_what_an_exercise_does_with_a_model_runs_before_it_is_solved(source, lab, fresh_ledger, monkeypatch):
    monkeypatch.chdir(ROOT / "exercises")
    monkeypatch.setattr(specdec_lab, "load", lambda: lab, raising=False)
    names: dict = {}
    for cell in code_of(source, with_model=True):
        exec(cell, names)
    assert names["lab"] is lab
