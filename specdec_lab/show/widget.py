"""What all widgets share: what stands where there is no kernel, what is said to the learner, and fields to type into."""

import ipywidgets as w

from specdec_lab.show.page import as_text


class StoredWidget:
    """Shown in a notebook: `box` where it can live, `html()` in a stored page, `text()` elsewhere."""

    box: w.Widget

    def html(self) -> str:
        raise NotImplementedError

    def text(self) -> str:
        return as_text(self.html())

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        return {**self.box._repr_mimebundle_(), "text/html": self.html(), "text/plain": self.text()}


def said(message: str) -> str:
    """A sentence for the learner as HTML, which a screen reader reads out when it appears."""
    return f'<div role="status" style="line-height:1.5;white-space:normal">{message}</div>' if message else ""


def field(name: str, hint: str, label_width: str, kind: type[w.Text] = w.Text, **more) -> w.Text:
    """A field to type into, a w.Text or w.Textarea. `more` is what this widget takes besides."""
    style = {"description_width": label_width}
    # Not continuous_update: while the kernel is busy, a click would overtake all but the first key.
    return kind(description=name, placeholder=hint, style=style, continuous_update=False, **more)
