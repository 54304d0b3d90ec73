"""The learner's ledger, without a browser: what it keeps, and what it outlives."""

import json
import subprocess
import sys
import time
from copy import deepcopy
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from specdec_grader.progress_table import progress_text, read_progress

import specdec_lab as sd
from specdec_lab.course import ledger as module
from specdec_lab.course.ledger import ENTERED, MEASUREMENTS, Ledger, is_ledger, merge
from specdec_lab.course.working_copy import working_copy

FEW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
    assert "γ doubles" in text and text.count("\n") > 5  # people can read it, too
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # some editors put a mark in front
    assert json.loads(text) == data == Ledger().read()
    claim = data["claims"]["01.a"]
    assert (claim["question"], claim["unit"], claim["assumed"]) == ("How many?", "ms", "reading is free")
    assert (claim["guess"]["value"], claim["guess"]["reason"]) == (3.0, "γ doubles")
    (measured,) = claim["measured"]
    assert (measured["value"], measured["interval"], measured["theory"]) == (1.5, [1.25, 1.75], 1.4)
    (attempt,) = Ledger().attempts("01.x")
    assert (attempt["right"], attempt["misconception"]) == (False, 9) and attempt["when"] <= module._now()


def test_a_working_copy_has_one_ledger_and_so_has_a_clone(tmp_path, monkeypatch):
    """Lessons and exercises lie in two folders, a terminal stands beside them; elsewhere it is in the current folder."""
    monkeypatch.delenv("SPECDEC_LAB_LEDGER")
    clone, copy = tmp_path / "clone", tmp_path / "clone" / "my-course"
    for name in ("lessons", "exercises/hub", "specdec_lab"):
        (clone / name).mkdir(parents=True)
    (tmp_path / "lessons").mkdir()  # a folder of that name is no clone

    def ledger_in(folder) -> object:
        monkeypatch.chdir(folder)
        return Ledger().path.parent

    in_clone = [clone, clone / "lessons", clone / "exercises", clone / "exercises" / "hub"]
    assert {ledger_in(folder) for folder in in_clone} == {clone}
    (clone / "lessons" / "00.ipynb").write_text('{"cells": []}')
    working_copy(copy, clone)  # once `make lab` was used, its ledger is that of all
    assert {ledger_in(folder) for folder in [*in_clone, copy, copy / "lessons", copy / "exercises"]} == {copy}
    working_copy(copy / "again", clone)  # of copies within each other the nearest has the ledger
    for folder in (copy / "again", tmp_path / "lessons"):
        assert ledger_in(folder) == folder


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows reads its time zone once")
@pytest.mark.parametrize(("zone", "later"), [("XXX-9", True), ("XXX+9", False)])
def test_a_guess_and_an_outcome_are_in_order_in_every_time_zone(path, monkeypatch, zone, later):
    with monkeypatch.context() as there:
        there.setenv("TZ", zone)
        time.tzset()
        Ledger().add_measurement("a", 2.0)
    time.tzset()
    when = datetime.now(UTC) + timedelta(minutes=1 if later else -1)
    assert Ledger().guess("a", 2.0, when=when.isoformat(timespec="seconds"))["after_outcome"] == later


def test_measurements_do_not_pile_up(path):
    ledger = Ledger()
    for i in range(MEASUREMENTS + 5):
        ledger.add_measurement("a", float(i))
    assert [m["value"] for m in ledger.claim("a")["measured"]] == [float(i) for i in range(5, MEASUREMENTS + 5)]


