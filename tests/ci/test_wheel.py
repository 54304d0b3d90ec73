"""The built wheel holds every file of the package. And, with --full, it works in an empty environment.

That one has the oldest transformers that the project allows. `demo` runs there, which needs the
data files and a cache that works on both releases; then the tests of the reference backend.
"""

import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OLDEST = "5.17.0"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel, full) -> Path:
    if not full:
        pytest.skip("the wheel is installed into an empty environment: pytest --full")
    folder = wheel.parent
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    inside = folder / "env" / "bin" / "python"
    torch = f"torch=={version('torch').partition('+')[0]}"
    packages = [wheel, torch, f"transformers=={OLDEST}", "pytest", "hypothesis"]
    subprocess.run([inside, ROOT / "install.py", *packages], check=True)  # PyTorch without CUDA where there is no GPU
    return inside


def test_demo_runs_from_the_installed_wheel(python, tmp_path):
    command = [python.with_name("specdec-lab"), "demo", "--json", "--device", "cpu", "--max-new-tokens", "12"]
    command += ["--drafter", "eagle"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout)["identical"] is True


def test_the_wheel_holds_every_file_of_both_packages(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    for folder, package in ((ROOT, "specdec_lab"), (ROOT / "exercises", "specdec_grader")):
        files = [p for p in (folder / package).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        assert [p for p in files if p.relative_to(folder).as_posix() not in held] == []


def test_the_reference_backend_holds_on_the_oldest_transformers(python, tmp_path):
    names = ("models", "trace", "drafters", "trained_drafters")
    tests = [ROOT / "tests" / f"test_{name}.py" for name in names]
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, *tests]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout[-3000:]
    script = "import transformers as t, specdec_lab as s; print(t.__version__, s.__file__)"
    seen = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert seen.stdout.startswith(OLDEST)
    assert str(ROOT) not in seen.stdout
