"""What a learner has done so far, out of a ledger of every kind; and a ledger that travels.

What an import adds, what it leaves alone, and what it refuses.
"""

import json
from pathlib import Path

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


GUESS = {"value": 2.7, "reason": "twice", "when": "2026-03-02T10:00:00+00:00", "after_outcome": False}
EMPTY = {"schema": 1, "claims": {}, "quiz": {}}


def test_a_broken_export_leaves_the_old_file(fresh_ledger, tmp_path, monkeypatch, capsys):
    last_week = json.dumps(EMPTY)
    (tmp_path / "out.json").write_text(last_week)
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(full))
    assert main(["progress", "--export", str(tmp_path / "out.json")]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert [p.name for p in tmp_path.glob("out*")] == ["out.json"]
    assert (tmp_path / "out.json").read_text() == last_week


def test_what_is_exported_is_what_an_import_takes_once(fresh_ledger, tmp_path, capsys):
    """How two ledgers come together is test_ledger's."""
    ledger = Ledger()
    ledger.guess("01.a", 5.0, "γ \ud83d")  # half a character
    ledger.add_measurement("01.a", 4.0, (3.0, 5.0))
    ledger.attempt("01.x", right=True, when="2026-03-03T10:00:00+00:00", misconception=None, chosen=3)
    ledger.judge("3.rule", {"points": 2.0, "status": "right"})
    file, elsewhere = str(tmp_path / "out.json"), str(tmp_path / "elsewhere" / "ledger.json")
    assert main(["progress", "--export", file]) == 0
    assert file in capsys.readouterr().out
    for added in (4, 0):
        assert main(["progress", "--json", "--ledger", elsewhere, "--import", file]) == 0
        assert json.loads(capsys.readouterr().out)["added"] == added
        assert Ledger(elsewhere).read() == ledger.read()
    assert main(["progress", "--ledger", elsewhere, "--import", file]) == 0
    assert "nothing" in capsys.readouterr().out


FILES = {
    "empty.json": "",
    "notebook.json": '{"cells": [], "nbformat": 4}',
    "package.json": '{"name": "something else"}',
}
FILES["newer.json"] = json.dumps(EMPTY | {"schema": 2})
REFUSED = [  # an option, a file for it, and what is said; test_ledger has more wrong files
    *(
        (option, "package.json", "“package.json” is no progress file")
        for option in ("--ledger", "--import", "--export")
    ),
    ("--import", "empty.json", "“empty.json” is no progress file"),
    ("--import", "notebook.json", "“notebook.json” is no progress file"),
    ("--import", "newer.json", "newer version"),
    ("--import", "", "is empty"),
    ("--export", "", "is empty"),
    ("--import", "absent.json", "No such file"),
    ("--import", ".", "no plain file"),
    ("--ledger", "typo.json", "typo.json"),
    ("--export", "absent/out.json", "No such file"),
]


def test_a_wrong_file_is_one_sentence_and_nothing_changes(fresh_ledger, tmp_path, capsys):
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    Ledger().guess("01.a", 5.0)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for option, name, said in REFUSED:
        assert main(["progress", option, str(tmp_path / name) if name else ""]) == 2
        shown = capsys.readouterr()
        (line,) = shown.err.splitlines()
        assert said in line and not shown.out, (option, name)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_import_says_what_became_of_the_ledger(fresh_ledger, tmp_path, capsys):
    """One that was damaged is set aside; into one that cannot be written nothing is called imported."""
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(EMPTY | {"claims": {"01.a": {"guess": GUESS}}}))
    fresh_ledger.write_text("no ledger")
    assert main(["progress", "--import", str(path)]) == 0
    assert "one entry" in (said := capsys.readouterr().out) and "set aside" in said
    assert Ledger().claim("01.a")["guess"] == GUESS
    (tmp_path / "file").write_text("")
    assert main(["progress", "--ledger", str(tmp_path / "file" / "ledger.json"), "--import", str(path)]) == 2
    assert "Nothing was imported from “saved.json”" in capsys.readouterr().err
