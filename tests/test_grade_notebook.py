"""Grading notebooks: whatever a learner did to one, it is graded or refused with a sentence, and the others are not touched."""

import json
import os
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from specdec_grader.guard import limited
from specdec_grader.learner.jail import LIMITS, bubblewrap_works
from specdec_grader.learner.process import Learner
from specdec_grader.mistakes import StillOpen, Wrong
from specdec_grader.notebook import EXERCISES, calls, exercise_of, grade, is_only_checks, read_cells
from specdec_grader.part import PARTS

from specdec_lab.cli import main
from specdec_lab.errors import LabError

pytestmark = [pytest.mark.usefixtures("coarse_grids"), pytest.mark.slow]
SOLUTIONS = Path(__file__).parents[1] / "solutions"
UNLOCKED = "--unlocked"  # where bubblewrap is, it locks the code in all the same


def notebook(solved: bool = True, stem: str = "06_variants") -> nbformat.NotebookNode:
    """Without the cell that compares two drafters: it is no part of a mark, and torch would be imported for it each time."""
    made = nbformat.read((SOLUTIONS if solved else EXERCISES) / f"{stem}.ipynb", as_version=4)
    made.cells = [c for c in made.cells if not c.source.startswith("compare(")]
    return made


def graded(tmp_path, made: nbformat.NotebookNode, **more) -> tuple[dict, list[str]]:
    nbformat.write(made, tmp_path / "mine.ipynb")
    said: list[str] = []
    return grade(tmp_path / "mine.ipynb", said.append, unlocked=True, **more), said


def status(result: dict) -> list[str]:
    return [p["status"] for p in result["parts"]]


def put(made: nbformat.NotebookNode, code: str, at: int = 0) -> nbformat.NotebookNode:
    made.cells.insert(at, code_cell(code))
    return made


def code_cell(source: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_code_cell(source)


def solution_cells(made: nbformat.NotebookNode) -> list:
    return [c for c in made.cells if c.metadata.get("nbgrader", {}).get("solution")]


def test_a_half_solved_one_has_half(tmp_path):
    half, solved = notebook(solved=False), notebook()
    solution_cells(half)[0].source = solution_cells(solved)[0].source
    result, said = graded(tmp_path, half)
    assert (status(result), result["points"], said) == (["right", "open"], 3.0, [])
    assert (result["notebook"], result["max_points"]) == (str(tmp_path / "mine.ipynb"), 6)
    assert set(result["parts"][0]) == {"id", "points", "max_points", "status", "message", "misconception"}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "did not come to an end"),
        ("import os\nos._exit(1)", "stopped Python"),
    ],
)
def test_a_cell_that_hangs_or_kills_is_left_out(tmp_path, monkeypatch, code, said):
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


def breaks(cell):
    cell.source = "def propose(text, gamma)\n    return []"


def becomes_text(cell):
    cell.cell_type = "markdown"
    del cell["outputs"], cell["execution_count"]


@pytest.mark.parametrize(
    ("change", "said"),
    [(breaks, "the cell with its answer went wrong (SyntaxError"), (becomes_text, "in a cell of text")],
)
def test_an_answer_that_is_no_code_is_named(tmp_path, change, said):
    made = notebook()
    change(solution_cells(made)[0])
    result, told = graded(tmp_path, made)
    assert (status(result), result["points"], told) == (["missing", "right"], 3.0, [])
    assert said in result["parts"][0]["message"]


# What honest learners do to a notebook


def merged(made):
    """The check is called at the end of the cell with the answer."""
    cells = made.cells
    at = next(i for i, c in enumerate(cells) if c.source.startswith("check("))
    cells[at - 1].source += "\n" + cells[at].source
    del cells[at]


def magics(made):
    solution_cells(made)[0].source = "!echo hello\n%precision 3\n" + solution_cells(made)[0].source
    check = next(c for c in made.cells if c.source.startswith("check("))
    check.source = "here = !ls\nmine = propose\nprint(7\n  % 4)\n" + check.source.replace("propose)", "mine)")


def asserts_its_points(made):
    """The next answer stands below, so that it is there only if the check gave what a right answer has."""
    first, second = solution_cells(made)
    second.source = f'{first.source}\n{second.source}\nif check("6.propose", propose) != 3: del my_drafter'
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


