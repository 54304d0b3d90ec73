"""Tables and pages: `Table`, as which an experiment's numbers display; HTML as a value; and Markdown, which is both a text and
a page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

CELL = "padding:2px 9px"
NUMBER = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;"


class Html:
    """Displayed as the last value of a cell: HTML in a notebook, `text` elsewhere."""

    def __init__(self, html: str, text: str):
        self.html, self.text = html, text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


class Markdown(Html):
    """The same from one source: read as it is, or as the HTML that is made of it.

    Only headings, lists, tables and indented code are signs; within a line all is text, whoever wrote it.
    """

    def __init__(self, text: str):
        from markdown_it import MarkdownIt

        super().__init__(MarkdownIt("zero").enable(["code", "heading", "list", "table"]).render(text), text)


def page(title: str, markdown: str) -> str:
    """A page that needs nothing else: no network, no scripts."""
    style = "font:16px/1.5 sans-serif;max-width:52em;margin:2em auto;padding:0 1em"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>td, th {{ {CELL}; text-align: left }}</style>"
        f'<body style="{style}"><h1>{escape(title)}</h1>{Markdown(markdown).html}</body></html>'
    )


def one_line(text: object) -> str:
    """Text from elsewhere, without line breaks: no sign of Markdown, unless it begins a paragraph."""
    return " ".join(str(text).split())


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of which a cell is plain text, cell below cell."""
    texts = [[one_line(cell).replace("|", r"\|") for cell in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    first, *others = ("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in texts)
    return "\n".join([first, "|" + "|".join("-" * (width + 2) for width in widths) + "|", *others])


@dataclass(frozen=True)
class Table:
    """The numbers of an experiment: displayed as the last value of a cell, plain text elsewhere.

    Args:
        rows: {name of the row: {name of the column: value}}. A value is a number, text, a number with its
            (low, high), or None where there is none. A row may lack columns.
        shade: numbers stand on a shade that grows with them, from 0 to the largest of the table.
        digits: after the point, for all columns, or {column: digits}.
    """

    title: str
    rows: Mapping[str, Mapping[str, object]]
    shade: bool = False
    digits: int | Mapping[str, int] = 2

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(column for row in self.rows.values() for column in row))

    def text(self, column: str, value: object) -> str:
        """A value as it is written."""
        digits = self.digits if isinstance(self.digits, int) else self.digits.get(column, 2)
        if value is None:
            return "–"
        if isinstance(value, tuple):
            number, interval = value  # None where there are too few texts for one
            between = "" if interval is None else " ({:.{d}f}–{:.{d}f})".format(*interval, d=digits)
            return f"{number:.{digits}f}{between}"
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value)

    def _repr_html_(self) -> str:
        numbers = [_number(value) for row in self.rows.values() for value in row.values()]
        largest = max((abs(x) for x in numbers if x is not None), default=0) or 1

        def cell(row: str, column: str) -> str:
            value = self.rows[row].get(column)
            text, number = escape(self.text(column, value)), _number(value)
            style = "" if isinstance(value, str) else NUMBER
            if self.shade and number is not None:
                style += f"background:rgba(0,114,178,{0.45 * abs(number) / largest:.2f});"
            return f"<td style='{CELL};text-align:left;{style}'>{text}</td>"

        def head(name: str, of: str) -> str:
            return f"<th scope=\"{of}\" style='{CELL};text-align:left;'>{escape(name)}</th>"

        lines = ["".join(head(name, "col") for name in ["", *self.columns])]
        lines += [head(row, "row") + "".join(cell(row, column) for column in self.columns) for row in self.rows]
        shown = "".join(f"<tr style='background:none'>{line}</tr>" for line in lines)
        return (
            f"<div style='overflow-x:auto'><b>{escape(self.title)}</b>"
            f"<table style='border-collapse:collapse;font-size:14px;margin:8px 0'>{shown}</table></div>"
        )

    def __repr__(self) -> str:
        names = ["", *self.rows]
        columns = [[name.ljust(max(map(len, names))) for name in names]]
        for column in self.columns:
            cells = [column, *(self.text(column, row.get(column)) for row in self.rows.values())]
            columns.append([cell.rjust(max(map(len, cells))) for cell in cells])
        return "\n".join([self.title, *("  ".join(cells).rstrip() for cells in zip(*columns))])


def _number(value: object) -> float | None:
    value = value[0] if isinstance(value, tuple) else value
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
