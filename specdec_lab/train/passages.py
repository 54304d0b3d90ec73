"""Texts that users ask about: read from files, and cut at sentences into passages of a wanted length."""

import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

HELD_OUT = 5  # one document in so many is never in the text that drafts are trained on
WRITTEN = "written"  # the source of documents that the target composed itself
SENTENCE = re.compile(r"(?<=[.!?…»”\"])\s+(?=[\"“«¿¡(]?[A-ZÀ-Þ0-9])")


@dataclass(frozen=True)
class Document:
    """One text. form: prose or code; language: en, de, …, or python; paragraphs are parted by an empty line."""

    source: str
    form: str
    language: str
    title: str
    text: str

    @cached_property
    def held_out(self) -> bool:
        """Whether it is kept for measuring. It follows from the text alone, so a new source moves nothing."""
        return hashlib.sha256(self.text[:2000].encode()).digest()[0] % HELD_OUT == 0

    @cached_property
    def pieces(self) -> list[tuple[str, str]]:
        """(what parts it from the piece before, sentence), in order."""
        found = []
        for paragraph in self.text.split("\n\n"):
            sentences = SENTENCE.split(paragraph.strip())
            found += [("\n\n" if i == 0 else " ", s) for i, s in enumerate(sentences) if s]
        return found


class Library:
    """The documents of one side (to train on, or held out), by form and language.

    weights: how often each source is drawn from (1 for one that is not named). If sources were drawn by their size, the
        small ones would hardly ever be.
    """

    def __init__(self, documents: Iterable[Document], weights: Mapping[str, float] | None = None):
        self.weights = weights or {}
        self.groups: dict[tuple[str, str], dict[str, list[Document]]] = defaultdict(lambda: defaultdict(list))
        for d in documents:
            self.groups[d.form, d.language][d.source].append(d)

    def __bool__(self) -> bool:
        return bool(self.groups)

    def has(self, form: str, language: str | None = None) -> bool:
        return any(f == form and language in (None, lang) for f, lang in self.groups)

    def languages(self) -> list[str]:
        """The languages of its prose, without English."""
        return sorted(lang for form, lang in self.groups if form == "prose" and lang != "en")

    def draw(self, draw: random.Random, form: str, language: str, most: int) -> Document:
        """A document; if it is code, of a length that fits `most` tokens where there is one."""
        sources = self.groups[form, language]
        names = sorted(sources)
        documents = sources[draw.choices(names, [self.weights.get(n, 1) for n in names])[0]]
        if form == "code":  # which is not cut: look for the right size
            fits = [d for d in documents if 1.6 * most < len(d.text) < 4.5 * most]
            return draw.choice(fits or documents)
        # Long documents hold more passages; by the root, since a book is much of the same.
        return draw.choices(documents, [len(d.text) ** 0.5 for d in documents])[0]

    def passage(
        self, draw: random.Random, form: str, language: str, most: int, count: Callable[[str], int], least: int = 12
    ) -> tuple[Document, str] | None:
        """A document and a run of its sentences of about `most` tokens; None when nothing fits."""
        for _ in range(8):
            document = self.draw(draw, form, language, most)
            text = cut(document, draw, most, count)
            if text and count(text) >= max(least, most * 3 // 5) and len(text.split()) >= least:
                return document, text
        return None


def cut(document: Document, draw: random.Random, most: int, count: Callable[[str], int]) -> str:
    """A run of whole sentences of at most `most` tokens, from the start of a paragraph where that can be."""
    if document.form == "code":
        return document.text if count(document.text) <= most else ""
    pieces = document.pieces
    starts = [i for i, (gap, _) in enumerate(pieces) if gap == "\n\n"]
    start = draw.choice(starts)
    if draw.random() < 0.2:  # inside a paragraph, so that a long one is not always seen from its start
        start = draw.randrange(len(pieces))
    text, have = "", 0
    for gap, sentence in pieces[start : start + 400]:
        have += count(gap + sentence)  # close enough: tokens seldom reach across sentences
        if have > most:
            break
        text += gap + sentence
    return text.strip()


def readable(text: str) -> bool:
    """Whether a text is running prose: not a table, a list of names, an index, or a broken encoding."""
    letters = sum(c.isalpha() for c in text)
    words = text.split()
    return (
        len(words) >= 25
        and letters > 0.7 * len(text)
        and "\ufffd" not in text
        and len(re.findall(r"[.!?…](\s|$|[\"”»)])", text)) * 45 >= len(words)  # sentences end
        and sum(w[0].isupper() for w in words) < 0.45 * len(words)
    )


def read_documents(path: Path) -> list[Document]:
    """The documents of a file of JSON lines."""
    return [Document(**json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line]
