"""The line at the end of every part of an exercise, and what it says: a card in a notebook, a line elsewhere."""

import importlib
import pkgutil
from dataclasses import asdict
from html import escape

from IPython import get_ipython
from IPython.display import display

from specdec_grader import sheets
from specdec_grader.part import PARTS, RIGHT, WRONG, Verdict, grade_part  # noqa: F401  PARTS with all parts in it
from specdec_lab.course.ledger import Ledger
from specdec_lab.show.terminal import MARKS

COLOURS = {RIGHT: MARKS["accepted"].colour, WRONG: MARKS["rejected"].colour}

for module in pkgutil.walk_packages(sheets.__path__, f"{sheets.__name__}."):
    importlib.import_module(module.name)  # which registers its parts


def check(id: str, *made: object) -> float:
    """Judge what was made for the part `id`, say so, keep it, and return its points.

    The cell of a check must end in its points: nbgrader takes them from there.
    """
    verdict, ledger = grade_part(id, *made), Ledger()
    ledger.judge(id, asdict(verdict))
    tell(verdict, ledger.news())
    return Points(verdict.points)


class Points(float):
    """The points of a part. A grader reads the number; a learner has the card, so the number itself shows nothing."""

    def _repr_html_(self) -> str:
        row = ".jp-OutputArea-child:has(.sdl-points)"  # of JupyterLab, where it would stand empty
        return f'<span class="sdl-points"></span><style>{row} {{ display: none; }}</style>'


def tell(verdict: Verdict, news: str = "") -> None:
    """Say a verdict where the learner is. news: what happened to the learner's file, if anything."""
    shown = output(verdict, news)
    if hasattr(get_ipython(), "kernel"):
        display(shown["data"], metadata=shown["metadata"], raw=True)
    else:
        print(shown["data"]["text/plain"])


def output(verdict: Verdict, news: str = "") -> dict:
    """The verdict as a notebook keeps it: for people, and as data for the report of a class."""
    lines = [verdict.line, news] if news else [verdict.line]
    data = {"text/html": card(verdict, news), "text/plain": "\n".join(lines)}
    about = {"part": verdict.part, "status": verdict.status, "misconception": verdict.misconception}
    return {"data": data, "metadata": {"specdec_lab": about}}


def card(verdict: Verdict, news: str = "") -> str:
    said = verdict.line.partition(": ")[0]  # the symbol and the part
    more = f"<div style='margin-top:4px'>{escape(news)}</div>" if news else ""
    return (
        f"<div style='border-left:5px solid {COLOURS.get(verdict.status, 'currentColor')};padding:6px 12px;margin:4px 0;max-width:52em;"
        "background:rgba(128,128,128,0.08)'>"
        f"<div style='display:flex;gap:12px;justify-content:space-between'><b>{escape(said)}</b>"
        f"<span style='white-space:nowrap'>{verdict.points:g} of {verdict.max_points} points</span></div>"
        f"<div style='white-space:pre-wrap'>{escape(verdict.message)}</div>{more}</div>"
    )
