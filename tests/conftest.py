import os
import sys
import tempfile
from pathlib import Path

import pytest

for folder in ("solutions", "lessons", "tools", "tests"):  # tests import their helpers, tools, and what makes notebooks
    sys.path.insert(0, str(Path(__file__).parents[1] / folder))
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
# Most models here are tiny, and two threads of torch would mostly wait for each other; the work is shared out by test.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Whatever guesses and answers, kernels included, does it in a ledger of its own.
EMPTY = tempfile.TemporaryDirectory()
os.environ["SPECDEC_LAB_LEDGER"] = str(Path(EMPTY.name, "ledger.json"))


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="the heavy evidence in full, not the smaller version")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """The kernel of a notebook begins with the quick setting, unless --full; no other test has it."""
    if item.path.suffix == ".ipynb" and not item.config.getoption("--full"):
        os.environ["SPECDEC_LAB_QUICK"] = "1"
    else:
        os.environ.pop("SPECDEC_LAB_QUICK", None)


@pytest.fixture(scope="session")
def full(request) -> bool:
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def lab():
    """The embedded target, fetched on first use."""
    from specdec_lab import load

    return load(device="cpu")


@pytest.fixture
def loaded_once(lab, monkeypatch):
    """Commands that load the embedded target get the one that is loaded already; anything else is loaded as always."""
    from specdec_lab import lab as module
    from specdec_lab.choices import EMBEDDED

    load_model = module.load_model

    def take_or_load(name, device, say, dtype, backend):
        if (name, device.type, dtype, backend) == (EMBEDDED, "cpu", "auto", "auto"):
            return lab.target, lab.tokenizer
        return load_model(name, device, say, dtype, backend)

    monkeypatch.setattr(module, "load_model", take_or_load)


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
    """(target, tokenizer, folder with some shards of its text and some to measure on); tests leave checkpoints there, too."""
    from writer import SMALL

    from specdec_lab.models.load import load_model
    from specdec_lab.train import recipes

    target, tokenizer = load_model(writer, "cpu")
    text = tmp_path_factory.mktemp("text")
    recipes.write(target, tokenizer, text, tokens=4_000, size=SMALL, say=lambda line: None)
    return target, tokenizer, text
