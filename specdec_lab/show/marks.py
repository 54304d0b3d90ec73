"""The marks of the course: a symbol and a word first, a colour second (Okabe–Ito palette)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    symbol: str
    word: str
    colour: str
    meaning: str


MARKS = {
    m.word: m
    for m in (
        Mark("✓", "accepted", "#009E73", "the target keeps this draft"),
        Mark("✗", "rejected", "#D55E00", "the first miss: compared, different, replaced"),
        Mark("↻", "corrected", "#E69F00", "the target's own token in its place"),
        Mark("+", "bonus", "#0072B2", "all drafts kept: the target's last row gives one more"),
        Mark("–", "discarded", "#767676", "after the first miss, or cut off by a stop"),
        Mark("·", "plain", "#767676", "nothing was drafted: an ordinary step"),
    )
}


def visible(text: str) -> str:
    """A token's text on one line: line breaks, tabs and nothing but spaces shown as signs."""
    if text and not text.strip(" "):
        return "␣" * len(text)
    return text.replace("\n", "⏎").replace("\t", "⇥").replace("\r", "␍")
