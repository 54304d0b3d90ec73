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
import tomllib
from html import escape
from pathlib import Path

import gallery
import nbformat
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from specdec_lab.show.explorer import RaceWidget, RoundExplorer, TreeExplorer
from specdec_lab.show.guess import Guess, Outcome
from specdec_lab.show.live import STORED, script
from specdec_lab.show.loadlab import LoadLab
from specdec_lab.show.quiz import Quiz
from specdec_lab.show.sandbox import Sandbox
from specdec_lab.show.speedup import SpeedupExplorer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LIVE = (RoundExplorer, TreeExplorer, Sandbox, SpeedupExplorer, LoadLab, RaceWidget, Guess, Outcome, Quiz)
TITLE = "Speculative decoding, understood by running it"
GALLERY = "gallery.html"
FIRST = "The path of two hours"
GROUPS = {  # of pages, in the menu: the name, and how their addresses begin
    FIRST: "lessons/0",
    "Part two": "lessons/1",
    "Deeper": "lessons/[a-z]",
    "Exercises": "exercises/",
}
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
CODE = HtmlFormatter(nowrap=True)
# Two of Pygments' styles whose colours all stand out from the paper behind them, and where the dark one counts.
LIGHT, DARK = "xcode", "monokai"
DARK_PAGE = ':root[data-theme="dark"] .code', ':root:not([data-theme="light"]) .code'


def sources() -> list[Path]:
    """What pages are made from, in reading order: the notebooks, and the glossary."""
    lessons = [*(ROOT / "lessons").glob("*.ipynb"), ROOT / "lessons" / "glossary.md"]
    lessons.sort(key=lambda p: (not p.stem[0].isdigit(), p.stem))
    exercises = sorted((ROOT / "exercises").glob("*.ipynb"))
    return [*lessons, *exercises]


def read(path: Path) -> nbformat.NotebookNode:
    """A notebook; of a page in Markdown, one with this text alone."""
    if path.suffix == ".md":
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(path.read_text(encoding="utf-8"))])
    return nbformat.read(path, as_version=4)


def title_of(notebook: nbformat.NotebookNode) -> str:
    return next(line[2:] for c in notebook.cells for line in c.source.splitlines() if line.startswith("# "))


def prose(source: str) -> str:
    """A Markdown cell. Links to notebooks lead to their pages; sections, and states of widgets, can be linked to."""
    html = MARKDOWN.render(source)
    html = re.sub(r'href="([^":]*)\.(ipynb|md)(?=[#"])', r'href="\1.html', html)
    html = html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    html = re.sub(r"<p>(<img [^>]*>)</p>", r'<div class="wide">\1</div>', html)
    html = no_empty_heads(html)

    def anchor(found: re.Match) -> str:
        name = re.sub(r"<[^>]*>", "", found[2]).strip().replace(" ", "-")
        return f'<h{found[1]} id="{escape(name)}">{found[2]}</h{found[1]}>'

    return re.sub(r"<h([1-3])>(.*?)</h\1>", anchor, html)


def no_empty_heads(html: str) -> str:
    """A head of a table that says nothing is none: a screen reader would announce it."""
    return re.sub("<th(| [^>]*)></th>", "<td></td>", html)


def code(cell: nbformat.NotebookNode) -> str:
    """A code cell, folded where the lesson folds it, and its results."""
    shown = f'<pre class="code"><code>{highlight(cell.source, PythonLexer(), CODE)}</code></pre>'
    if "fold" in cell.metadata.get("tags", []):
        shown = f"<details class='fold'><summary>code</summary>{shown}</details>"
    return shown + "".join(map(output, cell.get("outputs", [])))


def code_colours(style: str, where: str) -> str:
    """CSS of a Pygments style for what stands there, without its paper."""
    return "\n".join(HtmlFormatter(style=style, nobackground=True).get_token_style_defs(where))


def output(out: nbformat.NotebookNode) -> str:
    if out.output_type == "stream":
        return f'<pre class="out">{escape(out.text)}</pre>'
    data = out.get("data", {})
    live = ""
    if STORED in data:
        stored = data[STORED]
        text = json.dumps(stored["data"], ensure_ascii=False).replace("</", "<\\/")
        live = f'<div class="live" data-script="{escape(stored["script"])}"><script type="application/json">{text}</script></div>'
    if "text/html" in data:
        return f'<div class="result">{no_empty_heads(data["text/html"])}{live}</div>'
    if "image/svg+xml" in data:
        return f'<div class="result">{data["image/svg+xml"]}</div>'
    text = data.get("text/plain", "\n".join(out.get("traceback", [])))
    return f'<pre class="out">{escape(text)}</pre>{live}' if text else live


def contents(titles: dict[str, str], here: str) -> str:
    """The list of all pages, as a navigation."""
    up = "../" if "/" in here else ""
    parts = []
    for name, pages in GROUPS.items():
        links = "".join(
            f'<li><a href="{up}{page}"{" aria-current=page" if page == here else ""}>{escape(label(page, title))}</a></li>'
            for page, title in titles.items()
            if re.match(pages, page)
        )
        unfolded = re.match(pages, here) or (name == FIRST and not here.count("/"))
        parts.append(
            f"<details{' open' if unfolded else ''}><summary>{name}</summary><ul>{links}</ul></details>"
            if links
            else ""
        )
    current = " aria-current=page" if here == GALLERY else ""
    return f'{"".join(parts)}<p><a href="{up}{GALLERY}"{current}>Gallery of real rounds</a></p>'


