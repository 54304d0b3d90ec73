"""What a learner has done so far, out of a ledger of every kind."""

import json

from specdec_grader.part import PARTS
from specdec_grader.progress import progress_text, read_progress

import specdec_lab as sd
from specdec_lab.cli import main
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import items

RIGHT = {"part": "3.rule", "status": "right", "points": 3.0, "max_points": 3, "message": "", "misconception": None}


def test_an_empty_ledger_shows_all_that_there_is(fresh_ledger):
    done, told = read_progress()
    assert [x["lesson"] for x in done["lessons"]] == [f"{n:02}" for n in range(13)]
    assert sum(len(x["parts"]) for x in done["lessons"]) == len(PARTS)
    assert all((p["status"], p["tries"]) == ("open", 0) for x in done["lessons"] for p in x["parts"]) and not told
    assert done["schema"] == Ledger().read()["schema"]
    assert "0 of 6" in progress_text(done)
    assert not fresh_ledger.exists()  # looking writes nothing


def test_what_was_done_is_counted_at_its_best(fresh_ledger, capsys):
    ledger = Ledger()
    ledger.guess("01.x", 3)
    ledger.add_measurement("01.x", 2)
    first = items("03")[0].id
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
    shown = sd.progress()
    assert "3 of 6" in shown._repr_html_() and "3.test" in shown._repr_html_() and "width:50%" in shown._repr_html_()
    assert repr(shown) == progress_text(*read_progress())


def test_the_name_of_a_file_cannot_become_markup(tmp_path):
    (tmp_path / "<b>.json").write_text("no ledger")
    shown = sd.progress(str(tmp_path / "<b>.json"))
    assert "<b>.json could not be read" in repr(shown) and "<b>" not in shown._repr_html_()


def test_each_lesson_is_a_line_with_its_counts_a_bar_and_what_is_open():
    def lesson(name, guesses, measured, quiz, *parts):
        parts = [{"id": id, "points": points, "max_points": most} for id, points, most in parts]
        return {"lesson": name, "guesses": guesses, "measured": measured, "quiz": quiz, "parts": parts}

    lessons = [
        lesson("00", 5, 4, [2, 7]),
        lesson("01", 0, 0, [0, 6], ("1.a", 1.5, 2), ("1.b", 0.0, 4)),
        lesson("02", 1, 1, [0, 0], ("2.a", 3.0, 3)),
        lesson("03", 0, 0, [1, 6], ("3.a", 0.0, 5)),
    ]
    news, *lines = progress_text({"lessons": lessons}, "What happened to the file.").splitlines()
    assert news == "What happened to the file."
    assert [line.split() for line in lines] == [
        ["lesson", "guesses", "measured", "quiz", "exercise"],
        ["00", "5", "4", "2/7", "–"],
        ["01", "0", "0", "0/6", "██░░░░░░░░", "1.5", "of", "6", "still", "open:", "1.a,", "1.b"],
        ["02", "1", "1", "–", "██████████", "3", "of", "3"],
        ["03", "0", "0", "1/6", "░░░░░░░░░░", "0", "of", "5"],  # all of it is open, which needs no list
    ]
