"""A table as HTML, for everything that the course shows in rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

CELL = "padding:2px 9px"


@dataclass(frozen=True)
class Cell:
    """A cell that is more than text: HTML, and a style of its own."""

    html: str
    style: str = ""


def table(
    heads: Sequence[str | Cell], rows: Sequence[Sequence[object]], *, row_heads: bool = False, align: str = "left"
) -> str:
    """The <table> of these rows; what is no `Cell` is written as text.

    Args:
        heads: of the columns; none, and there is no line of heads.
        row_heads: whether a row's first cell says what the row is.
        align: of all cells but a row's head: left, right or center.
    """
    head = "".join(_cell(h, "th", ' scope="col"', align if i or not row_heads else "left") for i, h in enumerate(heads))
    lines = [f"<tr style='background:none'>{head}</tr>"] if heads else []
    for row in rows:
        first = [_cell(row[0], "th", ' scope="row"', "left")] if row_heads else []
        rest = [_cell(cell, "td", "", align) for cell in row[len(first) :]]
        lines.append(f"<tr style='background:none'>{''.join(first + rest)}</tr>")
    return f"<table style='border-collapse:collapse;font-size:14px;margin:8px 0'>{''.join(lines)}</table>"


def _cell(content: object, tag: str, scope: str, align: str) -> str:
    cell = content if isinstance(content, Cell) else Cell(escape(str(content)))
    return f"<{tag}{scope} style='{CELL};text-align:{align};{cell.style}'>{cell.html}</{tag}>"
