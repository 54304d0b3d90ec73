"""Charts as SVG: pictures that need no kernel, no network and no library, each with its numbers as text.

`Plot` draws lines, and is live where plotly runs; `LearningCurve` is one that grows; `Dots` show a dot for each text,
`FrequencyBars` shares over what was wanted.
"""

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from specdec_lab.errors import LabError
from specdec_lab.formats import short

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # Okabe–Ito
COLOURS = (BLUE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", ORANGE)  # of lines; orange, elsewhere "slower", is last
GREY = "#808080"  # readable on a light and on a dark page
DASHES = ("", "9 3 2 3", "2 3", "4 2", "12 4", "1 2")  # colour never carries meaning alone
PLAIN_DASH = "7 3"
DASHED_OUTLINE = 'fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"'  # around what is wanted


# What all pictures are made of.


def svg(width: float, height: float, attributes: str, title: str, parts: Sequence[str], text: str | None = None) -> str:
    """An <svg> element of these parts. text: its numbers in words, which become its description."""
    description = "" if text is None else f"<desc>{escape(text)}</desc>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" {attributes}>'
        f"<title>{escape(title)}</title>{description}{''.join(parts)}</svg>"
    )


def label(x: float, y: float, words: str, anchor: str = "", bold: bool = False) -> str:
    """Words that begin at (x, y); with anchor "middle" or "end" they have their middle or their end there."""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}"{anchored}{weight}>{escape(words)}</text>'


def heading(title: str, left: float, down: float, width: float) -> str:
    """A picture's title; smaller where it would not fit. A bold letter is 0.6 of its height wide, on average."""
    size = min(14, math.floor(10 * (width - left) / (0.6 * max(1, len(title)))) / 10)
    return f'<text x="{left}" y="{down}" font-size="{size}" font-weight="600">{escape(title)}</text>'


def room(text: str, font: int) -> int:
    """Pixels to keep free for a text of this font size: two thirds of it a letter, more than most letters take."""
    return math.ceil(2 * font / 3) * len(text)


def ticks(low: float, high: float, about: int = 5, around: bool = False) -> list[float]:
    """Round numbers from low to high, `about` of them or more. around: from the one below low to the one above high."""
    span = (high - low) or 1.0
    downwards = (digit * 10.0**power for power in range(15, -300, -1) for digit in (5, 2, 1))
    step = next(step for step in downwards if span / step >= about)
    up, down = (lambda x: math.ceil(x / step - 1e-9)), (lambda x: math.floor(x / step + 1e-9))
    first, last = (down(low), up(high)) if around else (up(low), down(high))
    return [round(i * step, 10) for i in range(first, last + 1)]


def powers(low: float, high: float) -> list[float]:
    """The powers of two from low to high."""
    return [2.0**i for i in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)]


def _level(y: float, down: float, left: float, right: float, named: bool = True) -> str:
    """A faint line across the picture at the height of y, with the number at its left."""
    line = f'<path d="M{left} {down}H{right}" stroke="currentColor" stroke-opacity=".15"/>'
    return line + (label(left - 6, down + 4, f"{y:g}", "end") if named else "")


def _axis_names(x_name: str, y_name: str, middle: float, foot: float, top: float) -> str:
    """Below the picture, and above the y axis, where it is read without turning one's head."""
    return label(middle, foot, x_name, "middle") + label(0, top, y_name)


def _below_title(
    shown: "Dots | FrequencyBars", width: float, height: float, parts: Sequence[str], font: int = 13
) -> str:
    """The title as HTML, and below it the picture."""
    look = f'fill="currentColor" style="max-width:{width}px;font:{font}px sans-serif"'
    picture = svg(width, height, look, shown.title, parts, repr(shown))
    return f'<div style="font-size:15px"><b>{escape(shown.title)}</b></div>{picture}'


# Lines.


