"""Small charts side by side with the same axes: what changes from one to the next is seen at a glance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from specdec_lab.show.lines import DASHES, Line, colours, heading, patterns, ticks

ACROSS = 4  # panels in a row
PANEL, HIGH = 162, 150  # pixels of a panel's drawing, with the space to the next one, and its height
LEFT, TOP, HEAD, FOOT = 50, 52, 24, 26  # margins of the picture; above and below each row of panels


@dataclass(frozen=True)
class Multiples:
    """Displayed as the last value of a cell, plain text elsewhere. The largest point of each line has a ring.

    Args:
        panels: {title of a panel: its lines}. Lines of the same name look the same in every panel.
        level: (y, name) of a horizontal line through all panels, such as (1, "plain decoding").
    """

    title: str
    panels: Mapping[str, Sequence[Line]]
    x_name: str
    y_name: str
    level: tuple[float, str] | None = None

    def _looks(self) -> dict[str, str]:
        """How the line of each name is drawn, as attributes."""
        kinds = list({line.name: line for lines in self.panels.values() for line in lines}.values())
        return {
            line.name: f'stroke="{colour}" stroke-width="{1.5 if line.of else 2}" stroke-dasharray="{DASHES[pattern]}"'
            for line, colour, pattern in zip(kinds, colours(kinds), patterns(kinds))
        }

    def _repr_html_(self) -> str:
        looks, points = self._looks(), [xy for lines in self.panels.values() for line in lines for xy in line.points]
        xs, ys = sorted({x for x, _ in points}), [y for _, y in points] + ([self.level[0]] if self.level else [])
        x0, x1, y0, y1 = xs[0], max(xs[-1], xs[0] + 1e-9), min(0.0, *ys), max(*ys, 1e-9) * 1.08
        across = min(ACROSS, len(self.panels))
        width, row = max(LEFT + across * PANEL, 480), HEAD + HIGH + FOOT
        height = TOP + -(-len(self.panels) // across) * row + 16

        def place(number: int, x: float, y: float) -> tuple[float, float]:
            left, top = LEFT + number % across * PANEL, TOP + number // across * row + HEAD
            down = top + (y1 - y) / (y1 - y0) * HIGH
            return round(left + 8 + (x - x0) / (x1 - x0) * (PANEL - 34), 1), round(down, 1)

        parts = []
        for number, (name, lines) in enumerate(self.panels.items()):
            (left, bottom), (right, top) = place(number, x0, y0), place(number, x1, y1)
            parts.append(f'<text x="{left - 8}" y="{top - 8}" font-weight="600">{escape(name)}</text>')
            for y in ticks(y0, y1, 4):
                down = place(number, x0, y)[1]
                parts.append(f'<path d="M{left - 8} {down}H{right + 8}" stroke="currentColor" stroke-opacity=".15"/>')
                if number % across == 0:
                    parts.append(f'<text x="{left - 14}" y="{down + 4}" text-anchor="end">{y:g}</text>')
            for x in xs if len(xs) <= 8 else ticks(x0, x1, 4):
                parts.append(f'<text x="{place(number, x, y0)[0]}" y="{bottom + 15}" text-anchor="middle">{x:g}</text>')
            if self.level:
                down = place(number, x0, self.level[0])[1]
                parts.append(f'<path d="M{left - 8} {down}H{right + 8}" stroke="currentColor" stroke-width="1"/>')
            for line in lines:
                look, at = looks[line.name], [place(number, *xy) for xy in line.points]
                colour = look.split('"')[1]
                parts.append(f'<path d="M{" L".join(f"{a} {b}" for a, b in at)}" fill="none" {look}/>')
                if line.dots:
                    parts += [f'<circle cx="{a}" cy="{b}" r="2.5" fill="{colour}"/>' for a, b in at]
                a, b = place(number, *largest(line))
                parts.append(f'<circle cx="{a}" cy="{b}" r="5" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        return (
            f'<div style="overflow-x:auto"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'role="img" style="max-width:{width}px;min-width:480px;font:12px sans-serif" fill="currentColor">'
            f"<title>{escape(self.title)}</title><desc>{escape(repr(self))}</desc>"
            f"{heading(self.title, LEFT, 16, width)}{self._legend(looks)}{''.join(parts)}"
            f'<text x="{(LEFT + width) / 2}" y="{height - 4}" text-anchor="middle">{escape(self.x_name)}</text>'
            f'<text transform="translate(14 {(TOP + height) / 2}) rotate(-90)" text-anchor="middle">'
            f"{escape(self.y_name)}</text></svg></div>"
        )

    def _legend(self, looks: Mapping[str, str]) -> str:
        """Samples of the lines with their names, in one line below the title."""
        entries = [(name, f'<path d="M{{x}} 34h24" fill="none" {look}/>') for name, look in looks.items()]
        if self.level:
            entries.append((self.level[1], '<path d="M{x} 34h24" stroke="currentColor" stroke-width="1"/>'))
        entries.append(("the largest", '<circle cx="{middle}" cy="34" r="5" fill="none" stroke="currentColor"/>'))
        drawn, x = [], LEFT
        for name, sample in entries:
            drawn.append(sample.format(x=x, middle=x + 12) + f'<text x="{x + 30}" y="38">{escape(name)}</text>')
            x += 50 + 7 * len(name)
        return "".join(drawn)

    def __repr__(self) -> str:
        rows = [f"{self.title} ({self.y_name} against {self.x_name})"]
        for name, lines in self.panels.items():
            for line in lines:
                numbers = ", ".join(f"{y:.3g} at {x:g}" for x, y in line.points)
                rows.append(f"{name}, {line.name}: {numbers}; the largest at {largest(line)[0]:g}")
        return "\n".join(rows + ([f"{self.level[1]}: {self.level[0]:g}"] if self.level else []))


def largest(line: Line) -> tuple[float, float]:
    return max(line.points, key=lambda xy: xy[1])
