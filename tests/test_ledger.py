"""The learner's ledger, without a browser: what it keeps, and what it outlives."""

import json
import subprocess
import sys

import pytest

import specdec_lab as sd
from specdec_lab.course import ledger as module
from specdec_lab.course.ledger import MEASUREMENTS, Ledger
from specdec_lab.course.working_copy import working_copy


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_waiting", {})
    monkeypatch.setenv("SPECDEC_LAB_LEDGER", str(tmp_path / "course" / "ledger.json"))
    return tmp_path / "course" / "ledger.json"


def fill(ledger: Ledger) -> dict:
    ledger.ask("01.a", "How many?", "ms")
    ledger.guess("01.a", 3.0, "γ doubles")
    ledger.add_measurement("01.a", 1.5, (1.25, 1.75), 1.4)
    ledger.assume("01.a", "reading is free")
    ledger.attempt("01.x", chosen="B", right=False, confidence="sure", misconception=9)
    return ledger.read()


def test_a_later_kernel_reads_everything(path):
    data = fill(Ledger())
    text = path.read_text(encoding="utf-8")
    assert json.loads(text) == data == Ledger().read()
    assert "γ doubles" in text and text.count("\n") > 5  # people can read it, too
    claim = data["claims"]["01.a"]
    assert (claim["question"], claim["unit"], claim["assumed"]) == ("How many?", "ms", "reading is free")
    assert (claim["guess"]["value"], claim["guess"]["reason"]) == (3.0, "γ doubles")
    (measured,) = claim["measured"]
    assert (measured["value"], measured["interval"], measured["theory"]) == (1.5, [1.25, 1.75], 1.4)
    (attempt,) = Ledger().attempts("01.x")
    assert (attempt["right"], attempt["misconception"]) == (False, 9)
    assert attempt["when"] <= module._now()


def test_a_working_copy_has_one_ledger(tmp_path, monkeypatch):
    """Lessons and exercises lie in two folders; the terminal stands beside them. Elsewhere it is in the current folder."""
    monkeypatch.delenv("SPECDEC_LAB_LEDGER")
    source, copy = tmp_path / "course", tmp_path / "my-course"
    inner = copy / "again"  # of copies within each other the nearest has the ledger
    (source / "lessons").mkdir(parents=True)
    (source / "lessons" / "00.ipynb").write_text('{"cells": []}')
    working_copy(copy, source)
    working_copy(inner, source)
    for folder in (copy, copy / "lessons", copy / "exercises", tmp_path, inner, source):
        monkeypatch.chdir(folder)
        assert Ledger().path == (folder if folder in (inner, source) else copy) / "ledger.json"


def test_a_clone_has_one_ledger(tmp_path, monkeypatch):
    """Some editors start a kernel in the notebook's folder; a terminal stands in that of the clone."""
    monkeypatch.delenv("SPECDEC_LAB_LEDGER")
    clone = tmp_path / "clone"
    for name in ("lessons", "exercises/hub", "specdec_lab"):
        (clone / name).mkdir(parents=True)
    folders = [clone, clone / "lessons", clone / "exercises", clone / "exercises" / "hub"]

    def ledgers() -> set:
        return {monkeypatch.chdir(folder) or Ledger().path for folder in folders}

    assert ledgers() == {clone / "ledger.json"}
    (clone / "lessons" / "00.ipynb").write_text('{"cells": []}')
    working_copy(clone / "my-course", clone)  # once `make lab` was used, its ledger is that of all
    folders += [clone / "my-course" / "lessons"]
    assert ledgers() == {clone / "my-course" / "ledger.json"}
    (tmp_path / "lessons").mkdir()  # a folder of that name is no clone
    folders = [tmp_path / "lessons"]
    assert ledgers() == {tmp_path / "lessons" / "ledger.json"}


def test_a_mark_in_front_is_no_damage(path):
    """As some editors put one."""
    before = fill(Ledger())
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Ledger().read() == before
    assert "01.b" in Ledger().change(lambda data: data["claims"].update({"01.b": {}}))["claims"]
    assert not path.read_bytes().startswith(b"\xef\xbb\xbf")


def test_a_guess_is_fixed_and_has_one_revision(path):
    """And says when it came after the outcome."""
    ledger = Ledger()
    assert ledger.guess("a", 3.0)["value"] == 3.0
    assert ledger.guess("a", 4.0)["value"] == 3.0
    ledger.add_measurement("a", 1.0)
    assert ledger.guess("a", 2.0, kind="revision")["value"] == 2.0
    assert ledger.guess("a", 1.0, kind="revision")["value"] == 2.0
    claim = Ledger().claim("a")
    assert (claim["guess"]["value"], claim["revision"]["value"]) == (3.0, 2.0)
    assert not claim["guess"]["after_outcome"]
    ledger.add_measurement("b", 1.0)
    assert ledger.guess("b", 1.0)["after_outcome"]


