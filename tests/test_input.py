"""What comes from outside: files of prompts in every wrong shape, and options that are none."""

import json
import os
import random
import stat

import pytest
from stand_ins import written
from tiny import TinyModel

from specdec_lab import files
from specdec_lab.cli import main
from specdec_lab.clock import limited
from specdec_lab.course import ledger as ledger_module
from specdec_lab.course.ledger import Ledger
from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.lab import Lab
from specdec_lab.measure import results
from specdec_lab.measure.prompts import Prompt, read_prompts
from specdec_lab.measure.reading import read_traffic

pytestmark = pytest.mark.usefixtures("loaded_once")

VALUES = [None, True, 5, 1.5, "", " ", "\ud800", "text", [], ["hi"], {}, {"a": 1}, [[]], [None], "x" * 10_000]
CONTENTS = [*VALUES, [{"type": "text", "text": "hi"}], [{"type": "image_url"}], [{"text": 5}]]
GOOD = {"id": "0", "kind": "x", "prompt": "hello"}


def lines():
    """Objects with one part that is wrong, or unusual."""
    for value in VALUES:
        yield value
        for part in ("id", "kind", "prompt", "raw"):
            yield {**GOOD, part: value}
        yield {"id": "0", "kind": "x", "messages": value}
        yield {"id": "0", "kind": "x", "messages": [value]}
        yield {"id": "0", "kind": "x", "messages": [{"role": value, "content": "hi"}]}
    for content in CONTENTS:
        yield {"id": "0", "kind": "x", "messages": [{"role": "user", "content": content}]}
        two = [{"role": "user", "content": "a"}, {"role": "user", "content": content}]
        yield {"id": "0", "kind": "x", "messages": two}


def usable(prompt: Prompt) -> bool:
    texts = [m["content"] for m in prompt.messages] if isinstance(prompt.content, list) else [prompt.content]
    return all(isinstance(t, str) and t.strip() and t.encode() for t in (*texts, prompt.id, prompt.kind))


@pytest.mark.parametrize("entry", list(lines()), ids=lambda entry: ascii(entry)[:70])
def test_a_line_is_a_prompt_or_one_sentence(tmp_path, entry):
    """By `bench` and by `traffic`."""
    file = written(tmp_path, json.dumps({**GOOD, "id": "first"}) + "\n" + json.dumps(entry))
    try:
        assert all(map(usable, read_prompts(file)))
    except LabError as e:
        assert "Line 2" in str(e) and "\n" not in str(e)
    prompts, problems = read_traffic(file)
    assert len(prompts) + len(problems) == 2 and all(map(usable, prompts))
    assert all(p.startswith("Line 2") and "\n" not in p for p in problems)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{bad", ""),
        ("3", "it is no object"),
        ('{"id": 1, "kind": "x"}', "“prompt” is missing"),
        ('{"id": 1, "kind": "x", "prompt": " "}', "the prompt is empty"),
        ('{"id": 1, "kind": "x", "messages": []}', "must be a list of messages"),
        ('{"id": 1, "kind": "x", "messages": [{"role": "user"}]}', "each message needs"),
    ],
)
def test_a_bad_line_is_told(tmp_path, line, said):
    file = written(tmp_path, f"{json.dumps(GOOD)}\n{line}\n{json.dumps({**GOOD, 'id': 2})}\n")
    with pytest.raises(LabError, match=f"Line 2.*{said}"):
        read_prompts(file)
    prompts, (problem,) = read_traffic(file)
    assert len(prompts) == 2 and problem.startswith("Line 2 was left out") and said in problem


DEEP = "[" * 100_000 + "]" * 100_000
FILES = {
    "deep": DEEP.encode(),
    "deep inside": b'{"id": 1, "kind": "x", "prompt": ' + DEEP.encode() + b"}",
    "an array of numbers": b"[1, 2]",
    "a page": b"<!DOCTYPE html><html><body>hi</body></html>",
    "UTF-16": "hello".encode("utf-16"),
    "Latin-1": "caf\u00e9".encode("latin-1"),
    "bytes": bytes(range(256)),
    "nothing": b"",
    "white": b" \n\n \t",
    "half a line": b'{"id": 1, "kind": "x", "prompt": "he',
    "a long number": b'{"id": ' + b"9" * 10_000 + b', "kind": "x", "prompt": "he"}',
}


