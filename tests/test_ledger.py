"""The learner's ledger, without a browser: what it keeps, and what it outlives."""

import json
import subprocess
import sys
from copy import deepcopy

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


GUESS = {"value": 3.0, "reason": "", "when": "", "after_outcome": False}
VERDICT = {"points": 0.0, "max_points": 2, "status": "wrong", "message": "", "when": "", "misconception": None}
MEASURED = {"value": 1, "interval": [1, 2.5], "theory": None, "when": ""}
CLAIM = {"question": "", "unit": "", "guess": GUESS, "revision": GUESS, "measured": [MEASURED]}
WHOLE = {
    "schema": 1,
    "claims": {"a": CLAIM | {"assumed": "", "assumed_when": ""}, "b": {}},
    "quiz": {"a": [{"when": "", "question": "", "chosen": 3, "right": True, "confidence": "", "misconception": 7}]},
    "parts": {"1.a": {"tries": 1, "best": VERDICT, "last": VERDICT}},
}
ENDLESS, BEYOND_ALL = 1e999, 10**400
WRONG = {
    "claims/a": ["b", None],
    "claims/a/assumed": [3],
    "claims/a/assumed_when": [3],
    "claims/a/question": [3],
    "claims/a/unit": [None],
    "claims/a/guess": [None, {}],
    "claims/a/guess/value": ["three", ENDLESS, BEYOND_ALL],
    "claims/a/guess/when": [1.5],
    "claims/a/guess/reason": [1],
    "claims/a/revision/value": [None],
    "claims/a/measured": [{"value": 1}, [{}]],
    "claims/a/measured/0/interval": [[1], ["a", "b"], [1, ENDLESS]],
    "claims/a/measured/0/theory": ["two"],
    "claims/a/measured/0/when": [1730000000, None],
    "quiz/a": [{}, ["x"]],
    "quiz/a/0/right": ["yes"],
    "quiz/a/0/misconception": [[1]],
    "quiz/a/0/when": [[1]],
    "quiz/a/0/confidence": [1],
    "parts/1.a": [{"tries": 1}],
    "parts/1.a/tries": [0, -1, 10**9],
    "parts/1.a/best": [None],
    "parts/1.a/best/points": [-0.5, ENDLESS, 1e12, "2"],
    "parts/1.a/best/max_points": [-1],
    "parts/1.a/last/status": [""],
    "parts/1.a/last/when": [5],
    "parts/1.a/last/message": [[]],
    "schema": [True + 1.5, "1"],
}


@pytest.mark.parametrize("where", WRONG)
def test_one_wrong_field_and_it_is_no_ledger(where):
    assert module.is_ledger(WHOLE)
    *names, last = (int(name) if name == "0" else name for name in where.split("/"))
    for wrong in WRONG[where]:
        data = place = deepcopy(WHOLE)
        for name in names:
            place = place[name]
        place[last] = wrong
        assert not module.is_ledger(data), wrong


def test_every_field_has_a_wrong_one():
    assert set(module._FIELDS) <= {name for where in WRONG for name in where.split("/")}


FOREIGN = {
    "empty": "",
    "cut off": '{"schema": 1, "claims": {"01.a": {"quest',
    "another thing": '["a list"]',
    "not text": b"\xff\xfe\x00",
    "endless": "[" * 100_000,
    "claims that are none": '{"schema": 1, "claims": {"a": "b"}, "quiz": {}}',
}


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
