"""Notebooks that want points without solving anything: the grader's process gives none."""

import json
import sys
from pathlib import Path

import nbformat
import pytest
from test_grade_notebook import graded, notebook, put, solution_cells, status

from specdec_lab.classroom import learner
from specdec_lab.classroom.learner import Learner
from specdec_lab.classroom.notebook import grade
from specdec_lab.classroom.plain_data import Broken, pack, unpack

SOLUTIONS = Path(__file__).parents[1] / "solutions"
MARK = {"part": "3.rule", "status": "right", "points": 3.0, "max_points": 3, "message": "right.", "misconception": None}

REACH = """
import gc
from specdec_lab.classroom.worker import Worker
worker = next(x for x in gc.get_objects() if isinstance(x, Worker))
"""
FORGED = {
    "a file of results": f"""
import os
path = os.environ.get("SPECDEC_LAB_RESULTS", "results.jsonl")
open(path, "a").write({json.dumps(MARK)!r} + "\\n")
""",
    "its own check": "import specdec_lab\nspecdec_lab.check = check = lambda *made: 3.0",
    "another judge": """
from specdec_lab.course.judges import check as checks
checks.judged = lambda *made: None
""",
    "the table of parts": "from specdec_lab.course.judges.part import PARTS\nPARTS.clear()",
    "a Wrong with a share": """
from specdec_lab.course.mistake import Wrong
def accept_or_correct(p, q, x, u, w):
    raise Wrong("nearly", earned=1000.0)
def my_test(rule):
    raise Wrong("nearly", earned=1000.0)
""",
    "the judge's frame": """
import sys
def accept_or_correct(p, q, x, u, w):
    frame = sys._getframe()
    while frame:
        if "SOUND" in frame.f_globals:
            return frame.f_globals["SOUND"](p, q, x, u, w)
        frame = frame.f_back
def my_test(rule):
    frame = sys._getframe()
    while frame:
        if "SOUND" in frame.f_globals:
            return rule is frame.f_globals["SOUND"]
        frame = frame.f_back
""",
    "what the rule looks like": """
def my_test(rule):
    return "SOUND" in repr(rule) or rule.__name__ == "sound"
""",
    "the judges from the disk": """
import importlib.util, specdec_lab, pathlib, sys
sys.modules = {k: v for k, v in sys.modules.items() if "judges" not in k}
folder = pathlib.Path(specdec_lab.__file__).parent / "course" / "judges"
spec = importlib.util.spec_from_file_location("stolen", folder / "exactness.py")
stolen = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stolen)
accept_or_correct = stolen.SOUND
""",
    "the solutions from the disk": f"""
import json
cells = json.load(open({str(SOLUTIONS / "03_exactly_the_target.ipynb")!r}))["cells"]
for cell in cells:
    if cell["cell_type"] == "code" and "BEGIN SOLUTION" in "".join(cell["source"]):
        exec("".join(cell["source"]), globals())
""",
    "messages of its own": REACH + """
worker.wire.send({"result": [0], "changed": [], "printed": ""})
worker.wire.send({"part": "3.rule", "status": "right", "points": 1000, "done": True})
""",
    "messages while it is asked": REACH + """
def accept_or_correct(p, q, x, u, w):
    worker.wire.send({"raised": {"type": "Wrong", "text": "", "line": "", "number": 0}, "printed": ""})
    return x
""",
    "a process that outlives it": """
import os
if hasattr(os, "fork") and os.fork() == 0:
    import time
    while True:
        time.sleep(0.1)
""",
    "no messages at all": REACH + "worker.wire.writes.write(b'x' * 100_000)\nworker.wire.writes.flush()",
    "a message without end": REACH + """
def accept_or_correct(p, q, x, u, w):
    while True:
        worker.wire.writes.write(b'[' * 1_000_000)
        worker.wire.writes.flush()
""",
    "the end of Python in a call": "import os\ndef accept_or_correct(*given):\n    os._exit(0)",
    "a result of great size": "def accept_or_correct(*given):\n    return [0] * 10_000_000",
    "a result of great depth": """
def accept_or_correct(*given):
    deep = []
    for _ in range(100_000):
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
    "a word that is not there": "class Undecided:\n    def __call__(self, *given): return self\naccept_or_correct = my_test = Undecided()",
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_nobody_gets_points_for_nothing(tmp_path, name):
    made = notebook(False, "03_exactly_the_target")
    for cell in solution_cells(made):
        cell.source = "pass"
    put(made, FORGED[name], at=len(made.cells) - 2)
    put(made, FORGED[name])
    result, _ = graded(tmp_path, made, seconds=20)
    assert result["points"] == 0.0 and "right" not in status(result), result["parts"]
    assert all(0 <= p["points"] <= p["max_points"] for p in result["parts"]) and len(result["parts"]) == 2
    assert all(p["message"].endswith((".", "?", ")")) and "Traceback" not in p["message"] for p in result["parts"])


def test_a_learners_code_sees_its_own_folder_and_what_python_needs(tmp_path, monkeypatch):
    if sys.platform != "linux":
        pytest.skip("files are locked on Linux alone")
    secret = tmp_path / "neighbour.ipynb"
    secret.write_text("{}", encoding="utf-8")
    tries = {
        "reads a neighbour": f"open({str(secret)!r}).read()",
        "writes there": f"open({str(tmp_path / 'mine')!r}, 'w').write('x')",
        "lists the judges' texts": f"open({str(learner.PACKAGE / 'course/judges/exactness.py')!r}).read()",
        "tells the grader to stop": "import os\nos.kill(os.getppid(), 0)",
        "asks the network": "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)",
        "takes all memory": "x = bytearray(64 * 2**30)",
    }
    with Learner(20) as it:
        for name, code in tries.items():
            lines = "\n".join(f"    {line}" for line in code.split("\n"))
            it.run(f"try:\n{lines}\n    said = 'done'\nexcept BaseException as e:\n    said = type(e).__name__")
            if name == "tells the grader to stop" and "done" in it.values(["said"]):
                continue  # a kernel before 6.12
            assert it.values(["said"])[0] in ("PermissionError", "MemoryError", "ConnectionRefusedError"), name
        it.run("open('own', 'w').write('x')\nimport torch\nsaid = open('own').read() + str(int(torch.ones(2).sum()))")
        assert it.values(["said"]) == ["x2"]


def test_solved_exercises_have_full_marks_in_a_process_of_their_own(tmp_path):
    """With what they lend to the learner: a target, drafters, machines, a rule."""
    for stem in ("02_draft_then_verify", "03_exactly_the_target", "07_when_it_backfires", "10_trees"):
        nbformat.write(nbformat.read(SOLUTIONS / f"{stem}.ipynb", as_version=4), tmp_path / f"{stem}.ipynb")
        result = grade(tmp_path / f"{stem}.ipynb")
        assert {p["status"] for p in result["parts"]} <= {"right", "by hand"}, result["parts"]


def test_what_a_wrong_answer_is_told_is_the_same_there(tmp_path):
    """Exceptions with their line, prints, lists that were changed, and a loop that never ends."""
    made = notebook(False, "03_exactly_the_target")
    first, second = solution_cells(made)
    first.source = "def accept_or_correct(p, q, x, u, w):\n    p[0] = 0\n    return x"
    second.source = "def my_test(rule):\n    print('I am here')\n    return {}['nothing']"
    result, _ = graded(tmp_path, made)
    rule, test = (p["message"] for p in result["parts"])
    assert "changes p or q" in rule
    assert "Your code raised KeyError: 'nothing', in the line “return {}['nothing']”." in test


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 2.5, "text", ..., [1, [2.0, None]], (1, (2,)), {"a": {1: [2]}}, {1, 2}, frozenset("ab"), [[]], {}],
)
def test_plain_data_comes_back_as_it_was(value):
    assert unpack(json.loads(json.dumps(pack(value, fail))), fail) == value


def fail(value):
    raise AssertionError(value)


def test_what_is_no_message_is_refused():
    for packed in ({"dict": 3}, {"tuple": 3}, {"set": [[1]]}, {"dict": [[1]]}):
        with pytest.raises(Broken):
            unpack(packed, fail)
    deep = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(Broken):
        unpack(deep, fail)
