"""Charts as SVG: pictures that need no kernel, no network and no library, each with its numbers as text.

`Plot` draws lines, and is live where plotly runs; `LearningCurve` is one that grows; `Dots` show a dot for each text,
`FrequencyBars` shares over what was wanted, `Passes` what passes read and compute.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from specdec_lab.errors import LabError
from specdec_lab.formats import short

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # Okabe–Ito
COLOURS = (BLUE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", ORANGE)  # of lines; orange, elsewhere "slower", is last
GREY = "#808080"  # readable on a light and on a dark page
# Colour never carries meaning alone: dashes as SVG writes them, by plotly's names.
DASHES = {"solid": "", "dashdot": "9 3 2 3", "dot": "2 3", "dash": "4 2", "longdash": "12 4", "longdashdot": "1 2"}
PLAIN_DASH = "7 3"
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x")
FAINT = 'stroke="currentColor" stroke-opacity=".15"'
DASHED_OUTLINE = 'fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"'  # around what is wanted


# What all pictures are made of.


def svg(width: float, height: float, font: int, title: str, parts: Sequence[str], text: str) -> str:
    """An <svg> element of these parts. text: its numbers in words, which become its description."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" fill="currentColor" '
        f'style="max-width:{width}px;font:{font}px sans-serif">'
        f"<title>{escape(title)}</title><desc>{escape(text)}</desc>{''.join(parts)}</svg>"
    )


def below_title(title: str, picture: str) -> str:
    """The title as HTML, and below it the picture."""
    return f'<div style="font-size:15px"><b>{escape(title)}</b></div>{picture}'


def label(x: float, y: float, words: str, anchor: str = "", look: str = "") -> str:
    """Words that begin at (x, y); with anchor "middle" or "end" they have their middle or their end there."""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x}" y="{y}"{anchored}{look}>{escape(words)}</text>'


def path(d: str, look: str) -> str:
    return f'<path d="{d}" {look}/>'


