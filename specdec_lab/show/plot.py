"""A line chart in a notebook: plotly where it runs (hover, zoom), the same as SVG where nothing runs, and in words."""

from collections.abc import Sequence

from specdec_lab.show.lines import Line, as_text, chart, colours

PLOTLY_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")


class Plot:
    """Some lines. Displayed as the last value of a cell.

    Args:
        y_from: where the y axis begins; by default at the smallest value.
    """

    def __init__(self, title: str, lines: Sequence[Line], x_name: str, y_name: str, y_from: float | None = 0.0):
        self.title, self.lines, self.x_name, self.y_name, self.y_from = title, list(lines), x_name, y_name, y_from

    def figure(self):
        """The plotly figure."""
        import plotly.graph_objects as go

        figure = go.Figure(layout={"template": "none", "width": 720, "height": 380})
        for i, (line, colour) in enumerate(zip(self.lines, colours(self.lines))):
            xs, ys = zip(*line.points)
            error = None
            if line.spread:
                high = [top - y for y, (_, top) in zip(ys, line.spread)]
                low = [y - bottom for y, (bottom, _) in zip(ys, line.spread)]
                error = {"type": "data", "array": high, "arrayminus": low, "symmetric": False}
            figure.add_scatter(
                x=xs,
                y=ys,
                name=line.name,
                mode="lines+markers" if line.dots else "lines",
                line={"color": colour, "dash": PLOTLY_DASHES[i % len(PLOTLY_DASHES)], "width": 1.3 if line.of else 2},
                marker={"symbol": SYMBOLS[i % len(SYMBOLS)]},
                error_y=error,
            )
        figure.update_layout(
            title=self.title,
            xaxis_title=self.x_name,
            yaxis_title=self.y_name,
            paper_bgcolor="rgba(0,0,0,0)",
            plot_bgcolor="rgba(0,0,0,0)",
            font_color="#808080",  # readable on a light and on a dark page
        )
        quiet = "rgba(128,128,128,.3)"  # lines of the grid, on either page
        for axes in (figure.update_xaxes, figure.update_yaxes):
            axes(gridcolor=quiet, zerolinecolor=quiet)
        if self.y_from is not None:
            figure.update_yaxes(rangemode="tozero" if self.y_from == 0 else "normal")
        return figure

    def _repr_mimebundle_(self, **kwargs) -> dict:
        svg = chart(self.title, self.lines, self.x_name, self.y_name, self.y_from)
        return {
            "application/vnd.plotly.v1+json": self.figure().to_plotly_json(),
            "image/svg+xml": svg,
            "text/plain": as_text(self.title, self.lines, self.x_name, self.y_name),
        }
