"""Tables of the site: on which side their numbers stand, and bars beside those that are compared."""

import re
from html import unescape
from itertools import accumulate

from specdec_lab.show.table import CELL
from specdec_lab.show.table import NUMBER as SIDE

NUMBER = re.compile(r"[\d\s.,()+±×★•%–−-]*|[\d.]+ \w+")  # as a table has it, with its interval, or where there is none
PARTS = {"E": "tokens", "d": "draft", "v": "pass", "o": "rest", "S": "speed-up"}  # of S = E / (d + v + o), in words
NAMED = '><b class="part {0}">{0}</b> <br><small>{1}</small><'
# Columns that get bars: of how many times as fast, or else of an amount.
BARRED = tuple(map(re.compile, ("S|(S, )?times plain|after / before", "of 100 misses|tokens/s|tokens per pass")))


def tidied(html: str) -> str:
    """Tables whose numbers stand right, below their heads; and a head that says nothing is none for a screen reader."""

    def table(found: re.Match) -> str:
        _, *rows = [re.findall("(?s)<t[hd].*?</t[hd]>", row) for row in re.findall("(?s)<tr.*?</tr>", found[0])]
        texts = [[unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in row] for row in rows]
        numbers = [all(map(NUMBER.fullmatch, column)) and set(column) != {"."} for column in zip(*texts)]
        sides = ["right" if number else "left" for number in numbers]
        side = iter(sides * (len(rows) + 1))
        return re.sub("<t[hd](?= |>)", lambda cell: f'{cell[0]} class="{next(side, "left")}"', found[0])

    html = re.sub("(?s)<table.*?</table>", table, html)
    return re.sub("<th(?: [^>]*)?></th>", "<td></td>", html)


def cards(html: str) -> str:
    """A table of designs as a card for each, with the formula and the terms in it that the design moves."""

    def formula(moves: str) -> str:
        moved = set(re.findall(r"\b[Edvo]\b", moves.replace("α", "E")))  # E grows with α
        term = {t: f'<b class="{t}{" moved" * (t in moved)}">{t}</b>' for t in "Edvo"}
        return f'<span class="sum">S = {term["E"]} / ({term["d"]} + {term["v"]} + {term["o"]})</span>'

    def table(found: re.Match) -> str:
        heads, *rows = [
            re.findall("(?s)<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall("(?s)<tr.*?</tr>", found[0])
        ]
        if heads[2:3] != ["what it moves"]:
            return found[0]
        items = [
            f"<li><strong>{name}</strong>{formula(moves)}<span>{new}</span><small>moves {moves} · exact: {exact}</small></li>"
            for name, new, moves, exact in rows
        ]
        return f'<ul class="designs">{"".join(items)}</ul>'

    return re.sub("(?s)<table.*?</table>", table, html)


def dressed(html: str) -> str:
    """Results, with all that follows; what all their cells have in common is left to the page's own styles."""
    html = tokens(shaded(barred(tidied(html))))
    return html.replace(SIDE, "").replace(f"{CELL};text-align:left;", "").replace(" style=''", "")


def barred(html: str) -> str:
    """Result tables with bars beside their numbers: of how many times as fast, with a line at 1, or else of an amount;
    and of what a round costs, its parts behind each other."""

    def table(found: re.Match) -> str:
        rows = re.findall("(?s)<tr.*?</tr>", found[0])
        cells = [re.findall("(?s)<t[hd].*?</t[hd]>", row) for row in rows]
        heads, *texts = [[unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in cells]
        column = next((i for kind in BARRED for i, head in enumerate(heads) if kind.fullmatch(head)), None)
        bars = single(heads[column], [row[column] for row in texts]) if column else []
        added = {column: ['<i class="bar"></i>', *bars]} if bars else {}
        if set("dvo") <= set(heads):
            costs = [[float(row[heads.index(part)]) for part in "dvo"] for row in texts]
            added[heads.index("o")] = ['<i class="bar"></i>', *parted(costs)]
        made = found[0]
        for i, row in enumerate(rows):
            for at, whole in added.items():
                cells[i][at] = re.sub("(?=</t[hd]>)", whole[i], cells[i][at])
            if set("dvo") <= set(heads) and not i:
                cells[i] = [
                    re.sub(">([EdvoS])<", lambda part: NAMED.format(part[1], PARTS[part[1]]), cell) for cell in cells[i]
                ]
            made = made.replace(row, f"{row[: row.index('>') + 1]}{''.join(cells[i])}</tr>", 1) if added else made
        return made

    return re.sub("(?s)<table.*?</table>", table, html)


def shaded(html: str) -> str:
    """Tables of chances, draft by draft: the more likely, the darker the ground."""

    def table(found: re.Match) -> str:
        if not re.search(r">draft \d</th>", found[0]):
            return found[0]
        return re.sub(r"(<td[^>]*style=')(?=[^>]*>([01]\.\d+)•?</td>)", r"\1--chance:\2;", found[0])

    return re.sub("(?s)<table.*?</table>", table, html)


TOKENS = {"✓": "is-accepted", "✗": "is-rejected", "–": "is-discarded"}


def tokens(html: str) -> str:
    """Tables of tokens, place by place: each token has a frame, in the colour of what became of it."""

    def chip(found: re.Match) -> str:
        start, sign, marked, bare = found.groups()
        said = f"<b>{sign}</b> " if sign else ""
        return f'{start}<span class="chip {TOKENS.get(sign, "")}">{said}<code>{(marked or bare).strip()}</code></span></td>'

    def table(found: re.Match) -> str:
        if not re.search(r">place \d</th>", found[0]):
            return found[0]
        return re.sub(r"(<td[^>]*>)(?:([✓✗–]) )?(?:“([^<]+)”|( ?[^\d<>–“][^<>]*))</td>", chip, found[0])

    return re.sub("(?s)<table.*?</table>", table, html)


def single(head: str, texts: list[str]) -> list[str]:
    """A bar for each number of a column; none where a cell has no number."""
    numbers = [re.match(r"[\d.]+", text) for text in texts]
    if not all(numbers):
        return []
    values = [float(number[0]) for number in numbers]
    most, factor = max(values), BARRED[0].fullmatch(head)
    one = f";--one:{1 / most:.3f}" if factor and most > 1 else ""

    def kind(value: float) -> str:
        return ("gain" if value > 1.02 else "loss" if value < 0.98 else "even") if factor else ""

    return [f'<i class="bar {kind(value)}" style="--bar:{value / most:.3f}{one}"></i>' for value in values]


def parted(costs: list[list[float]]) -> list[str]:
    """A bar for each row, of its drafting, its pass and the rest."""
    most = max(map(sum, costs))
    ends = [[f"{100 * part / most:.1f}%" for part in accumulate(row)] for row in costs]
    return [f'<i class="bar parts" style="--d:{d};--v:{v};--o:{o}"></i>' for d, v, o in ends]
