"""What a learner is asked: a guess before an experiment and what came of it, a quiz, and the ledger of them all."""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from specdec_lab.course.ledger import ENTERED, Ledger
from specdec_lab.course.quiz import CONFIDENCE, MISCONCEPTIONS, items
from specdec_lab.errors import LabError
from specdec_lab.formats import short
from specdec_lab.show.live import Recorded
from specdec_lab.show.table import Markdown, markdown_table, one_line

FORMS = ("common.js", "controls.js", "forms.js")


class OfClaim(Recorded):
    """Shows one claim of the ledger, and what the learner enters about it."""

    def __init__(self, id: str, data: dict, ledger: Ledger):
        self.claim_id, self.ledger = id, ledger
        super().__init__(data, "claims", [id], self.entered(), ledger)

    def entered(self) -> dict:
        claim = self.ledger.claim(self.claim_id)
        return {self.claim_id: {key: claim[key] for key in ENTERED if key in claim}}

    def write(self, id: str, kind: str, value: Any, made: str) -> None:
        if kind == "assumed":
            self.ledger.assume(id, value, made)
        else:
            self.ledger.guess(id, float(value["value"]), value["reason"], kind, made)


class Guess(OfClaim):
    """A question with a number for an answer; see `guess`."""

    scripts = (*FORMS, "guess.js")


class Outcome(OfClaim):
    """Guess, theory and measurement beside each other; see `outcome`."""

    scripts = (*FORMS, "outcome.js")

    def __init__(self, id: str, measured: dict, theory: float | None, ledger: Ledger):
        ledger.add_measurement(id, measured["value"], measured["interval"], theory)
        claim = ledger.claim(id)
        asked = {"question": claim.get("question", id), "unit": claim.get("unit", "")}
        super().__init__(id, {**asked, "measured": measured, "theory": theory}, ledger)


class Quiz(Recorded):
    """The items of a lesson: the next one appears when the one before it has been answered.

    `state` begins empty, whatever the ledger holds: who runs the cell again wants to be asked again.
    """

    scripts = (*FORMS, "quiz.js")

    def __init__(self, lesson: str, ledger: Ledger):
        asked = items(lesson)
        versions = [version for item in asked for version in item["versions"]]
        wrong = {choice["misconception"] for version in versions for choice in version.get("choices", ())}
        wrong |= {mistake.get("belief") for version in versions for mistake in version.get("mistakes", ())}
        beliefs = {str(n): said for n, said in MISCONCEPTIONS.items() if n in wrong}
        self.attempts: dict[str, list[dict]] = {}  # at this widget
        data = {"items": asked, "beliefs": beliefs, "confidence": CONFIDENCE}
        super().__init__(data, "quiz", [item["id"] for item in asked], {}, ledger)

    def write(self, id: str, kind: str, value: Any, made: str) -> None:
        self.ledger.attempt(id, **value)
        if value not in self.attempts.setdefault(id, []):
            self.attempts[id].append(value)

    def entered(self) -> dict:
        return {id: list(attempts) for id, attempts in self.attempts.items()}


def compare(guess: float, measured: Mapping) -> str:
    """The error of a guess in words; {"value", "interval"} are from 0 up. As `compare` in outcome.js."""
    value = measured["value"]
    low, high = measured.get("interval") or (value, value)
    if low <= guess <= high or abs(guess - value) <= 0.05 * value:
        where = "in the interval" if low < high and low <= guess <= high else "within 5 %"
        return f"Your guess was right: it lies {where} of the measurement."
    direction = "high" if guess > value else "low"
    if min(guess, value) == 0:
        return f"Your guess was too {direction} by {short(abs(guess - value))}."
    ratio = max(guess / value, value / guess)
    return f"Your guess was {short(float(f'{ratio:.2g}'))} times too {direction}."


def guess(id: str, question: str, unit: str = "", most: float | None = None) -> Guess:
    """A field for a guess, kept in the ledger; once kept it does not change. Nothing waits for it.

    Args:
        id: of the claim, such as "01.pass-of-five"; `outcome` takes the same.
        question: its answer is a number from 0 up.
        unit: of that number, such as "ms"; empty for a ratio.
        most: no answer can be larger, such as 1 for a share; a larger guess is a slip, and is not kept.
    """
    if most is not None and not 0 < most < math.inf:
        raise LabError(f"most is {most}, but must be a number above 0.")
    ledger = Ledger()
    ledger.ask(id, question, unit)
    return Guess(id, {"question": question, "unit": unit, "most": most}, ledger)


def outcome(
    id: str,
    measured: float,
    interval: tuple[float, float] | None = None,
    theory: float | None = None,
    name: str = "measured",
) -> Outcome:
    """The guess, if there is one, beside what theory says and what was measured, in the unit of the guess.

    The measurement is kept in the ledger. Below the picture the learner may write what was wrong in the thinking, and
    guess once more.

    Args:
        interval: (low, high) around `measured`.
        name: of the number, where it was not measured but "computed".
    """
    value, expected = float(measured), None if theory is None else float(theory)
    ends = [] if interval is None else sorted(map(float, interval))
    numbers = [x for x in (value, *ends, expected) if x is not None]
    if not all(math.isfinite(x) and x >= 0 for x in numbers):
        raise LabError(f"The outcome of {id} cannot be shown: {numbers} are not all numbers from 0 up.")
    return Outcome(id, {"name": name, "value": value, "interval": ends or None}, expected, Ledger())


def quiz(lesson: str) -> Quiz:
    """The self-check of a lesson, such as "01". Every answer is kept in the ledger."""
    return Quiz(lesson, Ledger())


def ledger() -> Markdown:
    """Everything that you have guessed, measured and answered so far."""
    kept = Ledger()
    data = kept.read()
    heads = ("question", "guess", "measured", "error", "what I had assumed")
    rows = [claim_row(*claim) for claim in sorted(data["claims"].items())]
    guesses = markdown_table(heads, rows) if rows else "No prediction yet: what you guess in the lessons is kept here."
    return Markdown("\n\n".join(filter(None, (one_line(kept.news()), guesses, quiz_words(data["quiz"])))))


def claim_row(id: str, claim: dict) -> tuple[str, ...]:
    """A claim under the heads of `ledger`; the measurement is the newest."""
    guess, unit = claim.get("guess"), claim.get("unit", "")
    last = claim["measured"][-1] if claim.get("measured") else None
    error = compare(guess["value"], last) if guess and last else ""
    guessed = f"{short(guess['value'])} {unit}" if guess else "no guess"
    measured = f"{short(last['value'])} {unit}" if last else "not yet"
    return claim.get("question", id), guessed, measured, error, claim.get("assumed", "")


def quiz_words(quiz: dict) -> str:
    """How many items were right at first, and the wrong beliefs that were met, the most frequent first."""
    tried = [attempts for attempts in quiz.values() if attempts]
    if not tried:
        return "No quiz yet."
    right = sum(attempts[0]["right"] for attempts in tried)
    said = f"Quizzes: {right} of {len(tried)} questions right at the first attempt."
    met = Counter(n for attempts in tried for a in attempts if (n := a.get("misconception")) in MISCONCEPTIONS)
    beliefs = "\n".join(f"- {MISCONCEPTIONS[n]} ({times}×)" for n, times in met.most_common())
    return f"{said}\n\nWrong beliefs behind the other answers:\n\n{beliefs}" if beliefs else said
