"""Grading notebooks: whatever a learner did to one, it is graded or refused with a sentence, and the others are not touched."""

import json
import os
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from specdec_grader.learner.jail import LIMITS
from specdec_grader.learner.process import Learner
from specdec_grader.mistake import Wrong
from specdec_grader.notebook import Run, grade, shortest_names
from specdec_grader.notebook import graded as grade_cells
from specdec_grader.part import PARTS
from specdec_grader.reader import EXERCISES, Cell, calls, exercise_of, exercises, is_only_checks, read_cells

from specdec_lab.cli import main
from specdec_lab.clock import limited
from specdec_lab.errors import LabError

pytestmark = pytest.mark.usefixtures("coarse_grids")
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


@pytest.mark.parametrize("stem", sorted(exercises()))
def test_every_solution_has_full_marks_and_every_exercise_none(stem):
    """Where learners do it themselves, nbval and test_exercises see the same; here it is the grader's route."""
    solved, untouched = grade(SOLUTIONS / f"{stem}.ipynb"), grade(EXERCISES / f"{stem}.ipynb")
    assert solved["points"] == solved["max_points"] > 0, solved["parts"]
    assert set(status(solved)) <= {"right", "by hand"}
    assert untouched["points"] == 0.0 and set(status(untouched)) <= {"open", "by hand"}, untouched["parts"]


def test_a_half_solved_one_has_half(tmp_path):
    half, solved = notebook(solved=False), notebook()
    solution_cells(half)[0].source = solution_cells(solved)[0].source
    result, said = graded(tmp_path, half)
    assert (status(result), result["points"], said) == (["right", "open"], 3.0, [])
    assert (result["notebook"], result["max_points"]) == ("mine.ipynb", 6)
    assert set(result["parts"][0]) == {"id", "points", "max_points", "status", "message", "misconception"}


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
        self.limits = replace(LIMITS, cell=2.0 if source == code else 600)
        return run(self, source)

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
    assert "the cell with its answer went wrong (SyntaxError" in result["parts"][0]["message"]


def test_checks_that_were_deleted_edited_or_faked_are_the_courses_again(tmp_path):
    made = notebook(solved=False)
    first, second = (c for c in made.cells if list(calls(c.source)))
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
    monkeypatch.setattr(Run, "to_the_end", lambda run: None)
    result = grade(EXERCISES / "09_checkpoint.ipynb")
    by_hand = [p for p in result["parts"] if p["status"] == "by hand"]
    assert by_hand and all((p["points"], p["max_points"] > 0) == (0.0, True) for p in by_hand)
    checked = sum(part.points for id, part in PARTS.items() if id.startswith("9."))
    assert (result["points"], result["max_points"]) == (0.0, checked)


# What honest learners do to a notebook


def merged(made):
    """The check is called at the end of the cell with the answer."""
    cells = made.cells
    at = next(i for i, c in enumerate(cells) if c.source.startswith("check("))
    cells[at - 1].source += "\n" + cells[at].source
    del cells[at]


def into_the_check(made):
    """The answer stands in the check's own cell, above the call."""
    cells = made.cells
    at = next(i for i, c in enumerate(cells) if c.source.startswith("check("))
    cells[at].source = cells[at - 1].source + "\n" + cells[at].source
    cells[at - 1].source = "pass"


def in_a_comment(made):
    solution_cells(made)[0].source += '\n# I run check("6.propose", propose) below\n'


def copied(made):
    """Stub and check stay as they were; both were copied to the end, and solved there."""
    (solved,) = (c for c in made.cells if "def propose" in c.source)
    (check,) = (c for c in made.cells if c.source.startswith('check("6.propose"'))
    made.cells += [nbformat.v4.new_code_cell(solved.source), nbformat.v4.new_code_cell(check.source)]
    solved.source = "def propose(text, gamma):\n    ...  # your answer"


def magics(made):
    solution_cells(made)[0].source = "!echo hello\n%precision 3\n" + solution_cells(made)[0].source


def other_quotes(made):
    for cell in made.cells:
        if cell.source.startswith("check("):
            cell.source = cell.source.replace('"', "'").replace("(", "( ").replace(")", " )  # mine")


def no_ids(made):
    for cell in made.cells:
        cell.metadata.clear()
    made.metadata.clear()


