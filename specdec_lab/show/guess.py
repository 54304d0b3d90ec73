"""The prediction control: a guess before the experiment, and afterwards what came of it."""

import math
from collections.abc import Callable
from functools import partial
from html import escape

import ipywidgets as w

from specdec_lab.course.ledger import Ledger
from specdec_lab.errors import LabError
from specdec_lab.formats import read_number, short
from specdec_lab.show.bars import Bar, Bars
from specdec_lab.show.widget import StoredWidget, field, said

LABEL = "160px"
NARROW, WIDE = {"width": "300px"}, {"width": "620px", "max_width": "98%"}
BUTTON, BELOW = {"width": "180px", "margin": "2px 2px 2px 168px"}, {"margin": "0 2px 0 168px"}


class Entry:
    """A number, a reason and a button: kept once, and then fixed.

    Args:
        keep: gets the number and the reason, and returns what is kept from now on.
        kept: what was kept earlier, if anything.
    """

    def __init__(self, name: str, unit: str, ledger: Ledger, keep: Callable[[float, str], dict], kept: dict | None):
        self.unit, self.ledger, self.keep = unit, ledger, keep
        self.number = field(name, "a number", LABEL, layout=NARROW)
        self.reason = field("because", "one line", LABEL, layout=WIDE)
        self.button = w.Button(description=f"keep {name}", layout=BUTTON)
        self.message = w.HTML(said(escape(ledger.news())), layout=BELOW)
        self.box = w.VBox([w.HBox([self.number, w.Label(unit)]), self.reason, self.button, self.message])
        self.button.on_click(self.press)
        if kept:
            self.fix(kept)

    def press(self, button: object = None) -> None:
        outcome = "Kept: it does not change any more."
        if not self.number.disabled:
            try:
                value = read_number(self.number.value, self.unit)
                if value < 0:
                    raise LabError("This cannot be negative: write 0 or more.")
            except LabError as e:
                self.message.value = said(escape(str(e)))
                return
            kept = self.keep(value, self.reason.value.strip())
            self.fix(kept)
            if kept["value"] != value:
                outcome = "There was one already, entered elsewhere: it stays."
        self.message.value = said(escape(f"{outcome} {self.ledger.news()}"))

    def fix(self, kept: dict) -> None:
        """Show what is kept. The button stays as it is, so that the keyboard keeps its place."""
        self.number.value, self.reason.value = short(kept["value"]), kept["reason"]
        self.number.disabled = self.reason.disabled = True


class Guess(StoredWidget):
    """A question with a number for an answer; see `guess`."""

    def __init__(self, id: str, question: str, unit: str, ledger: Ledger):
        self.id, self.question, self.ledger = id, question, ledger
        ledger.ask(id, question, unit)
        self.entry = Entry("your guess", unit, ledger, partial(ledger.guess, id), self.kept)
        self.box = w.VBox([w.HTML(f"<b>{escape(question)}</b>"), self.entry.box])

    @property
    def kept(self) -> dict | None:
        """The guess in the ledger: its value, reason and time, and if the outcome was known."""
        return self.ledger.claim(self.id).get("guess")

    def html(self) -> str:
        answer = "No guess yet. It is entered here, before the measurement."
        if kept := self.kept:
            because = f", because {kept['reason']}" if kept["reason"] else ""
            answer = f"Your guess: {short(kept['value'])}{because}"
        return f"<div><b>{escape(self.question)}</b><p>{escape(answer)}</p></div>"