READERS = pytest.mark.parametrize("read", [read_prompts, read_traffic])


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


@READERS
def test_a_file_that_is_too_large_is_refused_unread(tmp_path, monkeypatch, read):
    monkeypatch.setattr(files, "MAX_TEXT_BYTES", 10)
    with pytest.raises(LabError, match="larger than"):
        read(written(tmp_path, "x" * 11))


def test_an_id_stands_once(tmp_path):
    with pytest.raises(LabError, match="Line 2 of .*“0” stands twice"):
        read_prompts(written(tmp_path, f"{json.dumps(GOOD)}\n" * 2))


def test_marks_and_breaks_of_unicode_do_no_harm(tmp_path):
    file = tmp_path / "p.jsonl"
    file.write_text(json.dumps({**GOOD, "prompt": "a\u2028b"}, ensure_ascii=False), encoding="utf-8")
    assert len(read_prompts(str(file))) == 1
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n")
    assert read_prompts(str(file)) == [Prompt("0", "x", "hello")]
    assert [p.content for p in read_traffic(str(file))[0]] == ["hello"]
    file.write_bytes(b"\xef\xbb\xbffirst\r\n\r\nsecond, which\r\nhas two lines")
    assert [p.content for p in read_traffic(str(file))[0]] == ["first", "second, which\nhas two lines"]


def test_random_bytes_never_end_in_a_traceback(tmp_path):
    dice, file = random.Random(0), tmp_path / "p"
    good = json.dumps(GOOD).encode()
    for _ in range(300):
        data = bytearray(good * dice.randint(1, 3))
        for _ in range(dice.randint(1, 8)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        file.write_bytes(bytes(data))
        for read in (read_prompts, lambda path: read_traffic(path)[0]):
            try:
                assert all(map(usable, read(str(file))))
            except LabError as e:
                assert len(str(e)) < 1000


NUMBERS = ("demo --alpha", "demo --temperature", "demo --top-p", "demo --min-p", "demo --repetition-penalty", "demo --gamma",
    "demo --max-new-tokens", "demo --seed", "bench --repeats", "bench --limit", "traffic x --at-once", "traffic x --repeats",
    "train eagle x --write", "train eagle x --tokens")  # fmt: skip


@pytest.mark.parametrize("option", NUMBERS)
@pytest.mark.parametrize("value", ["nan", "inf", "1e400", "-inf", "", "x", "0x1", "9" * 5000])
def test_an_option_that_is_no_number_is_one_sentence(capsys, monkeypatch, option, value):
    """Also infinity, which no whole number is, and what has more digits than Python reads."""
    monkeypatch.setattr("specdec_lab.lab.load", lambda *_: Lab(TinyModel(5, seed=0), None, frozenset()))
    monkeypatch.setattr(Lab, "encode", lambda *_: [1, 2])
    *argv, name = option.split()
    argv += ["--drafter", "dial"] if "alpha" in name else []
    try:
        code = main([*argv, f"{name}={value}", "--device", "cpu"])
    except SystemExit as e:  # argparse's own way out
        code = e.code
    told = capsys.readouterr().err.strip().splitlines()
    assert code == 2 and "Traceback" not in "".join(told) and len(told[-1]) < 6000


ODD = {
    "": "is empty",
    "\0": "zero byte",
    "a\0b": "zero byte",
    "\udcff\ud800": "half a character",
    "a" * 300: "too long",
    "a/" * 3000: "too long",
}
NAMED = (
    ["demo", "--target"], ["demo", "--draft"], ["demo", "--weights"], ["bench", "--prompts"], ["traffic"], ["traffic", "builtin", "--html"],
    ["course"], ["export"], ["grade"], ["class-report"], ["train", "eagle", "builtin", "--folder"], ["train", "eagle"],
    ["train", "eagle", "builtin", "--start"], ["lab", "--dir"], ["progress", "--ledger"], ["progress", "--import"], ["progress", "--export"],
    ["doctor", "--target"],
)  # fmt: skip


@pytest.mark.parametrize("argv", NAMED, ids=" ".join)
@pytest.mark.parametrize("name", ODD, ids=lambda name: ascii(name)[:20])
def test_an_impossible_name_is_one_sentence(capsys, argv, name):
    assert main([*argv, name]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert ODD[name] in told[-1] and len(told[-1]) < 300


# Without `demo --weights`: lookup, the drafter there, reads no weights.
USED = [*(argv for argv in NAMED if argv != ["demo", "--weights"]), ["demo", "--drafter", "eagle", "--weights"]]


def one_sentence(capsys, argv: list[str], path) -> None:
    """Try a command with a path where nothing can be read or written."""
    codes = []
    limited(lambda: codes.append(main([*argv, str(path)])), seconds=20)
    assert codes[0] in (1, 2)
    told = capsys.readouterr().err.strip().splitlines()
    assert "Traceback" not in "".join(told) and all(len(line) < 400 for line in told)


@pytest.mark.parametrize("argv", USED, ids=" ".join)
def test_a_path_through_a_file_is_one_sentence(capsys, argv, tmp_path):
    (tmp_path / "file").touch()
    one_sentence(capsys, argv, tmp_path / "file" / "inside")


@pytest.fixture(params=["a device", "a pipe"])
def no_file(request, tmp_path):
    """Like /dev/null and /dev/stdin, but in a folder of its own: nothing that a test does to it harms the machine."""
    path = tmp_path / "alone" / "null"
    path.parent.mkdir()
    try:
        if request.param == "a pipe":
            os.mkfifo(path)
        else:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))  # what /dev/null is on Linux
            path.read_bytes()
    except (OSError, AttributeError):
        pytest.skip(f"{request.param} cannot be made here: on Linux root can")
    return path


