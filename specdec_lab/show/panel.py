"""A picture with controls: what a plain function draws, redrawn as sliders, menus and boxes change.

Every widget of the course but the Round Explorer is one of these. The function takes the values
of the controls and returns HTML, so all that a widget can show is tested without a browser; the
picture of the start values stands wherever there is no kernel.
"""

from collections.abc import Callable, Mapping

import ipywidgets as w

from specdec_lab.show.widget import StoredWidget

LOOK = {"style": {"description_width": "150px"}, "layout": {"width": "440px"}}


def slider(name: str, value: float, low: float, high: float, step: float) -> w.ValueWidget:
    """A number between low and high; whole ones if all of these are whole."""
    limits = {"min": low, "max": high, "step": step}
    if all(float(x).is_integer() for x in (value, low, high, step)):
        return w.IntSlider(value, **limits, description=name, **LOOK)
    return w.FloatSlider(value, **limits, description=name, readout_format=".2f", **LOOK)


def choice(name: str, options: Mapping[str, object], value: object = None) -> w.ValueWidget:
    """One of some named values; the first by default."""
    start = value if value is not None else next(iter(options.values()))
    wide = {**LOOK, "layout": {"width": "620px", "max_width": "100%"}}  # the longest entry of a menu is a sentence
    return w.Dropdown(options=dict(options), value=start, description=name, **wide)


def tick(name: str) -> w.ValueWidget:
    return w.Checkbox(False, description=name, indent=False, layout=LOOK["layout"])


class Panel(StoredWidget):
    """Shown in a notebook: the controls, and below them what `draw` makes of their values.

    Args:
        draw: takes the controls' values by name, returns HTML.
        controls: by name, from `slider`, `choice` and `tick`.
        title: what this is, for those who do not see it.
    """

    def __init__(self, draw: Callable[..., str], controls: Mapping[str, w.ValueWidget], title: str):
        self.draw, self.controls, self.title = draw, dict(controls), title
        self.picture = w.HTML(self.drawn())
        self.box = w.VBox([w.HTML(f"<b>{title}</b>"), *self.controls.values(), self.picture])
        for control in self.controls.values():
            control.observe(self.redraw, "value")

    def values(self) -> dict:
        return {name: control.value for name, control in self.controls.items()}

    def drawn(self) -> str:
        return self.draw(**self.values())

    def redraw(self, change: object = None) -> None:
        self.picture.value = self.drawn()

    def html(self) -> str:
        return f"<b>{self.title}</b>{self.drawn()}"
