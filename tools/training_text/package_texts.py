"""Documents out of files as packages hold them: web pages, help pages, stories of games."""

import gettext
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from training_text.documents import Document, prose
from training_text.reading import text_of, tidy

LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
HEADINGS = {"h1", "h2", "h3", "h4", "dt"}
SKIPPED = {"script", "style", "pre", "table", "nav", "head", "header", "footer"}
Sections = list[tuple[str, list[str]]]  # (heading, paragraphs)


class _Paragraphs(HTMLParser):
    """The sections of a page; tables, listings and navigation are left out."""

    def __init__(self):
        super().__init__()
        self.sections: Sections = [("", [])]
        self.open, self.skipping, self.words = None, 0, []

    def handle_starttag(self, tag, attrs):
        if tag in SKIPPED:
            self.skipping += 1
        elif tag == "p" or tag in HEADINGS or (tag == "div" and ("class", "para") in attrs):
            self.close_paragraph()
            self.open = tag

    def handle_endtag(self, tag):
        if tag in SKIPPED:
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


def web_page(path: Path) -> Sections:
    parser = _Paragraphs()
    parser.feed(text_of(path) or "")
    parser.close_paragraph()
    return parser.sections


def help_page(path: Path) -> Sections:
    """Mallard, the XML of GNOME's help: all of a page as one section."""
    tree = ElementTree.parse(path).getroot()
    space = "{*}"
    titles = [tidy("".join(t.itertext())) for t in tree.iterfind(f"{space}title")]
    outside = {id(p) for info in tree.iterfind(f".//{space}info") for p in info.iter()}
    found = [tidy("".join(p.itertext())) for p in tree.iterfind(f".//{space}p") if id(p) not in outside]
    return [((titles or [""])[0], found)]


def page(
    source: str, read: Callable[[Path], Sections], path: Path, language: str = "en", english: Path | None = None
) -> Iterator[Document]:
    """A page's sections, as `read` finds them. english: the page that it translates; what is left of that is dropped."""
    untranslated = {p for _, paragraphs in read(english) for p in paragraphs} if english else set()
    for title, paragraphs in read(path):
        yield from prose(source, language, title, [p for p in paragraphs if p not in untranslated])


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
