"""Build the static site: every lesson and exercise as a page, with stored results, and widgets that work without a kernel.

    python tools/site/build.py FOLDER              all of it
    python tools/site/build.py FOLDER NOTEBOOK …   with the pages of these alone

One text, no second copy: the pages are made from the notebooks and the glossary. Nothing is asked of any other
host, and the folder opens from the disk as well as from a web server.
"""

import json
import re
import shutil
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape, unescape
from pathlib import Path
from types import MappingProxyType

import nbformat
from pygments.formatters import HtmlFormatter

from specdec_lab.show import kinds
from specdec_lab.show.live import STORED, script
from specdec_lab.show.terminal import MARKS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path += [str(HERE.parent), str(ROOT / "lessons")]
import gallery  # noqa: E402
import opening  # noqa: E402
import spine  # noqa: E402
import words  # noqa: E402
from cells import code, prose, slug  # noqa: E402
from choices import answered_here  # noqa: E402
from glossary import with_ways  # noqa: E402
from navigation import GALLERY, GALLERY_TITLE, WAY, about, contents, covered, label, turns, up  # noqa: E402
from published import REPOSITORY, site_address  # noqa: E402
from templates import fill  # noqa: E402

SHARED = ("common.js", "controls.js", "forms.js")  # scripts of most widgets, once for a page
TITLE = "Speculative decoding, understood by running it"
# Pages where a reader types a sentence, besides the first page and the gallery:
TYPED = "lessons/00_start_here.html", "lessons/06_variants.html"
OWN = "Now with my sentence: a real model writes in this page"
PROMPTS = (
    "Write a short poem about the sea and a small boat.",
    "Correct the mistakes: He go to school every days with him friend.",
    "What is gravity?",
)
CALLED = {  # other words that readers have for a place, as they are asked: they weigh as its name does
    "lessons/glossary.html#crossover": "break even breakeven",
    "lessons/02_draft_then_verify.html#3.": "same text output identical quality",
    "lessons/deeper_08_engines.html#4.": "structured output json schema",
    "lessons/00_start_here.html#install": "install setup download",
    "index.html#own": "type my own sentence prompt try",
}
ABOUT = 200  # characters of a page that a shared link shows
# Two of Pygments' styles whose colours all stand out from the paper behind them, and where the dark one counts.
LIGHT, DARK = "xcode", "monokai"
DARK_PAGE = ':root[data-theme="dark"] .code', ':root:not([data-theme="light"]) .code'


def sources() -> list[Path]:
    """What pages are made from, in reading order: the notebooks, and the glossary."""
    lessons = [*(ROOT / "lessons").glob("*.ipynb"), ROOT / "lessons" / "glossary.md"]
    exercises = sorted((ROOT / "exercises").glob("*.ipynb"))
    checkpoint = [path for path in exercises if path.stem.startswith("09")]
    lessons = sorted([*lessons, *checkpoint], key=lambda p: (not p.stem[0].isdigit(), p.stem))
    return [*lessons, *(path for path in exercises if path not in checkpoint)]


def read(path: Path) -> nbformat.NotebookNode:
    """A notebook; of a page in Markdown, one with this text alone."""
    if path.suffix == ".md":
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(path.read_text(encoding="utf-8"))])
    notebook = nbformat.read(path, as_version=4)
    return answered_here(notebook) if path.stem == "09_checkpoint" else notebook


def title_of(notebook: nbformat.NotebookNode) -> str:
    return next(line[2:] for c in notebook.cells for line in c.source.splitlines() if line.startswith("# "))


def code_colours(style: str, where: str, used: set[str]) -> str:
    """CSS of a Pygments style for the kinds of token that are used, and stand there; without its paper."""
    rules = HtmlFormatter(style=style, nobackground=True).get_token_style_defs(where)
    return "\n".join(rule for rule in rules if (kind := re.search(r"\.(\w+) {", rule)) and kind[1] in used)


def packed_css(css: str) -> str:
    """Without its comments, its indentation, and the blanks of its declarations."""
    css = re.sub(r"\n\s*", "", re.sub(r"(?s)/\*.*?\*/", "", css))
    return re.sub(r" ?([{};]) ?", r"\1", css).replace(": ", ":").replace(";}", "}")


