"""The Round Explorer: a learner marks a round, reveals it, and steps through a whole text."""

from collections.abc import Callable

import traitlets

from specdec_lab.engine.trace import Trace, to_json
from specdec_lab.errors import LabError
from specdec_lab.formats import rounded
from specdec_lab.show.live import Live
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
    return rounded({"title": title, "greedy": greedy, "summary": summary(trace), "rounds": rounds}, 4)


class RoundExplorer(Live):
    """Shows `data`, as `explorer_data` makes it or as it was recorded."""

    scripts = ("common.js", "explorer.js")
    revealed = traitlets.List(traitlets.Int()).tag(sync=True)  # rounds that were opened
    guesses = traitlets.Dict().tag(sync=True)  # {round: {column: word}}; the column after the drafts is the target's

    def picture(self) -> str:
        return rounds_html(self.data)

    def text(self) -> str:
        return rounds_text(self.data)
