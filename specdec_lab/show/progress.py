"""How far a learner is, in a notebook."""

from html import escape

from specdec_lab.course.progress import Lesson, progress_text
from specdec_lab.course.progress import progress as read
from specdec_lab.show.table import Cell, table


class Progress:
    """Displayed as the last value of a cell: a line for each lesson, and what is still open."""

    def __init__(self, path: str | None = None):
        self.done, self.news = read(path)

    def __repr__(self) -> str:
        return progress_text(self.done, self.news)

    def _repr_html_(self) -> str:
        heads = ("lesson", "guesses", "quiz, right", "exercise", "parts still open")
        rows = [
            (
                x.lesson,
                f"{x.guesses}, {x.measured} measured",
                f"{x.right} of {x.asked}" if x.asked else "–",
                Cell(bar(x.points / x.most) + f" {x.points:g} of {x.most}") if x.most else "–",
                ", ".join(x.open) or "–",
            )
            for x in map(Lesson, self.done["lessons"])
        ]
        return f"<div style='font-size:14px'><div>{escape(self.news)}</div>{table(heads, rows)}</div>"


def bar(share: float) -> str:
    box = "display:inline-block;width:120px;height:12px;border:1px solid currentColor;vertical-align:middle"
    return (
        f'<div style="{box}"><div style="width:{share:.0%};height:100%;background:currentColor;opacity:.5"></div></div>'
    )


def progress(path: str | None = None) -> Progress:
    """What you have done so far, from your ledger (default: the one beside this notebook)."""
    return Progress(path)