def asserts_its_points(made):
    """The next answer stands below, so that it is there only if the check gave what a right answer has."""
    first, second = solution_cells(made)
    second.source = f'{first.source}\nassert check("6.propose", propose) == 3\n{second.source}'
    first.source = "pass"


def adds_its_points(made):
    first, second = solution_cells(made)
    second.source = f'{first.source}\nall_of_them = sum([check("6.propose", propose)])\nif all_of_them < 3: raise SystemExit\n{second.source}'
    first.source = "pass"


def looks_at_the_texts(made):
    """As its page says: the texts are lent."""
    _, second = solution_cells(made)
    second.source = (
        "from specdec_grader.supplied.copying import replay, texts\n"
        "longest = max(len(text.prompt) for text in texts())\n"
        f"{second.source}\nassert replay(my_drafter, texts()[0]).tokens and longest > 1"
    )


def gives_an_iterator(made):
    for cell in solution_cells(made):
        name = cell.source.partition("def ")[2].partition("(")[0]
        cell.source += f"\n_{name} = {name}\ndef {name}(text, gamma): return iter(_{name}(text, gamma))"


HONEST = [merged, into_the_check, in_a_comment, copied, magics, other_quotes, no_ids]
HONEST += [asserts_its_points, adds_its_points, looks_at_the_texts, gives_an_iterator]


@pytest.mark.parametrize("change", HONEST, ids=lambda change: change.__name__)
def test_what_honest_learners_do_costs_nothing(tmp_path, change):
    made = notebook()
    change(made)
    result, said = graded(tmp_path, made)
    assert status(result) == ["right", "right"] and said == [], result["parts"]
    assert ("several places" in result["parts"][0]["message"]) is (change is copied)


def test_a_part_is_judged_until_it_is_right_and_not_for_ever(tmp_path, monkeypatch):
    calls_seen = []

    def judge(made):
        calls_seen.append(made())
        if calls_seen[-1] != "right":
            raise Wrong("not yet")

    monkeypatch.setitem(PARTS, "6.propose", replace(PARTS["6.propose"], judge=judge))
    cells = [Cell("code", "from specdec_grader import check")]
    for n in range(9):
        cells += [Cell("code", f"def propose(): return {n}"), Cell("code", 'check("6.propose", propose)')]
    cells += [Cell("code", "def propose(): return 'right'"), Cell("code", 'check("6.propose", propose)')]
    assert grade_cells(cells, "x", exercise="06_variants")["parts"][0]["status"] == "wrong"
    assert calls_seen == list(range(5))
    calls_seen.clear()
    assert grade_cells([*cells[:3], *cells[-2:], *cells[3:9]], "x", exercise="06_variants")["parts"][0]["points"] == 3
    assert calls_seen == [0, "right"]


def test_after_a_call_that_was_stopped_the_rest_is_judged_in_a_new_process(tmp_path, monkeypatch):
    """A judge that an alarm stops leaves the other process in mid-message: nothing may be asked of it any more."""
    monkeypatch.setitem(PARTS, "6.propose", replace(PARTS["6.propose"], seconds=1.0))
    made = notebook()
    solution_cells(made)[0].source = "def propose(text, gamma):\n    while True: pass"
    result, _ = graded(tmp_path, made)
    assert status(result) == ["wrong", "right"] and "did not come to an end" in result["parts"][0]["message"]


def test_answers_that_stop_python_cost_no_other_part_its_points(tmp_path):
    made = notebook(True, "05_choosing_gamma")
    for cell in solution_cells(made)[:3]:
        name = cell.source.partition("def ")[2].partition("(")[0]
        cell.source = f"import os\ndef {name}(*given):\n    os._exit(1)"
    result, _ = graded(tmp_path, made)
    assert status(result) == ["wrong", "wrong", "wrong", "right"], result["parts"]


def test_another_name_in_the_check_is_judged_too(tmp_path):
    made = notebook()
    solution_cells(made)[0].source = solution_cells(made)[0].source.replace("def propose", "def my_lookup")
    for cell in made.cells:
        cell.source = cell.source.replace('check("6.propose", propose)', 'check("6.propose", my_lookup)')
    assert status(graded(tmp_path, made)[0]) == ["right", "right"]


