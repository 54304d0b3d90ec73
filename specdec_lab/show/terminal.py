"""Rounds in a terminal, one line each."""

import os
import sys
from collections.abc import Callable
from typing import TextIO

from specdec_lab.engine.trace import Round, Trace
from specdec_lab.show.marks import MARKS, visible


def use_colour(stream: TextIO = sys.stdout) -> bool:
    """Colour on a terminal, never with NO_COLOR (no-color.org), always with FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def token(word: str, text: str, colour: bool) -> str:
    """A marked token: its symbol, then its text in quotes, since a leading space is part of it."""
    mark = MARKS[word]
    shown = f"{mark.symbol}“{visible(text)}”"
    if not colour:
        return shown
    r, g, b = (int(mark.colour[i : i + 2], 16) for i in (1, 3, 5))
    struck = "\x1b[9m" if word == "discarded" else ""
    return f"\x1b[38;2;{r};{g};{b}m{struck}{shown}\x1b[0m"


def round_line(r: Round, text_of: Callable[[list[int]], str], colour: bool) -> str:
    """Drafts with their marks, an arrow, then what the target added."""
    drafts = " ".join(token(d.status, text_of([d.id]), colour) for d in r.drafted) or "nothing drafted"
    own = token(r.emitted.kind, text_of([r.emitted.id]), colour) if r.emitted else f"stopped here ({r.stop})"
    return f"{drafts}  →  {own}"


def legend(colour: bool) -> str:
    return "   ".join(token(m.word, m.word, colour).replace("“", " ").replace("”", "") for m in MARKS.values())


def summary(trace: Trace) -> str:
    """The counts of a trace, in words."""
    if not trace.rounds:
        return "No round was run."
    alpha = "no draft was tested" if trace.alpha is None else f"α = {trace.alpha:.2f}"
    return (
        f"{len(trace.tokens)} new tokens in {trace.target_passes} target passes: "
        f"{trace.tokens_per_pass:.2f} tokens per pass, {alpha}."
    )