def packed_js(js: str) -> str:
    """Without comments, but for those at the end of a line that have quotes, and without indentation."""
    js = re.sub(r"(?m)^\s*(//.*|/\*\*(?s:.*?)\*/)\n", "", js)
    return re.sub(r"(?m)^ +", "", re.sub(r"(?m) // [^'\"`\n]*$", "", js))


def sections_of(notebook: nbformat.NotebookNode) -> list[str]:
    """The names of its sections, as they are read."""
    prose_cells = "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    return [re.sub("[`*]", "", name) for name in re.findall(r"(?m)^## (.+)$", prose_cells)]


def tracked_in(notebook: nbformat.NotebookNode) -> str:
    """For progress.js: the ids of what this page asks, its guesses and the items of its quizzes; and of its rounds to play."""
    stored = [o.data[STORED] for c in notebook.cells for o in c.get("outputs", []) if STORED in o.get("data", {})]
    asked = [id for s in stored if s["script"] in ("guess", "quiz") for id in s["data"]["ledger"]["ids"]]
    rounds = [s["data"]["id"] for s in stored if s["script"] in ("explorer", "tree")]
    found = {"ids": asked, "rounds": rounds}
    return "".join(f' data-{name}="{escape(" ".join(ids))}"' for name, ids in found.items() if ids)


def words_of_glossary() -> dict[str, str]:
    """What the glossary says about each word, as HTML, by the word's place in its page."""
    _, *entries = re.split(r"(?m)^## ", (ROOT / "lessons" / "glossary.md").read_text(encoding="utf-8"))
    return {slug(name): prose(text) for name, text in (entry.split("\n", 1) for entry in entries)}


def places(pages: dict[str, nbformat.NotebookNode], titles: dict[str, str], typed: bool) -> list[tuple[str, ...]]:
    """All that can be found: of each its name, the page that it is in or none, its address, its words, and other words for it."""
    found = [(GALLERY_TITLE, "", GALLERY, "", ""), *[(OWN, "the first page", "index.html#own", "", "")] * typed]
    found.append(("Run it yourself", "00 Start here", "lessons/00_start_here.html#install", "", ""))
    for page, notebook in pages.items():
        name = label(page, titles[page]) if re.match(WAY, page) else titles[page]
        cells = [c.source if c.cell_type == "markdown" else widgets_of(c) for c in notebook.cells]
        top, *rest = re.split("(?m)^## ", "\n".join(cells))
        often, others = words_of(top)
        kind = "exercise" if page.startswith("exercises/") else "lesson"
        found.append((name, "", page, f"{kind} {often}", others))
        for head, text in (part.split("\n", 1) for part in rest):
            head = re.sub("[`*]", "", head)
            found.append((head, name, f"{page}#{slug(head)}", *words_of(text)))
    return [(*one, next((said for to, said in CALLED.items() if one[2].startswith(to)), "")) for one in found]


def widgets_of(cell: nbformat.NotebookNode) -> str:
    """The names of the widgets that a cell shows."""
    stills = [
        "".join(out.data.get("text/html", "")) for out in cell.get("outputs", []) if STORED in out.get("data", {})
    ]
    return " ".join(re.findall('role="group" aria-label="([^"]+)"', " ".join(stills)))


def words_of(text: str) -> tuple[str, str]:
    """Each word of a text once, to be searched, also with a sign inside: those that are often in it, and the others."""
    counts = Counter(re.findall(r"[^\W_]+(?:[-/.][^\W_]+)*", re.sub(r"\]\(.*?\)", "", text.lower())))
    return tuple(" ".join(word for word, n in counts.items() if (n > 2) == often) for often in (True, False))


def described(body: str) -> str:
    """The first paragraph of a page, as plain text: what a search engine or a chat shows of a link."""
    found = re.search("(?s)<p[^>]*>(.*?)</p>", body)
    text = " ".join(unescape(re.sub("<[^>]+>", "", found[1])).split()) if found else ""
    return text if len(text) <= ABOUT else f"{text[:ABOUT].rpartition(' ')[0]} …"