@pytest.mark.parametrize("argv", USED, ids=" ".join)
def test_what_is_no_plain_file_stays(capsys, no_file, argv):
    """To wait for a pipe ends after some seconds; a device that was replaced would be missed by all programs."""
    before = os.lstat(no_file)
    one_sentence(capsys, argv, no_file)
    after = os.lstat(no_file)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert os.listdir(no_file.parent) == ["null"]


def test_a_ledger_without_a_file_stays_in_memory(no_file):
    """As for somebody who gives the ledger /dev/null, to keep nothing."""
    ledger = Ledger(no_file)
    limited(lambda: ledger.guess("a", 1.0), seconds=20)
    assert ledger.read()["claims"]["a"]["guess"]["value"] == 1.0
    assert "it is no plain file" in ledger.news()
    assert os.listdir(no_file.parent) == ["null"] and not no_file.is_file()
    del ledger_module._waiting[ledger.path]


def test_what_breaks_off_leaves_only_the_old_file(tmp_path):
    (tmp_path / "report").write_text("old")
    with pytest.raises(ValueError), written_whole(tmp_path / "report") as unfinished:
        unfinished.write_text("half")
        raise ValueError
    assert os.listdir(tmp_path) == ["report"] and (tmp_path / "report").read_text() == "old"


def test_where_no_result_can_be_kept_nothing_is_measured(capsys, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr(results, "folder", lambda: tmp_path / "file" / "results")
    argv = ["bench", "--device", "cpu", "--drafters", "lookup", "--gamma", "2", "--max-new-tokens", "2", "--record"]
    assert main([*argv, "--prompts", written(tmp_path, json.dumps(GOOD))]) == 2
    out, err = capsys.readouterr()
    assert out == "" and str(tmp_path / "file" / "results") in err.splitlines()[-1]
