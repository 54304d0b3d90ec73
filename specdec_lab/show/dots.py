"""A dot for each text: a picture of how far the texts of one kind lie apart, with its numbers as text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean, geometric_mean

from specdec_lab.formats import short
from specdec_lab.show.lines import COLOURS, room, ticks

LEFT, RIGHT, TOP, ROW, BOTTOM, WIDTH = 130, 74, 14, 30, 44, 640  # pixels; at the left at least
FONT = 13  # pixels: the size of the text, of everything but the title


@dataclass(frozen=True)
class Dots:
    """Rows of dots on one scale, a stroke at the mean of each. Displayed as the last value of a cell.

    Args:
        rows: {name of the row: its values}, or {name of the row: {what a dot is: its value}}. A row may be empty.
        x_name: of the scale.
        log: each step of the scale multiplies; values are above 0, and the mean is the geometric one.
    """

    title: str
    rows: Mapping[str, Sequence[float] | Mapping[str, float]]
    x_name: str
    log: bool = False

    def values(self, row: str) -> list[tuple[str, float]]:
        """(what it is, its value) of each dot of a row."""
        given = self.rows[row]
        return list(given.items()) if isinstance(given, Mapping) else [("", value) for value in given]

    def mean(self, row: str) -> float | None:
        numbers = [value for _, value in self.values(row)]
        return (geometric_mean if self.log else fmean)(numbers) if numbers else None

    def _repr_html_(self) -> str:
        numbers = [value for row in self.rows for _, value in self.values(row)] or [1.0]
        low, high = (min(numbers), max(numbers)) if self.log else (min(0.0, *numbers), max(numbers))
        low, high = (low, high) if high > low else (low / 2 if self.log else low, high + 1)
        scale = math.log if self.log else float
        below = TOP + ROW * len(self.rows)
        left = max([LEFT, *(14 + room(row, FONT) for row in self.rows)])  # the rows' names stand there

        def at(x: float) -> float:
            return round(left + (scale(x) - scale(low)) / (scale(high) - scale(low)) * (WIDTH - left - RIGHT), 1)

        parts = []
        for x in self._ticks(low, high):
            parts.append(f'<path d="M{at(x)} {TOP}V{below}" stroke="currentColor" stroke-opacity=".15"/>')
            parts.append(f'<text x="{at(x)}" y="{below + 16}" text-anchor="middle">{x:g}</text>')
        for i, row in enumerate(self.rows):
            y, mean = TOP + ROW * (i + 0.5), self.mean(row)
            parts.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{escape(row)}</text>')
            for what, value in self.values(row):
                said = f"<title>{escape(f'{what}: ' if what else '')}{short(value)}</title>"
                look = f'fill="{COLOURS[0]}" fill-opacity=".45" stroke="{COLOURS[0]}"'
                parts.append(f'<circle cx="{at(value)}" cy="{y}" r="4.5" {look}>{said}</circle>')
            if mean is not None:
                stroke = f'stroke="{COLOURS[1]}" stroke-width="3"'
                parts.append(f'<path d="M{at(mean)} {y - 11}v22" {stroke}/>')
                parts.append(f'<text x="{WIDTH - RIGHT + 14}" y="{y + 4}" font-weight="600">{short(mean)}</text>')
        middle = (left + WIDTH - RIGHT) / 2
        note = f"{self.x_name}; a dot for each, | the {'geometric ' if self.log else ''}mean"
        parts.append(f'<text x="{middle}" y="{below + 36}" text-anchor="middle">{escape(note)}</text>')
        return (
            f'<div style="font-size:15px"><b>{escape(self.title)}</b></div>'
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {below + BOTTOM}" role="img" '
            f'fill="currentColor" style="max-width:{WIDTH}px;font:{FONT}px sans-serif">'
            f"<title>{escape(self.title)}</title><desc>{escape(repr(self))}</desc>{''.join(parts)}</svg>"
        )

    def _ticks(self, low: float, high: float) -> list[float]:
        if not self.log:
            return ticks(low, high)
        round_ones = (digit * 10.0**power for power in range(-9, 10) for digit in (1, 2, 5))
        return [x for x in round_ones if low <= x <= high] or [low]

    def __repr__(self) -> str:
        width = max(map(len, self.rows), default=0)
        lines = [f"{self.title} ({self.x_name})"]
        for row in self.rows:
            mean, numbers = self.mean(row), sorted(value for _, value in self.values(row))
            each = f"mean {short(mean)}: " + " ".join(map(short, numbers)) if numbers else "none"
            lines.append(f"{row:>{width}}  {each}")
        return "\n".join(lines)
