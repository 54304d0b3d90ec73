"""The ledger as a page: what was guessed, what was measured, what had been assumed, and the quizzes."""

from collections import Counter
from html import escape

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.formats import short
from specdec_lab.show.bars import Bar
from specdec_lab.show.guess import compare
from specdec_lab.show.table import table
from specdec_lab.show.widget import as_text


class LedgerPage:
    """Shown as HTML in a notebook, as plain text elsewhere."""

    def __init__(self, ledger: Ledger):
        self.data, self.note = ledger.read(), ledger.news()

    def _repr_html_(self) -> str:
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<div>{note}{claims_html(self.data['claims'])}{quiz_html(self.data['quiz'])}</div>"

    def __repr__(self) -> str:
        return as_text(self._repr_html_())


def claims_html(claims: dict) -> str:
    if not claims:
        return "<p>No prediction yet.</p>"
    heads = ("question", "guess", "measured", "error", "what I had assumed")
    return table(heads, [row(*c) for c in sorted(claims.items())])


def row(id: str, claim: dict) -> tuple[str, ...]:
    guess, unit = claim.get("guess"), claim.get("unit", "")
    last = claim["measured"][-1] if claim.get("measured") else None
    return (
        claim.get("question", id),
        f"{short(guess['value'])} {unit}" if guess else "no guess",
        f"{short(last['value'])} {unit}" if last else "not yet",
        compare("guess", guess["value"], Bar("", last["value"], interval=last.get("interval")))
        if guess and last
        else "",
        claim.get("assumed", ""),
    )


def quiz_html(quiz: dict) -> str:
    """How many items were right at first, and the wrong beliefs that were met, the most frequent first."""
    tried = [attempts for attempts in quiz.values() if attempts]
    if not tried:
        return "<p>No quiz yet.</p>"
    met = Counter(n for attempts in tried for a in attempts if (n := a.get("misconception")) in MISCONCEPTIONS)
    beliefs = "".join(f"<li>{escape(MISCONCEPTIONS[n])} ({times}×)</li>" for n, times in met.most_common())
    found = f"<p>Wrong beliefs behind the other answers:</p><ul>{beliefs}</ul>" if beliefs else ""
    right = sum(attempts[0]["right"] for attempts in tried)
    return f"<p>Quizzes: {right} of {len(tried)} questions right at the first attempt.</p>{found}"


def ledger() -> LedgerPage:
    """Everything that you have guessed, measured and answered so far."""
    return LedgerPage(Ledger())
