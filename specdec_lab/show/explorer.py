"""The Round Explorer: a learner marks a round, reveals it, and steps through a whole text."""

import uuid
from collections.abc import Callable
from pathlib import Path

import anywidget
import traitlets
from IPython.display import display

from specdec_lab.engine.trace import Trace, to_json
from specdec_lab.errors import LabError
from specdec_lab.show.marks import MARKS
from specdec_lab.show.static import rounds_html, rounds_text
from specdec_lab.show.terminal import summary

BEFORE = 160  # characters of text shown ahead of a round


def explorer_data(trace: Trace, text_of: Callable[[list[int]], str], title: str) -> dict:
    """Everything the explorer shows, as plain data; the form in which a recorded run is kept.

    Args:
        trace: made with `Keep(top=5)`, so that each token has its alternatives.

    Raises:
        LabError: for a trace without rounds (interrupted before the first).
    """
    if not trace.rounds:
        raise LabError("There is no round to show: the run was interrupted before its first one. Run it again.")
    rounds = to_json(trace, text_of, detail=True)
    text = list(trace.prompt)
    for r, record in zip(trace.rounds, rounds):
        before = text_of(text)
        record["before"] = before if len(before) <= BEFORE else "…" + before[-BEFORE:]
        record["stop"] = r.stop
        record["after_top"] = [{"id": i, "text": text_of([i]), "p": p} for i, p in r.after_top]
        text += r.tokens
    greedy = all(d.u is None for r in trace.rounds for d in r.drafted)
    return {"title": title, "greedy": greedy, "summary": summary(trace), "rounds": rounds}


def script(name: str) -> str:
    """A file beside this one, as text."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


class RoundExplorer(anywidget.AnyWidget):
    """Shows `data`, as `explorer_data` makes it or as it was recorded.

    Where no kernel or browser can draw a widget, a picture of the first rounds stands instead.
    """

    _esm = script("common.js") + script("explorer.js")
    _css = script("explorer.css")
    data = traitlets.Dict().tag(sync=True)
    # What the learner did, kept here so that a second view of the widget, or a reloaded page, still shows it.
    revealed = traitlets.List(traitlets.Int()).tag(sync=True)  # rounds that were opened
    guesses = traitlets.Dict().tag(sync=True)  # {round: {column: word}}; the column after the drafts is the target's

    def __init__(self, data: dict):
        marks = {word: mark._asdict() for word, mark in MARKS.items()}
        super().__init__(data={**data, "marks": marks, "id": uuid.uuid4().hex[:8]})

    def picture(self) -> str:
        return rounds_html(self.data)

    def text(self) -> str:
        return rounds_text(self.data)

    def _ipython_display_(self) -> None:
        picture = f'<div class="sdl-static-{self.data["id"]}">{self.picture()}</div>'
        display({"text/html": picture, "text/plain": self.text()}, raw=True)
        widget, metadata = self._repr_mimebundle_()
        display(widget, metadata=metadata, raw=True)
