"""A cell of a notebook as HTML: its text, its code, and its stored results, with widgets that work without a kernel."""

import json
import re
from html import escape, unescape
from pathlib import Path

import nbformat
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from tables import cards, dressed, tidied

from specdec_lab.show import charts
from specdec_lab.show.live import STORED

ROOT = Path(__file__).parents[2]
# On a phone it is shut before it is drawn, so that nothing moves: what is to be touched comes sooner.
SHUT = "<script>if (matchMedia('(max-width: 600px)').matches) document.currentScript.previousElementSibling.open = false;</script>"
GOALS = rf"<details class='goals' open><summary><b>\1</b></summary>\2</details>{SHUT}"
PLOTLY = "application/vnd.plotly.v1+json"
LINE = re.compile(r"(?m)\S.*\S(?= +# your line$)")  # as lessons/build.py knows it
OWN = re.compile(r"\bsd\.ledger\(")  # shows what the learner did
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
CODE = HtmlFormatter(nowrap=True)


def prose(source: str) -> str:
    """A Markdown cell. Links to notebooks lead to their pages; sections, and states of widgets, can be linked to."""
    html = re.sub('<p><span class="in-notebook">.*?</span></p>', "", MARKDOWN.render(source))
    html = re.sub(r"\$\$(.+?)\$\$", lambda found: convert(unescape(found[1]), display="block"), html)
    html = re.sub(r'href="([^":]*)\.(ipynb|md)(?=[#"])', r'href="\1.html', html)
    html = together(html)
    html = cards(html).replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    html = re.sub(r'<p><img src="(pictures/[^"]*)" alt="([^"]*)"[^>]*></p>', picture, html)
    html = re.sub(r"(?s)<p><strong>(After this lesson you can)</strong></p>\s*(<ul>.*?</ul>)", GOALS, html)
    html = re.sub(r"<p>(?=<(?:em>Deeper|strong>Who found this))", '<p class="aside">', tidied(html))

    def anchor(found: re.Match) -> str:
        name = slug(re.sub(r"<[^>]*>", "", found[2]))
        words = re.sub(r"^(\d+)\.(?= )", r"<span>\1</span>", found[2])
        return f'<h{found[1]} id="{name}">{words}</h{found[1]}>'

    return re.sub(r"<h([1-3])>(.*?)</h\1>", anchor, html)


def picture(found: re.Match) -> str:
    """A picture in the page's own type, on its own paper; and what a phone shows in its place, where there is one."""
    path = ROOT / "lessons" / found[1]
    slim = path.with_stem(f"{path.stem}_narrow")
    both = [(path, " broad"), (slim, " slim")] if slim.exists() else [(path, "")]
    return "".join(drawing(path, found[2], size) for path, size in both)


def drawing(path: Path, alt: str, size: str) -> str:
    """An SVG file; its styles hold in it alone."""
    svg = re.sub(r"(?s)<title.*?</desc>|\n\s*", "", path.read_text(encoding="utf-8"))
    svg = re.sub("<style>(.*?)</style>", rf"<style>.{path.stem} {{ \1 }}</style>", svg)
    svg = re.sub(r' aria-labelledby="[^"]*"| width="\d+" height="\d+"(?= )', "", svg, count=2)
    return (
        f'<div class="wide picture {path.stem}{size}">{svg.replace("<svg", f"""<svg aria-label="{alt}" """, 1)}</div>'
    )


def coloured(source: str) -> str:
    html = re.sub('<span class="[npw]">(.*?)</span>', r"\1", highlight(source, PythonLexer(), CODE))
    return f'<pre class="code"><code>{html}</code></pre>'  # what is taken out stays as the page is


def tries(cell: nbformat.NotebookNode) -> str:
    """A cell with a line for the reader to write, as it stands and with each line that was tried: page.js adds the buttons."""

    def panel(one: nbformat.NotebookNode, hidden: str = " hidden") -> str:
        results = "".join(map(output, one.outputs))
        return f'<div data-line="{escape(LINE.search(one.source)[0])}"{hidden}>{coloured(one.source)}{results}</div>'

    return f'<div class="tries">{panel(cell, "")}{"".join(map(panel, cell.metadata["tried"]))}</div>'