class Outcome(StoredWidget):
    """Guess, theory and measurement beside each other; see `outcome`."""

    def __init__(self, id: str, bar: Bar, theory: float | None, ledger: Ledger):
        self.id, self.bar, self.theory, self.ledger = id, bar, theory, ledger
        ledger.add_measurement(id, bar.value, bar.interval, theory)
        claim = self.claim
        self.picture = w.HTML(self.html())
        self.message = w.HTML(said(escape(ledger.news())), layout=BELOW)
        self.assumed = field("what I had assumed", "one line", LABEL, layout=WIDE, value=claim.get("assumed", ""))
        self.keep_line = w.Button(description="keep this line", layout=BUTTON)
        self.keep_line.on_click(self.assume)
        self.second = Entry("second guess", claim.get("unit", ""), ledger, self.revise, claim.get("revision"))
        parts = [self.assumed, self.keep_line, self.message, self.second.box] if "guess" in claim else [self.message]
        self.box = w.VBox([self.picture, *parts])

    @property
    def claim(self) -> dict:
        return self.ledger.claim(self.id)

    def assume(self, button: object = None) -> None:
        line = self.assumed.value.strip()
        if line:
            self.ledger.assume(self.id, line)
        self.message.value = said(escape(self.ledger.news() or "Kept.") if line else "Write one line first.")

    def revise(self, value: float, reason: str) -> dict:
        kept = self.ledger.revise(self.id, value, reason)
        self.picture.value = self.html()
        return kept

    @property
    def error(self) -> str:
        """How far off the guess was, in words."""
        claim = self.claim
        if "guess" not in claim:
            return "There was no guess to compare with."
        late = " It was made when the measurement was known." if claim["guess"].get("after_outcome") else ""
        second = f" {compare('second guess', claim['revision']['value'], self.bar)}" if "revision" in claim else ""
        return compare("guess", claim["guess"]["value"], self.bar) + late + second

    def html(self) -> str:
        claim = self.claim
        bars = [Bar("your guess", claim.get("guess", {}).get("value"))]
        bars += [Bar("theory", self.theory)] if self.theory is not None else []
        bars += [self.bar]
        bars += [Bar("your second guess", claim["revision"]["value"])] if "revision" in claim else []
        unit = f" ({claim['unit']})" if claim.get("unit") else ""
        assumed = f"<p>What I had assumed: {escape(claim['assumed'])}</p>" if "assumed" in claim else ""
        picture = Bars(claim.get("question", self.id) + unit, tuple(bars))._repr_html_()
        return f"{picture}<p>{escape(self.error)}</p>{assumed}"


def compare(name: str, guess: float, measured: Bar) -> str:
    """The error of a guess in words; both values are from 0 up."""
    low, high = measured.interval or (measured.value, measured.value)
    if low <= guess <= high or abs(guess - measured.value) <= 0.05 * measured.value:
        where = "in the interval" if low < high and low <= guess <= high else "within 5 %"
        return f"Your {name} was right: it lies {where} of the measurement."
    direction = "high" if guess > measured.value else "low"
    if min(guess, measured.value) == 0:
        return f"Your {name} was too {direction} by {short(abs(guess - measured.value))}."
    ratio = max(guess / measured.value, measured.value / guess)
    return f"Your {name} was {short(float(f'{ratio:.2g}'))} times too {direction}."


def guess(id: str, question: str, unit: str = "") -> Guess:
    """A field for a guess, kept in the ledger; once kept it does not change. Nothing waits for it.

    Args:
        id: of the claim, such as "01.pass-of-five"; `outcome` takes the same.
        question: its answer is a number from 0 up.
        unit: of that number, such as "ms"; empty for a ratio.
    """
    return Guess(id, question, unit, Ledger())


def outcome(
    id: str,
    measured: float,
    interval: tuple[float, float] | None = None,
    theory: float | None = None,
    name: str = "measured",
) -> Outcome:
    """The guess, if there is one, beside what theory says and what was measured, in the unit of the guess.

    The measurement is kept in the ledger. `error` says in words how far off the guess was; below
    the picture the learner may write what was wrong in the thinking, and guess once more.

    Args:
        interval: (low, high) around `measured`.
        name: of the number, where it was not measured but "computed".

    Raises:
        LabError: for a number that is negative, infinite or none.
    """
    value, expected = float(measured), None if theory is None else float(theory)
    span = None if interval is None else tuple(sorted(map(float, interval)))
    numbers = [x for x in (value, *(span or ()), expected) if x is not None]
    if not all(math.isfinite(x) and x >= 0 for x in numbers):
        raise LabError(f"The outcome of {id} cannot be shown: {numbers} are not all numbers from 0 up.")
    return Outcome(id, Bar(name, value, interval=span), expected, Ledger())