def page_of(
    body: str,
    title: str,
    here: str,
    titles: dict[str, str],
    sections: Sequence[str] = (),
    tracked: Mapping[str, str] = MappingProxyType({}),
    template: str = "page",
    **values,
) -> str:
    """A whole page. values: what its template takes besides."""
    front = here == "index.html"
    return fill(
        template,
        up=up(here),
        root=site_address() or up(here),  # a shared link's picture is asked for by the whole address
        kind="front" if front or template == "missing" else "",
        way=here if here in (GALLERY, "lessons/glossary.html") else "index.html#lessons" * here.startswith("lessons/"),
        title=title if front else f"{title} – Speculative decoding",
        about=described(body),
        widgets='class="live' in body and not front,
        contents=contents(titles, "404.html" if front else here, sections, tracked),
        body=body if front else covered(body, here, titles),
        turns=turns(here, titles),
        **values,
    )


def front(titles: dict[str, str], tracked: Mapping[str, str], said: dict | None) -> str:
    """The first page: what this is, and where to begin."""
    found = gallery.recorded()
    hour = re.sub(r"\[(\d\d)\]\((.+?)\.ipynb\)", r'<a href="\2.html">\1</a>', spine.hour_line("lessons/"))
    race = opening.race(found, gallery.traces(found)[opening.RACE])
    own = box(said, race, {name: of["prompt"] for name, of in found["texts"].items()})
    pages = contents(titles, "index.html", tracked=tracked)
    minutes, _ = about("lessons/00_start_here.html")
    body = fill("front", cards=opening.CARDS, own=own, minutes=minutes, hour=hour, contents=pages)
    return page_of(body, TITLE, "index.html", titles)


def missing() -> str:
    """The page for addresses that lead nowhere."""
    body = f"""<h1>There is no such page</h1>
<p>The address may be an old one, or mistyped. Go on from <a href="index.html">the first page</a>, or from
<a href="{GALLERY}">the gallery of real rounds</a>.</p>"""
    css = re.sub("(?s)@font-face {.*?}\n", "", (HERE / "page.css").read_text(encoding="utf-8"))
    return page_of(body, "There is no such page", "404.html", {}, template="missing", css=css)


def box(said: dict | None, race: dict = opening.NONE, texts: Mapping[str, str] = MappingProxyType({})) -> str:
    """The picture of a race, with others to choose from; and, where `live.model` said something, the field for a sentence."""
    data = None
    if said:
        about = said | {"id": "own", "title": OWN, "prompts": PROMPTS}
        about["marks"] = {word: mark._asdict() for word, mark in MARKS.items()}
        data = json.dumps(about, ensure_ascii=False).replace("</", "<\\/")
    return fill("own", data=data, title=OWN, prompts=PROMPTS, texts=texts, **race)


