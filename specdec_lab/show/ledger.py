"""The ledger as a page: what was guessed, what was measured, what had been assumed, and the quizzes."""

from collections import Counter
from html import escape

from specdec_lab.course.ledger import Ledger
from specdec_lab.course.misconceptions import MISCONCEPTIONS
from specdec_lab.formats import short
from specdec_lab.show.charts import Bar
from specdec_lab.show.guess import compare
from specdec_lab.show.page import Html
from specdec_lab.show.table import table


def ledger() -> Html:
    """Everything that you have guessed, measured and answered so far."""
    kept = Ledger()
    data, news = kept.read(), kept.news()
    note = f"<p>{escape(news)}</p>" if news else ""
    return Html(f"<div>{note}{claims_html(data['claims'])}{quiz_html(data['quiz'])}</div>")


def claims_html(claims: dict) -> str:
    heads = ("question", "guess", "measured", "error", "what I had assumed")
    return table(heads, [row(*c) for c in sorted(claims.items())]) if claims else "<p>No prediction yet.</p>"


def row(id: str, claim: dict) -> tuple[str, ...]:
    """A claim under the heads of `claims_html`; the measurement is the newest."""
    guess, unit = claim.get("guess"), claim.get("unit", "")
    last = claim["measured"][-1] if claim.get("measured") else None
    error = (
        compare("guess", guess["value"], Bar("", last["value"], interval=last.get("interval")))
        if guess and last
        else ""
    )
    guessed = f"{short(guess['value'])} {unit}" if guess else "no guess"
    measured = f"{short(last['value'])} {unit}" if last else "not yet"
    return claim.get("question", id), guessed, measured, error, claim.get("assumed", "")


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
