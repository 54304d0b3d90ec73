"""The quick setting of the lessons: on in the kernels of `make test` alone, never in what is stored, and it makes things short."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import build
import nbformat
import pytest
import quick

ROOT = Path(__file__).parents[1]
IS_ON = "from specdec_lab.lab import Lab; print(hasattr(Lab.stops.__wrapped__, '__wrapped__'))"

SMALL = """
import quick
quick.start()

import specdec_lab as sd
from tiny import TinyModel
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Stops, plain
from specdec_lab.engine.trace import Trace
from specdec_lab.lab import Lab
from specdec_lab.measure import costs
from specdec_lab.measure.prompts import Prompt, first_of_each_kind

target = TinyModel(4, seed=0)
lab = Lab(target, None, frozenset())
assert [lab.stops(n).max_new_tokens for n in (1, 22, 40, 96)] == [1, 22, 8, 8]
assert Batch(target, most=32).most == 4 and Batch(target, 2).most == 2
assert list(sd.each(range(600), "words")) == list(range(24))
assert list(sd.each([(1, "a"), (2, "b")] * 2, "pairs")) == [(1, "a"), (2, "b")]
prompts = [Prompt(str(i), "abc"[i % 3], "word " * (9 - i)) for i in range(6)]
assert [p.id for p in first_of_each_kind(prompts, 1)] == ["1", "2"]

def text():
    return Trace([0]).collect(plain(target, [0], stops=Stops(3)))

assert len(sd.race(text, text, repeats=9).ratios) == 1
assert [len(times) for times in sd.pass_times(target, [1, 2], held=4, samples=7).values()] == [3, 3]
said = []
found = costs.batch_costs(target, [0, 1], sizes=(2, 4, 8, 16), gammas=(0, 1), samples=9, say=said.append)
assert set(found) == {(size, gamma) for size in (2, 4, 8, 16) for gamma in (0, 1)} and found[16, 1] == found[4, 1]
assert [sum(line.startswith(word) for line in said) for word in ("Filling", "Timing")] == [2, 3]
"""


def test_everything_is_small_in_a_process_that_asked_for_it(tmp_path):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path]),
        "SPECDEC_LAB_CACHE": str(tmp_path),
    }
    done = subprocess.run([sys.executable, "-c", SMALL], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir()), "a learner's γ would be chosen by costs that were measured quickly"


def test_a_limit_holds_however_an_argument_is_given():
    def twice(n: int, *, m: int = 90) -> tuple[int, int]:
        return n, m

    small = quick.at_most(twice, n=3, m=lambda m: m - 1)
    assert small(7) == small(n=7, m=90) == (3, 89)
    assert small(2, m=1) == (2, 0)


def test_what_is_stored_never_ran_quick(monkeypatch, tmp_path):
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "start.py").write_text(
        f"import sys; sys.path.append({str(ROOT / 'tests')!r}); import quick; quick.start()"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path / "ledger.json"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(IS_ON)])
    build.execute(notebook, tmp_path)
    assert notebook.cells[0].outputs[0].text == "False\n"


@pytest.mark.parametrize(("option", "outcomes"), [("-v", "2 failed, 1 passed"), ("--full", "3 failed")])
def test_nbval_runs_quick_unless_full_and_a_cell_that_fails_fails(tmp_path, option, outcomes):
    sources = (
        "from specdec_lab.lab import Lab; assert hasattr(Lab.stops.__wrapped__, '__wrapped__')",
        "assert 1 == 2",
        "1 / 0",
    )
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for folder in ("tests", "lessons"):  # laid out as here: what holds for tests need not hold for lessons
        (tmp_path / folder).mkdir()
    for path in ("conftest.py", "tests/conftest.py", "tests/quick.py"):
        shutil.copy(ROOT / path, tmp_path / path)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lessons" / "lesson.ipynb")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--nbval-lax", option, "tests", "lessons"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and outcomes in done.stdout, done.stdout + done.stderr
