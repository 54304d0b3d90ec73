"""How far a learner is, in a notebook."""

from html import escape

from specdec_lab.course.progress import Lesson, progress_text
from specdec_lab.course.progress import progress as read
from specdec_lab.show.page import Html
from specdec_lab.show.table import Cell, table


def progress(path: str | None = None) -> Html:
    """What you have done so far, from your ledger (default: the one beside this notebook)."""
    done, news = read(path)
    heads = ("lesson", "guesses", "quiz, right", "exercise", "parts still open")
    rows = [
        (
            x.lesson,
            f"{x.guesses}, {x.measured} measured",
            f"{x.right} of {x.asked}" if x.asked else "–",
            Cell(bar(x.points / x.most) + f" {x.points:g} of {x.most}") if x.most else "–",
            ", ".join(x.open) or "–",
        )
        for x in map(Lesson, done["lessons"])
    ]
    shown = f"<div style='font-size:14px'><div>{escape(news)}</div>{table(heads, rows)}</div>"
    return Html(shown, progress_text(done, news))


def bar(share: float) -> str:
    box = "display:inline-block;width:120px;height:12px;border:1px solid currentColor;vertical-align:middle"
    filled = f"width:{share:.0%};height:100%;background:currentColor;opacity:.5"
    return f'<div style="{box}"><div style="{filled}"></div></div>'
