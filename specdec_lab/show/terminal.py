"""Rounds as `demo` prints them: a line each, or plain data for JSON, which the widgets read, too; and the marks of the
course: a symbol and a word first, a colour second (Okabe–Ito palette).
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple, TextIO

from specdec_lab.formats import escaped

if TYPE_CHECKING:  # the marks are there before PyTorch is
    from collections.abc import Callable, Sequence

    from specdec_lab.engine.trace import Draft, Emitted, Round, Trace


class Mark(NamedTuple):
    symbol: str
    colour: str
    meaning: str


MARKS = {
    "accepted": Mark("✓", "#009E73", "the target keeps this draft"),
    "rejected": Mark("✗", "#D55E00", "the first miss: compared, different, replaced"),
    "corrected": Mark("↻", "#E69F00", "the target's own token in its place"),
    "bonus": Mark("+", "#0072B2", "all drafts kept: the target's last row gives one more"),
    "discarded": Mark("–", "#767676", "after the first miss, or cut off by a stop"),
    "plain": Mark("·", "#767676", "nothing was drafted: a plain step"),
}


def visible(text: str) -> str:
    """A token's text on one line: line breaks, tabs and nothing but spaces shown as signs."""
    if text and not text.strip(" "):
        return "␣" * len(text)
    return text.replace("\n", "⏎").replace("\t", "⇥").replace("\r", "␍")


def marked(word: str, text: str) -> str:
    """A token in plain text: its symbol, then its text in quotes, since a leading space is part of it."""
    return f"{MARKS[word].symbol}“{visible(text)}”"


def use_colour(stream: TextIO | None = None) -> bool:
    """Colour on a terminal (default: stdout), never with NO_COLOR (no-color.org), always with FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream or sys.stdout).isatty()


def coloured(word: str, text: str, colour: bool) -> str:
    """Text in the colour of a mark; what was discarded is struck out."""
    if not colour:
        return text
    r, g, b = bytes.fromhex(MARKS[word].colour[1:])
    struck = "\x1b[9m" if word == "discarded" else ""
    return f"\x1b[38;2;{r};{g};{b}m{struck}{text}\x1b[0m"


def round_line(r: Round, text_of: Callable[[list[int]], str], colour: bool) -> str:
    """Drafts with marks, an arrow, and what the target added. In a tree, those that follow a draft stand in [ ]."""

    def token(word: str, id: int) -> str:
        return coloured(word, escaped(marked(word, text_of([id]))), colour)

    def behind(place: int) -> str:
        here = [(i, d) for i, d in enumerate(r.drafted) if d.parent == place]
        more = {i: behind(i) for i, _ in here}
        return " ".join(token(d.status, d.id) + (f" [{more[i]}]" if more[i] else "") for i, d in here)

    chain = " ".join(token(d.status, d.id) for d in r.drafted)
    drafts = (behind(-1) if r.is_tree else chain) or "nothing drafted"
    own = token(r.emitted.kind, r.emitted.id) if r.emitted else f"stopped here ({r.stop})"
    return f"{drafts}  →  {own}"


def legend(colour: bool) -> str:
    return "   ".join(coloured(word, f"{mark.symbol} {word}", colour) for word, mark in MARKS.items())


def summary(trace: Trace) -> str:
    """The counts of a trace, in words."""
    if not trace.rounds:
        return "No round was run."
    alpha = "no draft was tested" if trace.alpha is None else f"α = {trace.alpha:.2f}"
    return (
        f"{len(trace.tokens)} new tokens in {trace.target_passes} target passes: "
        f"{trace.tokens_per_pass:.2f} tokens per pass, {alpha}."
    )


def to_json(trace: Trace, text_of: Callable[[list[int]], str], detail: bool = False) -> list[dict]:
    """The rounds as plain data, in the form of `specdec-lab demo --json` (described in docs/reference.md); with `detail`
    also what the widgets show on a chosen token: the overlap, and the top of p and q.
    """

    def pairs(items: Sequence[tuple[int, float]]) -> list[dict]:
        return [{"id": i, "text": text_of([i]), "p": v} for i, v in items]

    def draft(d: Draft, tree: bool) -> dict:
        out = {"id": d.id, "text": text_of([d.id]), "p": d.p, "q": d.q, "p_raw": d.p_raw, "q_raw": d.q_raw}
        out |= {"u": d.u, "status": d.status} | ({"parent": d.parent} if tree else {})
        out |= {"overlap": d.overlap, "p_top": pairs(d.p_top), "q_top": pairs(d.q_top)} if detail else {}
        return out | ({"after_top": pairs(d.after_top)} if tree and detail else {})

    def emitted(e: Emitted) -> dict:
        out = {"id": e.id, "text": text_of([e.id]), "kind": e.kind}
        return out | ({"p": e.p, "p_raw": e.p_raw, "p_top": pairs(e.p_top)} if detail else {})

    return [
        {"drafted": [draft(d, r.is_tree) for d in r.drafted], "emitted": emitted(r.emitted) if r.emitted else None}
        for r in trace.rounds
    ]
