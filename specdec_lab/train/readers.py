"""Documents out of files as packages hold them: web pages, help pages, stories of games, plain text, Python code."""

import ast
import gettext
import html
import json
import re
import textwrap
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from specdec_lab.train.passages import SENTENCE, Document, readable

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
HEADINGS = {"h1", "h2", "h3", "h4", "dt"}
SKIPPED = {"script", "style", "pre", "table", "nav", "head", "code", "header", "footer"}
LONGEST = 12_000  # characters of a document: a book is many of them
PARAGRAPH = (
    900  # characters; longer paragraphs are parted, or a speech in one piece would always be read from its start
)


def text_of(path: Path) -> str | None:
    """None for what is no text."""
    try:
        return path.read_text(encoding="utf-8").lstrip("\ufeff")
    except (UnicodeDecodeError, OSError):
        return None


def tidy(text: str) -> str:
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


class _Paragraphs(HTMLParser):
    """(heading, paragraphs) of a page; tables, code and navigation are left out."""

    def __init__(self):
        super().__init__()
        self.sections: list[tuple[str, list[str]]] = [("", [])]
        self.open, self.skipping, self.words = None, 0, []

    def handle_starttag(self, tag, attrs):
        if tag in SKIPPED and tag != "code":
            self.skipping += 1
        elif tag == "p" or tag in HEADINGS or (tag == "div" and ("class", "para") in attrs):
            self.close_paragraph()
            self.open = tag

    def handle_endtag(self, tag):
        if tag in SKIPPED and tag != "code":
            self.skipping = max(0, self.skipping - 1)
        elif tag == self.open:
            self.close_paragraph()

    def handle_data(self, data):
        if self.open and not self.skipping:
            self.words.append(data)

    def close_paragraph(self):
        text = tidy("".join(self.words))
        if self.open in HEADINGS and text:
            self.sections.append((re.sub(r"^[A-Z]?[\d.]+\s*", "", text), []))
        elif text:
            self.sections[-1][1].append(text)
        self.open, self.words = None, []


def web_page(source: str, path: Path, language: str, english: Path | None = None) -> Iterator[Document]:
    """A page's sections. english: the page that it translates; what is left of that is dropped."""
    untranslated = {p for _, paragraphs in sections(english) for p in paragraphs} if english else set()
    for title, paragraphs in sections(path):
        yield from prose(source, language, title, [p for p in paragraphs if p not in untranslated])


def sections(page: Path) -> list[tuple[str, list[str]]]:
    parser = _Paragraphs()
    parser.feed(text_of(page) or "")
    parser.close_paragraph()
    return parser.sections


def help_page(source: str, path: Path, language: str, english: Path | None = None) -> Iterator[Document]:
    """Mallard, the XML of GNOME's help. english: the page that it translates; what is left of that is dropped."""
    title, found = mallard(path)
    untranslated = set(mallard(english)[1]) if english else set()
    yield from prose(source, language, title, [p for p in found if p not in untranslated])


def mallard(path: Path) -> tuple[str, list[str]]:
    """Title and paragraphs."""
    tree = ElementTree.parse(path).getroot()
    space = "{*}"
    titles = [tidy("".join(t.itertext())) for t in tree.iterfind(f"{space}title")]
    outside = {id(p) for info in tree.iterfind(f".//{space}info") for p in info.iter()}
    found = [tidy("".join(p.itertext())) for p in tree.iterfind(f".//{space}p") if id(p) not in outside]
    return (titles or [""])[0], found


STRING = re.compile(r'(?:message|story|description|part)\s*=\s*_\s*"((?:[^"]|"")*)"')


def campaign(source: str, path: Path, languages: dict[str, gettext.GNUTranslations]) -> Iterator[Document]:
    """A scenario of Wesnoth: what is told and said in it, in English and as its translators put it."""
    text = text_of(path)
    if text is None:
        return
    strings = [s.replace('""', '"') for s in STRING.findall(text)]
    strings = [s.partition("^")[2] if re.match(r"^\w+\^", s) else s for s in strings]
    title = re.sub(r"^\d+\w?_", "", path.stem).replace("_", " ")
    plain = [re.sub(r"<[^>]+>", "", s) for s in strings]
    yield from prose(source, "en", title, plain)
    for language, catalog in languages.items():
        said = [(s, catalog.gettext(s)) for s in strings]
        yield from prose(source, language, title, [re.sub(r"<[^>]+>", "", t) for s, t in said if t != s])


def catalogs(folder: Path) -> dict[str, gettext.GNUTranslations]:
    """The translations in a package, by language."""
    found: dict[str, gettext.GNUTranslations] = {}
    for language in LANGUAGES:
        for path in sorted(folder.rglob(f"{language}/LC_MESSAGES/*.mo")):
            with path.open("rb") as f:
                catalog = gettext.GNUTranslations(f)
            if language in found:
                found[language].add_fallback(catalog)
            else:
                found[language] = catalog
    return found


def missions(source: str, path: Path) -> Iterator[Document]:
    """Endless Sky: what is told in a mission, a quoted line a paragraph."""
    text = text_of(path) or ""
    for mission in re.split(r"\n(?=\S)", text):
        lines = re.findall(r'^\s+(?:"|`)(.*)(?:"|`)\s*$', mission, re.M)
        lines = [line.strip() for line in lines if not re.search(r"<\w+>|^\s*\(|&\[", line)]
        name = re.match(r'\w+ ["`]([^"`]+)', mission)
        yield from prose(source, "en", name[1] if name else "", [tidy(line) for line in lines])


def descriptions(source: str, path: Path) -> Iterator[Document]:
    """Things described, as a game's JSON holds them; several of a file make one document."""
    try:
        entries = json.loads(text_of(path) or "[]")
    except ValueError:
        return
    found = []
    for entry in entries if isinstance(entries, list) else []:
        said = entry.get("description") if isinstance(entry, dict) else None
        said = said.get("str") if isinstance(said, dict) else said
        if isinstance(said, str) and len(said.split()) > 25 and "<" not in said:
            found.append(said)
    for few in (found[i : i + 4] for i in range(0, len(found), 4)):
        yield from prose(source, "en", "", few)


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
    """Functions and short classes, each a document."""
    text = text_of(path)
    if text is None:
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1
        code = textwrap.dedent("\n".join(lines[first : node.end_lineno]))
        if 4 <= code.count("\n") <= 120 and max(map(len, code.splitlines())) <= 120:
            yield Document(source, "code", "python", node.name, code)


def docstrings(source: str, path: Path) -> Iterator[Document]:
    """What modules, classes and functions say about themselves, where it is prose."""
    text = text_of(path)
    try:
        tree = ast.parse(text or "")
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (said := ast.get_docstring(node)):
            blocks = [
                b for b in re.split(r"\n\s*\n", said) if not re.search(r"^\s*(>>>|:|\||\+-|[=~*-]{3})|::\s*$", b, re.M)
            ]
            blocks = [re.sub(r":\w+:`~?([^`<]*)(?: <[^`]*>)?`|``?([^`]*)``?", r"\1\2", b) for b in blocks]
            yield from prose(source, "en", getattr(node, "name", path.stem), [html.unescape(b) for b in blocks])
