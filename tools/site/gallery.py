"""The gallery: a page of recorded rounds to choose from, and a file for each of them, loaded when it is chosen."""

import json
import lzma
import re
from collections import Counter
from functools import cache
from html import escape
from math import exp
from pathlib import Path

from specdec_lab.show.terminal import MARKS

RECORDED = Path(__file__).parent / "rounds.json.xz"  # written by tools/record_rounds.py
INTRODUCTION = """<h1>A gallery of real rounds</h1>
<p>{target} wrote a dozen short texts, each drafted in several ways. Choose one, here or in the
<a href="#all">table of all races</a>.</p>"""
ALL = """<p>The race is on the clock that was recorded with the rounds ({hardware}; both ways took turns in one process).</p>
<h2 id="all">All races: tokens per pass</h2>
<p>A number says how many tokens a pass of the target wrote; plain decoding has 1. The greener, the more; bold is the best
of its text. Press one to see its rounds and its race. Which kinds of text are easy to draft? Does the temperature change
that?</p><p class="narrow">In this narrow window you see the text that is chosen above.</p>"""


@cache
def recorded() -> dict:
    return json.loads(lzma.decompress(RECORDED.read_bytes()))


def traces(found: dict) -> dict[str, dict]:
    """By name, such as code-eagle-4-0 (text, drafter, γ, temperature): the explorer's data, seconds, and plain decoding's."""
    named = {}
    for text, of in found["texts"].items():
        for temperature, both in of["temperatures"].items():
            for arm, trace in both["traces"].items():
                named[f"{text}-{arm}-{temperature}"] = {**trace, "plain": both["plain"]}
    return named


def arms(found: dict) -> list[str]:
    """What was recorded of every text, such as eagle-4-0."""
    first = next(iter(found["texts"].values()))["temperatures"]
    return [f"{arm}-{temperature}" for temperature, both in first.items() for arm in both["traces"]]


def table(found: dict) -> str:
    """Tokens per pass of everything that was recorded, each number a link to its rounds."""
    split = [arm.rsplit("-", 2) for arm in arms(found)]
    heads = "".join(f'<th scope="col">{escape(drafter)} <br>γ = {gamma}</th>' for drafter, gamma, _ in split)
    spans = Counter(temperature for *_, temperature in split)
    over = "".join(f'<th scope="colgroup" colspan="{n}"><span>temperature {t}</span></th>' for t, n in spans.items())
    named, lines = traces(found), []
    for text in found["texts"]:
        cells, most = [], {}
        for arm in arms(found):
            drafter, gamma, temperature = arm.rsplit("-", 2)
            rounds = named[f"{text}-{arm}"]["rounds"]
            tokens = sum(sum(d["status"] == "accepted" for d in r["drafted"]) + bool(r["emitted"]) for r in rounds)
            state = f"text={text}&drafter={drafter}&gamma={gamma}&temperature={temperature}"
            way = f"{escape(drafter)}, γ = {gamma}, temperature {temperature}"
            link = f'<a href="#gallery-1?{escape(state)}" data-way="{way}">{tokens / len(rounds):.2f}</a>'
            cells.append((tokens / len(rounds), temperature, link))
            most[temperature] = max(most.get(temperature, 0), tokens / len(rounds))
        cells = [
            f'<td class="sdl-gain{" sdl-best" * (gain == most[temperature])}" style="--gain: {65 * (1 - exp((1 - gain) / 2)):.0f}%">{link}</td>'
            for gain, temperature, link in cells
        ]
        lines.append(f'<tr><th scope="row">{escape(text)}</th>{"".join(cells)}</tr>')
    return f'<div class="wide matrix"><table><tr><td></td>{over}</tr><tr><td></td>{heads}</tr>{"".join(lines)}</table></div>'


def from_a_word(text: str) -> str:
    """A text that was cut somewhere begins at the next word."""
    return re.sub(r"^…\S*\s+(?=\S)", "…", text)


def write(out: Path) -> str:
    """The files of the traces, into the site; and the body of the page."""
    found = recorded()
    (out / "gallery").mkdir()
    for name, trace in traces(found).items():
        rounds = [{**r, "before": from_a_word(r["before"])} for r in trace["rounds"]]
        text = json.dumps({**trace, "rounds": rounds}, ensure_ascii=False, separators=(",", ":"))
        script = f"(specdecLab.traces ||= {{}})[{json.dumps(name)}] = {text};\n"
        (out / "gallery" / f"{name}.js").write_text(script, encoding="utf-8")
    about = {
        "id": "gallery",
        "texts": {name: of["prompt"] for name, of in found["texts"].items()},
        "arms": arms(found),
        "marks": {word: mark._asdict() for word, mark in MARKS.items()},
        "hardware": found["hardware"],
        "target": found["target"],
    }
    data = json.dumps(about, ensure_ascii=False).replace("</", "<\\/")
    live = f'<div class="live" data-script="gallery"><script type="application/json">{data}</script></div>'
    words, every = INTRODUCTION.format(target=escape(found["target"])), ALL.format(hardware=escape(found["hardware"]))
    return f"{words}{live}{every}{table(found)}"
