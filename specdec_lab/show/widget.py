"""What a widget leaves where there is no kernel: the same as HTML and as text."""

import re
from html import unescape

import ipywidgets as w


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
    """A sentence for the learner, which a screen reader reads out when it appears."""
    return f'<div role="status" style="line-height:1.5;white-space:normal">{message}</div>' if message else ""


def as_text(html: str) -> str:
    """What a reader of text gets from a piece of HTML."""
    spaced = re.sub(r"</(div|p|tr|table|title|desc|text|svg|li)>|<br>", "\n", html)
    lines = (unescape(re.sub(r"<[^>]*>", " ", line)) for line in spaced.splitlines())
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())
