"""HTML as a reader of text gets it: what stands beside the picture of a widget in a stored lesson."""

from html.parser import HTMLParser
from itertools import zip_longest

BLOCKS = ("div", "p", "h1", "h2", "ul", "li", "br", "details", "summary")  # tags that stand on a line of their own


def html_to_text(html: str) -> str:
    """What a reader of text gets from a piece of HTML: its lines, tables in columns, and a chart's description."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_line()
    return "\n".join(reader.lines).strip("\n")


class _Reader(HTMLParser):
    """lines: what was read. words: of the line or cell that is being read. rows: the cells of a table being read."""

    def __init__(self):
        super().__init__()
        self.lines: list[str] = []
        self.words: list[str] = []
        self.rows: list[list[str]] | None = None
        self.drawing = self.describing = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "svg":
            self.end_line()
            self.drawing = True
        elif tag == "desc":
            self.describing = True
        elif tag == "table":
            self.end_line()
            self.rows = []
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag in BLOCKS and self.rows is None:
            self.end_line()
            if tag == "h2" and self.lines:
                self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td") and self.rows:
            self.rows[-1].append(self.taken())
        elif tag == "table" and self.rows is not None:
            self.lines += columns(self.rows)
            self.rows, self.words = None, []
        elif tag == "desc":
            self.lines += "".join(self.words).splitlines()
            self.words, self.describing = [], False
        elif tag == "svg":
            self.drawing = False
        elif tag in BLOCKS and self.rows is None:
            self.end_line()

    def handle_data(self, data: str) -> None:
        if self.describing or not self.drawing:  # the other words of a chart stand in its description
            self.words.append(data)

    def taken(self) -> str:
        text, self.words = " ".join("".join(self.words).split()), []
        return text

    def end_line(self) -> None:
        if text := self.taken():
            self.lines.append(text)


def columns(rows: list[list[str]]) -> list[str]:
    """Rows of cells as lines, cell below cell."""
    rows = [row for row in rows if row]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
