"""Frequencies over the outline of what was wanted: whether what comes out follows a distribution, at one look."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from math import sqrt

from specdec_lab.show.lines import COLOURS, ticks

BAR, BETWEEN, LEFT, TOP, TALL, BOTTOM, LEGEND = 26, 26, 46, 14, 190, 26, 210  # pixels
PATTERNS = (
    '<pattern id="sdl-out1" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<path d="M0 0V6" stroke="{COLOURS[1]}" stroke-width="3"/></pattern>'
    '<pattern id="sdl-out2" width="6" height="6" patternUnits="userSpaceOnUse">'
    f'<circle cx="3" cy="3" r="2" fill="{COLOURS[2]}"/></pattern>'
)
FILLS = (COLOURS[0], "url(#sdl-out1)", "url(#sdl-out2)")
LOOKS = [f'fill="{fill}" stroke="{colour}"' for fill, colour in zip(FILLS, COLOURS)]
MOST = len(LOOKS)  # ways beside each other


@dataclass(frozen=True)
class Outline:
    """Bars over a dashed outline. Displayed as the last value of a cell.

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
        if len(self.came) > MOST:
            raise ValueError(f"{len(self.came)} ways beside each other cannot be told apart: at most {MOST}.")

    def room(self, p: float) -> float:
        """How far a share may be from p: about two standard deviations."""
        return 2 * sqrt(p * (1 - p) / self.runs) if self.runs else 0.0

    def _repr_html_(self) -> str:
        shares = [way.get(name, 0.0) for way in self.came.values() for name in self.wanted]
        top = max([*shares, *(p + self.room(p) for p in self.wanted.values())], default=1.0) or 1.0
        group = BAR * len(self.came) + BETWEEN
        right, ground = LEFT + group * len(self.wanted), TOP + TALL

        def up(share: float) -> float:
            return round(TALL * share / top, 1)

        parts = [f"<defs>{PATTERNS}</defs>"]
        for y in ticks(0, top, 4):
            parts.append(f'<path d="M{LEFT} {ground - up(y)}H{right}" stroke="currentColor" stroke-opacity=".15"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{ground - up(y) + 4}" text-anchor="end">{y:g}</text>')
        for i, (name, p) in enumerate(self.wanted.items()):
            left = LEFT + BETWEEN / 2 + group * i
            for k, way in enumerate(self.came.values()):
                height, x = up(way.get(name, 0.0)), left + BAR * k
                parts.append(
                    f'<rect x="{x + 2}" y="{ground - height}" width="{BAR - 4}" height="{height}" {LOOKS[k]}/>'
                )
            wide, middle = BAR * len(self.came), left + BAR * len(self.came) / 2
            parts.append(
                f'<rect x="{left - 2}" y="{ground - up(p)}" width="{wide + 4}" height="{up(p)}" fill="none" '
                'stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"/>'
            )
            if self.runs:
                low, high = up(max(0.0, p - self.room(p))), up(p + self.room(p))
                bracket = f"M{middle - 5} {ground - high}h10m-5 0V{ground - low}m-5 0h10"
                parts.append(f'<path d="{bracket}" fill="none" stroke="currentColor"/>')
            parts.append(f'<text x="{middle}" y="{ground + 18}" text-anchor="middle">{escape(name)}</text>')
        looks = [(look, way) for look, way in zip(LOOKS, self.came)]
        looks.append(('fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"', "wanted: p"))
        for k, (look, words) in enumerate(looks):
            parts.append(f'<rect x="{right + 16}" y="{TOP + 10 + 26 * k}" width="16" height="14" {look}/>')
            parts.append(f'<text x="{right + 38}" y="{TOP + 22 + 26 * k}">{escape(words)}</text>')
        if self.runs:
            parts.append(f'<text x="{right + 16}" y="{TOP + 22 + 26 * len(looks)}">I: 19 of 20 should lie here</text>')
        width = right + LEGEND
        return (
            f'<div style="font-size:15px"><b>{escape(self.title)}</b></div>'
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {ground + BOTTOM}" role="img" '
            f'fill="currentColor" style="max-width:{width}px;font:13px sans-serif"><title>{escape(self.title)}</title>'
            f"<desc>{escape(repr(self))}</desc>{''.join(parts)}</svg>"
        )

    def __repr__(self) -> str:
        lines = [self.title + (f" (shares of {self.runs})" if self.runs else "")]
        for name, p in self.wanted.items():
            room = f" ± {self.room(p):.3f}" if self.runs else ""
            each = "".join(f", {way} {shares.get(name, 0.0):.3f}" for way, shares in self.came.items())
            lines.append(f"{name}: wanted {p:.3f}{room}{each}")
        return "\n".join(lines)
