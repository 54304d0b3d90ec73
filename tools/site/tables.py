"""Tables of the site: on which side their numbers stand, and bars beside those that are compared."""

import re
from html import unescape

NUMBER = re.compile(r"[\d\s.,()+±×★%–−-]*|[\d.]+ \w+")  # as a table has it, with its interval, or where there is none
# Columns that get bars: of how many times as fast, or else of an amount.
BARRED = tuple(map(re.compile, ("S|(S, )?times plain|after / before", "of 100 misses|tokens/s|tokens per pass")))


def tidied(html: str) -> str:
    """Tables whose numbers stand right, below their heads; and a head that says nothing is none for a screen reader."""

    def table(found: re.Match) -> str:
        _, *rows = [re.findall("(?s)<t[hd].*?</t[hd]>", row) for row in re.findall("(?s)<tr.*?</tr>", found[0])]
        texts = [[unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in row] for row in rows]
        sides = ["right" if all(map(NUMBER.fullmatch, column)) else "left" for column in zip(*texts)]
        side = iter(sides * (len(rows) + 1))
        return re.sub("<t[hd](?= |>)", lambda cell: f'{cell[0]} class="{next(side, "left")}"', found[0])

    html = re.sub("(?s)<table.*?</table>", table, html)
    return re.sub("<th(?: [^>]*)?></th>", "<td></td>", html)


def barred(html: str) -> str:
    """Result tables with bars beside the numbers of one column: of how many times as fast, with a line at 1, or else of an amount."""

    def table(found: re.Match) -> str:
        rows = re.findall("(?s)<tr.*?</tr>", found[0])
        texts = [[unescape(re.sub("<[^>]*>", "", c)) for c in re.findall("(?s)<t[hd].*?</t[hd]>", row)] for row in rows]
        column = next((i for kind in BARRED for i, head in enumerate(texts[0]) if kind.fullmatch(head)), None)
        numbers = [re.match(r"[\d.]+", row[column]) for row in texts[1:]] if column else [None]
        if not all(numbers):
            return found[0]
        values = [float(number[0]) for number in numbers]
        most, factor = max(values), BARRED[0].fullmatch(texts[0][column])

        def bar(value: float | None) -> str:
            if value is None:  # of the head
                return '<i class="bar"></i>'
            kind = ("gain" if value > 1.02 else "loss" if value < 0.98 else "even") if factor else ""
            one = f";--one:{1 / most:.3f}" if factor and most > 1 else ""
            return f'<i class="bar {kind}" style="--bar:{value / most:.3f}{one}"></i>'

        made = found[0]
        for row, value in zip(rows, [None, *values]):
            cells = re.findall("(?s)<t[hd].*?</t[hd]>", row)
            cells[column] = re.sub("(?=</t[hd]>)", bar(value), cells[column])
            made = made.replace(row, f"{row[: row.index('>') + 1]}{''.join(cells)}</tr>", 1)
        return made

    return re.sub("(?s)<table.*?</table>", table, html)
