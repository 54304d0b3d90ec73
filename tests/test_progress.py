"""What a learner has done so far, out of a ledger of every kind; and a ledger that travels.

What an import adds, what it leaves alone, and what it refuses.
"""

import json
from pathlib import Path

import pytest
from specdec_grader import progress
from specdec_grader.part import PARTS
from specdec_grader.progress_table import progress_text, read_progress

from specdec_lab.cli import main
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import items

ROOT = Path(__file__).parents[1]
RIGHT = {"part": "3.rule", "status": "right", "points": 3.0, "max_points": 3, "message": "", "misconception": None}


def test_an_empty_ledger_shows_all_that_there_is(fresh_ledger):
    done, told = read_progress()
    sources = [path for folder in ("lessons", "solutions") for path in (ROOT / folder / "src").glob("[01]*.md")]
    assert [x["lesson"] for x in done["lessons"]] == sorted({path.name[:2] for path in sources})
    assert sum(len(x["parts"]) for x in done["lessons"]) == len(PARTS)
    assert all((p["status"], p["tries"]) == ("open", 0) for x in done["lessons"] for p in x["parts"]) and not told
    assert done["schema"] == Ledger().read()["schema"]
    assert "0 of 6" in progress_text(done)
    assert not fresh_ledger.exists()  # looking writes nothing


def test_what_was_done_is_counted_at_its_best(fresh_ledger, capsys):
    ledger = Ledger()
    ledger.guess("01.x", 3)
    ledger.add_measurement("01.x", 2)
    first = items("03")[0]["id"]
    for right in (False, True):
        ledger.attempt(first, question="?", said="", chosen=1, right=right, confidence="sure", misconception=None)
    ledger.judge("3.rule", RIGHT)
    ledger.judge("3.rule", RIGHT | {"status": "wrong", "points": 0.0})
    assert main(["progress", "--json"]) == 0
    lessons = {x["lesson"]: x for x in json.loads(capsys.readouterr().out)["lessons"]}
    assert (lessons["01"]["guesses"], lessons["01"]["measured"], lessons["03"]["quiz"][0]) == (1, 1, 1)
    part = lessons["03"]["parts"][0]
    assert part == {"id": "3.rule", "points": 3.0, "max_points": 3, "status": "right", "tries": 2}
    assert main(["progress", "--ledger", str(fresh_ledger)]) == 0
    assert "3 of 6   still open: 3.test" in capsys.readouterr().out


def test_the_same_is_shown_in_a_notebook(fresh_ledger):
    Ledger().judge("3.rule", RIGHT)
    shown = progress()
    assert "3 of 6" in shown._repr_html_() and "3.test" in shown._repr_html_() and "█████░░░░░" in shown._repr_html_()
    assert repr(shown) == progress_text(*read_progress())


def test_the_name_of_a_file_cannot_become_markup(tmp_path):
    (tmp_path / "<b>.json").write_text("no ledger")
    shown = progress(str(tmp_path / "<b>.json"))
    assert "<b>.json could not be read" in repr(shown) and "<b>" not in shown._repr_html_()


def test_each_lesson_is_a_line():
    """With its counts, a bar, and what is open of it."""
    parts = [{"id": "1.a", "points": 1.5, "max_points": 2}, {"id": "1.b", "points": 0.0, "max_points": 4}]
    lessons = [
        {"lesson": "00", "guesses": 5, "measured": 4, "quiz": [2, 7], "parts": []},
        {"lesson": "01", "guesses": 0, "measured": 0, "quiz": [0, 0], "parts": parts},
        {"lesson": "03", "guesses": 0, "measured": 0, "quiz": [1, 6], "parts": parts[1:]},
    ]
    news, *lines = progress_text({"lessons": lessons}, "What happened to the file.").splitlines()
    assert news == "What happened to the file."
    assert [line.split() for line in lines] == [
        ["lesson", "guesses", "measured", "quiz", "exercise"],
        ["00", "5", "4", "2/7", "–"],
        ["01", "0", "0", "–", "██░░░░░░░░", "1.5", "of", "6", "still", "open:", "1.a,", "1.b"],
        ["03", "0", "0", "1/6", "░░░░░░░░░░", "0", "of", "4"],  # all of it is open, which needs no list
    ]


GUESS = {"value": 2.7, "reason": "twice", "when": "2026-03-02T10:00:00+00:00", "after_outcome": False}
LATER = {"when": "2026-03-03T10:00:00+00:00", "right": True, "misconception": None, "chosen": 3}
EARLIER = {**LATER, "when": "2026-03-01T10:00:00+00:00", "right": False, "misconception": 7}


@pytest.fixture
def saved(tmp_path):
    """Writes a file as the site saves it, and gives its path."""

    def save(text: str | None = None, **sections) -> str:
        data = {"schema": 1, "claims": {}, "quiz": {}, **sections}
        (tmp_path / "saved.json").write_text(json.dumps(data) if text is None else text, encoding="utf-8")
        return str(tmp_path / "saved.json")

    return save


