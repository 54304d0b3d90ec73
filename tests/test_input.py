"""What comes from outside: files of prompts in every wrong shape, and options that are none."""

import json
import os

import pytest
from stand_ins import written
from tiny import TinyModel

from specdec_lab import files
from specdec_lab.cli import main
from specdec_lab.course import ledger as ledger_module
from specdec_lab.course.ledger import Ledger
from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.lab import Lab
from specdec_lab.measure.prompts import read_prompts, read_traffic

pytestmark = pytest.mark.usefixtures("loaded_once")

GOOD = {"id": "0", "kind": "x", "prompt": "hello"}
READERS = pytest.mark.parametrize("read", [read_prompts, read_traffic])


@pytest.mark.parametrize("part", ["id", "kind"])
def test_what_names_a_prompt_is_text(tmp_path, part):
    for odd in ("", " ", [], {"a": 1}, 1.5):
        with pytest.raises(LabError, match="Line 2.*must be text"):
            read_prompts(written(tmp_path, f"{json.dumps(GOOD)}\n{json.dumps(GOOD | {part: odd})}"))


DEEP = "[" * 100_000 + "]" * 100_000
FILES = {
    "deep": DEEP.encode(),
    "deep inside": b'{"id": 1, "kind": "x", "prompt": ' + DEEP.encode() + b"}",
    "UTF-16": "hello".encode("utf-16"),
    "Latin-1": "caf\u00e9".encode("latin-1"),
    "bytes": bytes(range(256)),
}


@READERS
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_holds_no_prompts_is_one_sentence(tmp_path, read, name):
    file = tmp_path / "file"
    file.write_bytes(FILES[name])
    with pytest.raises(LabError) as told:
        read(str(file))
    assert "\n" not in str(told.value).strip() and len(str(told.value)) < 500


@READERS
@pytest.mark.parametrize("path", ["", "\0", "a" * 5000, "/dev/zero", ".", "~nobody/x", "no such file"])
def test_a_path_that_is_no_file_is_one_sentence(read, path):
    with pytest.raises(LabError, match="cannot be read"):
        read(path)


def test_a_file_that_is_too_large_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_TEXT_BYTES", 10)
    with pytest.raises(LabError, match="larger than"):
        read_prompts(written(tmp_path, "x" * 11))


NUMBERS = ("demo --alpha", "demo --temperature", "demo --top-p", "demo --min-p", "demo --repetition-penalty", "demo --gamma",
    "demo --max-new-tokens", "demo --seed", "bench --repeats", "bench --limit", "traffic x --at-once", "traffic x --repeats",
    "train eagle x --write", "train eagle x --tokens")  # fmt: skip


@pytest.mark.parametrize("value", ["nan", "inf", "1e400", "-inf", "", "x", "0x1", "9" * 5000])
def test_an_option_that_is_no_number_is_one_sentence(capsys, monkeypatch, value):
    """Also infinity, which no whole number is, and what has more digits than Python reads."""
    monkeypatch.setattr("specdec_lab.lab.load", lambda *_: Lab(TinyModel(5, seed=0), None, frozenset()))
    monkeypatch.setattr(Lab, "encode", lambda *_: [1, 2])
    for option in NUMBERS:
        *argv, name = option.split()
        argv += ["--drafter", "dial"] if "alpha" in name else []
        try:
            code = main([*argv, f"{name}={value}", "--device", "cpu"])
        except SystemExit as e:  # argparse's own way out
            code = e.code
        told = capsys.readouterr().err.strip().splitlines()
        assert code == 2 and "Traceback" not in "".join(told) and len(told[-1]) < 6000, option


NAMED = (
    ["demo", "--target"], ["demo", "--draft"], ["demo", "--drafter", "eagle", "--weights"], ["bench", "--prompts"], ["traffic"],
    ["course"], ["grade"], ["class-report"], ["train", "eagle"], ["train", "eagle", "builtin", "--folder"],
    ["train", "eagle", "builtin", "--start"], ["lab", "--dir"], ["progress", "--ledger"], ["progress", "--import"],
    ["progress", "--export"], ["doctor", "--target"],
)  # fmt: skip
ODD = {"": "is empty", "a" * 300: "", "a/" * 3000: ""}


@pytest.mark.parametrize("argv", NAMED, ids=" ".join)
def test_what_no_file_is_called_and_what_is_none_is_one_sentence(capsys, tmp_path, argv):
    """Too long, a path through a file, and a pipe, for which nobody would wait."""
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, says in {**ODD, str(tmp_path / "file" / "inside"): "", str(tmp_path / "pipe"): ""}.items():
        assert main([*argv, name]) in (1, 2), name[:80]
        told = capsys.readouterr().err.strip().splitlines()
        assert "Traceback" not in "".join(told) and all(len(line) < 7000 for line in told), name[:80]
        assert not says or says in told[-1], name[:80]
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"] and not (tmp_path / "pipe").is_file()


def test_a_ledger_without_a_file_stays_in_memory(tmp_path):
    """As for somebody who gives the ledger /dev/null, to keep nothing."""
    os.mkfifo(tmp_path / "null")
    ledger = Ledger(tmp_path / "null")
    ledger.guess("a", 1.0)
    assert ledger.read()["claims"]["a"]["guess"]["value"] == 1.0
    assert "it is no plain file" in ledger.news()
    assert os.listdir(tmp_path) == ["null"] and not (tmp_path / "null").is_file()
    del ledger_module._waiting[ledger.path]


def test_what_breaks_off_leaves_only_the_old_file(tmp_path):
    (tmp_path / "report").write_text("old")
    with pytest.raises(ValueError), written_whole(tmp_path / "report") as unfinished:
        unfinished.write_text("half")
        raise ValueError
    assert os.listdir(tmp_path) == ["report"] and (tmp_path / "report").read_text() == "old"
