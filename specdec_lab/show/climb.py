"""A plot that grows while a draft learns."""

from collections.abc import Mapping, Sequence

from IPython.display import display

from specdec_lab.show.lines import Line
from specdec_lab.show.plot import Plot


class Climb:
    """Call it with the name and the history of a training after each look: the plot in the notebook is drawn anew."""

    def __init__(self, title: str = "The first draft on prompts put aside"):
        self.title = title
        self.histories: dict[str, Sequence[Mapping]] = {}
        self._shown = None

    @property
    def plot(self) -> Plot:
        lines = [
            Line(name, [(look["tokens"] / 1e3, look["steps"][0]["overlap"]) for look in history])
            for name, history in self.histories.items()
        ]
        return Plot(self.title, lines, "thousand tokens learned from, repeats included", "Σ min(p, q)")

    def __call__(self, name: str, history: Sequence[Mapping]) -> None:
        self.histories[name] = history
        if self._shown is None:
            self._shown = display(self.plot, display_id=True)
        else:
            self._shown.update(self.plot)
