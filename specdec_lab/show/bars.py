"""Guess beside measurement: a few bars that are also a table of numbers."""

from dataclasses import dataclass
from html import escape

from specdec_lab.formats import short
from specdec_lab.show.table import Cell, table

WIDTH = 320  # pixels of the longest bar


@dataclass(frozen=True)
class Bar:
    """value None: there was no guess. interval: (low, high) around the value."""

    name: str
    value: float | None
    interval: tuple[float, float] | None = None

    @property
    def shown(self) -> str:
        """The number in words."""
        if self.value is None:
            return "no guess"
        between = " (between {} and {})".format(*map(short, self.interval)) if self.interval else ""
        return short(self.value) + between


@dataclass(frozen=True)
class Bars:
    """Shown as HTML in a notebook, as plain text elsewhere. Values from 0 up."""

    title: str
    bars: tuple[Bar, ...]

    @property
    def _largest(self) -> float:
        return max((max(b.value or 0, *(b.interval or (0,))) for b in self.bars), default=0) or 1

    def _repr_html_(self) -> str:
        rows = [(b.name, Cell(f"{self._drawing(b)} {escape(b.shown)}")) for b in self.bars]
        return f'<div style="font-size:15px"><b>{escape(self.title)}</b>{table((), rows, row_heads=True)}</div>'

    def _drawing(self, bar: Bar) -> str:
        """The bar; over its end the interval, as a line between two short strokes."""
        length, *interval = (round(WIDTH * x / self._largest) for x in (bar.value or 0, *(bar.interval or ())))
        box = "display:inline-block;vertical-align:middle"
        drawn = f'<div style="{box};height:14px;width:{length}px;background:currentColor;opacity:.5"></div>'
        if not interval:
            return drawn
        low, high = interval
        place = f"width:{max(4, high - low)}px;margin-left:{low - length}px;margin-right:{max(0, length - high)}px"
        strokes = "border:solid currentColor;border-width:0 2px;box-sizing:border-box"
        line = "background:linear-gradient(currentColor,currentColor) center/100% 2px no-repeat"
        return f'{drawn}<div style="{box};height:10px;{place};{strokes};{line}"></div>'

    def __repr__(self) -> str:
        width = max((len(b.name) for b in self.bars), default=0)
        lines = [f"{b.name:>{width}}  {'█' * round(30 * (b.value or 0) / self._largest)} {b.shown}" for b in self.bars]
        return "\n".join([self.title, *lines])