def test_two_notebooks_at_once_lose_nothing(path):
    script = (
        "import sys; from specdec_lab.course.ledger import Ledger\n"
        "for i in range(60):\n"
        "    Ledger().guess(f'{sys.argv[1]}.{i}', i)\n"
        "    Ledger().attempt('shared', right=True, chosen=f'{sys.argv[1]}.{i}')\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, name]) for name in ("one", "two")]
    assert [w.wait(timeout=120) for w in writers] == [0, 0]
    data = Ledger().read()
    assert len(data["claims"]) == len(data["quiz"]["shared"]) == 120


GUESS = {"value": 3.0, "reason": "", "when": "", "after_outcome": False}
VERDICT = {"points": 0.0, "max_points": 2, "status": "wrong", "message": "", "when": "", "misconception": None}
MEASURED = {"value": 1, "interval": [1, 2.5], "theory": None, "when": ""}
CLAIM = {"question": "", "unit": "", "guess": GUESS, "revision": GUESS, "measured": [MEASURED], "assumed_when": ""}
WHOLE = {
    "schema": 1,
    "claims": {"01.a": CLAIM | {"assumed": ""}, "b": {}},
    "quiz": {"01.a": [{"when": "", "question": "", "chosen": 3, "right": True, "confidence": "", "misconception": 7}]},
    "parts": {"1.bytes": {"tries": 1, "best": VERDICT, "last": VERDICT}},
}


def places(data, *before) -> list[tuple]:
    """The way to everything that is in it."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [found for key, value in inner for found in ((*before, key), *places(value, *before, key))]


def changed(place: tuple, value) -> dict:
    data = inner = deepcopy(WHOLE)
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return data


def test_one_wrong_field_and_it_is_no_ledger():
    checked = [place for place in places(WHOLE) if place[-1] in module.FIELDS]
    assert is_ledger(WHOLE) and {place[-1] for place in checked} == set(module.FIELDS)
    assert [place for place in checked if is_ledger(changed(place, [["wrong"]]))] == []
    for x in (1e999, float("nan"), 10**400, -(10**400)):
        assert not is_ledger(changed(("claims", "01.a", "guess", "value"), x))


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*module.FIELDS]), inner, max_size=3),
    max_leaves=8,
)


@FEW
@example(changed(("parts", "1.bytes", "best", "points"), 1e12))  # a bar of that length fills the memory
@given(data=ANY | st.builds(changed, st.sampled_from(places(WHOLE)), ANY))
def test_any_json_is_a_ledger_that_can_be_shown_or_set_aside(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "ledger.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    before = path.read_bytes()
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SPECDEC_LAB_LEDGER", str(path))
        assert repr(sd.ledger()) and progress_text(*read_progress())
        aside = path.with_name("ledger (set aside 1).json")
        assert (aside if aside.exists() else path).read_bytes() == before
        assert is_ledger(Ledger().read()) and Ledger().guess("new", 1.0)["value"] == 1.0


FOREIGN = {
    "empty": b"",
    "cut off": b'{"schema": 1, "claims": {"01.a": {"quest',
    "not text": b"\xff\xfe\x00",
    "endless": b"[" * 100_000,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("first", [Ledger.read, lambda ledger: ledger.guess("a", 1.0)])
def test_a_file_that_is_none_is_set_aside(path, content, first):
    path.parent.mkdir()
    path.write_bytes(content)
    (path.parent / "ledger (set aside 1).json").write_text("older")
    first(ledger := Ledger())
    assert "“ledger (set aside 2).json”" in ledger.news()
    assert (path.parent / "ledger (set aside 2).json").read_bytes() == content
    assert (path.parent / "ledger (set aside 1).json").read_text() == "older"
    assert "01.a" in fill(ledger)["claims"] and ledger.news() == ""


NEWER = '{"schema": 2, "claims": {}, "quiz": {}}'


@pytest.mark.parametrize("use", [Ledger.read, lambda ledger: ledger.guess("a", 1.0)])
def test_what_is_newer_or_no_file_is_left_alone(path, use):
    """To write into a newer one would take away what that version knows; and reading may never end, as of a pipe."""
    path.mkdir(parents=True)
    use(ledger := Ledger())
    assert "(it is no plain file)" in ledger.news() and list(path.parent.iterdir()) == [path]
    path.rmdir()
    path.write_text(NEWER)
    use(ledger)
    assert "newer version" in ledger.news() and path.read_text() == NEWER


def test_without_a_folder_the_lesson_goes_on(path):
    """It is said once; what waited is written when it can be."""
    path.parent.write_text("a file where the folder should be")
    ledger = Ledger()
    assert fill(ledger)["claims"]["01.a"]["guess"]["value"] == 3.0
    assert ledger.guess("01.a", 9.0)["value"] == 3.0
    assert Ledger().read()["claims"]["01.a"]["assumed"] == "reading is free"  # another cell of this kernel
    assert ledger.news().count(f"The ledger {path} cannot be used") == 1 and not ledger.written
    ledger.read()
    path.parent.unlink()  # it can be written again: what waited goes into the file
    ledger.add_measurement("01.a", 1.6)
    kept = json.loads(path.read_text(encoding="utf-8"))["claims"]["01.a"]
    assert (kept["guess"]["value"], [m["value"] for m in kept["measured"]]) == (3.0, [1.5, 1.6])
    assert ledger.news() == "" and ledger.written


def test_what_comes_while_the_file_is_written_waits_for_its_turn(path, monkeypatch):
    """As from the thread that hears a page, beside the one that runs cells."""
    write, late = module._write, Ledger()

    def slowly(*what) -> None:
        monkeypatch.setattr(module, "_write", write)
        late.guess("b", 2.0)
        write(*what)

    monkeypatch.setattr(module, "PATIENCE", 0.05)
    monkeypatch.setattr(module, "_write", slowly)
    Ledger().guess("a", 1.0)
    assert "another program holds it" in late.news() and not late.written
    assert set(late.read()["claims"]) == {"a", "b"}  # and not the file as it was
    Ledger().guess("c", 3.0)
    assert set(json.loads(path.read_text())["claims"]) == {"a", "b", "c"} and late.written


LISTS = ("measured", "quiz")
WHERE = st.tuples(st.sampled_from([*ENTERED, *LISTS, "parts"]), st.sampled_from("ab"))
ENTRIES = st.lists(st.tuples(WHERE, st.fixed_dictionaries({"right": st.booleans(), "when": st.sampled_from("123")})))


def ledger_of(entries: list) -> dict:
    """One that got these entries, one after the other."""
    data = module._empty()
    for (kind, id), entry in entries:
        new = [entry] if kind in LISTS else entry
        merge(data, module._empty() | ({kind: {id: new}} if kind in data else {"claims": {id: {kind: new}}}))
    return data


def at(data: dict, where: tuple[str, str]) -> list[dict]:
    kind, id = where
    found = data[kind].get(id) if kind in data else data["claims"].get(id, {}).get(kind)
    return found if kind in LISTS and found else [found] if found else []


@given(mine=ENTRIES.map(ledger_of), theirs=ENTRIES.map(ledger_of))
def test_a_merge_keeps_mine_loses_nothing_and_adds_once(mine, theirs):
    before = deepcopy(mine)
    added = merge(mine, theirs)
    for where in ((kind, id) for kind in (*ENTERED, *LISTS, "parts") for id in "ab"):
        old, other, new = (at(data, where) for data in (before, theirs, mine))
        added -= len(new) - len(old)
        if where[0] in LISTS:
            assert new == sorted([*old, *(x for x in other if x not in old)], key=lambda x: x["when"])
        else:
            assert new == (old or other)
    assert added == 0
    once = deepcopy(mine)
    assert merge(mine, theirs) == merge(mine, once) == 0 and mine == once
