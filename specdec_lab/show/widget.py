"""What a widget made of form controls leaves where there is no kernel."""

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
