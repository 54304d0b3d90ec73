"""The words of the glossary, and the pages to which it sends its readers: does the word stand there?

    python tools/words.py    the links to pages that lack their word, each with the page that has it most often

Asked are the sources of the pages, and of them what a reader reads: no code, no addresses. A word may stand there in its
plural, and in the forms of `FORMS`.
"""

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "lessons" / "src"
GLOSSARY = ROOT / "lessons" / "glossary.md"

# A word as the pages write it, where this is not its name: a regular expression.
FORMS = {
    "alpha": "α",
    "alpha by position": "α by (place|position)|by (place|position) in the draft",
    "argmax": "argmax",
    "checking the likely drafts only": "confidence",
    "corrected": "corrected|correction",
    "draft, for a token": "drafts?",
    "entropy, H": "entropy",
    "FLOP": r"[GT]?FLOPs?",
    "gamma": "γ",
    "learning from the target's own text": "distillation|answers of the target|target's (own )?(answers|texts?)",
    "mask of a tree": "tree attention|mask",
    "milliseconds a token": "milliseconds a token|TPOT",
    "mixture of experts": "mixtures? of experts",
    "p, q": "p and q|p is|q is",
    "rehearsing": r"rehears\w+",
    "rewind the cache": "rewind",
    "T(k)": "T",
    "the curve of latency against throughput": "latency against throughput|Pareto",
    "the rule of lesson 03": "rule",
    "the wait for the first token": "first token|TTFT",
    "tokens per pass, E": "tokens per pass",
    "what shapes p before a token is drawn": "before they draw",
    "1 − α, at one place": "α",
}


@cache
def pages() -> dict[str, Path]:
    """The sources by the names that the glossary gives them, in the order in which one reads: 00, …, deeper 01, …"""

    def name(stem: str) -> str:
        number = re.match(r"(deeper_)?(\d\d)_", stem)
        return f"{'deeper ' if number[1] else ''}{number[2]}" if number else stem.removeprefix("deeper_")

    return {name(source.stem): source for source in sorted(SOURCES.glob("*.md"))}


def readable(source: str) -> str:
    """What a reader reads of a source, without emphasis."""
    text = re.sub(r"(?ms)^```.*?^```$", "", source)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return " ".join(re.sub(r"[*_`]", "", text).split())


@cache
def prose(name: str) -> str:
    return readable(pages()[name].read_text(encoding="utf-8"))


def times(word: str, name: str) -> int:
    """How often a word stands on a page. One letter, or a word of capitals, is not looked for in small letters."""
    found = 0
    for part in [word] if word in FORMS else word.split(", "):
        form = FORMS.get(part) or re.sub(r"\\?[ -]", "[ -]", re.escape(part)) + "(e?s)?"
        exactly = re.NOFLAG if len(part) < 3 or part.isupper() else re.IGNORECASE
        found += len(re.findall(rf"(?<!\w)(?:{form})(?!\w)", prose(name), exactly))
    return found


@dataclass(frozen=True)
class Entry:
    """An entry, or a row of a table: its word, its text, and the names of the pages in its brackets or last cell."""

    word: str
    text: str
    links: tuple[str, ...]


def entries(glossary: str) -> list[Entry]:
    """The entries of the glossary's text, and the rows of its tables with pages."""
    tables, *parts = re.split(r"(?m)^## ", glossary)
    found = []
    for row in re.findall(r"(?m)^\| (.*) \|$", tables):
        word, *_, links = row.split(" | ")
        if re.match(r"\d\d|bridge", links):
            found.append(Entry(word, row, tuple(links.split(", "))))
    for part in parts:
        word, text = part.split("\n", 1)
        links = re.search(r"\(([^()]*)\)\s*$", text)
        found.append(Entry(word, text.strip(), tuple(links[1].split(", ")) if links else ()))
    return found


def wrong(glossary: str) -> list[str]:
    """What is wrong with the links, a sentence each."""
    said = []
    for entry in entries(glossary):
        most = max(pages(), key=lambda name: times(entry.word, name))
        best = f"it stands most often in {most}" if times(entry.word, most) else "no page has it"
        if not entry.links:
            said.append(f"{entry.word}: no page is named for it ({best})")
        for name in entry.links:
            if name not in pages() or not times(entry.word, name):
                said.append(f"{entry.word}: does not stand in {name} ({best})")
    return said


if __name__ == "__main__":
    sys.exit("\n".join(wrong(GLOSSARY.read_text(encoding="utf-8"))) or None)
