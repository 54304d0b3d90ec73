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
from functools import cache
from html import escape, unescape
from pathlib import Path
from types import MappingProxyType

import gallery
import nbformat
import opening
from cells import code, prose, slug
from choices import answered_here
from glossary import with_ways
from plates import plate
from pygments.formatters import HtmlFormatter

from specdec_lab.show import kinds
from specdec_lab.show.live import STORED, script
from specdec_lab.show.marks import MARKS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path += [str(HERE.parent), str(ROOT / "lessons")]
import spine  # noqa: E402
import words  # noqa: E402
from published import REPOSITORY, site_address  # noqa: E402

SHARED = ("common.js", "controls.js", "forms.js")  # scripts of most widgets, once for a page
TITLE = "Speculative decoding, understood by running it"
# Besides the first page and the gallery:
WIDGET_STYLES = '<link rel="stylesheet" href="{{up}}widgets/shared.css">\n'
TYPED = ("lessons/00_start_here.html", "lessons/04_acceptance_rate.html", "lessons/06_variants.html")
ABOUT = 200  # characters of a page that a shared link shows
GALLERY, GALLERY_TITLE = "gallery.html", "A gallery of real rounds"
FIRST = "The whole path"
GROUPS = {  # of pages, in their order: the name, and how their addresses begin
    FIRST: "lessons/0|exercises/09",
    "Part two": "lessons/1",
    "Deeper": "lessons/(?!glossary)[a-z]",
    "Exercises, in the notebook": "exercises/(?!09)",
}
WAY = "|".join((GROUPS[FIRST], GROUPS["Part two"]))  # what is read one after the other
ASKS = {  # what the lessons of part two ask; those of the path have their questions in the README
    "10": "several drafts for one place: when is a tree worth its rows?",
    "11": "the newest designs: which term of the speed-up does each of them move?",
    "12": "can a draft learn from your own traffic, and when has it paid?",
}
BESIDE = {"bridge": "00", "deeper_measuring": "05", "engines": "08"}  # lessons of pages that have no number
# Of a page that may be shown at any depth: leads its links to the nearest folder above it that holds this site.
ROOTED = """(async () => {
  const links = [...document.querySelectorAll('a[href$=".html"]')].map((link) => [link, link.getAttribute("href")]);
  const folders = location.pathname.split("/").slice(0, -1);
  if (location.pathname.endsWith("/404.html")) return; // opened where it lies
  for (; folders.length; folders.pop()) {
    const root = `${folders.join("/")}/`;
    if (!(await fetch(`${root}glossary.js`, { method: "HEAD" })).ok) continue;
    for (const [link, to] of links) link.setAttribute("href", `${root}${to}`);
    return;
  }
})();"""
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