@dataclass(frozen=True)
class Line:
    """points: (x, y) in increasing x. dots: mark each point. spread: (low, high) around each point, if known.

    plain: it is what the others are compared with, such as plain decoding: grey, and dashed.
    """

    name: str
    points: Sequence[tuple[float, float]]
    dots: bool = True
    spread: Sequence[tuple[float, float]] = ()
    plain: bool = False

    @classmethod
    def timed(cls, name: str, times: Mapping[int, Sequence[float]]) -> "Line":
        """Medians of what `pass_times` returned, in milliseconds, with the shortest and the longest time of each k."""
        points = [(k, 1e3 * statistics.median(seconds)) for k, seconds in times.items()]
        return cls(name, points, spread=[(1e3 * min(s), 1e3 * max(s)) for s in times.values()])

    @property
    def is_one(self) -> bool:
        """Whether it says that all others are so many times as much as it."""
        return self.plain and all(y == 1 for _, y in self.points)

    @property
    def largest(self) -> tuple[float, float]:
        """The point with the largest y."""
        return max(self.points, key=lambda xy: xy[1])


def looks(lines: Sequence[Line]) -> list[int | None]:
    """Which colour and which dashes each line has, by number; None for what the others are compared with. controls.js
    counts in the same way, so a line looks alike on a phone."""
    own = itertools.count()
    return [None if line.plain else next(own) % len(COLOURS) for line in lines]


