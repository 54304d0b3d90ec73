"""Guess beside measurement: a few bars that are also a table of numbers."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Bar:
    """value None is shown as `missing`, such as "no guess"."""

    name: str
    value: float | None
    missing: str = "no guess"


@dataclass(frozen=True)
class Bars:
    """Shown as HTML in a notebook, as plain text elsewhere. Values from 0 up."""

    title: str
    bars: tuple[Bar, ...]

    def _cells(self) -> list[tuple[str, float, str]]:
        largest = max((b.value or 0 for b in self.bars), default=0) or 1
        return [
            (b.name, (b.value or 0) / largest, b.missing if b.value is None else f"{round(b.value, 2):g}")
            for b in self.bars
        ]

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr style="background:none"><th scope="row" style="text-align:right;font-weight:normal">{escape(name)}</th>'
            f'<td style="text-align:left"><div style="display:inline-block;height:14px;width:{round(320 * share)}px;'
            f'background:currentColor;opacity:.5;vertical-align:middle"></div> {escape(shown)}</td></tr>'
            for name, share, shown in self._cells()
        )
        return (
            f'<div style="font-size:15px"><b>{escape(self.title)}</b><table style="margin:4px 0">{rows}</table></div>'
        )

    def __repr__(self) -> str:
        width = max((len(b.name) for b in self.bars), default=0)
        lines = [f"{name:>{width}}  {'█' * round(30 * share)} {shown}" for name, share, shown in self._cells()]
        return "\n".join([self.title, *lines])