def contents(
    titles: dict[str, str],
    here: str,
    sections: Sequence[str] = (),
    tracked: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The lessons, and below the open one its sections, its exercise and what goes deeper; on the first page, all pages.

    Args:
        tracked: attributes of the links to a page, for progress.js to tick it off.
    """
    up, first = "../" if "/" in here else "", here == "index.html"
    abouts = {page: about(page) for page in titles if re.match(WAY, page)}
    inner = "".join(f'<li><a href="#{escape(slug(name))}">{escape(name)}</a></li>' for name in sections)
    inner = f'<ul class="sections">{inner}</ul>' if inner else ""

    def item(page: str) -> str:
        minutes, question = abouts.get(page, ("", ""))
        attributes = f"{tracked.get(page, '')}{f' data-minutes={minutes}' if minutes else ''}"
        name = label(page, titles[page], full=first)
        shown = escape(name)
        if first and minutes:
            shown = re.sub(r"^(\d\d|)", lambda n: f"<b>{n[1] or 'Test'}</b>{' ' * (not n[1])}", shown)
        if first and minutes:
            shown = plate(number(page)) + shown
        link = f'<a href="{up}{page}"{" aria-current=page" if page == here else ""}{attributes}>{shown}</a>'
        below = inner if page == here else ""
        if first and minutes:
            below = f"<small>{escape(question[:1].upper() + question[1:])} <span>{minutes}&nbsp;min</span></small>"
        elif re.match(WAY, page) and number(page) == number(here):
            more = "".join(item(p) for p in titles if number(p) == number(page) and not re.match(WAY, p))
            below += f"<ul>{more}</ul>" if more else ""
        return f"<li>{link}{below}</li>"

    groups = {name: [page for page in titles if re.match(pages, page)] for name, pages in GROUPS.items()}
    current = " aria-current=page" if here == GALLERY else ""
    play = f'<a href="{up}{GALLERY}"{current} data-rounds="gallery">{(plate("gallery") + "<b>▶</b> ") * first}Gallery of real rounds</a>'
    play += "<small>A dozen texts, each drafted in many ways: which are easy?</small>" * first
    more = {"Part two": f"<li>{play}</li>"}  # one more way to play
    parts = [
        f"<section{' class=path' * (first and pages[0] in abouts)}><h2>{name}</h2>"
        f"<ul>{''.join(map(item, pages))}{more.get(name, '')}</ul></section>"
        for name, pages in groups.items()
        if pages and (first or re.match(WAY, pages[0]))
    ]
    if first:
        return "".join(parts)
    for name in list(groups)[2:]:  # at hand, and folded; those of this lesson stand below it
        links = "".join(item(page) for page in groups[name] if number(page) != number(here))
        parts.append(f"<details><summary>{name}</summary><ul>{links}</ul></details>")
    others = "".join(map(item, [page for page in titles if not number(page)]))
    others += f'<li><a href="{up}index.html#lessons">All lessons</a></li>'
    return f"{''.join(parts)}<section><h2>Besides</h2><ul>{others}</ul></section>"


def number(page: str) -> str:
    """Of the lesson that this page is, or that it belongs to; none of the glossary."""
    found = re.search(r"/(?:deeper_)?(\d\d)_", page)
    return found[1] if found else BESIDE.get(Path(page).stem, "")


@cache
def about(page: str) -> tuple[str, str]:
    """The minutes of a lesson, and its question: as the README has them, or else counted, and from above."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| \[.*?\]\((.*?)\.ipynb\) \| (\d+) \| (.*?) \|$", readme)
    found = [row for name, *row in rows if f"{name}.html" == page]
    path = ROOT / Path(page).with_suffix(".ipynb")
    return tuple(found[0]) if found else (f"{spine.count(path).minutes:.0f}", ASKS.get(number(page), ""))


def where(here: str, titles: dict[str, str]) -> str:
    """The line above a page's title: where it stands, and how long it takes."""
    up, lesson = "../" if "/" in here else "", [p for p in titles if re.match(WAY, p) and number(p) == number(here)]
    crumb = f'<a href="{up}index.html#lessons">{{}}</a>'.format
    if not lesson:
        line = crumb("All lessons")
    elif here not in lesson:
        kind = "exercise, in the notebook" if here.startswith("exercises/") else "beside the lesson"
        line = f'<a href="{up}{lesson[0]}">{escape(label(lesson[0], titles[lesson[0]]))}</a> › {kind}'
    else:
        part = next(name for name, pages in GROUPS.items() if re.match(pages, here))
        place = (
            f'<span class="crumb">{crumb(part)} › </span>lesson {number(here)}'
            if here.startswith("lessons/")
            else crumb(part)
        )
        line = f"{place} · {about(here)[0]} min{near(here, titles)}"
    return f'<p class="where">{line}</p>'


def covered(body: str, here: str, titles: dict[str, str]) -> str:
    """A page whose title stands on a ground of its own, with what is asked and the picture of its lesson."""
    picture = plate("gallery" if here == GALLERY else number(here))
    head = r"(?s)\A\s*(<h1.*?</h1>(?:\s*<p>.*?</p>)?)"
    return re.sub(
        head, lambda found: f'<div class="cover"><div>{where(here, titles)}{found[1]}</div>{picture}</div>', body
    )


def near(here: str, titles: dict[str, str]) -> str:
    """Ways to the lessons before and after, at the right end of the line above the title."""
    up, order = "../" if "/" in here else "", [page for page in titles if re.match(WAY, page)]
    at = order.index(here)
    short = {page: "checkpoint" if page.startswith("exercises/") else number(page) for page in order}
    ways = [(page, f"← {short[page]}") for page in order[max(at - 1, 0) : at]]
    ways += [(page, f"{short[page]} →") for page in order[at + 1 : at + 2]]
    links = "".join(f'<a href="{up}{p}" aria-label="{escape(label(p, titles[p]))}">{name}</a>' for p, name in ways)
    return f'<span class="near">{links}</span>'


