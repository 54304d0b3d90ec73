"""Notebooks that want points without solving anything: the grader's process gives none. And solutions have all."""

import itertools
import math
from dataclasses import replace

import psutil
import pytest
from answers import e02_draft_then_verify as rounds
from specdec_grader.learner.jail import LIMITS
from specdec_grader.learner.process import Learner
from specdec_grader.mistakes import Wrong
from specdec_grader.notebook import EXERCISES, exercises, grade
from specdec_grader.part import PARTS, Part, grade_part
from test_grade_notebook import SOLUTIONS, code_cell, graded, notebook, put, solution_cells, status

from specdec_lab.theory import expected_tokens

pytestmark = pytest.mark.usefixtures("coarse_grids")

REACH = """
import gc
worker = next(x for x in gc.get_objects() if type(x).__name__ == "Worker" and hasattr(x, "messages"))
"""
FORGED = {
    "another judge": """
from specdec_grader import checks
checks.grade_part = lambda *made: None
""",
    "a Wrong with a share": """
from specdec_grader.learner.process import Learner
from specdec_grader.mistakes import Wrong
def accept_or_correct(p, q, x, u, w):
    raise Wrong("nearly", earned=1000.0)
def my_test(rule):
    raise Wrong("nearly", earned=1000.0)
""",
    "messages of its own": REACH + """
worker.messages.send({"result": [0], "changed": [], "printed": ""})
worker.messages.send({"part": "3.rule", "status": "right", "points": 1000, "done": True})
""",
    "the end of Python in a call": "import os\ndef accept_or_correct(*given):\n    os._exit(0)",
    "a result of great depth": """
def accept_or_correct(*given):
    deep = []
    for _ in range(10_000):
        deep = [deep]
    return deep
""",
    "an object that lies": """
class Liar(int):
    def __eq__(self, other): return True
    def __hash__(self): return 0
    def __index__(self): return 0
    def __float__(self): return 1.0
def accept_or_correct(p, q, x, u, w):
    return Liar(99)
def my_test(rule):
    return Liar(1)
""",
}  # fmt: skip
# That nothing is read from the disk is seen in test_jail.


@pytest.mark.parametrize("stem", sorted(exercises()))
def test_every_solution_has_full_marks_and_every_exercise_none(stem):
    """Where learners do it themselves, nbval and test_exercises see the same; here it is the grader's route."""
    solved, untouched = (grade(folder / f"{stem}.ipynb", unlocked=True) for folder in (SOLUTIONS, EXERCISES))
    assert solved["points"] == solved["max_points"] > 0, solved["parts"]
    assert set(status(solved)) <= {"right", "by hand"}
    assert untouched["points"] == 0.0 and set(status(untouched)) <= {"open", "by hand"}, untouched["parts"]


@pytest.mark.parametrize("name", FORGED)
def test_nobody_gets_points_for_nothing(tmp_path, name):
    made = notebook(False, "03_exactly_the_target")
    for cell in solution_cells(made):
        cell.source = "pass"
    put(put(made, FORGED[name], at=len(made.cells) - 2), FORGED[name])
    result, _ = graded(tmp_path, made, limits=replace(LIMITS, cell=20.0))
    assert result["points"] == 0.0 and "right" not in status(result), result["parts"]
    assert all(0 <= p["points"] <= p["max_points"] for p in result["parts"]) and len(result["parts"]) == 2
    assert all(p["message"].endswith((".", "?", ")")) and "Traceback" not in p["message"] for p in result["parts"])


def test_no_order_of_answers_is_right_and_no_infinite_number():
    turn = itertools.count()
    assert grade_part("11.which", lambda p, q, counts, rules: list(rules)[next(turn) % 4]).points == 0.0
    assert grade_part("4.claim", lambda a, n, claimed: (expected_tokens(a, n), math.inf)).points < 2.0


EACH = "\n".join(f'check("9.c1.why", "{letter}")' for letter in "WXYZ")  # W is right here
TRIED = {
    "in one cell": [EACH],
    "with the end of Python": [EACH, 'import os\ndef c1_why(): os._exit(1)\ncheck("9.c1.why", c1_why)'],
}


@pytest.mark.parametrize("way", TRIED)
def test_of_several_letters_the_last_one_is_judged(tmp_path, way, monkeypatch):
    right = next(letter for letter in "ABCD" if grade_part("9.c1.why", letter).points)
    letters = str.maketrans("WXYZ", right + "ABCD".replace(right, ""))
    asked, part = [], PARTS["9.c1.why"]
    monkeypatch.setitem(PARTS, part.id, replace(part, judge=lambda made: (asked.append(made), part.judge(made))))
    made = notebook(False, "09_checkpoint")
    made.cells = [c for c in made.cells if '"9.' not in c.source or part.id in c.source]
    for code in TRIED[way]:
        put(made, code.translate(letters), at=len(made.cells))
    result, _ = graded(tmp_path, made)
    assert next(p for p in result["parts"] if p["id"] == part.id)["points"] == 0.0
    assert len(asked) <= 1, asked