OTHER_FORMS = {
    "an iterator of lists for the target": (
        "02_draft_then_verify", "2.loop", ("target.extend(text[:-1])", "target.extend(iter(text[:-1]))"),
    ),
    "a chain for the target": (
        "02_draft_then_verify", "2.loop",
        ("target.extend(text[:-1])", "target.extend(__import__('itertools').chain(text[:-1]))"),
    ),
    "a text that is gone through from behind": (
        "02_draft_then_verify", "2.loop", ("target.extend(text[:-1])", "target.extend(reversed(text[:-1][::-1]))"),
    ),
    "a queue for the target": (
        "02_draft_then_verify", "2.loop", ("target.extend(text[:-1])", "target.extend(__import__('collections').deque(text[:-1]))"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_a_right_answer_in_another_form_has_full_marks(tmp_path, form):
    stem, part, (before, after) = OTHER_FORMS[form]
    made = notebook(True, stem)
    cell = next(c for c in solution_cells(made) if before in c.source)
    cell.source = cell.source.replace(before, after)
    result, _ = graded(tmp_path, made)
    assert next(p for p in result["parts"] if p["id"] == part)["status"] == "right", result["parts"]


def test_numbers_in_tensors_are_numbers_in_both_routes(tmp_path):
    made = notebook(True, "01_idle_math")
    last = solution_cells(made)[-1]
    last.source += "\nimport numpy as np\n_v = v\ndef v(gamma, T): return np.array([_v(gamma, T)])"
    result, _ = graded(tmp_path, made)
    assert set(status(result)) == {"right"}, result["parts"]


def test_notebooks_of_one_name_are_told_apart(tmp_path, capsys):
    paths = [tmp_path / name / "06_variants.ipynb" for name in ("alice", "bob")]
    for path in paths:
        path.parent.mkdir()
        nbformat.write(notebook(solved=False), path)
    assert main(["grade", *map(str, paths)]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert heads == [f"{name}/06_variants.ipynb: 0 of 6 points" for name in ("alice", "bob")]


def test_a_name_is_as_long_as_it_takes():
    found = shortest_names(["/c/a/x/1.ipynb", "/c/b/x/1.ipynb", "/c/2.ipynb", "/c/b/x/../x/3.ipynb", "/c/2.ipynb"])
    assert found == ["a/x/1.ipynb", "b/x/1.ipynb", "2.ipynb", "3.ipynb", "2.ipynb"]


def test_five_copies_of_a_check_are_no_five_guesses(tmp_path):
    """Where a part asks for a letter, the last answer counts."""
    made = notebook(solved=False, stem="09_checkpoint")
    put(made, "letters = iter('ABCDE')\ndef c1_why(): return next(letters)", at=len(made.cells))
    made.cells += [nbformat.v4.new_code_cell('check("9.c1.why", c1_why)') for _ in range(4)]
    result, _ = graded(tmp_path, made)
    assert next(p for p in result["parts"] if p["id"] == "9.c1.why")["points"] == 0.0


def test_a_link_and_a_notebook_of_very_many_cells_are_refused(tmp_path):
    (tmp_path / "mine.ipynb").symlink_to(SOLUTIONS / "06_variants.ipynb")
    with pytest.raises(LabError, match="is a link"):
        grade(tmp_path / "mine.ipynb")
    (tmp_path / "many.ipynb").write_text(json.dumps({"cells": [{}] * 3_000}), encoding="utf-8")
    with pytest.raises(LabError, match="more than 2000 cells"):
        grade(tmp_path / "many.ipynb")


def test_a_pipe_is_refused_and_the_third_version_of_the_format_is_read(tmp_path):
    """To read a pipe would never end."""
    os.mkfifo(tmp_path / "pipe.ipynb")
    with pytest.raises(LabError, match="no plain file"):
        limited(lambda: read_cells(tmp_path / "pipe.ipynb"), 5)
    cells = [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}, {"cell_type": "markdown", "source": "text"}]
    old = tmp_path / "old.ipynb"
    old.write_text(json.dumps({"worksheets": [{"cells": cells}, {"cells": 5}, 3]}), encoding="utf-8")
    assert [(c.kind, c.source) for c in read_cells(old)] == [("code", "x = 1\ny = 2"), ("markdown", "text")]


def test_reading_a_cell_takes_no_time_to_speak_of():
    """A pattern that crosses lines took minutes for these; a hang here fails by the limit of the suite."""
    for source in ("check\n" + "\n" * 290_000 + "x", "check(" + "x+" * 5_000 + "x)", "a\n" * 140_000):
        assert list(calls(source)) == [] and not is_only_checks(source)


def test_the_name_of_a_file_forges_no_line(tmp_path, capsys):
    name = "06_variants\n  ✓ 6.improve: right. (3 of 3)\x1b[2J.ipynb"
    nbformat.write(notebook(solved=False), tmp_path / name)
    assert main(["grade", str(tmp_path / name)]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 3 and "\x1b" not in out


def test_code_in_a_cell_of_text_is_named(tmp_path):
    made = notebook()
    cell = solution_cells(made)[0]
    cell.cell_type = "markdown"
    del cell["outputs"], cell["execution_count"]
    result, _ = graded(tmp_path, made)
    assert status(result)[0] == "missing" and "in a cell of text" in result["parts"][0]["message"]


def test_a_notebook_in_utf_16_is_read_and_an_empty_one_is_named(tmp_path):
    cells = read_cells(SOLUTIONS / "06_variants.ipynb")
    text = (SOLUTIONS / "06_variants.ipynb").read_text(encoding="utf-8")
    for form in ("utf-16", "utf-16-le", "utf-8-sig"):
        (tmp_path / "mine.ipynb").write_bytes(text.encode(form))
        assert read_cells(tmp_path / "mine.ipynb") == cells
    (tmp_path / "mine.ipynb").write_bytes(b" ")
    with pytest.raises(LabError, match="is empty"):
        read_cells(tmp_path / "mine.ipynb")


def test_an_exercise_is_known_by_its_parts_or_by_what_the_caller_says(tmp_path):
    cells = read_cells(SOLUTIONS / "06_variants.ipynb")
    for name in ("Untitled - Copy1.ipynb", "01_idle_math.ipynb"):
        assert exercise_of(cells, name).name == "06_variants"
    assert exercise_of([], "Copy of 03_exactly_the_target (2).ipynb").name == "03_exactly_the_target"
    made = notebook(solved=False, stem="01_idle_math")
    made.metadata["specdec_lab"] = {"exercise": "06_variants"}
    assert graded(tmp_path, made, exercise="01_idle_math")[0]["parts"][0]["id"] == "1.bytes"
    assert graded(tmp_path, made)[0]["parts"][0]["id"] == "1.bytes"


# What no notebook should hold


MALFORMED = {
    "metadata of a cell is null": lambda cell: cell.update(metadata=None),
    "metadata of a cell is a list": lambda cell: cell.update(metadata=[1]),
    "nbgrader is null": lambda cell: cell.update(metadata={"nbgrader": None}),
    "nbgrader is text": lambda cell: cell.update(metadata={"nbgrader": "solution"}),
    "grade_id is a list": lambda cell: cell.update(metadata={"nbgrader": {"grade_id": ["x"]}}),
    "grade_id is a number": lambda cell: cell.update(metadata={"nbgrader": {"grade_id": 3}}),
    "no metadata": lambda cell: cell.pop("metadata"),
    "no source": lambda cell: cell.pop("source"),
    "source is null": lambda cell: cell.update(source=None),
    "source is a number": lambda cell: cell.update(source=5),
    "source is a dict": lambda cell: cell.update(source={"a": 1}),
    "source holds other things": lambda cell: cell.update(source=["x = 1\n", 3, None]),
    "no kind": lambda cell: cell.pop("cell_type"),
    "kind is a list": lambda cell: cell.update(cell_type=["code"]),
    "a kind that is none": lambda cell: cell.update(cell_type="film"),
    "outputs are text": lambda cell: cell.update(outputs="none"),
    "blank": lambda cell: cell.update(source="   \n\t"),
    "zero bytes": lambda cell: cell.update(source="x = '\0'"),
    "half a character": lambda cell: cell.update(source="x = '\ud800'"),
    "5 MB": lambda cell: cell.update(source="x = '" + "a" * 5_000_000 + "'"),
    "a very long sum": lambda cell: cell.update(source="check(" + "+".join(["1"] * 20_000) + ")"),
    "very deep": lambda cell: cell.update(source="check(" + "(" * 5_000 + ")" * 5_000 + ")"),
}


def test_malformed_cells_cost_nothing_but_themselves(tmp_path):
    """A cell of each kind in one notebook: they do not disturb each other, nor the rest."""
    made = json.loads(nbformat.writes(notebook()))
    for change in MALFORMED.values():
        cell = {"cell_type": "code", "metadata": {}, "source": "y = 1", "outputs": [], "execution_count": None}
        change(cell)
        made["cells"].insert(2, cell)
    made["cells"] += [None, 3, "text", [], {}]
    (tmp_path / "06_variants.ipynb").write_text(json.dumps(made), encoding="utf-8")
    said = []
    result = grade(tmp_path / "06_variants.ipynb", said.append)
    assert status(result) == ["right", "right"], (result["parts"], said)
    assert len(said) <= 2 and all("left out" in line for line in said), said


NO_NOTEBOOKS = (b"", b"{", b"null", b"[]", b"3", b'{"cells": 3}', b'{"cells": null}', b'{"worksheets": 5}')
NO_NOTEBOOKS += (b"\xff\xfe\x00", b"[" * 100_000)


@pytest.mark.parametrize("data", NO_NOTEBOOKS, ids=lambda data: repr(data[:20]))
def test_what_is_no_notebook_is_one_sentence(tmp_path, data):
    (tmp_path / "bad.ipynb").write_bytes(data)
    with pytest.raises(LabError, match=r"bad\.ipynb.*\.$"):
        grade(tmp_path / "bad.ipynb")


def test_a_batch_goes_on_past_a_bad_one_and_says_that_it_runs_code(tmp_path, capsys):
    nbformat.write(notebook(), tmp_path / "good.ipynb")
    (tmp_path / "bad.ipynb").write_bytes(NO_NOTEBOOKS[-1])
    assert main(["grade", str(tmp_path / "bad.ipynb"), str(tmp_path / "good.ipynb"), "--json"]) == 0
    out, err = capsys.readouterr()
    bad, good = json.loads(out)
    assert bad["error"].endswith(".") and "bad.ipynb" in bad["error"] and good["points"] == 6.0
    assert "locked in" in err
    assert main(["grade", str(tmp_path / "good.ipynb")]) == 0
    assert "good.ipynb (exercise 06_variants): 6 of 6 points\n  ✓ 6.propose: right." in capsys.readouterr().out
    assert main(["grade", str(tmp_path / "bad.ipynb"), "--json"]) == 2


def test_a_notebook_has_a_time_of_its_own(tmp_path):
    made = notebook()
    for _ in range(8):
        put(made, "import time\ntime.sleep(0.5)")
    result, said = graded(tmp_path, made, limits=replace(LIMITS, notebook=2.0))
    assert result["points"] == 0.0 and "stopped after 2 seconds" in said[-1]


def test_where_the_time_of_the_notebook_ends_a_judge_that_is_said(tmp_path):
    made = notebook()
    solution_cells(made)[0].source = "def propose(text, gamma):\n    while True: pass"
    result, said = graded(tmp_path, made, limits=replace(LIMITS, notebook=4.0))
    assert "time ran out: a whole notebook has 4 seconds of processor time" in result["parts"][0]["message"]
    assert "stopped after 4 seconds" in said[-1]


def test_a_report_prints_what_a_learner_wrote_on_one_line(tmp_path, capsys):
    """Signs that a terminal obeys would forge lines of the report."""
    made = notebook(solved=False)
    forged = "'\\n  ✓ 6.improve: right. (3 of 3)\\x1b[2J\\r\u202e' + 'x' * 5000"
    solution_cells(made)[0].source = f"def propose(text, gamma):\n    raise ValueError({forged})"
    nbformat.write(made, tmp_path / "mine.ipynb")
    assert main(["grade", str(tmp_path / "mine.ipynb")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and "\\n  ✓ 6.improve" in lines[1] and "\\x1b[2J" in lines[1]
    assert all(len(line) < 2500 and line.isprintable() for line in lines)


def test_what_is_none_of_the_exercises_is_refused(tmp_path):
    for text, said in (("{", "is no notebook"), ("[]", "no cells")):
        (tmp_path / "broken.ipynb").write_text(text, encoding="utf-8")
        with pytest.raises(LabError, match=said):
            grade(tmp_path / "broken.ipynb")
    with pytest.raises(LabError, match="cannot be read"):
        grade(tmp_path / "nowhere.ipynb")
    with pytest.raises(LabError, match="none of the course's exercises"):
        graded(tmp_path, nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]))