def build(out: Path, made_from: list[Path], write_model: Callable[[Path], dict] | None = None) -> None:
    """Make the site of these notebooks; a page lies in a folder of the same name as its notebook.

    Args:
        write_model: writes a model for sentences of the reader's own into a folder, and returns what is said of it (see
            `live.model`); without, no page has a field for them.
    """
    shutil.rmtree(out, ignore_errors=True)
    paths = {f"{p.parent.name}/{p.stem}.html": p for p in made_from}
    pages = {page: read(path) for page, path in paths.items()}
    titles = {page: title_of(notebook) for page, notebook in pages.items()}
    (out / "widgets").mkdir(parents=True)
    for folder in {page.split("/")[0] for page in pages}:
        (out / folder).mkdir()
    (out / "widgets" / "shared.js").write_text(packed_js(script(*SHARED)), encoding="utf-8")
    (out / "widgets" / "shared.css").write_text(packed_css(script("explorer.css")), encoding="utf-8")
    own = {name: [part for part in kind.scripts if part not in SHARED] for name, kind in kinds().items()}
    widgets = {name: script(*scripts) for name, scripts in own.items()}
    widgets["gallery"] = (HERE / "gallery.js").read_text(encoding="utf-8")
    drawn = script("machine.js") + (HERE / "lanes.js").read_text(encoding="utf-8")
    said, own_one = None, ""
    if write_model:
        said = write_model(out / "live")
        own_one = box(said)
        widgets["own"] = drawn + (HERE / "live" / "own.js").read_text(encoding="utf-8")
    for name, text in widgets.items():
        # No modules: from the disk, a browser loads none.
        text = text.replace("export default { render };", "return { render };")
        (out / "widgets" / f"{name}.js").write_text(
            f"specdecLab.{name} = (() => {{\n{packed_js(text)}\n}})();\n", encoding="utf-8"
        )
    known = f"specdecLab.places = {json.dumps(places(pages, titles, bool(write_model)), ensure_ascii=False)};\n"
    library, search = ((HERE / name).read_text(encoding="utf-8") for name in ("minisearch.js", "find.js"))
    (out / "find.js").write_text(library + known + packed_js(search), encoding="utf-8")
    (out / "glossary.js").write_text(f"specdecLab.glossary = {json.dumps(words_of_glossary())};\n", encoding="utf-8")
    for name in ("page.js", "progress.js", "links.js", "opening.js"):
        before = drawn if name == "opening.js" else ""
        (out / name).write_text(packed_js(before + (HERE / name).read_text(encoding="utf-8")), encoding="utf-8")
    for name in ("inter-license.txt", "shared.png"):
        shutil.copy(HERE / name, out / name)
    # In the styles themselves: a font that came later would move every line.
    font = f"data:font/woff2;base64,{b64encode((HERE / 'inter.woff2').read_bytes()).decode()}"
    tracked = {page: tracked_in(notebook) for page, notebook in pages.items()}
    for page, notebook in pages.items():
        cells = [
            prose(c.source) if c.cell_type == "markdown" else code(c, page.startswith("exercises/"))
            for c in notebook.cells
        ]
        path = f"{paths[page].parent.name}/{paths[page].name}"
        how = fill("run", path=path, repository=REPOSITORY) if path.endswith(".ipynb") else ""
        body = "".join(cells)
        if paths[page].suffix == ".md":
            body = with_ways(body, {name: f"lessons/{of.stem}.html" for name, of in words.pages().items()})
        if page.startswith("exercises/"):
            body = body.replace("</h1>", f"</h1>{how}", 1)
        else:
            body += how
        if page in TYPED:
            body = re.sub(
                r"(?=<h2[^>]*>(?:<span>\d+</span> )?(?:Check yourself|Where to go))", lambda _: own_one, body, count=1
            )
        sections = sections_of(notebook) if paths[page].suffix == ".ipynb" else []  # the glossary has too many
        whole = page_of(body, titles[page], page, titles, sections, tracked)
        (out / page).write_text(whole, encoding="utf-8")
    used = set(re.findall(r'<span class="(\w+)">', "".join((out / page).read_text(encoding="utf-8") for page in pages)))
    css = [
        code_colours(LIGHT, ".code", used),
        code_colours(DARK, DARK_PAGE[0], used),
        f"@media (prefers-color-scheme: dark) {{\n{code_colours(DARK, DARK_PAGE[1], used)}\n}}",
        script("machine.css"),
        (HERE / "page.css").read_text(encoding="utf-8").replace("url(inter.woff2)", f"url({font})"),
    ]
    (out / "page.css").write_text(packed_css("\n".join(css)), encoding="utf-8")
    shown = page_of(gallery.write(out) + own_one, GALLERY_TITLE, GALLERY, titles, tracked=tracked)
    (out / GALLERY).write_text(shown, encoding="utf-8")
    (out / "404.html").write_text(missing(), encoding="utf-8")
    (out / "index.html").write_text(front(titles, tracked, said), encoding="utf-8")


if __name__ == "__main__":
    arguments, write_model = sys.argv[2:], None
    if "--model" in arguments:
        from live.model import write as write_model  # needs onnx

        arguments.remove("--model")
    build(Path(sys.argv[1]), [Path(name) for name in arguments] or sources(), write_model)
    size = sum(p.stat().st_size for p in Path(sys.argv[1]).rglob("*") if p.is_file())
    print(f"{len(list(Path(sys.argv[1]).rglob('*.html')))} pages, {size / 1e6:.1f} MB in {sys.argv[1]}")