def _strokes(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """(colour, SVG attributes) of each line."""
    pairs = [(GREY, PLAIN_DASH) if n is None else (COLOURS[n], DASHES[n]) for n in looks(lines)]
    return [(hue, f'stroke="{hue}" stroke-width="2.5" stroke-dasharray="{dash}"') for hue, dash in pairs]


def _curve(places: Sequence[tuple[float, float]], stroke: str) -> str:
    path = " L".join(f"{across} {down}" for across, down in places)
    return f'<path d="M{path}" fill="none" stroke-linejoin="round" {stroke}/>'


def _points(places: Sequence[tuple[float, float]], colour: str) -> list[str]:
    return [f'<circle cx="{across}" cy="{down}" r="3.5" fill="{colour}"/>' for across, down in places]


WIDTH, HEIGHT = 720, 340  # pixels of a plot
LEFT, RIGHT, TOP, BOTTOM = 40, 150, 62, 44  # its margins; the right one at least
FONT = 13  # pixels: the size of the text, of everything but the title
LETTERS = 16  # from one line of text to the next
PLOTLY_DASHES = ("solid", "dashdot", "dot", "dash", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x")
GRID = {"gridcolor": "rgba(128,128,128,0.3)", "zerolinecolor": "rgba(128,128,128,0.3)"}
LAYOUT = {"template": "none", "width": 720, "height": 380}
LAYOUT |= {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)", "font_color": GREY}


@dataclass(frozen=True)
class Plot:
    """Some lines. Displayed as the last value of a cell: with plotly where it runs (hover, zoom), the same as SVG where
    nothing runs, and in words. The y axis begins at 0, or below. doubling: equal steps to the right double x."""

    title: str
    lines: Sequence[Line]
    x_name: str
    y_name: str
    doubling: bool = False

    def __post_init__(self):
        if not self.lines or not all(map(len, (line.points for line in self.lines))):
            raise LabError("A plot needs a line, and each line a point.")

    def svg(self) -> str:
        """The chart as an <svg> element whose <desc> says every point."""
        scale = math.log2 if self.doubling else float
        names = [room(line.name, FONT) for line in self.lines]
        end = WIDTH - max(RIGHT, 40 + max(names))  # behind it stand the lines' names
        xs = [x for line in self.lines for x, _ in line.points]
        ys = [y for line in self.lines for _, y in line.points]
        ys += [y for line in self.lines for ends in line.spread for y in ends]
        x0, x1 = scale(min(xs)), scale(max(xs))
        y0, y1 = min(0.0, *ys), max(ys)
        x1, y1 = x1 if x1 > x0 else x0 + 1, y1 if y1 > y0 else y0 + 1
        y0, *_, y1 = marks = ticks(y0, y1, 3, around=True)

        def at(x: float, y: float) -> tuple[float, float]:
            """Pixels from the left and from the top."""
            across = LEFT + (scale(x) - x0) / (x1 - x0) * (end - LEFT)
            return round(across, 1), round(HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM), 1)

        axes = _axis_names(self.x_name, self.y_name, (LEFT + end) / 2, HEIGHT - 8, 42)
        parts = [heading(self.title, 0, 18, WIDTH), axes]
        if any(line.is_one for line in self.lines):  # above it is what gains, below it what loses
            (_, one), (_, top), (_, foot) = (at(min(xs), y) for y in (1, y1, y0))
            for hue, above, below in ((GREEN, top, one), (ORANGE, one, foot)):
                place = f'x="{LEFT}" y="{above}" width="{end - LEFT}" height="{round(below - above, 1)}"'
                parts.append(f'<rect {place} fill="{hue}" opacity=".08"/>')
        for y in marks:
            left, down = at(min(xs), y)
            parts.append(_level(y, down, left, end))
        parts.append(f'<path d="M{LEFT} {at(min(xs), y0)[1]}H{end}" stroke="currentColor" stroke-opacity=".5"/>')
        counted = max(xs) - min(xs) <= 12 and all(float(x).is_integer() for x in xs)  # places have no halves
        for x in powers(min(xs), max(xs)) if self.doubling else sorted({*xs}) if counted else ticks(x0, x1):
            across, down = at(x, y0)
            parts.append(label(across, down + 16, f"{x:g}", "middle"))
        ends = []
        for line, (colour, stroke) in zip(self.lines, _strokes(self.lines)):
            places = [at(x, y) for x, y in line.points]
            parts.append(_curve(places, stroke))
            for (x, _), (low, high) in zip(line.points, line.spread):
                (across, bottom), (_, top) = at(x, low), at(x, high)
                bracket = f"M{across} {bottom}V{top}M{across - 4} {bottom}h8M{across - 4} {top}h8"
                parts.append(f'<path d="{bracket}" stroke="{colour}"/>')
            parts += _points(places, colour) if line.dots else []
            ends.append((places[-1][1], line.name, stroke))
        ends.sort()
        for height, (_, name, stroke) in zip(spread_out([down for down, *_ in ends]), ends):
            parts.append(f'<path d="M{end + 8} {height}h22" {stroke}/>' + label(end + 36, height + 4, name))
        look = f'style="max-width:{WIDTH}px;font:{FONT}px sans-serif" fill="currentColor"'
        return svg(WIDTH, HEIGHT, look, self.title, parts, repr(self))

    def figure(self):
        """The chart as a plotly figure."""
        import plotly.graph_objects as go

        x_axis, y_axis = {**GRID, "title": self.x_name}, {**GRID, "title": self.y_name, "rangemode": "tozero"}
        if self.doubling:
            xs = [x for line in self.lines for x, _ in line.points]
            x_axis |= {"type": "log", "tickvals": powers(min(xs), max(xs))}
        figure = go.Figure(layout={**LAYOUT, "title": self.title, "xaxis": x_axis, "yaxis": y_axis})
        for i, (line, n) in enumerate(zip(self.lines, looks(self.lines))):
            colour, dash = (GREY, "dash") if n is None else (COLOURS[n], PLOTLY_DASHES[n])
            xs, ys = zip(*line.points)
            error = None
            if line.spread:
                low, high = ([abs(end - y) for y, end in zip(ys, ends)] for ends in zip(*line.spread))
                error = {"type": "data", "array": high, "arrayminus": low, "symmetric": False}
            figure.add_scatter(
                x=xs,
                y=ys,
                name=line.name,
                mode="lines+markers" if line.dots else "lines",
                error_y=error,
                line={"color": colour, "dash": dash, "width": 2},
                marker={"symbol": SYMBOLS[i % len(SYMBOLS)]},
            )
        return figure

    def _repr_mimebundle_(self, **kwargs) -> dict:
        plotly = {"application/vnd.plotly.v1+json": self.figure().to_plotly_json()}
        return plotly | {"image/svg+xml": self.svg(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        rows = [f"{self.title} ({self.y_name} against {self.x_name})"]
        for line in self.lines:
            spread = [f" ({low:.3g} to {high:.3g})" for low, high in line.spread] or [""] * len(line.points)
            numbers = ", ".join(f"{y:.3g}{ends} at {x:g}" for (x, y), ends in zip(line.points, spread))
            rows.append(f"{line.name}: {numbers}")
        return "\n".join(rows)


def spread_out(heights: Sequence[float]) -> list[float]:
    """Where names are written that belong at these heights, from top to bottom: not over each other, and none below
    the picture."""
    placed: list[float] = []
    for height in heights:
        placed.append(max([height] + [above + LETTERS for above in placed[-1:]]))
    lowest = HEIGHT - 6
    return [min(height, lowest - LETTERS * below) for below, height in enumerate(reversed(placed))][::-1]


class LearningCurve:
    """A plot that grows while a draft learns: call it with the name and the history of a training after each
    evaluation, and the plot in the notebook is drawn anew."""

    def __init__(self, title: str = "The first draft on prompts put aside"):
        self.title = title
        self.histories: dict[str, Sequence[Mapping]] = {}
        self._shown = None

    @property
    def plot(self) -> Plot:
        lines = [
            Line(name, [(evaluation["tokens"] / 1e3, evaluation["steps"][0]["overlap"]) for evaluation in history])
            for name, history in self.histories.items()
        ]
        return Plot(self.title, lines, "thousand tokens learned from, repeats included", "Σ min(p, q)")

    def __call__(self, name: str, history: Sequence[Mapping]) -> None:
        from IPython.display import display  # here, since reports are made without a notebook, too

        self.histories[name] = history
        if self._shown is None:
            self._shown = display(self.plot, display_id=True)
        else:
            self._shown.update(self.plot)


@dataclass(frozen=True)
class Dots:
    """A dot for each text: rows of dots on one scale, a stroke at the mean of each row, which shows how far the texts
    of one kind lie apart. Displayed as the last value of a cell.

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
        """Of a row's values; None where there are none."""
        numbers = [value for _, value in self.values(row)]
        return (statistics.geometric_mean if self.log else statistics.fmean)(numbers) if numbers else None

    def _repr_html_(self) -> str:
        width, right_margin, top, row_height = 480, 62, 14, 34  # pixels: as a phone can show it
        numbers = [value for row in self.rows for _, value in self.values(row)] or [1.0]
        low, high = (min(numbers), max(numbers)) if self.log else (min(0.0, *numbers), max(numbers))
        low, high = (low, high) if high > low else (low / 2 if self.log else low, high + 1)
        scale = math.log if self.log else float
        below = top + row_height * len(self.rows)
        left, right = max([70, *(14 + room(row, 13) for row in self.rows)]), width - right_margin  # names stand left

        def at(x: float) -> float:
            """Pixels from the left."""
            return round(left + (scale(x) - scale(low)) / (scale(high) - scale(low)) * (right - left), 1)

        parts = []
        for x in self._ticks(low, high):
            parts.append(f'<path d="M{at(x)} {top}V{below}" stroke="currentColor" stroke-opacity=".15"/>')
            parts.append(label(at(x), below + 18, f"{x:g}", "middle"))
        for i, row in enumerate(self.rows):
            y, mean = top + row_height * (i + 0.5), self.mean(row)
            parts.append(label(left - 12, y + 4, row, "end"))
            for name, value in self.values(row):
                hover = f"<title>{escape(f'{name}: ' if name else '')}{short(value)}</title>"
                paint = f'fill="{BLUE}" fill-opacity=".45" stroke="{BLUE}"'
                parts.append(f'<circle cx="{at(value)}" cy="{y}" r="4.5" {paint}>{hover}</circle>')
            if mean is not None:
                parts.append(f'<path d="M{at(mean)} {y - 11}v22" stroke="{ORANGE}" stroke-width="3"/>')
                parts.append(label(right + 14, y + 4, short(mean), bold=True))
        note = f"{self.x_name}; a dot for each, | the {'geometric ' if self.log else ''}mean"
        parts.append(label((left + right) / 2, below + 36, note, "middle"))
        return _below_title(self, width, below + 44, parts, font=15)

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
            each = f"mean {short(mean)}: " + " ".join(map(short, numbers)) if mean is not None else "none"
            lines.append(f"{row:>{width}}  {each}")
        return "\n".join(lines)


STRIPES = (
    '<pattern id="sdl-out1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<path d="M0 0V6" stroke="{ORANGE}" stroke-width="3"/></pattern>'
)
SPOTS = (
    '<pattern id="sdl-out2" width="6" height="6" patternUnits="userSpaceOnUse">'
    f'<circle cx="3" cy="3" r="2" fill="{GREEN}"/></pattern>'
)
FILLS = (BLUE, "url(#sdl-out1)", "url(#sdl-out2)")
PAINTS = [
    f'fill="{fill}" stroke="{hue}"' for fill, hue in zip(FILLS, (BLUE, ORANGE, GREEN))
]  # no more can be told apart


@dataclass(frozen=True)
class FrequencyBars:
    """Shares as bars over the dashed outline of what was wanted: whether what comes out follows a distribution, at one
    look. Displayed as the last value of a cell.

    Args:
        wanted: {outcome: its probability}, those that are shown.
        came: {way: {outcome: share}}, at most three ways.
        runs: of how many draws the shares are; then a bracket shows where nineteen of twenty shares should lie.
            None: they are exact.

    Raises:
        ValueError: for more than three ways.
    """

    title: str
    wanted: Mapping[str, float]
    came: Mapping[str, Mapping[str, float]]
    runs: int | None = None

    def __post_init__(self):
        if len(self.came) > len(PAINTS):
            raise ValueError(f"{len(self.came)} ways beside each other cannot be told apart: at most {len(PAINTS)}.")

    def margin(self, p: float) -> float:
        """How far a share may be from p: about two standard deviations."""
        return 2 * math.sqrt(p * (1 - p) / self.runs) if self.runs else 0.0

    def _repr_html_(self) -> str:
        between, left_margin, tall = 26, 46, 190  # pixels
        bar = max(26, min(84, (290 // max(1, len(self.wanted)) - between) // max(1, len(self.came))))  # few are broad
        shares = [way.get(name, 0.0) for way in self.came.values() for name in self.wanted]
        largest = max([*shares, *(p + self.margin(p) for p in self.wanted.values())], default=1.0) or 1.0
        *_, largest = levels = ticks(0, largest, 4, around=True)
        group = bar * len(self.came)
        right, ground = left_margin + (group + between) * len(self.wanted), 14 + tall

        def up(share: float) -> float:
            """Pixels above the ground."""
            return round(tall * share / largest, 1)

        parts = [f"<defs>{STRIPES}{SPOTS}</defs>"]
        for y in levels:
            parts.append(_level(y, ground - up(y), left_margin, right))
        for i, (name, p) in enumerate(self.wanted.items()):
            left = left_margin + between / 2 + (group + between) * i
            middle = left + group / 2
            for k, (paint, way) in enumerate(zip(PAINTS, self.came.values())):
                height = up(way.get(name, 0.0))
                place = f'x="{left + bar * k + 2}" y="{ground - height}" width="{bar - 4}" height="{height}"'
                parts.append(f"<rect {place} {paint}/>")
            place = f'x="{left - 2}" y="{ground - up(p)}" width="{group + 4}" height="{up(p)}"'
            parts.append(f"<rect {place} {DASHED_OUTLINE}/>")
            if self.runs:
                low, high = up(max(0.0, p - self.margin(p))), up(p + self.margin(p))
                bracket = f"M{middle - 5} {ground - high}h10m-5 0V{ground - low}m-5 0h10"
                parts.append(f'<path d="{bracket}" fill="none" stroke="currentColor"/>')
            parts.append(label(middle, ground + 18, name, "middle"))
        legend = [*zip(PAINTS, self.came), (DASHED_OUTLINE, "wanted: p")]
        if self.runs:
            legend.append(('fill="none"', "I: 19 of 20 should lie here"))
        for k, (paint, words) in enumerate(legend):
            parts.append(f'<rect x="{left_margin}" y="{ground + 36 + 24 * k}" width="16" height="14" {paint}/>')
            parts.append(label(left_margin + 24, ground + 48 + 24 * k, words))
        width = max(right, left_margin + 24 + max(room(words, 13) for _, words in legend))
        return _below_title(self, width, ground + 36 + 24 * len(legend), parts)

    def __repr__(self) -> str:
        lines = [self.title + (f" (shares of {self.runs})" if self.runs else "")]
        for name, p in self.wanted.items():
            margin = f" ± {self.margin(p):.3f}" if self.runs else ""
            each = "".join(f", {way} {shares.get(name, 0.0):.3f}" for way, shares in self.came.items())
            lines.append(f"{name}: wanted {p:.3f}{margin}{each}")
        return "\n".join(lines)