def label(page: str, title: str) -> str:
    number = Path(page).stem[:2]
    return f"{number} {re.sub('^Exercise [0-9]+: ', '', title)}" if number.isdigit() else title


def page_of(body: str, title: str, here: str, titles: dict[str, str]) -> str:
    up = "../" if "/" in here else ""
    order = [page for page in titles if page.split("/")[0] == here.split("/")[0]]
    at = order.index(here) if here in order else None
    turns = ""
    if at is not None:
        before, after = order[at - 1 : at], order[at + 1 : at + 2]
        turns = "".join(f'<a rel="prev" href="{up}{p}">← {escape(label(p, titles[p]))}</a>' for p in before)
        turns += "".join(f'<a rel="next" href="{up}{p}">{escape(label(p, titles[p]))} →</a>' for p in after)
    return (
        (HERE / "page.html").read_text(encoding="utf-8")
        .replace("{{title}}", escape(title if here == "index.html" else f"{title} – Speculative decoding")).replace("{{up}}", up).replace("{{contents}}", contents(titles, here))
        .replace("{{turns}}", turns).replace("{{body}}", body)
    )  # fmt: skip


def run_it(path: Path) -> str:
    """How to run this page's notebook oneself."""
    where = f"{path.parent.name}/{path.name}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    repository = project["tool"]["specdec-lab"]["repository"]
    clone = f"<code>git clone https://github.com/{repository}</code>" if repository else "get the course"
    return (
        f'<p class="run">Run it yourself: {clone}, <code>make lab</code>, open <code>{escape(where)}</code>. '
        "The results below are stored ones; the widgets work here as well.</p>"
    )


def front(titles: dict[str, str]) -> str:
    """The first page: what this is, and where to begin. The README's own words."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = readme.split("\n## ")[0]
    first = re.sub("(?s)<!-- site -->.*<!-- /site -->", "", first)  # the link to this page
    return (
        prose(first)
        + f'<div class="start"><a href="lessons/00_start_here.html">Begin with lesson 00</a></div>{contents(titles, "")}'
    )


def build(out: Path, made_from: list[Path]) -> None:
    """Make the site of these notebooks; a page lies in a folder of the same name as its notebook."""
    shutil.rmtree(out, ignore_errors=True)
    paths = {f"{p.parent.name}/{p.stem}.html": p for p in made_from}
    pages = {page: read(path) for page, path in paths.items()}
    titles = {page: title_of(notebook) for page, notebook in pages.items()}
    (out / "widgets").mkdir(parents=True)
    for folder in {page.split("/")[0] for page in pages}:
        (out / folder).mkdir()
    widgets = {kind.scripts[-1].removesuffix(".js"): script(*kind.scripts) for kind in LIVE}
    widgets["gallery"] = script("common.js", "controls.js") + (HERE / "gallery.js").read_text(encoding="utf-8")
    for name, text in widgets.items():
        # No modules: from the disk, a browser loads none.
        text = text.replace("export default { render };", "return { render };")
        (out / "widgets" / f"{name}.js").write_text(
            f"specdecLab.{name} = (() => {{\n{text}\n}})();\n", encoding="utf-8"
        )
    css = [
        code_colours(LIGHT, ".code"),
        code_colours(DARK, DARK_PAGE[0]),
        f"@media (prefers-color-scheme: dark) {{\n{code_colours(DARK, DARK_PAGE[1])}\n}}",
        script("explorer.css"),
        (HERE / "page.css").read_text(encoding="utf-8"),
    ]
    (out / "page.css").write_text("\n".join(css), encoding="utf-8")
    for name in ("page.js", "progress.js", "links.js"):
        shutil.copy(HERE / name, out / name)
    for picture in (p for kind in ("png", "svg") for p in (ROOT / "lessons").rglob(f"*.{kind}")):
        to = out / picture.relative_to(ROOT)
        to.parent.mkdir(exist_ok=True)
        shutil.copy(picture, to)
    for page, notebook in pages.items():
        cells = [prose(c.source) if c.cell_type == "markdown" else code(c) for c in notebook.cells]
        how = run_it(paths[page]) if paths[page].suffix == ".ipynb" else ""
        body = cells[0] + how + "".join(cells[1:])
        (out / page).write_text(page_of(body, titles[page], page, titles), encoding="utf-8")
    shown = page_of(gallery.write(out), "A gallery of real rounds", GALLERY, titles)
    (out / GALLERY).write_text(shown, encoding="utf-8")
    (out / "index.html").write_text(page_of(front(titles), TITLE, "index.html", titles), encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]] or sources())
    size = sum(p.stat().st_size for p in Path(sys.argv[1]).rglob("*") if p.is_file())
    print(f"{len(list(Path(sys.argv[1]).rglob('*.html')))} pages, {size / 1e6:.1f} MB in {sys.argv[1]}")