def rect(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {look}/>'


def circle(x: float, y: float, radius: float, look: str, hover: str = "") -> str:
    said = f"<title>{escape(hover)}</title>" if hover else ""
    return f'<circle cx="{x}" cy="{y}" r="{radius}" {look}>{said}</circle>'


def bracket(x: float, low: float, high: float, colour: str) -> str:
    """How far a number may be off, between two heights."""
    return path(f"M{x} {low}V{high}M{x - 4} {low}h8M{x - 4} {high}h8", f'stroke="{colour}"')


def level(y: float, down: float, left: float, right: float) -> str:
    """A faint line across the picture at the height of y, with the number at its left."""
    return path(f"M{left} {down}H{right}", FAINT) + label(left - 6, down + 4, f"{y:g}", "end")


def room(text: str, font: int) -> int:
    """Pixels to keep free for a text of this font size: two thirds of it a letter, more than most letters take."""
    return math.ceil(2 * font / 3) * len(text)


def axis(low: float, high: float, start: float, end: float, of: Callable[[float], float] = float):
    """The place in pixels of a number: of low at start, of high at end. of: such as a logarithm."""
    return lambda x: round(start + (of(x) - of(low)) / (of(high) - of(low)) * (end - start), 1)


def ticks(low: float, high: float, about: int = 5, around: bool = False) -> list[float]:
    """Round numbers from low to high, `about` of them or more. around: from the one below low to the one above high."""
    span = (high - low) or 1.0
    downwards = (digit * 10.0**power for power in range(15, -300, -1) for digit in (5, 2, 1))
    step = next(step for step in downwards if span / step >= about)
    up, down = (lambda x: math.ceil(x / step - 1e-9)), (lambda x: math.floor(x / step + 1e-9))
    first, last = (down(low), up(high)) if around else (up(low), down(high))
    return [round(i * step, 10) for i in range(first, last + 1)]


def powers(low: float, high: float) -> list[float]:
    """The powers of two from low to high, or low."""
    return [2.0**i for i in range(math.ceil(math.log2(low)), math.floor(math.log2(high)) + 1)] or [low]


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


WIDTH, HEIGHT = 720, 340  # pixels of a plot
LEFT, RIGHT, TOP, BOTTOM = 40, 150, 62, 44  # its margins; the right one at least
FONT = 13  # pixels: the size of the text, of everything but the title
LETTERS = 16  # from one line of text to the next
GRID = {"gridcolor": "rgba(128,128,128,0.3)", "zerolinecolor": "rgba(128,128,128,0.3)"}
LAYOUT = {"width": 720, "height": 380, "font": {"color": GREY}}
LAYOUT |= {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}


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

    @property
    def xs(self) -> list[float]:
        return [x for line in self.lines for x, _ in line.points]

    @property
    def looks(self) -> list[tuple[str, str, str]]:
        """(colour, dash by plotly's name, dashes as SVG writes them) of each line. controls.js counts in the same way, so
        a line looks alike on a phone."""
        own = itertools.cycle((colour, *dash) for colour, dash in zip(COLOURS, DASHES.items()))
        return [(GREY, "dash", PLAIN_DASH) if line.plain else next(own) for line in self.lines]

    def svg(self) -> str:
        """The chart as an <svg> element whose <desc> says every point."""
        xs = self.xs
        ys = [y for line in self.lines for y in (*(y for _, y in line.points), *itertools.chain(*line.spread))]
        x0, x1, y0, y1 = min(xs), max(xs), min(0.0, *ys), max(ys)
        if x1 == x0:
            x1 = 2 * x0 if self.doubling else x0 + 1
        y0, *_, y1 = marks = ticks(y0, y1 if y1 > y0 else y0 + 1, 3, around=True)
        end = WIDTH - max(RIGHT, 40 + max(room(line.name, FONT) for line in self.lines))  # behind it stand the names
        across = axis(x0, x1, LEFT, end, math.log2 if self.doubling else float)
        down = axis(y0, y1, HEIGHT - BOTTOM, TOP)
        # Smaller where the title would not fit. A bold letter is 0.6 of its height wide, on average.
        size = min(14, math.floor(10 * WIDTH / (0.6 * max(1, len(self.title)))) / 10)
        parts = [label(0, 18, self.title, look=f' font-size="{size}" font-weight="600"')]
        # The y axis is named above it, where it is read without turning one's head.
        parts += [label((LEFT + end) / 2, HEIGHT - 8, self.x_name, "middle"), label(0, 42, self.y_name)]
        if any(
            line.plain and all(y == 1 for _, y in line.points) for line in self.lines
        ):  # gains above, losses below it
            for hue, high, low in ((GREEN, y1, 1), (ORANGE, 1, y0)):
                height = round(down(low) - down(high), 1)
                parts.append(rect(LEFT, down(high), end - LEFT, height, f'fill="{hue}" opacity=".08"'))
        parts += [level(y, down(y), float(LEFT), end) for y in marks]
        parts.append(path(f"M{LEFT} {down(y0)}H{end}", 'stroke="currentColor" stroke-opacity=".5"'))
        counted = max(xs) - min(xs) <= 12 and all(float(x).is_integer() for x in xs)  # places have no halves
        for x in powers(min(xs), max(xs)) if self.doubling else sorted({*xs}) if counted else ticks(x0, x1):
            parts.append(label(across(x), down(y0) + 16, f"{x:g}", "middle"))
        ends = []
        for line, (colour, _, dashes) in zip(self.lines, self.looks):
            stroke = f'stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}"'
            places = [(across(x), down(y)) for x, y in line.points]
            curve = " L".join(f"{x} {y}" for x, y in places)
            parts.append(path(f"M{curve}", f'fill="none" stroke-linejoin="round" {stroke}'))
            for (x, _), (low, high) in zip(places, line.spread):
                parts.append(bracket(x, down(low), down(high), colour))
            parts += [circle(x, y, 3.5, f'fill="{colour}"') for x, y in places if line.dots]
            ends.append((places[-1][1], line.name, stroke))
        ends.sort()
        for height, (_, name, stroke) in zip(spread_out([height for height, *_ in ends]), ends):
            parts.append(path(f"M{end + 8} {height}h22", stroke) + label(end + 36, height + 4, name))
        return svg(WIDTH, HEIGHT, FONT, self.title, parts, repr(self))

    def figure(self) -> dict:
        """The chart as plotly takes it."""
        x_axis = {**GRID, "title": {"text": self.x_name}}
        y_axis = {**GRID, "title": {"text": self.y_name}, "rangemode": "tozero"}
        if self.doubling:
            x_axis |= {"type": "log", "tickvals": powers(min(self.xs), max(self.xs))}
        data = []
        for i, (line, (colour, dash, _)) in enumerate(zip(self.lines, self.looks)):
            xs, ys = map(list, zip(*line.points))
            drawn = {"type": "scatter", "x": xs, "y": ys, "name": line.name}
            drawn |= {
                "mode": "lines+markers" if line.dots else "lines",
                "marker": {"symbol": SYMBOLS[i % len(SYMBOLS)]},
            }
            drawn |= {"line": {"color": colour, "dash": dash, "width": 2}}
            if line.spread:
                low, high = ([abs(end - y) for y, end in zip(ys, ends)] for ends in zip(*line.spread))
                drawn["error_y"] = {"type": "data", "array": high, "arrayminus": low, "symmetric": False}
            data.append(drawn)
        return {"data": data, "layout": {**LAYOUT, "title": {"text": self.title}, "xaxis": x_axis, "yaxis": y_axis}}

    def _repr_mimebundle_(self, **kwargs) -> dict:
        plotly = {"application/vnd.plotly.v1+json": self.figure()}
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


# A dot for each text.


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
        width, top, row_height = 480, 14, 34  # pixels: as a phone can show it
        numbers = [value for row in self.rows for _, value in self.values(row)] or [1.0]
        low, high = (min(numbers), max(numbers)) if self.log else (min(0.0, *numbers), max(numbers))
        low, high = (low, high) if high > low else (low / 2 if self.log else low, high + 1)
        below = top + row_height * len(self.rows)
        left, right = max([70, *(14 + room(row, 13) for row in self.rows)]), width - 62  # names stand left, means right
        across = axis(low, high, left, right, math.log if self.log else float)
        parts = []
        for x in powers(low, high) if self.log else ticks(low, high):
            parts += [path(f"M{across(x)} {top}V{below}", FAINT), label(across(x), below + 18, f"{x:g}", "middle")]
        for i, row in enumerate(self.rows):
            y, mean = top + row_height * (i + 0.5), self.mean(row)
            parts.append(label(left - 12, y + 4, row, "end"))
            for name, value in self.values(row):
                paint = f'fill="{BLUE}" fill-opacity=".45" stroke="{BLUE}"'
                parts.append(circle(across(value), y, 4.5, paint, f"{name}: {short(value)}" if name else short(value)))
            if mean is not None:
                parts.append(path(f"M{across(mean)} {y - 11}v22", f'stroke="{ORANGE}" stroke-width="3"'))
                parts.append(label(right + 14, y + 4, short(mean), look=' font-weight="600"'))
        note = f"{self.x_name}; a dot for each, | the {'geometric ' if self.log else ''}mean"
        parts.append(label((left + right) / 2, below + 36, note, "middle"))
        return below_title(self.title, svg(width, below + 44, 15, self.title, parts, repr(self)))

    def __repr__(self) -> str:
        width = max(map(len, self.rows), default=0)
        lines = [f"{self.title} ({self.x_name})"]
        for row in self.rows:
            mean, numbers = self.mean(row), sorted(value for _, value in self.values(row))
            each = f"mean {short(mean)}: " + " ".join(map(short, numbers)) if mean is not None else "none"
            lines.append(f"{row:>{width}}  {each}")
        return "\n".join(lines)


# Passes, as the Pass Explorer of lesson 01 shows one.


@dataclass(frozen=True)
class Passes:
    """Passes in turn, each as wide as the longer of its two jobs: to read all weights, the upper bar, and to compute its
    rows, the lower one. Displayed as the last value of a cell.

    Args:
        strips: {name: (what each draft before them costs, the rows of each pass)}. All times are in readings of all
            weights; a draft is a narrow pass.
        crossing: rows that are computed while all weights are read once.
    """

    title: str
    strips: Mapping[str, tuple[Sequence[float], Sequence[int]]]
    crossing: float

    def jobs(self, name: str) -> list[tuple[float, float]]:
        """(reading, computing) of each draft and of each pass."""
        costs, passes = self.strips[name]
        return [(cost, 0.0) for cost in costs] + [(1.0, rows / self.crossing) for rows in passes]

    def length(self, name: str) -> float:
        return sum(map(max, self.jobs(name)))

    def _repr_html_(self) -> str:
        width, each, high = 480, 54, 11  # pixels: as a phone can show it
        most, below = max(map(self.length, self.strips)), each * len(self.strips)
        across = axis(0, most, 6, width - 16)  # half of the last number stands beyond its place
        parts = []
        for x in ticks(0, most):
            parts += [path(f"M{across(x)} 0V{below}", FAINT), label(across(x), below + 17, f"{x:g}", "middle")]
        for i, name in enumerate(self.strips):
            y, at = each * i + 22, 0.0
            parts.append(label(6, y - 6, f"{name}: {self.length(name):.2f}"))
            for jobs in self.jobs(name):
                for k, (long, hue) in enumerate(zip(jobs, (BLUE, COLOURS[2]))):
                    room, full = (max(1.5, across(at + t) - across(at) - 1.5) for t in (max(jobs), long))
                    parts.append(rect(across(at), y + k * high, room, high, 'opacity=".13"'))
                    parts.append(rect(across(at), y + k * high, full, high, f'fill="{hue}"') if long else "")
                at += max(jobs)
        notes = "time, in readings of all weights", "upper bar: the weights are read; lower bar: rows are computed"
        parts += [label(6, below + 38 + 20 * i, note) for i, note in enumerate(notes)]
        return below_title(self.title, svg(width, below + 66, 15, self.title, parts, repr(self)))

    def __repr__(self) -> str:
        lines = [f"{self.title} (in readings of all weights; {self.crossing:.0f} rows are computed in one)"]
        for name, (costs, passes) in self.strips.items():
            drafts = f"drafts of {' + '.join(map(short, costs))}, " if costs else ""
            lines.append(f"{name}: {self.length(name):.2f}, {drafts}passes over rows: {', '.join(map(str, passes))}")
        return "\n".join(lines)


# Shares over what was wanted.

PATTERN = 'width="6" height="6" patternUnits="userSpaceOnUse"'
PATTERNS = (
    f'<defs><pattern id="sdl-out1" {PATTERN} patternTransform="rotate(45)">'
    f'<path d="M0 0V6" stroke="{ORANGE}" stroke-width="3"/></pattern>'
    f'<pattern id="sdl-out2" {PATTERN}><circle cx="3" cy="3" r="2" fill="{GREEN}"/></pattern></defs>'
)
FILLS = {BLUE: BLUE, ORANGE: "url(#sdl-out1)", GREEN: "url(#sdl-out2)"}
PAINTS = [f'fill="{fill}" stroke="{hue}"' for hue, fill in FILLS.items()]  # no more can be told apart


@dataclass(frozen=True)
class FrequencyBars:
    """Shares as bars over the dashed outline of what was wanted: whether what comes out follows a distribution, at one
    look. Displayed as the last value of a cell.

    Args:
        wanted: {outcome: its probability}, those that are shown.
        came: {way: {outcome: share}}, at most three ways.
        runs: of how many draws the shares are; then a bracket shows where nineteen of twenty shares should lie.
            None: they are exact.
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
        between, left_margin, ground = 26, 46, 204  # pixels
        bar = max(26, min(84, (290 // max(1, len(self.wanted)) - between) // max(1, len(self.came))))  # few are broad
        shares = [way.get(name, 0.0) for way in self.came.values() for name in self.wanted]
        largest = max([*shares, *(p + self.margin(p) for p in self.wanted.values())], default=1.0) or 1.0
        *_, largest = levels = ticks(0, largest, 4, around=True)
        group = bar * len(self.came)
        right, up = left_margin + (group + between) * len(self.wanted), axis(0, largest, 0, ground - 14)
        parts = [PATTERNS, *(level(y, ground - up(y), left_margin, right) for y in levels)]
        for i, (name, p) in enumerate(self.wanted.items()):
            left = left_margin + between / 2 + (group + between) * i
            middle = left + group / 2
            for k, (paint, way) in enumerate(zip(PAINTS, self.came.values())):
                height = up(way.get(name, 0.0))
                parts.append(rect(left + bar * k + 2, ground - height, bar - 4, height, paint))
            parts.append(rect(left - 2, ground - up(p), group + 4, up(p), DASHED_OUTLINE))
            if self.runs:
                low, high = up(max(0.0, p - self.margin(p))), up(p + self.margin(p))
                parts.append(bracket(middle, ground - low, ground - high, "currentColor"))
            parts.append(label(middle, ground + 18, name, "middle"))
        legend = [*zip(PAINTS, self.came), (DASHED_OUTLINE, "wanted: p")]
        legend += [('fill="none"', "I: 19 of 20 should lie here")] if self.runs else []
        for k, (paint, words) in enumerate(legend):
            parts.append(rect(left_margin, ground + 36 + 24 * k, 16, 14, paint))
            parts.append(label(left_margin + 24, ground + 48 + 24 * k, words))
        width = max(right, left_margin + 24 + max(room(words, 13) for _, words in legend))
        picture = svg(width, ground + 36 + 24 * len(legend), 13, self.title, parts, repr(self))
        return below_title(self.title, picture)

    def __repr__(self) -> str:
        lines = [self.title + (f" (shares of {self.runs})" if self.runs else "")]
        for name, p in self.wanted.items():
            margin = f" ± {self.margin(p):.3f}" if self.runs else ""
            each = "".join(f", {way} {shares.get(name, 0.0):.3f}" for way, shares in self.came.items())
            lines.append(f"{name}: wanted {p:.3f}{margin}{each}")
        return "\n".join(lines)
