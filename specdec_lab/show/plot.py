"""A line chart in a notebook: plotly where it runs (hover, zoom), the same as SVG where nothing runs, and in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from specdec_lab.show.lines import Line, chart, colours, in_words, patterns, powers

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")
GRID = {"gridcolor": "rgba(128,128,128,.3)", "zerolinecolor": "rgba(128,128,128,.3)"}
LAYOUT = {
    "template": "none", "width": 720, "height": 380, "paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)",
    "font_color": "#808080",  # readable on a light and on a dark page
}  # fmt: skip


@dataclass(frozen=True)
class Plot:
    """Some lines. Displayed as the last value of a cell. doubling: equal steps to the right double x."""

    title: str
    lines: Sequence[Line]
    x_name: str
    y_name: str
    doubling: bool = False

    def figure(self):
        import plotly.graph_objects as go

        x_axis, y_axis = {**GRID, "title": self.x_name}, {**GRID, "title": self.y_name, "rangemode": "tozero"}
        if self.doubling:
            xs = [x for line in self.lines for x, _ in line.points]
            x_axis |= {"type": "log", "tickvals": powers(min(xs), max(xs))}
        figure = go.Figure(layout={**LAYOUT, "title": self.title, "xaxis": x_axis, "yaxis": y_axis})
        for i, (line, colour, pattern) in enumerate(zip(self.lines, colours(self.lines), patterns(self.lines))):
            xs, ys = zip(*line.points)
            error = None
            if line.spread:
                low, high = ([abs(end - y) for y, end in zip(ys, ends)] for ends in zip(*line.spread))
                error = {"type": "data", "array": high, "arrayminus": low, "symmetric": False}
            figure.add_scatter(
                x=xs, y=ys, name=line.name, mode="lines+markers" if line.dots else "lines", error_y=error,
                line={"color": colour, "dash": DASHES[pattern], "width": 1.3 if line.of else 2},
                marker={"symbol": SYMBOLS[i % len(SYMBOLS)]},
            )  # fmt: skip
        return figure

    def _repr_mimebundle_(self, **kwargs) -> dict:
        drawn = (self.title, self.lines, self.x_name, self.y_name)
        plotly = {"application/vnd.plotly.v1+json": self.figure().to_plotly_json()}
        return plotly | {"image/svg+xml": chart(*drawn, self.doubling), "text/plain": in_words(*drawn)}
