"""The quick setting of the lessons: off unless the environment says 1, never in what is stored, and it does make things short."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import build
import nbformat
import pytest
from test_load import save
from tiny import TinyModel

from specdec_lab import load, quick, race
from specdec_lab.drafters import LookupDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Stops, plain
from specdec_lab.engine.trace import Trace
from specdec_lab.measure import bench
from specdec_lab.measure.costs import batch_costs, cached_round_costs, pass_times
from specdec_lab.measure.prompts import Prompt, first_of_each_kind
from specdec_lab.show.progress_line import each

ROOT = Path(__file__).parents[1]
SAYS = "import specdec_lab.quick as q; print(q.ON)"


@pytest.fixture
def on(monkeypatch):
    monkeypatch.setattr(quick, "ON", True)


@pytest.mark.parametrize(("said", "found"), [(None, "False"), ("", "False"), ("0", "False"), ("1", "True")])
def test_it_is_off_unless_the_environment_says_1(said, found):
    environment = {k: v for k, v in os.environ.items() if k != "SPECDEC_LAB_QUICK"}
    environment |= {} if said is None else {"SPECDEC_LAB_QUICK": said}
    done = subprocess.run([sys.executable, "-c", SAYS], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == found


def test_what_is_stored_never_ran_quick(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECDEC_LAB_QUICK", "1")
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path / "ledger.json"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SAYS)])
    build.execute(notebook, tmp_path)
    assert notebook.cells[0].outputs[0].text == "False\n"


def test_whoever_runs_quick_is_told(on, tmp_path):
    said = []
    lab = load(save(tmp_path), device="cpu", say=said.append)
    assert said[0].startswith("SPECDEC_LAB_QUICK=1: ")
    assert [lab.settings(max_new_tokens=n)["stops"].max_new_tokens for n in (1, 22, 40, 96)] == [1, 22, 8, 8]


def test_without_it_everything_is_as_large_as_asked_for():
    assert [f(900) for f in (quick.tokens, quick.learned, quick.repeats, quick.samples, quick.texts)] == [900] * 5
    assert quick.shortest(["aaa", "bb", "c"], len) == ["aaa", "bb", "c"]
    assert quick.turns(range(90)) == quick.requests(list(range(90))) == list(range(90))
    assert list(each([1, 2] * 30, "numbers")) == [1, 2] * 30


def test_loops_are_short_and_do_nothing_twice(on):
    assert list(each([(1, "a"), (2, "b")] * 2, "pairs")) == [(1, "a"), (2, "b")]
    assert list(each(range(600), "words")) == list(range(24))


def test_texts_and_prompts_are_short(on):
    assert (quick.learned(60_000), quick.learned(100), quick.tokens(160)) == (300, 100, 8)
    prompts = [Prompt(str(i), "abc"[i % 3], "word " * (9 - i)) for i in range(6)]
    assert [p.id for p in first_of_each_kind(prompts, 1)] == ["1", "2"]


def test_what_is_timed_is_timed_less_often(on, tmp_path):
    target, runs = TinyModel(4, seed=0), []

    def text():
        runs.append(Trace([0]).collect(plain(target, [0], stops=Stops(3))))
        return runs[-1]

    assert Batch(target, most=32).most == 4
    assert len(race(text, text, repeats=9).ratios) == 1 and len(runs) == 2
    assert [len(times) for times in pass_times(target, [1, 2], held=4, samples=7).values()] == [3, 3]
    said = []
    batch_costs(target, [0, 1], sizes=(1,), gammas=(0,), samples=5, say=said.append)
    assert sum(line.startswith("Timing") for line in said) == 3
    lab = load(save(tmp_path), device="cpu", say=said.append)
    measured = bench.decode_all(lab, [Prompt("a", "x", "the cat")], {"lookup": 2}, repeats=5, max_new_tokens=4)
    assert [len(run.traces["a"]) for run in measured] == [1, 1]


def test_batches_that_quick_makes_equally_large_are_timed_once(on):
    """All that were asked for have a time."""
    said = []
    costs = batch_costs(TinyModel(4, seed=0), [0, 1], sizes=(2, 4, 8, 16), gammas=(0, 1), samples=1, say=said.append)
    assert set(costs) == {(size, gamma) for size in (2, 4, 8, 16) for gamma in (0, 1)}
    assert costs[16, 1] == costs[4, 1]
    assert sum(line.startswith("Filling") for line in said) == 2


def test_quick_costs_are_not_kept_for_a_learner(on, monkeypatch, tmp_path):
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    target = TinyModel(4, seed=0)
    cached_round_costs(target, LookupDrafter(), [0, 1], 1)
    monkeypatch.setattr(quick, "ON", False)
    said = []
    cached_round_costs(target, LookupDrafter(), [0, 1], 1, said.append)
    assert len(said) == 1, "a learner was given costs that were measured quickly"


@pytest.mark.parametrize(("option", "outcomes"), [("-v", "2 failed, 1 passed"), ("--full", "3 failed")])
def test_nbval_runs_quick_unless_full_and_a_cell_that_fails_fails(tmp_path, option, outcomes):
    sources = ("import specdec_lab.quick as q; assert q.ON", "assert 1 == 2", "1 / 0")
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for folder in ("tests", "lessons"):  # laid out as here: what holds for tests need not hold for lessons
        (tmp_path / folder).mkdir()
    for path in ("conftest.py", "tests/conftest.py"):
        shutil.copy(ROOT / path, tmp_path / path)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lessons" / "lesson.ipynb")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--nbval-lax", option, "tests", "lessons"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and outcomes in done.stdout, done.stdout + done.stderr
