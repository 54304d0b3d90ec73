"""Prompts out of a folder of one's own: its prompts as they are, and passages of its texts, with a request about each."""

import ast
import html
import random
import re
import sysconfig
import textwrap
from collections.abc import Iterator
from pathlib import Path

from specdec_lab.errors import LabError
from specdec_lab.measure.prompts import Prompt, read_prompts

SENTENCE = re.compile(r"(?<=[.!?…»”\"])\s+(?=[\"“«¿¡(]?[A-ZÀ-Þ0-9])")
DOCUMENT = 12_000  # characters of a document: a book is many of them
PARAGRAPH = 900  # characters; longer paragraphs are divided
PASSAGE = 1_500  # characters of a document, or of code, in one prompt
ABOUT_TEXT = (
    "Summarise this text in two sentences.\n\n{text}",
    "{text}\n\nPlease sum this up in one short paragraph.",
    "What are the main points of this text?\n\n{text}",
    "Explain the following text in simple words.\n\n{text}",
    "Rewrite this text so that it is easier to read:\n\n{text}",
    "{text}\n\nWhich questions does this text answer? Give the answers, too.",
    "Translate the following text into French:\n\n{text}",
    "Make a list of the facts in this text.\n\n{text}",
)
ABOUT_CODE = (
    "What does this code do?\n\n```python\n{text}\n```",
    "Explain this Python code step by step:\n\n```python\n{text}\n```",
    "Write a docstring for this:\n\n```python\n{text}\n```",
    "Write unit tests for the following code:\n\n```python\n{text}\n```",
    "```python\n{text}\n```\n\nHow can this be made simpler?",
    "Is there a mistake in this code?\n\n```python\n{text}\n```",
)


def read_folder(folder: Path) -> list[list[Prompt]]:
    """Prompts out of a user's folder: .txt, .md and .rst are prose, .py is code, .jsonl are prompts as `bench` takes
    them. Prompts about the same document are in the same list, since one side alone may have it.

    Raises:
        LabError: when there is no such folder, nothing in it can be used, or a line of a .jsonl file is no prompt.
    """
    if not folder.is_dir():
        raise LabError(f"There is no folder {folder}: --passages takes one with .txt, .md, .rst, .py or .jsonl files.")
    found: list[list[Prompt]] = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if path.suffix == ".jsonl":
            found += [[prompt] for prompt in read_prompts(str(path))]
        elif path.suffix in (".txt", ".md", ".rst", ".py"):
            found += prompts_about(path)
    if not found:
        raise LabError(
            f"Nothing in {folder} can be asked about: --passages needs .txt, .md or .rst files with whole sentences, "
            ".py files with functions, or .jsonl files with prompts."
        )
    return found


def installed_python(most: int = 300) -> list[list[Prompt]]:
    """Prompts about functions and docstrings of the installed Python, as `read_folder` gives them."""
    return [prompts for path in python_files()[:most] for prompts in prompts_about(path)]


def prompts_about(path: Path) -> Iterator[list[Prompt]]:
    """For each document of a file the prompts about its passages."""
    draw = random.Random(path.name)
    if path.suffix == ".py":
        documents = [
            ([code for _, code, _ in part], [passage for *_, said in part for passage in readable_texts(said, PASSAGE)])
            for part in python_parts(path)
        ]
    else:
        documents = [
            ([], list(readable_texts(d.split("\n\n"), PASSAGE))) for d in readable_texts(paragraphs_of(path), DOCUMENT)
        ]
    for number, (code, passages) in enumerate(documents):
        asked = [("code", draw.choice(ABOUT_CODE), text) for text in code if 0 < len(text) <= PASSAGE]
        asked += [("text", draw.choice(ABOUT_TEXT), text) for text in passages]
        if asked:
            yield [
                Prompt(f"{path.name}-{number}-{i}", kind, request.replace("{text}", text))
                for i, (kind, request, text) in enumerate(asked)
            ]


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