def turns(here: str, titles: dict[str, str]) -> str:
    """The end of a page: the next lesson as a card, and the ways back and to the exercise."""
    up, order = "../" if "/" in here else "", [page for page in titles if re.match(WAY, page)]
    if here in (GALLERY, "lessons/glossary.html"):  # progress.js names the lesson that one is at
        return f'<a rel="next" href="{up}index.html#lessons"><small>Next</small><b>All lessons →</b><span>What you did is ticked off there.</span></a>'
    same = [i for i, page in enumerate(order) if number(page) == number(here)]
    if not same:
        return ""
    (at,) = same
    before = order[max(at - 1, 0) : at] if here in order else order[at : at + 1]
    links = "".join(f'<a rel="prev" href="{up}{p}">← {escape(label(p, titles[p]))}</a>' for p in before)
    exercise = f"exercises/{Path(here).name}"
    if exercise in titles and exercise != here:
        links += f'<a class="exercise" href="{up}{exercise}">The exercise, in the notebook →</a>'
    return "".join(card(up, page, titles) for page in order[at + 1 : at + 2]) + links


def card(up: str, page: str, titles: dict[str, str]) -> str:
    """The next lesson, with what it takes and what it asks."""
    minutes, question = about(page)
    return (
        f'<a rel="next" href="{up}{page}"><small>Next · {minutes} minutes</small>'
        f"<b>{escape(label(page, titles[page]))} →</b><span>{escape(question[:1].upper() + question[1:])}</span>{plate(number(page))}</a>"
    )


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


def places(pages: dict[str, nbformat.NotebookNode], titles: dict[str, str]) -> list[tuple[str, ...]]:
    """All that can be found, pages and sections: of each its name, the page that it is in or none, its address, and its words."""
    found = [(GALLERY_TITLE, "", GALLERY, "", "")]
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
    return found


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


def label(page: str, title: str, full: bool = False) -> str:
    """A page's name in a list: of a lesson the beginning alone, of an exercise its number only where all of it is wanted."""
    if not re.match(WAY, page):
        name = re.sub(
            "^(?:Deeper|Exercise ([0-9]+)): (.)", lambda found: f"{found[1] or ''} {found[2].upper()}".strip(), title
        )
        return name if full else re.sub("^Exercise [0-9]+", "Exercise", title)
    name = re.sub("^Exercise [0-9]+: ", "", title).partition(":")[0].capitalize()
    return name if page.startswith("exercises/") else f"{number(page)} {name}"  # the checkpoint is no lesson


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
) -> str:
    front = here == "index.html"
    way = (
        here
        if here in (GALLERY, "lessons/glossary.html")
        else "index.html#lessons"
        if here.startswith("lessons/")
        else None
    )
    return (
        (HERE / "page.html").read_text(encoding="utf-8").replace(f'{{{{up}}}}{way}"', f'{{{{up}}}}{way}" aria-current="true"')
        .replace("{{root}}", site_address() or "{{up}}")  # a shared link's picture is asked for by the whole address
        .replace("{{styles}}", WIDGET_STYLES if 'class="live' in body and not front else "")
        .replace("{{kind}}", "front" if front else "").replace("{{up}}", "../" if "/" in here else "")
        .replace("{{title}}", escape(title if front else f"{title} – Speculative decoding"))
        .replace("{{about}}", escape(described(body)))
        .replace("{{contents}}", contents(titles, "404.html" if front else here, sections, tracked))
        .replace("{{turns}}", turns(here, titles)).replace("{{body}}", body if front else covered(body, here, titles))
    )  # fmt: skip


def run_it(path: Path) -> str:
    """How to run this page's notebook oneself; of an exercise, where it stands below the title, how to get to work."""
    where = f"{path.parent.name}/{path.name}"
    clone = f"<code>git clone https://github.com/{REPOSITORY}</code>" if REPOSITORY else "get the course"
    if path.parent.name == "exercises":
        first = f"git clone https://github.com/{REPOSITORY}\ncd {REPOSITORY.partition('/')[2]}\n" if REPOSITORY else ""
        course = "" if REPOSITORY else "get the course, "
        checkpoint = path.stem == "09_checkpoint"
        here = "This page is a preview for reading: an exercise is written and checked in its notebook"
        if checkpoint:
            here = "Words and choices are answered here; numbers are written and checked in the notebook"
        return (
            f'<div class="run preview"><p>{here}. To work on {"them" if checkpoint else "it"}, {course}enter this in a '
            f"terminal, and open <code>{escape(where)}</code>:</p>"
            f"<pre><code>{escape(first)}make lab</code></pre></div>"
        )
    return (
        f'<details class="run"><summary>Run this page yourself</summary>{clone}, <code>make lab</code>, open '
        f"<code>{escape(where)}</code>. The results on this page are stored ones; the widgets work here, too.</details>"
    )