def code(cell: nbformat.NotebookNode, exercise: bool = False) -> str:
    """A code cell, folded, and its results; an exercise begins from its code."""
    if "tried" in cell.metadata:
        return tries(cell)
    shown = coloured(cell.source)
    outputs = cell.get("outputs", [])
    results = "".join(told(out) if "sd.in_words." in cell.source else output(out) for out in outputs)
    if OWN.search(cell.source):
        results = '<div class="result own"></div>'  # the reader's, from progress.js
    widget = any(STORED in out.get("data", {}) for out in outputs)  # which says more than the line that made it
    if not exercise or widget or "fold" in cell.metadata.get("tags", []):
        kind = " beside" if results else " silent"
        shown = f"<details class='fold{kind}'><summary>code</summary>{shown}</details>"
    return shown + results


def lean(data: object) -> object:
    """Numbers with five digits, which is more than a widget shows; and of likely tokens no ids, which none uses."""
    if isinstance(data, float):
        return float(f"{data:.5g}")
    if isinstance(data, list):
        return [lean(x) for x in data]
    if isinstance(data, dict):
        return {key: lean(value) for key, value in data.items() if key != "id" or set(data) != {"id", "p", "text"}}
    return data


def together(html: str) -> str:
    """“γ = 4” stays in one line, and so does what a function is of."""
    html = re.sub(r"(?<!\w)([αγc]) = (?=\d)", "\\1\u00a0=\u00a0", html)
    html = re.sub(r"\b(?:max|min|norm)\([^<>)]{1,24}\)+", lambda found: found[0].replace(" ", "\u00a0"), html)
    return re.sub(r"(<h1>[^<]*) (?=[αγ]\b)", "\\1\u00a0", html)


def told(out: nbformat.NotebookNode) -> str:
    """A result in words: in the type of the text, its factors and shares bold."""
    if out.output_type != "stream":
        return output(out)
    words = re.sub(r"(\d[\d.]*) (times|%)|(\d+%)", r"<b>\g<0></b>", escape(out.text.strip()))
    return f'<p class="out told">{together(words).replace(chr(10), "<br>")}</p>'


def output(out: nbformat.NotebookNode) -> str:
    if out.output_type == "stream":
        lines = out.text.strip().splitlines()
        short = len(lines) <= 3 and all(len(line) <= 90 and "  " not in line for line in lines)
        return told(out) if short else f'<pre class="out">{escape(out.text)}</pre>'
    data = out.get("data", {})
    if STORED in data:
        stored = data[STORED]
        text = json.dumps(lean(stored["data"]), ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        # What tells the answer to a guess waits for it; what is there to play with does not.
        tells = stored["script"] in ("outcome", "race") or "rules" in stored["data"]
        live = f'<div class="live{" tells" * tells}" data-script="{escape(stored["script"])}"><script type="application/json">{text}</script></div>'
        # Without scripts, what the widget says in words.
        return f'<div class="result">{live}<noscript><pre class="out">{escape(data.get("text/plain", ""))}</pre></noscript></div>'
    if "text/html" in data:
        # Each table and picture scrolls by itself, and the text around it stays.
        html = together(dressed(data["text/html"]))
        html = re.sub(r"(?s)(<table.*?</table>|<svg.*?</svg>)", r'<div class="wide">\1</div>', html)
        small = " slender" if (wide := re.search(r"max-width:(\d+)px", html)) and int(wide[1]) < 350 else ""
        return f'<div class="result{small}">{html}</div>'
    if "image/svg+xml" in data:
        charted = " charted" if PLOTLY in data else ""
        return f'<div class="result{charted}">{data["image/svg+xml"]}{upright(data.get(PLOTLY))}</div>'
    text = data.get("text/plain", "\n".join(out.get("traceback", [])))
    return f'<pre class="out">{escape(text)}</pre>' if text else ""


def upright(figure: dict | None) -> str:
    """The numbers of a line chart, which page.js draws anew where the window is narrow."""
    if not figure:
        return ""
    axes = [figure["layout"][axis] for axis in ("xaxis", "yaxis")]
    x, y = (axis["title"]["text"] for axis in axes)
    lines = [
        {"name": line["name"], "points": [[round(a, 4) for a in point] for point in zip(line["x"], line["y"])]}
        | ({"plain": True} if line["line"]["color"] == charts.GREY else {})
        for line in figure["data"]
    ]
    chart = {"title": figure["layout"]["title"]["text"], "lines": lines, "x": x, "y": y}
    chart["doubling"] = axes[0].get("type") == "log"
    text = json.dumps(chart, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f'<script type="application/json" class="upright">{text}</script>'


def slug(name: str) -> str:
    """A section's name in an address."""
    return name.strip().replace(" ", "-")