def test_measurements_do_not_pile_up(path):
    ledger = Ledger()
    for i in range(MEASUREMENTS + 5):
        ledger.add_measurement("a", float(i))
    values = [m["value"] for m in ledger.claim("a")["measured"]]
    assert values == [float(i) for i in range(5, MEASUREMENTS + 5)]


def test_tries_are_counted_best_and_last_kept(path):
    ledger = Ledger(path)
    for n, points in enumerate((0.0, 2.0, 1.0), 1):
        ledger.judge("1.bytes", {"points": points, "status": "wrong"})
        part = Ledger(path).read()["parts"]["1.bytes"]  # with no point at first: a ledger all the same
        assert part["tries"] == n
    assert (part["best"]["points"], part["last"]["points"]) == (2.0, 1.0)


def test_asking_again_writes_nothing(path):
    Ledger().ask("a", "How many?")
    before = path.stat().st_mtime_ns
    Ledger().ask("a", "How many?")
    assert path.stat().st_mtime_ns == before
    Ledger().ask("a", "How many tokens?")
    assert Ledger().claim("a")["question"] == "How many tokens?"
    Ledger().ask("a", "How many tokens?", "ms")  # the same words in another unit are another question
    assert Ledger().claim("a")["unit"] == "ms"


def test_two_notebooks_at_once_lose_nothing(path):
    script = (
        "import sys; from specdec_lab.course.ledger import Ledger\n"
        "for i in range(60):\n"
        "    Ledger().guess(f'{sys.argv[1]}.{i}', i)\n"
        "    Ledger().attempt('shared', right=True)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, name]) for name in ("one", "two")]
    assert [w.wait(timeout=120) for w in writers] == [0, 0]
    data = Ledger().read()
    assert len(data["claims"]) == 120
    assert len(data["quiz"]["shared"]) == 120


LEDGER = '{"schema": 1, "claims": {%s}, "quiz": {%s}, "parts": {%s}}'


def claim(of: str) -> str:
    return LEDGER % (f'"a": {of}', "", "")


def measured(of: str) -> str:
    return claim(f'{{"measured": [{{"value": 1, {of}}}]}}')


def answers(of: str) -> str:
    return LEDGER % ("", f'"a": {of}', "")


def part(best: str, tries: int = 1) -> str:
    return LEDGER % ("", "", f'"1.a": {{"tries": {tries}, "best": {best}}}')


FOREIGN = {
    "empty": "",
    "cut off": '{"schema": 1, "claims": {"01.a": {"quest',
    "another thing": '["a list"]',
    "not text": b"\xff\xfe\x00",
    "endless": "[" * 100_000,
    "claims that are none": claim('"b"'),
    "a guess without end": claim('{"guess": {"value": 1e999}}'),
    "a guess beyond all": claim('{"guess": {"value": 1%s}}' % ("0" * 400)),
    "a guess in words": claim('{"guess": {"value": "three"}}'),
    "a guess at a time that is a number": claim('{"guess": {"value": 2.0, "when": 1.5}}'),
    "a reason that is none": claim('{"guess": {"value": 1, "reason": 1}}'),
    "a line that is none": claim('{"assumed": 3}'),
    "a line at a time that is a number": claim('{"assumed": "", "assumed_when": 3}'),
    "a measurement that is none": claim('{"measured": {"value": 1}}'),
    "half an interval": measured('"interval": [1]'),
    "an interval in words": measured('"interval": ["a", "b"]'),
    "an endless interval": measured('"interval": [1, 1e999]'),
    "a theory in words": measured('"theory": "two"'),
    "a time that is a number": measured('"when": 1730000000'),
    "no time": measured('"when": null'),
    "attempts that are none": answers("{}"),
    "a belief that is none": answers('[{"right": true, "misconception": [1]}]'),
    "an answer at a time that is a list": answers('[{"right": true, "when": [1]}]'),
    "a part without tries": part('{"points": 1, "status": "right"}', tries=0),
    "a part with tries below zero": part('{"points": 1, "status": "right"}', tries=-1),
    "points below zero": part('{"points": -0.5, "status": "right"}'),
    "endless points": part('{"points": 1e400, "status": "right"}'),
    "very many points": part('{"points": 1e12, "status": "right"}'),
    "points that are words": part('{"points": "2", "status": "right"}'),
    "a part without a status": part('{"points": 0, "status": ""}'),
    "a part at a time that is a number": part('{"points": 1, "status": "right", "when": 5}'),
}


def test_a_ledger_with_few_entries_is_read(path):
    """The files above are made like these: each is refused for what is wrong in it alone."""
    path.parent.mkdir()
    for content in (measured('"when": ""'), answers('[{"right": true}]'), part('{"points": 1, "status": "right"}')):
        path.write_text(content)
        assert Ledger().read() == json.loads(content)


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("first", ["read", "write"])
def test_a_file_that_is_none_is_set_aside(path, content, first):
    path.parent.mkdir()
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(content)
    (path.parent / "ledger (set aside 1).json").write_text("older")
    ledger = Ledger()
    if first == "read":
        assert ledger.read() == {"schema": 1, "claims": {}, "quiz": {}}
    else:
        ledger.guess("a", 1.0)
    assert "“ledger (set aside 2).json”" in ledger.news()
    assert (path.parent / "ledger (set aside 2).json").read_bytes() == content
    assert (path.parent / "ledger (set aside 1).json").read_text() == "older"
    fill(ledger)
    assert ledger.news() == ""
    assert "01.a" in Ledger().read()["claims"]


def test_a_newer_ledger_is_left_alone(path):
    """To set it aside, or to write into it, would take away what the newer version knows."""
    path.parent.mkdir()
    newer = '{"schema": 2, "claims": {}, "quiz": {}}'
    path.write_text(newer)
    ledger = Ledger()
    fill(ledger)
    assert "newer version" in ledger.news()
    assert path.read_text() == newer and ledger.read()["claims"]["01.a"]["guess"]["value"] == 3.0


def test_without_a_folder_the_lesson_goes_on(path):
    """It is said once; what waited is written when it can be."""
    path.parent.write_text("a file where the folder should be")
    ledger = Ledger()
    data = fill(ledger)
    assert data["claims"]["01.a"]["guess"]["value"] == 3.0
    assert ledger.guess("01.a", 9.0)["value"] == 3.0
    assert Ledger().read()["claims"]["01.a"]["assumed"] == "reading is free"  # another cell of this kernel
    told = ledger.news()
    assert told.count(f"The ledger {path} cannot be used") == 1 and not ledger.written
    ledger.read()
    path.parent.unlink()  # it can be written again: what waited goes into the file
    ledger.add_measurement("01.a", 1.6)
    ledger.assume("01.a", "another line")
    kept = json.loads(path.read_text(encoding="utf-8"))["claims"]["01.a"]
    assert (kept["guess"]["value"], [m["value"] for m in kept["measured"]]) == (3.0, [1.5, 1.6])
    assert ledger.news() == "" and ledger.written


def test_what_others_wrote_meanwhile_stays(path, monkeypatch):
    """A ledger that cannot be written keeps what it was told, not the file as it once was."""
    Ledger().guess("a", 1.0)
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    with module.FileLock(path.with_suffix(".lock")):
        slow = Ledger()
        slow.guess("b", 2.0)
        assert "another program holds it" in slow.news()
        assert set(slow.read()["claims"]) == {"a", "b"}
        other = json.loads(path.read_text())
        other["claims"]["c"] = {"guess": {"value": 3.0}}
        path.write_text(json.dumps(other))
    slow.assume("b", "line")
    assert set(json.loads(path.read_text())["claims"]) == {"a", "b", "c"}


def test_a_broken_write_leaves_the_old_file(path, monkeypatch):
    Ledger().guess("a", 1.0)
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(module.Path, "replace", lambda *_: (_ for _ in ()).throw(full))
    ledger = Ledger()
    ledger.guess("b", 2.0)
    assert "No space left on device" in ledger.news()
    assert set(json.loads(path.read_text())["claims"]) == {"a"}
    assert set(ledger.read()["claims"]) == {"a", "b"}


def test_no_module_hides_a_name_of_the_course():
    from importlib.util import find_spec

    assert [name for name in sd.__all__ if find_spec(f"specdec_lab.{name}")] == []


@pytest.mark.parametrize("use", [Ledger.read, lambda ledger: ledger.guess("a", 1.0)])
def test_what_is_no_file_is_left_alone(path, use):
    """It may be a pipe, from which reading never ends."""
    path.mkdir(parents=True)
    use(ledger := Ledger())
    assert "(it is no plain file)" in ledger.news()
    assert list(path.parent.iterdir()) == [path]