def front(titles: dict[str, str], tracked: Mapping[str, str]) -> str:
    """The first page: what this is, and where to begin."""
    found = gallery.recorded()
    minutes, _ = about("lessons/00_start_here.html")
    hour = re.sub(r"\[(\d\d)\]\((.+?)\.ipynb\)", r'<a href="\2.html">\1</a>', spine.hour_line("lessons/"))
    pages = contents(titles, "index.html", tracked=tracked)
    return opening.front(found, gallery.traces(found)[opening.RACE], pages, minutes, hour)


def missing() -> str:
    """The page for addresses that lead nowhere. It may be shown at any depth, so it holds its styles, and looks for the root."""
    body = f"""<h1>There is no such page</h1>
<p>The address may be an old one, or mistyped. Go on from <a href="index.html">the first page</a>, or from
<a href="{GALLERY}">the gallery of real rounds</a>.</p>
<script>{ROOTED}</script>"""
    page = page_of(body, "There is no such page", "404.html", {})
    page = re.sub('(?s)<div class="find".*?(?=</header>)', "", page)  # they need scripts, from who knows where
    page = re.sub("(?s)<script>const specdecLab.*(?=</body>)|<footer.*?</footer>\n", "", page)
    css = (HERE / "page.css").read_text(encoding="utf-8")
    css = re.sub("(?s)@font-face {.*?}\n", "", css)
    style = f"<style>\n{css}nav {{ display: none !important; }}</style>"
    page = page.replace('<link rel="stylesheet" href="page.css">', style).replace('class=""', 'class="front"')
    return re.sub('<p class="where">.*?</p>', "", page)


def own_sentence(said: dict) -> str:
    """Where a reader types a sentence, for the model that lies beside the pages. said: what `live.model` says of it."""
    about = said | {"id": "own", "marks": {word: mark._asdict() for word, mark in MARKS.items()}}
    data = json.dumps(about, ensure_ascii=False).replace("</", "<\\/")
    return f'<div class="result"><div class="live" data-script="own"><script type="application/json">{data}</script></div></div>'


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
    own_one = ""
    if write_model:
        own_one = own_sentence(write_model(out / "live"))
        widgets["own"] = (HERE / "live" / "own.js").read_text(encoding="utf-8")
    for name, text in widgets.items():
        # No modules: from the disk, a browser loads none.
        text = text.replace("export default { render };", "return { render };")
        (out / "widgets" / f"{name}.js").write_text(
            f"specdecLab.{name} = (() => {{\n{packed_js(text)}\n}})();\n", encoding="utf-8"
        )
    known = f"specdecLab.places = {json.dumps(places(pages, titles), ensure_ascii=False)};\n"
    library, search = ((HERE / name).read_text(encoding="utf-8") for name in ("minisearch.js", "find.js"))
    (out / "find.js").write_text(library + known + packed_js(search), encoding="utf-8")
    (out / "glossary.js").write_text(f"specdecLab.glossary = {json.dumps(words_of_glossary())};\n", encoding="utf-8")
    for name in ("page.js", "progress.js", "links.js", "opening.js"):
        before = script("machine.js") if name == "opening.js" else ""
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
        how = run_it(paths[page]) if paths[page].suffix == ".ipynb" else ""
        body = "".join(cells)
        if paths[page].suffix == ".md":
            body = with_ways(body, {name: f"lessons/{of.stem}.html" for name, of in words.pages().items()})
        if page.startswith("exercises/"):
            body = body.replace("</h1>", f"</h1>{how}", 1)
        else:
            body += how
        if page in TYPED:
            body = re.sub("(?=<h2[^>]*>[^<]*Check yourself)", lambda _: own_one, body, count=1)
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
    (out / "index.html").write_text(
        page_of(
            front(titles, tracked).replace('<ul class="cards">', f'{own_one}<ul class="cards">'),
            TITLE,
            "index.html",
            titles,
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    arguments, write_model = sys.argv[2:], None
    if "--model" in arguments:
        from live.model import write as write_model  # needs onnx

        arguments.remove("--model")
    build(Path(sys.argv[1]), [Path(name) for name in arguments] or sources(), write_model)
    size = sum(p.stat().st_size for p in Path(sys.argv[1]).rglob("*") if p.is_file())
    print(f"{len(list(Path(sys.argv[1]).rglob('*.html')))} pages, {size / 1e6:.1f} MB in {sys.argv[1]}")
