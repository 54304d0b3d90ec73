"""For tests, lessons and solutions alike. (What stands in tests/conftest.py holds for that folder only.)"""

import functools
import os
import sys
import tempfile
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
# Most models here are tiny, and two threads of torch would mostly wait for each other; the work is shared out by test.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Whatever guesses and answers, kernels included, does it in a ledger of its own.
EMPTY = tempfile.TemporaryDirectory()
os.environ["SPECDEC_LAB_LEDGER"] = str(Path(EMPTY.name, "ledger.json"))
# A kernel that finds this folder in IPYTHONDIR begins with the quick setting.
STARTUP = Path(EMPTY.name, "quick", "profile_default", "startup")
STARTUP.mkdir(parents=True)
TESTS = Path(__file__).parent / "tests"
(STARTUP / "start.py").write_text(f"import sys\nsys.path.append({str(TESTS)!r})\nimport quick\nquick.start()\n")


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the heavy evidence in full, not the smaller version")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """`make check` leaves out what is slow: it asks for a model on disk, or is marked so."""
    for item in items:
        if {"lab", "writer"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


@functools.cache
def warm_kernels() -> dict[str, str]:
    sys.path.append(str(TESTS))
    import warm_kernel

    return warm_kernel.begin(Path(EMPTY.name))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """The kernel of a notebook is warm (tests/warm_kernel.py) and begins with the quick setting (tests/quick.py), unless
    --full: then it is one as learners have it. No other test has these.
    """
    if item.path.suffix == ".ipynb" and not item.config.getoption("--full"):
        os.environ["IPYTHONDIR"] = str(STARTUP.parents[1])
        if sys.platform == "linux":  # elsewhere a fork is not sure to work
            os.environ.update(warm_kernels())
            item.config.option.nbval_kernel_name = "warm"
    else:
        os.environ.pop("IPYTHONDIR", None)
