import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests import their helpers by name
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
# Whatever guesses and answers, kernels included, does it in a ledger of its own.
EMPTY = tempfile.TemporaryDirectory()
os.environ["SPECDEC_LAB_LEDGER"] = str(Path(EMPTY.name, "ledger.json"))


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the heavy evidence in full, not the smaller version")


@pytest.fixture(scope="session")
def full(request) -> bool:
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def lab():
    """The embedded target, fetched on first use."""
    from specdec_lab import load

    return load(device="cpu")


@pytest.fixture
def fresh_ledger(tmp_path, monkeypatch) -> Path:
    """An empty ledger, and nothing that waits to be written into it."""
    from specdec_lab.course import ledger

    monkeypatch.setattr(ledger, "_waiting", {})
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path / "ledger.json"))
    return tmp_path / "ledger.json"


@pytest.fixture(scope="module")
def writer(tmp_path_factory) -> str:
    """The folder of a tiny target that can write text to learn from."""
    from writer import save_writer

    return save_writer(tmp_path_factory.mktemp("writer"))


@pytest.fixture(scope="module")
def written(writer, tmp_path_factory):
    """(target, tokenizer, folder with two shards of its text); tests leave their checkpoints there, too."""
    from specdec_lab.models.load import load_model
    from specdec_lab.train import recipes

    target, tokenizer = load_model(writer, "cpu")
    text = tmp_path_factory.mktemp("text")
    recipes.write(target, tokenizer, text, tokens=2 * 64 * 40, rows=64, length=40, say=lambda line: None)
    return target, tokenizer, text