def loads_a_model(made):
    """There is none while it is graded: the line fails at once, and has not waited for torch. What stands below it runs."""
    answer = solution_cells(made)[0]
    loads = "import no_such_package, sys\nimport sys, specdec_lab as sd\nlab = sd.load(\n)"
    answer.source = f"{loads}\n{answer.source}\nif 'torch' in sys.modules or 'lab' in globals(): del propose"


HONEST = [loads_a_model, merged, magics, asserts_its_points, looks_at_the_texts, gives_an_iterator]


@pytest.mark.parametrize("change", HONEST, ids=lambda change: change.__name__)
def test_what_honest_learners_do_costs_nothing(tmp_path, change):
    made = notebook()
    change(made)
    result, said = graded(tmp_path, made)
    assert status(result) == ["right", "right"] and said == [], result["parts"]


def defines(word: str) -> str:
    return f"def propose(text, gamma): return {word!r}"


CHECK = 'check("6.propose", propose)'
OTHER = f'other = propose\n{defines("wrong")}\ncheck("6.propose", other)'
PLACES = {  # cells of a notebook, what the judge sees of them, and the verdict: "none" leaves the part open
    "where it is checked": ([defines("right"), CHECK, defines("wrong")], ["right"], "right"),
    "where it is checked last": ([defines("right"), CHECK, defines("wrong"), CHECK], ["wrong"], "wrong"),
    "as it is handed in there": ([defines("right"), OTHER], ["right"], "right"),
    "at the end, where it was open": ([defines("none"), CHECK, defines("right")], ["none", "right"], "right"),
    "at the end, where nothing was there": ([CHECK, defines("right")], ["right"], "right"),
    "at the end, where no check is": ([defines("wrong"), defines("right")], ["right"], "right"),
    "at the end, where handing it in stops Python": (
        [defines("right"), 'check("6.propose", __import__("os")._exit(0))'], ["right"], "right",
    ),
    "at the end, where it is no check": ([defines("right"), 'check("6.propose", 1, 2)'], ["right"], "right"),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_part_is_judged_at_its_place_and_at_the_end(tmp_path, monkeypatch, place):
    seen = []

    def judge(made):
        seen.append(made([], 1))
        if seen[-1] != "right":
            raise StillOpen if seen[-1] == "none" else Wrong("not yet")

    monkeypatch.setitem(PARTS, "6.propose", replace(PARTS["6.propose"], judge=judge))
    cells, looked_at, verdict = PLACES[place]
    made = nbformat.v4.new_notebook(cells=[*map(code_cell, ["from specdec_grader import check", *cells])])
    result, _ = graded(tmp_path, made, exercise="06_variants")
    assert (seen, result["parts"][0]["status"]) == (looked_at, verdict)


@pytest.mark.parametrize(
    ("seconds", "notebook_has", "second", "said"),
    [
        (1.0, 600.0, "right", "did not come to an end"),
        (60.0, 4.0, "missing", "time ran out: a whole notebook has 4 seconds"),
    ],
)
def test_after_a_stopped_call_a_new_process_is_judged(tmp_path, monkeypatch, seconds, notebook_has, second, said):
    """A judge that an alarm stops leaves the other process in mid-message: nothing may be asked of it any more."""
    monkeypatch.setitem(PARTS, "6.propose", replace(PARTS["6.propose"], seconds=seconds))
    made = notebook()
    solution_cells(made)[0].source = "def propose(text, gamma):\n    while True: pass"
    result, told = graded(tmp_path, made, limits=replace(LIMITS, notebook=notebook_has))
    assert status(result) == ["wrong", second] and said in result["parts"][0]["message"]
    assert (second == "right") or "stopped after 4 seconds" in told[-1]


def test_reading_a_cell_takes_no_time_to_speak_of():
    """A pattern that crosses lines took minutes for these; a hang here fails by the limit of the suite."""
    for source in ("check\n" + "\n" * 290_000 + "x", "check(" + "x+" * 5_000 + "x)", "a\n" * 140_000):
        assert list(calls(source)) == [] and not is_only_checks(source)


def test_an_exercise_is_known_by_its_parts():
    cells = read_cells(SOLUTIONS / "06_variants.ipynb")
    for name in ("Untitled - Copy1.ipynb", "01_idle_math.ipynb"):
        assert exercise_of(cells, name).name == "06_variants"
    assert (
        exercise_of([*cells, *read_cells(SOLUTIONS / "05_choosing_gamma.ipynb")], "06_variants.ipynb").name
        == "06_variants"
    )
    assert exercise_of([], "Copy of 03_exactly_the_target (2).ipynb").name == "03_exactly_the_target"


# What no notebook should hold


ODD = ("   \n\t", "check()", "check(*[1])", "x = '\0'", "x = '\ud800'", "x = '" + "a" * 5_000_000 + "'",
       "check(" + "+".join(["1"] * 20_000) + ")", "check(" + "(" * 5_000 + ")" * 5_000 + ")")  # fmt: skip


def test_odd_cells_cost_nothing_but_themselves(tmp_path):
    """One of each in one notebook: they do not disturb each other, nor the rest. Metadata are not even looked at."""
    made = json.loads(nbformat.writes(notebook()))
    for source in ODD:
        made["cells"].insert(2, {"cell_type": "code", "source": source, "metadata": None})
    (tmp_path / "06_variants.ipynb").write_text(json.dumps(made), encoding="utf-8")
    said = []
    result = grade(tmp_path / "06_variants.ipynb", said.append, unlocked=True)
    assert status(result) == ["right", "right"], (result["parts"], said)
    assert len(said) <= 2 and all("left out" in line for line in said), said


DAMAGED = (b"", b"{", b"null", b'{"cells": null}', b'{"worksheets": []}', b"\xff\xfe\x00", b"[" * 100_000,
           b'{"cells": [null]}', b'{"cells": [{"cell_type": "code", "source": 5}]}')  # fmt: skip
REFUSED = {  # what is put in the place of a notebook, and what is said of it
    **{repr(data[:40]): (lambda path, data=data: path.write_bytes(data), "is no notebook") for data in DAMAGED},
    "nothing": (lambda path: None, "cannot be read"),
    "a link": (lambda path: path.symlink_to(SOLUTIONS / "06_variants.ipynb"), "is a link"),
    "a pipe, which would never end": (os.mkfifo, "no plain file"),
    "very many cells": (
        lambda path: path.write_text(json.dumps({"cells": [{"cell_type": "raw", "source": ""}] * 3_000})), "more than 2000 cells",
    ),
    "very much code": (lambda path: path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": "a=1;" * 70_000}] * 12})), "too much"),
    "none of the exercises": (
        lambda path: nbformat.write(nbformat.v4.new_notebook(cells=[code_cell("1")]), path), "none of the course's exercises",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_notebook_is_one_sentence(tmp_path, what):
    make, said = REFUSED[what]
    make(tmp_path / "bad.ipynb")
    with pytest.raises(LabError, match=rf"bad\.ipynb.*{said}.*\.$"):
        limited(lambda: grade(tmp_path / "bad.ipynb"), 5)


def test_a_batch_goes_on_past_a_bad_one(tmp_path, capsys):
    nbformat.write(notebook(), tmp_path / "good.ipynb")
    (tmp_path / "bad.ipynb").write_bytes(DAMAGED[-1])
    assert main(["grade", str(tmp_path / "bad.ipynb"), str(tmp_path / "good.ipynb"), UNLOCKED, "--json"]) == 0
    out, err = capsys.readouterr()
    bad, good = json.loads(out)
    assert bad["error"].endswith(".") and "bad.ipynb" in bad["error"] and good["points"] == 6.0
    assert good["locked"] is bubblewrap_works() and ("locked in" in err) is good["locked"]
    assert main(["grade", str(tmp_path / "good.ipynb"), UNLOCKED]) == 0
    assert "good.ipynb (exercise 06_variants): 6 of 6 points" in capsys.readouterr().out
    assert main(["grade", str(tmp_path / "bad.ipynb"), UNLOCKED, "--json"]) == 2


def test_what_a_learner_wrote_forges_no_line(tmp_path, capsys):
    """Signs that a terminal obeys would forge lines of the report: in what an answer raises, and in the file's name."""
    made = notebook(solved=False)
    forged = "'\\n  ✓ 6.improve: right. (3 of 3)\\x1b[2J\\r\u202e' + 'x' * 5000"
    solution_cells(made)[0].source = f"def propose(text, gamma):\n    raise ValueError({forged})"
    path = tmp_path / "06_variants\n  ✓ 6.improve: right. (3 of 3)\x1b[2J.ipynb"
    nbformat.write(put(made, "import os\nos._exit(1)"), path)
    assert main(["grade", str(path), UNLOCKED]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert "the cell “import os” stopped Python, and was left out." in err
    assert len(lines) == 3 and "\\n  ✓ 6.improve" in lines[1] and "\\x1b[2J" in lines[1]
    assert all(len(line) < 2500 and line.isprintable() for line in lines)
