import os
import sys
from pathlib import Path

import pytest

# Tests import their helpers, tools, and what makes notebooks.
for folder in ("solutions", "lessons", "tools/peers", "tools", "tests"):
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))


@pytest.fixture(scope="session")
def full(request) -> bool:
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def lab():
    """The embedded target, fetched on first use; on SPECDEC_LAB_TEST_DEVICE, where that is set."""
    from specdec_lab import load

    return load(device=os.environ.get("SPECDEC_LAB_TEST_DEVICE", "cpu"), dtype="float32")


@pytest.fixture(scope="session")
def pair(lab, full):
    from real_pair import Pair

    return Pair(lab, full)


@pytest.fixture
def loaded_once(lab, monkeypatch):
    """Commands that load the embedded target get the one that is loaded already; anything else is loaded as always."""
    from warm_kernel import lend

    from specdec_lab import lab as module
    from specdec_lab.models import load

    lent_or_loaded = lend(lab.target, lab.tokenizer, load.load_model)
    for place in (load, module):
        monkeypatch.setattr(place, "load_model", lent_or_loaded)


@pytest.fixture
def fresh_ledger(tmp_path, monkeypatch) -> Path:
    """An empty ledger, and nothing that waits to be written into it."""
    from specdec_lab.course import ledger

    monkeypatch.setattr(ledger, "_waiting", {})
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path / "ledger.json"))
    return tmp_path / "ledger.json"


@pytest.fixture
def coarse_grids(monkeypatch):
    """The two judges that ask a rule at each point of a grid have fewer points: their verdicts are the same."""
    from specdec_grader.sheets import e03_exactly_the_target, e10_trees

    monkeypatch.setattr(e03_exactly_the_target, "CELLS", 80)
    monkeypatch.setattr(e10_trees, "CELLS", 10)


@pytest.fixture(scope="session")
def writer(tmp_path_factory) -> str:
    """The folder of a tiny target that can write text to learn from."""
    from models_on_disk import save_writer

    return save_writer(tmp_path_factory.mktemp("writer"))


@pytest.fixture
def small_batches(monkeypatch):
    """Eight texts of the tiny target in a batch: with few tokens there would be few updates."""
    from specdec_lab.train import answers

    monkeypatch.setitem(answers.POSITIONS, "cpu", 8 * 41)