def test_who_has_seen_the_texts_has_no_second_try(tmp_path, monkeypatch):
    """Not after an answer that says, when it has seen them, that it is still to be written."""
    asked, part = [], PARTS["6.improve"]
    monkeypatch.setitem(PARTS, part.id, replace(part, judge=lambda made: (asked.append(made), part.judge(made))))
    made = notebook(False, "06_variants")
    check = next(c for c in made.cells if c.source.startswith('check("6.improve"'))
    put(made, "def my_drafter(text, gamma):\n    raise NotImplementedError", at=made.cells.index(check))
    made.cells += [code_cell(check.source)]
    result, _ = graded(tmp_path, made)
    assert (len(asked), result["parts"][1]["status"]) == (1, "open")


FLOODS = {
    "questions that are refused": 'line = b\'{"ask": 123456, "args": [\' + b"{}," * 300_000 + b"{}]}\\n"\nfor _ in range(20):\n    worker.messages.writes.write(line); worker.messages.writes.flush(); worker.messages.reads.readline()',
    "a set that takes minutes": 'worker.handlers["values"] = lambda message: {"result": [{"set": [i * (2**61 - 1) for i in range(1, 60_000)]}]}',
}


@pytest.mark.parametrize("name", FLOODS)
def test_no_message_keeps_the_grader_busy_or_full(tmp_path, name):
    made = notebook(False, "06_variants")
    put(made, REACH + FLOODS[name], at=len(made.cells) - 1)
    before = psutil.Process().memory_info().rss
    result, _ = graded(tmp_path, made, limits=replace(LIMITS, cell=20.0))
    assert result["points"] == 0.0 and psutil.Process().memory_info().rss - before < 500e6


def test_points_are_clamped_where_they_are_made(monkeypatch):
    def judge(earned):
        def raises(made):
            raise Wrong("nearly", earned)

        monkeypatch.setitem(PARTS, "1.bytes", Part("1.bytes", 1, raises))
        return grade_part("1.bytes", lambda: 1).points

    assert [judge(x) for x in (1000.0, 1.0, 0.5, -3.0)] == [1.0, 1.0, 0.5, 0.0]


def test_what_a_check_lends_is_no_answer(tmp_path):
    """Not for the part itself, and not for another: the right rule that `my_test` is tried on, kept, and handed in for the part before: as it is, called, or in an error."""
    with Learner(unlocked=True) as learner:
        learner.run("def same(x): return x")
        (same,) = learner.values(["same"])
        with pytest.raises(Wrong, match="Hand in something of your own"):
            same(rounds.play)
    kept = "kept = []\ndef my_test(rule):\n    kept.append(rule)\n    return True"
    for answer in ("accept_or_correct = kept[0]", "def accept_or_correct(*given): return kept[0](*given)",
                   "def accept_or_correct(*given): return kept[0]"):  # fmt: skip
        made = notebook(False, "03_exactly_the_target")
        checks = [c for c in made.cells if c.source.startswith('check("3.')]
        made.cells = [code_cell(kept), checks[1], code_cell(answer), checks[0]]
        result, _ = graded(tmp_path, made)
        rule = result["parts"][0]
        assert (rule["status"], rule["points"]) == ("wrong", 0.0), rule
        assert "Hand in something of your own" in rule["message"] or "another part" in rule["message"], rule


def test_an_error_of_one_part_is_no_share_of_another(tmp_path):
    """A `Wrong` that a lent target raised, with a share, is caught, kept and raised again elsewhere."""
    made = notebook(True, "02_draft_then_verify")
    loop = next(i for i, c in enumerate(made.cells) if "def speculate" in c.source)
    made.cells[loop].source = """
kept = []
def speculate(prompt, n, target, draft, gamma, end):
    try:
        target.extend(prompt[:-1]); draft(prompt, 1); target.extend(prompt)
    except Exception as e:
        kept.append(e)
    return []
"""
    put(made, "def play(drafts, choices):\n    raise kept[0]\nentries = play", at=loop + 2)
    made.cells += [c for c in made.cells if c.source.startswith(('check("2.round"', 'check("2.cache"'))]
    made.cells = [c for i, c in enumerate(made.cells) if i >= loop]
    result, _ = graded(tmp_path, made)
    assert result["points"] == 0.0, result["parts"]