def test_an_import_adds_what_is_new(fresh_ledger, saved, capsys):
    ledger = Ledger()
    ledger.guess("01.a", 5.0)
    ledger.assume("01.a", "mine")
    ledger.attempt("01.x", **LATER)
    theirs = {"question": "How many?", "unit": "ms", "guess": GUESS, "revision": GUESS, "assumed": "theirs"}
    path = saved(claims={"01.a": theirs, "01.b": theirs}, quiz={"01.x": [EARLIER, LATER], "01.y": [LATER]})
    assert main(["progress", "--json", "--import", path]) == 0
    assert json.loads(capsys.readouterr().out)["added"] == 1 + 3 + 1 + 1
    kept = Ledger().read()
    assert (kept["claims"]["01.a"]["guess"]["value"], kept["claims"]["01.a"]["assumed"]) == (5.0, "mine")
    assert kept["claims"]["01.a"]["revision"] == GUESS and kept["claims"]["01.a"]["question"] == "How many?"
    assert kept["claims"]["01.b"] == theirs
    assert kept["quiz"] == {"01.x": [EARLIER, LATER], "01.y": [LATER]}  # by time: the first one is the first attempt

    assert main(["progress", "--import", path]) == 0
    assert "nothing" in capsys.readouterr().out
    assert Ledger().read() == kept


def test_a_broken_export_leaves_the_old_file(fresh_ledger, tmp_path, monkeypatch, capsys):
    last_week = json.dumps({"schema": 1, "claims": {}, "quiz": {}})
    (tmp_path / "out.json").write_text(last_week)
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(full))
    assert main(["progress", "--export", str(tmp_path / "out.json")]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert [p.name for p in tmp_path.glob("out*")] == ["out.json"]
    assert (tmp_path / "out.json").read_text() == last_week


@pytest.mark.parametrize("option", ["--ledger", "--export"])
def test_a_file_stays_that_is_no_ledger(fresh_ledger, tmp_path, capsys, option):
    notes = tmp_path / "package.json"
    notes.write_text('{"name": "something else"}')
    assert main(["progress", option, str(notes)]) == 2
    assert "is no progress file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.glob("package*")] == ["package.json"]
    assert notes.read_text() == '{"name": "something else"}'


def test_what_is_exported_is_what_an_import_takes(fresh_ledger, tmp_path, capsys):
    ledger = Ledger()
    ledger.guess("01.a", 5.0, "γ \ud83d")  # half a character
    ledger.add_measurement("01.a", 4.0, (3.0, 5.0))
    ledger.attempt("01.x", **LATER)
    ledger.judge("3.rule", {"points": 2.0, "status": "right"})
    file = str(tmp_path / "out.json")
    assert main(["progress", "--export", file]) == 0
    assert file in capsys.readouterr().out
    elsewhere = str(tmp_path / "elsewhere" / "ledger.json")
    assert main(["progress", "--ledger", elsewhere, "--import", file]) == 0
    assert Ledger(elsewhere).read() == ledger.read()


def test_a_wrong_file_changes_nothing(fresh_ledger, saved, capsys):
    """test_ledger.py has many more."""
    Ledger().guess("01.a", 5.0)
    before = fresh_ledger.read_bytes()
    for content in ("", '{"cells": [], "nbformat": 4}'):
        assert main(["progress", "--import", saved(content)]) == 2
        said = capsys.readouterr()
        assert "“saved.json” is no progress file" in said.err and said.err.count("\n") == 1 and not said.out
    assert fresh_ledger.read_bytes() == before


def test_other_wrong_names_are_one_sentence(fresh_ledger, saved, tmp_path, capsys):
    newer = saved('{"schema": 2, "claims": {}, "quiz": {}, "votes": {}}')
    for options, said in {
        ("--ledger", str(tmp_path / "typo.json")): "typo.json",
        ("--import", newer): "newer version",
        ("--import", str(tmp_path / "absent.json")): "No such file",
        ("--import", str(tmp_path)): "no plain file",
        ("--import", ""): "is empty",
        ("--export", ""): "is empty",
        ("--export", str(tmp_path / "absent" / "out.json")): "No such file",
    }.items():
        assert main(["progress", *options]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
    assert not fresh_ledger.exists() and not (tmp_path / "typo.json").exists()


def test_an_import_says_what_became_of_the_ledger(fresh_ledger, tmp_path, saved, capsys):
    """One that was damaged is set aside; into one that cannot be written nothing is called imported."""
    path = saved(claims={"01.a": {"guess": GUESS}})
    fresh_ledger.write_text("no ledger")
    assert main(["progress", "--import", path]) == 0
    assert "one entry" in (said := capsys.readouterr().out) and "set aside" in said
    assert Ledger().claim("01.a")["guess"] == GUESS
    (tmp_path / "file").write_text("")
    assert main(["progress", "--ledger", str(tmp_path / "file" / "ledger.json"), "--import", path]) == 2
    assert "Nothing was imported from “saved.json”" in capsys.readouterr().err
