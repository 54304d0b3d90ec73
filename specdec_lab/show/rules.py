"""Every rule of `theory.RULES` as a small picture of the sandbox: which of them write p, and which do not."""

from dataclasses import dataclass
from html import escape

from specdec_lab import theory
from specdec_lab.show.marks import MARKS
from specdec_lab.show.sandbox import ACCEPTED, PATTERNS, REJECTED, REPLACED, TOKENS, WANTED

BAR, GAP, TALL, FOOT, WIDTH = 20, 58, 92, 30, 178  # pixels: a bar, from token to token, the height of 1, below, all


@dataclass(frozen=True)
class Rules:
    """What comes out of each rule, for p and q over the three tokens of the sandbox."""

    p: theory.Row
    q: theory.Row

    def outputs(self) -> dict[str, list[float]]:
        return {name: theory.emitted(self.p, self.q, *rule(self.p, self.q)) for name, rule in theory.RULES.items()}

    def is_p(self, out: theory.Row) -> bool:
        return max(abs(a - b) for a, b in zip(out, self.p)) < 1e-9

    def _repr_html_(self) -> str:
        tiles = [self._tile(name, out) for name, out in self.outputs().items()]
        note = "left of each pair: what is drafted, kept (full) or rejected (stripes); right: what comes out, over p (dashed)"
        return (
            f'<div style="display:flex;flex-wrap:wrap;gap:10px 18px">{"".join(tiles)}</div>'
            f'<div style="font-size:12px;opacity:.8">{note}</div>'
        )

    def _tile(self, name: str, out: theory.Row) -> str:
        accepts, _ = theory.RULES[name](self.p, self.q)
        kept = [b * a for b, a in zip(self.q, accepts)]
        parts = [PATTERNS]
        for i, token in enumerate(TOKENS):
            left = 4 + GAP * i
            right = left + BAR + 2
            parts += [
                _box(left, 0, kept[i], ACCEPTED),
                _box(left, kept[i], self.q[i], REJECTED),
                _box(right, 0, kept[i], ACCEPTED),
                _box(right, kept[i], out[i], REPLACED),
                _box(right, 0, self.p[i], WANTED),
                f'<text x="{right}" y="{TALL + 14}" text-anchor="middle">{escape(token)}</text>',
                f'<text x="{right}" y="{TALL + 27}" text-anchor="middle">{out[i]:.2f}</text>',
            ]
        mark = MARKS["accepted" if self.is_p(out) else "rejected"]
        said = f"{mark.symbol} {'p comes out' if self.is_p(out) else 'not p'}"
        return (
            f'<div style="width:{WIDTH}px;font-size:13px"><div style="min-height:3.4em">{escape(name)}</div>'
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {TALL + FOOT}" role="img" fill="currentColor" '
            f'style="width:{WIDTH}px;font:11px sans-serif"><title>{escape(name)}: {said}</title>{"".join(parts)}</svg>'
            f'<div style="border-left:4px solid {mark.colour};padding-left:6px"><b>{said}</b></div></div>'
        )

    def __repr__(self) -> str:
        lines = [f"p = {_row(self.p)}, q = {_row(self.q)}: what comes out of each rule"]
        for name, out in self.outputs().items():
            lines.append(f"{MARKS['accepted' if self.is_p(out) else 'rejected'].symbol} {_row(out)}  {name}")
        return "\n".join(lines)


def _row(row: theory.Row) -> str:
    return " ".join(f"{x:.2f}" for x in row)


def _box(left: float, low: float, high: float, look: str) -> str:
    """A part of a bar, from the probability `low` to `high`."""
    place = f'x="{left}" y="{TALL * (1 - high):.1f}" width="{BAR}" height="{TALL * max(0.0, high - low):.1f}"'
    return f"<rect {place} {look}/>"
