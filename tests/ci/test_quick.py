"""The quick setting of the lessons: on in the kernels of `make test` alone, never in what is stored, and it makes things short."""

import shutil
import subprocess
import sys
from pathlib import Path

import build
import nbformat
import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
WAS_STARTED = "'quick' in __import__('sys').modules"  # nothing else imports it


def test_what_is_stored_never_ran_quick(monkeypatch, tmp_path):
    startup = tmp_path / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "start.py").write_text(
        f"import sys; sys.path.append({str(ROOT / 'tests')!r}); import quick; quick.start()"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path / "ledger.json"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"print({WAS_STARTED})")])
    build.execute(notebook, tmp_path)
    assert notebook.cells[0].outputs[0].text == "False\n"


@pytest.mark.parametrize(("option", "outcomes"), [("-v", "2 failed, 1 passed"), ("--full", "3 failed")])
def test_nbval_runs_quick_unless_full_and_a_cell_that_fails_fails(tmp_path, option, outcomes):
    sources = (
        f"assert {WAS_STARTED}; from specdec_lab.engine.decode import Stops; assert hasattr(Stops.__init__, '__wrapped__')",
        "assert 1 == 2",
        "1 / 0",
    )
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    for folder in ("tests", "lessons"):  # laid out as here: what holds for tests need not hold for lessons
        (tmp_path / folder).mkdir()
    for path in ("conftest.py", "tests/conftest.py", "tests/quick.py", "tests/warm_kernel.py"):
        shutil.copy(ROOT / path, tmp_path / path)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "lessons" / "lesson.ipynb")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--nbval-lax", option, "tests", "lessons"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1 and outcomes in done.stdout, done.stdout + done.stderr
