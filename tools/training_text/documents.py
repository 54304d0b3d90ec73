"""Texts that are asked about: read from files, and cut at sentences into passages of a wanted length."""

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from specdec_lab.errors import LabError
from training_text.reading import DOCUMENT, SENTENCE, paragraphs_of, python_files, python_parts, readable_texts, tidy

HELD_OUT = 5  # one document in so many is never in the text that drafts are trained on
WRITTEN = "written"  # the source of documents that the target composed itself
PYTHON = "python"  # the source of what is read from the installed Python
WEIGHTS = {PYTHON: 1.5, WRITTEN: 8}  # how often passages are drawn from a source; 1 for every other one
LIST = (
    "passages.json"  # of a folder from tools/passages.py: {source: {"weight": …}}, each with its documents in a .jsonl
)


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


def prose(source: str, language: str, title: str, paragraphs: list[str]) -> Iterator[Document]:
    """Documents of at most DOCUMENT characters, of those paragraphs that are sentences."""
    for text in readable_texts(paragraphs, DOCUMENT):
        yield Document(source, "prose", language, tidy(title), text)


def plain_text(source: str, path: Path, language: str = "en", title: str = "") -> Iterator[Document]:
    """.txt and .md files."""
    yield from prose(source, language, title or path.stem.replace("_", " ").replace("-", " "), paragraphs_of(path))


def python_code(source: str, path: Path) -> Iterator[Document]:
    """Functions and short classes, each a document; and docstrings, of modules as well, where they are prose."""
    for part in python_parts(path):
        for name, code, said in part:
            if code:
                yield Document(source, "code", "python", name, code)
            yield from prose(source, "en", name, said)


def installed_python(most: int = 4_000) -> Iterator[Document]:
    """Functions and docstrings of the standard library and of a few installed packages."""
    for path in python_files()[:most]:
        yield from python_code(PYTHON, path)


@dataclass(frozen=True)
class Passages:
    """What is asked about, and how often each source is drawn from."""

    documents: Sequence[Document] = ()
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)

    def side(self, held_out: bool) -> list[Document]:
        """The documents to train on, or those that are held out."""
        return [d for d in self.documents if d.held_out == held_out]


def read_documents(path: Path) -> list[Document]:
    """The documents of a file of JSON lines."""
    return [Document(**json.loads(line)) for line in path.read_text(encoding="utf-8").split("\n") if line]


def read_passages(folder: Path) -> Passages:
    """The documents of the sources that the folder's LIST names.

    Raises:
        LabError: when there is no list, or the list and the files do not fit.
    """
    path = folder / LIST
    try:
        weights = {name: float(about["weight"]) for name, about in json.loads(path.read_text(encoding="utf-8")).items()}
        documents = [d for name in weights for d in read_documents(folder / f"{name}.jsonl")]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as e:
        raise LabError(f"{path} and the files that it lists cannot be used ({e}): make them anew.") from e
    return Passages(documents, WEIGHTS | weights)
