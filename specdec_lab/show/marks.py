"""The marks of the course: a symbol and a word first, a colour second (Okabe–Ito palette)."""

from typing import NamedTuple


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
