"""Documents out of plain text, Markdown and Python files."""

import ast
import html
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from specdec_lab.train.passages import SENTENCE, Document, readable

LONGEST = 12_000  # characters of a document: a book is many of them
PARAGRAPH = (
    900  # characters; longer ones are divided: most passages begin where a paragraph does, so its end is seldom used
)


def text_of(path: Path) -> str | None:
    """What a file holds, as text; None for a file that is no text or cannot be read."""
    try:
        return path.read_text(encoding="utf-8").lstrip("\ufeff")
    except (UnicodeDecodeError, OSError):
        return None


def tidy(text: str) -> str:
    """The text on one line, with single spaces."""
    return re.sub(r"\s+", " ", text).strip()


def prose(source: str, language: str, title: str, paragraphs: list[str]) -> Iterator[Document]:
    """Documents of at most LONGEST characters, of those paragraphs that are sentences."""
    kept: list[str] = []
    whole = [p for p in map(tidy, paragraphs) if p and p[-1] in '.!?…”"»' and len(p.split()) > 3]
    whole = [re.sub(r"^CHAPTER \d+\.\s.*?\.\s*", "", p) for p in whole]
    for paragraph in [*(part for p in whole for part in parted(p)), ""]:
        if kept and (not paragraph or sum(map(len, kept)) + len(paragraph) > LONGEST):
            text = "\n\n".join(kept)
            if readable(text):
                yield Document(source, "prose", language, tidy(title), text)
            kept = []
        kept.append(paragraph)


def parted(paragraph: str) -> list[str]:
    """A paragraph as several of whole sentences, none much longer than PARAGRAPH."""
    parts = [""]
    for sentence in SENTENCE.split(paragraph):
        if parts[-1] and len(parts[-1]) + len(sentence) > PARAGRAPH:
            parts.append("")
        parts[-1] = f"{parts[-1]} {sentence}".strip()
    return parts


def plain_text(source: str, path: Path, language: str = "en", title: str = "") -> Iterator[Document]:
    """.txt and .md: paragraphs parted by empty lines, or one to a line; Markdown's headings and code are dropped."""
    text = text_of(path)
    if text is None:
        return
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    blocks = re.split(r"\n\s*\n", text)
    if len(blocks) == 1:
        blocks = text.split("\n")
    title = title or re.sub(r"[_-]+", " ", path.stem)
    yield from prose(source, language, title, [re.sub(r"^#+ .*$", "", b, flags=re.M) for b in blocks])


def python_code(source: str, path: Path) -> Iterator[Document]:
    """Functions and short classes, each a document; and docstrings, of modules as well, where they are prose."""
    text = text_of(path)
    if text is None:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        name = getattr(node, "name", path.stem)
        if not isinstance(node, ast.Module):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
            code = textwrap.dedent("\n".join(lines[first : node.end_lineno]))
            if 4 <= code.count("\n") <= 120 and max(map(len, code.splitlines())) <= 120:
                yield Document(source, "code", "python", name, code)
        if said := ast.get_docstring(node):
            blocks = re.split(r"\n\s*\n", said)
            blocks = [b for b in blocks if not re.search(r"^\s*(>>>|:|\||\+-|[=~*-]{3})|::\s*$", b, re.M)]
            blocks = [re.sub(r":\w+:`~?([^`<]*)(?: <[^`]*>)?`|``?([^`]*)``?", r"\1\2", b) for b in blocks]
            yield from prose(source, "en", name, [html.unescape(b) for b in blocks])
