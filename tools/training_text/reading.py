"""Prose and code out of files: plain text, Markdown, and Python with its docstrings."""

import ast
import html
import random
import re
import sysconfig
import textwrap
from collections.abc import Iterator
from pathlib import Path

SENTENCE = re.compile(r"(?<=[.!?…»”\"])\s+(?=[\"“«¿¡(]?[A-ZÀ-Þ0-9])")
DOCUMENT = 12_000  # characters of a document: a book is many of them
PARAGRAPH = 900  # characters; longer paragraphs are divided


def text_of(path: Path) -> str | None:
    """What a file holds, as text; None for a file that is no text or cannot be read."""
    try:
        return path.read_text(encoding="utf-8").lstrip("\ufeff")
    except (UnicodeDecodeError, OSError):
        return None


def tidy(text: str) -> str:
    """The text on one line, with single spaces."""
    return re.sub(r"\s+", " ", text).strip()


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


def readable_texts(paragraphs: list[str], longest: int) -> Iterator[str]:
    """Texts of about `longest` characters at most, of those paragraphs that are sentences; empty lines part them."""
    kept: list[str] = []
    whole = [p for p in map(tidy, paragraphs) if p and p[-1] in '.!?…”"»' and len(p.split()) > 3]
    whole = [re.sub(r"^CHAPTER \d+\.\s.*?\.\s*", "", p) for p in whole]
    for paragraph in [*(part for p in whole for part in parted(p)), ""]:
        if kept and (not paragraph or sum(map(len, kept)) + len(paragraph) > longest):
            text = "\n\n".join(kept)
            if readable(text):
                yield text
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


def paragraphs_of(path: Path) -> list[str]:
    """Of plain text or Markdown: parted by empty lines, or one to a line. Markdown's headings and code are dropped."""
    text = re.sub(r"```.*?```", "", text_of(path) or "", flags=re.S)
    blocks = re.split(r"\n\s*\n", text)
    if len(blocks) == 1:
        blocks = text.split("\n")
    return [re.sub(r"^#+ .*$", "", b, flags=re.M) for b in blocks]


def python_parts(path: Path) -> Iterator[list[tuple[str, str, list[str]]]]:
    """The parts of a Python file: the module's docstring, and each function and class with all that is inside.

    Yields:
        for each part (name, code, paragraphs of the docstring) of what it holds; code is empty for a module, and where
        it is too short, too long, or has too long lines.
    """
    text = text_of(path)
    if text is None:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines()
    yield [(path.stem, "", docstring(tree))]
    for top in tree.body:
        nodes = [node for node in ast.walk(top) if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
        yield [(node.name, code_of(node, lines), docstring(node)) for node in nodes]


def code_of(node: ast.ClassDef | ast.FunctionDef, lines: list[str]) -> str:
    """The lines of a function or class, or nothing where they are too few, too many or too long."""
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
    code = textwrap.dedent("\n".join(lines[first : node.end_lineno]))
    return code if 4 <= code.count("\n") <= 120 and max(map(len, code.splitlines())) <= 120 else ""


def docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> list[str]:
    """The paragraphs of a docstring that are no examples, lists or tables, without the marks of Sphinx."""
    blocks = re.split(r"\n\s*\n", ast.get_docstring(node) or "")
    blocks = [b for b in blocks if not re.search(r"^\s*(>>>|:|\||\+-|[=~*-]{3})|::\s*$", b, re.M)]
    return [html.unescape(re.sub(r":\w+:`~?([^`<]*)(?: <[^`]*>)?`|``?([^`]*)``?", r"\1\2", b)) for b in blocks]


def python_files() -> list[Path]:
    """Files of the standard library and of a few installed packages, without their tests, in a mixed order."""
    library, site = (Path(sysconfig.get_paths()[x]) for x in ("stdlib", "purelib"))
    paths = [p for p in sorted(library.rglob("*.py")) if "site-packages" not in p.parts]
    for name in ("numpy", "packaging", "psutil", "transformers/utils", "torch/utils"):
        paths += sorted((site / name).rglob("*.py"))
    paths = [p for p in paths if not {"test", "tests", "idlelib", "lib2to3"} & set(p.parts)]
    random.Random(0).shuffle(paths)
    return paths
