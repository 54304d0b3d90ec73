"""Line charts as SVG: a picture that needs no kernel, no network and no library, with its numbers as text."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#767676")  # Okabe–Ito
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "12 4")  # colour never carries meaning alone
WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 52, 150, 34, 44  # margins; the right one at least
FONT = 12  # pixels: the size of the text, of everything but the title
LETTERS = 14  # from one line of text to the next


@dataclass(frozen=True)
class Line:
    """points: (x, y) in increasing x. dots: mark each point. spread: (low, high) around each point, if known.

    of: the name of another line whose colour this one shares, such as the measured one of a prediction; it is drawn
        thinner, and dashed.
    """

    name: str
    points: Sequence[tuple[float, float]]
    dots: bool = True
    spread: Sequence[tuple[float, float]] = ()
    of: str = ""

    @classmethod
    def timed(cls, name: str, times: Mapping[int, Sequence[float]]) -> "Line":
        """Medians of what `pass_times` returned, in milliseconds, with the shortest and the longest time of each k."""
        points = [(k, 1e3 * statistics.median(seconds)) for k, seconds in times.items()]
        return cls(name, points, spread=[(1e3 * min(s), 1e3 * max(s)) for s in times.values()])


def colours(lines: Sequence[Line]) -> list[str]:
    """One for each line, the same for those that belong together."""
    families = [line.of or line.name for line in lines]
    order = list(dict.fromkeys(families))
    return [COLOURS[order.index(family) % len(COLOURS)] for family in families]


def patterns(lines: Sequence[Line]) -> list[int]:
    """Which dash each line has, by number; 0 is solid. Where a line belongs to another one, dashes say only that: the
    others are solid, and told apart by colour, by the name at their end, and live by their symbols."""
    pairs = any(line.of for line in lines)
    return [int(bool(line.of)) if pairs else i % len(DASHES) for i, line in enumerate(lines)]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from low to high, `about` of them or more."""
    span = (high - low) or 1.0
    downwards = (digit * 10.0**power for power in range(15, -300, -1) for digit in (5, 2, 1))
    step = next(step for step in downwards if span / step >= about)
    first = -(-low // step) * step
    return [round(first + i * step, 10) for i in range(int((high - first) / step + 1e-9) + 1)]


def powers(low: float, high: float) -> list[float]:
    """The powers of two from low to high."""
    return [2.0**i for i in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)]


def chart(title: str, lines: Sequence[Line], x_name: str, y_name: str, doubling: bool = False) -> str:
    """The chart as an <svg> element whose <desc> says every point. The y axis begins at 0, or below.

    doubling: equal steps to the right double x, instead of adding to it.
    """
    scale = math.log2 if doubling else float
    end = WIDTH - max(RIGHT, 40 + max(room(line.name, FONT) for line in lines))  # behind it stand the lines' names
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points] + [y for line in lines for ends in line.spread for y in ends]
    x0, x1 = scale(min(xs)), scale(max(xs))
    y0, y1 = min(0.0, *ys), max(ys)
    x1, y1 = x1 if x1 > x0 else x0 + 1, y1 if y1 > y0 else y0 + 1

    def at(x: float, y: float) -> tuple[float, float]:
        """Pixels from the left and from the top."""
        across = LEFT + (scale(x) - x0) / (x1 - x0) * (end - LEFT)
        return round(across, 1), round(HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM), 1)

    parts = []
    for y in ticks(y0, y1):
        left, down = at(min(xs), y)
        parts.append(f'<path d="M{left} {down}H{end}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(f'<text x="{left - 6}" y="{down + 4}" text-anchor="end">{y:g}</text>')
    for x in powers(min(xs), max(xs)) if doubling else ticks(x0, x1):
        across, down = at(x, y0)
        parts.append(f'<text x="{across}" y="{down + 16}" text-anchor="middle">{x:g}</text>')
    ends = []
    for line, colour, pattern in zip(lines, colours(lines), patterns(lines)):
        places = [at(x, y) for x, y in line.points]
        look = f'stroke="{colour}" stroke-width="{1.3 if line.of else 2}" stroke-dasharray="{DASHES[pattern]}"'
        path = " L".join(f"{across} {down}" for across, down in places)
        parts.append(f'<path d="M{path}" fill="none" {look}/>')
        for (x, _), (low, high) in zip(line.points, line.spread):
            (across, bottom), (_, top) = at(x, low), at(x, high)
            bracket = f"M{across} {bottom}V{top}M{across - 4} {bottom}h8M{across - 4} {top}h8"
            parts.append(f'<path d="{bracket}" stroke="{colour}"/>')
        parts += [f'<circle cx="{a}" cy="{b}" r="2.5" fill="{colour}"/>' for a, b in places if line.dots]
        ends.append((places[-1][1], line.name, look))
    ends.sort()
    for height, (_, name, look) in zip(apart([down for down, *_ in ends]), ends):
        parts.append(f'<path d="M{end + 8} {height}h22" {look}/>')
        parts.append(f'<text x="{end + 36}" y="{height + 4}">{escape(name)}</text>')
    middle = (LEFT + end) / 2
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'style="max-width:{WIDTH}px;font:{FONT}px sans-serif" fill="currentColor"><title>{escape(title)}</title>'
        f"<desc>{escape(in_words(title, lines, x_name, y_name))}</desc>"
        f"{heading(title, LEFT, 18, WIDTH)}"
        f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_name)}</text>'
        f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{escape(y_name)}</text>'
        f"{''.join(parts)}</svg>"
    )


def apart(heights: Sequence[float]) -> list[float]:
    """Where names are written that belong at these heights, from top to bottom: not over each other, none below the picture."""
    placed = []
    for height in heights:
        placed.append(max([height] + [above + LETTERS for above in placed[-1:]]))
    lowest = HEIGHT - 6
    return [min(height, lowest - LETTERS * below) for below, height in enumerate(reversed(placed))][::-1]


def room(text: str, font: int) -> int:
    """Pixels to keep free for a text of this font size: two thirds of it a letter, more than most letters take."""
    return math.ceil(2 * font / 3) * len(text)


def heading(title: str, left: float, down: float, width: float) -> str:
    """A picture's title; smaller where it would not fit. A bold letter is .6 of its height wide, on average."""
    size = min(14, math.floor(10 * (width - left) / (0.6 * max(1, len(title)))) / 10)
    return f'<text x="{left}" y="{down}" font-size="{size}" font-weight="600">{escape(title)}</text>'


def in_words(title: str, lines: Sequence[Line], x_name: str, y_name: str) -> str:
    """The same numbers as text."""
    rows = [f"{title} ({y_name} against {x_name})"]
    for line in lines:
        spread = [f" ({low:.3g} to {high:.3g})" for low, high in line.spread] or [""] * len(line.points)
        numbers = ", ".join(f"{y:.3g}{ends} at {x:g}" for (x, y), ends in zip(line.points, spread))
        rows.append(f"{line.name}: {numbers}")
    return "\n".join(rows)
