"""A piece of HTML as a value in a notebook, as a page of its own, and as text."""

import re
from html import escape, unescape


class Html:
    """Displayed as the last value of a cell: HTML in a notebook, elsewhere `text` (default: the HTML's own)."""

    def __init__(self, html: str, text: str | None = None):
        self.html, self.text = html, as_text(html) if text is None else text

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def page(title: str, body: str) -> str:
    """A page that needs nothing else: no network, no styles, no scripts.

    Args:
        title: plain text.
        body: HTML.
    """
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><body style="font:16px/1.5 sans-serif;max-width:52em;margin:2em auto;padding:0 1em">'
        f"<h1>{escape(title)}</h1>{body}</body></html>"
    )


def as_text(html: str) -> str:
    """What a reader of text gets from a piece of HTML."""
    spaced = re.sub(r"</(div|p|tr|table|title|desc|text|svg|li)>|<br>", "\n", html)
    lines = (unescape(re.sub(r"<[^>]*>", " ", line)) for line in spaced.splitlines())
    return "\n".join(" ".join(line.split()) for line in lines if line.strip())
