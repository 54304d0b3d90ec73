"""The prediction control and its outcome, and the ledger as a page; the browser is in `browser/`."""

import json
import uuid
from datetime import UTC, datetime, timedelta

import pytest

import specdec_lab as sd
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import MISCONCEPTIONS
from specdec_lab.errors import LabError
from specdec_lab.show.asked import compare

pytestmark = pytest.mark.usefixtures("fresh_ledger")


def before(age: float) -> str:
    """The time that was so many ms ago."""
    return (datetime.now(UTC) - timedelta(milliseconds=age)).isoformat()


def enter(control, age: float = 0, when: str = "", **entered) -> None:
    """What the page sends when the learner keeps something; age: in ms."""
    id = control.claim_id
    n = uuid.uuid4().hex
    entries = [
        {"n": n, "id": id, "kind": kind, "value": value, "when": when or before(age), "age": age}
        for kind, value in entered.items()
    ]
    control.set_state({"outgoing": entries})
    assert control.heard == ([n] if control.ledger.written else [])


HOUR = 3_600_000  # ms


def ago(when: str) -> float:
    """Seconds since then."""
    return (datetime.now(UTC) - datetime.fromisoformat(when)).total_seconds()


def keep(control, value: float, reason: str = "", kind: str = "guess", age: float = HOUR, when: str = "") -> None:
    enter(control, age, when, **{kind: {"value": value, "reason": reason, "when": "by the page's own clock"}})


def test_a_guess_starts_empty_is_kept_and_then_fixed(fresh_ledger):
    control = sd.guess("01.a", "How many times?", "ms")
    assert control.state == {"01.a": {}}
    keep(control, 1, "because of <b>")
    first = Ledger().claim("01.a")["guess"]
    assert (type(first["value"]), first["value"], first["reason"]) == (float, 1.0, "because of <b>")
    assert first["after_outcome"] is False and ago(first["when"]) == pytest.approx(3_600, abs=5)
    keep(control, 9)
    assert Ledger().claim("01.a")["guess"] == first and control.state == {"01.a": {"guess": first}}
    assert json.loads(fresh_ledger.read_text())["claims"]["01.a"]["question"] == "How many times?"

    later = sd.guess("01.a", "How many times?", "ms")  # another kernel
    assert later.state == control.state
    keep(later, 4)
    assert later.state == control.state


@pytest.mark.parametrize(
    ("guess", "measured", "interval", "words"),
    [
        (1.8, 1.0, None, "1.8 times too high"),
        (1.3, 1.0, (0.8, 1.4), "right: it lies in the interval"),
        (0.0, 2.0, None, "too low by 2."),
    ],
)
def test_the_error_in_words(guess, measured, interval, words):
    assert words in compare(guess, {"value": measured, "interval": interval})


def test_after_the_outcome_one_line_and_one_second_guess(fresh_ledger, monkeypatch):
    keep(sd.guess("a", "How many?"), 3)
    shown = sd.outcome("a", 1.0)
    for line in ("a first line", "that <reading> is free"):
        enter(shown, assumed=line)
        assert Ledger().claim("a")["assumed"] == line

    keep(shown, 2, kind="revision", age=0)
    keep(shown, 1, kind="revision")
    again = sd.outcome("a", 1.1)  # the cell is run again
    assert again.state == shown.state
    assert (again.state["a"]["assumed"], again.state["a"]["revision"]["value"]) == ("that <reading> is free", 2)
    claim = json.loads(fresh_ledger.read_text())["claims"]["a"]
    assert (claim["guess"]["value"], claim["revision"]["value"], len(claim["measured"])) == (3, 2, 2)
    assert claim["revision"]["after_outcome"] and not claim["guess"]["after_outcome"]

    with monkeypatch.context() as yesterday:
        yesterday.setattr("specdec_lab.course.ledger._now", lambda: before(24 * HOUR))
        sd.outcome("b", 1.0)
    keep(sd.guess("b", "How many?"), 1, age=0)
    assert Ledger().claim("b")["guess"]["after_outcome"]


@pytest.mark.parametrize(
    ("age", "when", "seconds"),
    [
        (0, -HOUR, 0),  # the clock of the page is ahead
        (HOUR, -HOUR, 3_600),  # and the entry had waited in it
        (0, HOUR, 3_600),  # it had waited for a busy kernel, behind another cell
        (-HOUR, 0, 0),  # the clock was set back meanwhile
    ],
)
def test_when_a_guess_was_made_by_wrong_clocks(age, when, seconds):
    keep(sd.guess("a", "How many?"), 3, age=age, when=before(when))
    assert ago(Ledger().claim("a")["guess"]["when"]) == pytest.approx(seconds, abs=5)


def test_an_older_line_replaces_no_newer_one():
    shown = sd.outcome("a", 2.0)
    enter(shown, assumed="newer")
    enter(shown, HOUR, assumed="older")
    assert Ledger().claim("a")["assumed"] == "newer" == shown.state["a"]["assumed"]


def test_a_ledger_that_cannot_be_written_is_said_and_all_widgets_learn_when_it_can(fresh_ledger):
    first, second, quiz = sd.guess("a", "How many?"), sd.guess("a", "How many?"), sd.quiz("01")
    fresh_ledger.rename(fresh_ledger.with_name("away"))
    fresh_ledger.mkdir()
    keep(first, 3)
    assert [widget.written for widget in (first, second, quiz)] == [False] * 3 and "cannot be used" in second.news
    shown = sd.outcome("a", 1.0)
    keep(shown, 2, kind="revision")
    assert set(shown.state["a"]) == {"guess", "revision"}
    assert "cannot be used" in shown.news and "cannot be used" in repr(sd.ledger())
    fresh_ledger.rmdir()
    keep(second, 4)
    assert [widget.written for widget in (first, second, quiz)] == [True] * 3 and first.news == ""
    assert Ledger().claim("a")["guess"]["value"] == 3 == second.state["a"]["guess"]["value"]


def test_an_outcome_learns_of_a_guess_that_waited():
    """The page sends it while another cell runs; an old kernel hears it behind the cell that measures."""
    control = sd.guess("a", "How many?")
    shown = sd.outcome("a", 2.0)
    keep(control, 3)
    assert shown.state == control.state and shown.state["a"]["guess"]["value"] == 3


@pytest.mark.parametrize(
    "numbers", [(float("nan"),), (-1.0,), (float("inf"),), (1.0, (0.5, float("nan"))), (1.0, None, -1.0)]
)
def test_an_outcome_that_is_no_measurement_is_one_sentence(numbers):
    with pytest.raises(LabError, match="The outcome of a cannot be shown"):
        sd.outcome("a", *numbers)


def test_the_ledgers_page_judges_by_the_newest_outcome():
    keep(sd.guess("01.a", "How <many>?", "ms"), 3)
    sd.outcome("01.a", 30.0)
    sd.outcome("01.a", 4.0, (2.5, 5.5))
    error = compare(3, {"value": 4.0, "interval": (2.5, 5.5)})
    Ledger().attempt("01.x", right=False, misconception=7)
    page = repr(sd.ledger())
    assert error in page and "in the interval" in error and "30" not in page
    assert "0 of 1 questions" in page and f"{MISCONCEPTIONS[7]} (1×)" in page
