"""The Acceptance Sandbox: three tokens, p and q to be changed by hand, and the rule, or a wrong one, at work.

And `Rules`: every rule of `theory.RULES` as a small picture of the sandbox, which of them write p and which do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from specdec_lab import theory
from specdec_lab.show.charts import DASHED_OUTLINE, label, svg
from specdec_lab.show.live import Live
from specdec_lab.show.marks import MARKS
from specdec_lab.show.table import table

TOKENS = ("on", "by", "near")
HEADS = "p, target", "q, draft", "chance to accept", "drafted and accepted", "replacement", "comes out"
START = {"p, target": (50, 30, 20), "q, draft": (70, 10, 20)}  # in hundredths: the standing example of the course
GREEN, RED, ORANGE = (MARKS[word].colour for word in ("accepted", "rejected", "corrected"))
PATTERNS = (
    '<defs><pattern id="sdl-no" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="6" height="6" fill="none"/><path d="M0 0V6" stroke="{RED}" stroke-width="3"/></pattern>'
    '<pattern id="sdl-re" width="6" height="6" patternUnits="userSpaceOnUse">'
    f'<circle cx="3" cy="3" r="2" fill="{ORANGE}"/></pattern></defs>'
)
LOOKS = {  # name: (what it means, how it is painted)
    "accepted": ("✓ drafted and accepted", f'fill="{GREEN}" stroke="{GREEN}"'),
    "rejected": ("✗ drafted and rejected", f'fill="url(#sdl-no)" stroke="{RED}"'),
    "replaced": ("↻ the replacement", f'fill="url(#sdl-re)" stroke="{ORANGE}"'),
    "wanted": ("p, what the target wants", DASHED_OUTLINE),
}


def normalised(weights: Sequence[float]) -> list[float]:
    """Weights to probabilities; all zero means all alike."""
    total = sum(weights)
    return [w / total for w in weights] if total else [1 / len(weights)] * len(weights)


def distance(out: theory.Row, p: theory.Row) -> float:
    """The largest difference; below 1e-9, what comes out is p."""
    return max(abs(a - b) for a, b in zip(out, p))


@dataclass(frozen=True)
class Columns:
    """Two bars for each token. Left: q, cut into what is accepted and what is rejected. Right: what comes out, over an
    outline of p. Pixels: a bar's width, the space above the bars, the height of probability 1."""

    width: int
    top: int
    height: int

    def draw(self, left: float, right: float, kept: float, q: float, out: float, p: float) -> list[str]:
        """left, right: where the two bars of this token begin."""
        boxes = [(left, 0, kept, "accepted"), (left, kept, q, "rejected")]
        boxes += [(right, 0, kept, "accepted"), (right, kept, out, "replaced"), (right, 0, p, "wanted")]
        parts = []
        for x, low, high, look in boxes:
            y, height = self.top + self.height * (1 - high), self.height * max(0.0, high - low)
            place = f'x="{x}" y="{y:.1f}" width="{self.width}" height="{height:.1f}"'
            parts.append(f"<rect {place} {LOOKS[look][1]}/>")
        return parts


def picture(p: Sequence[float], q: Sequence[float], rule: str) -> str:
    """What the rule does with one draft from q where the target says p: two bar charts, a table, and a verdict."""
    accepts, replacement = theory.RULES[rule](p, q)
    out = theory.emitted(p, q, accepts, replacement)
    kept = [b * a for b, a in zip(q, accepts)]
    wrong = distance(out, p)
    verdict = f"{MARKS['accepted'].symbol} What comes out is p: nobody can tell that there was a draft."
    if wrong >= 1e-9:
        verdict = f"{MARKS['rejected'].symbol} What comes out is not p. The largest difference is {wrong:.3f}."
    columns = zip(TOKENS, p, q, accepts, kept, replacement, out)
    rows = [(name, *(f"{x:.3f}" for x in numbers)) for name, *numbers in columns]
    return (
        f'<div style="font-size:15px;max-width:820px">{bars(p, q, kept, out)}'
        f"{table(('', *HEADS), rows, row_heads=True, align='right')}"
        f"<div>Accepted in all: <b>{sum(kept):.3f}</b>. Rejected: {1 - sum(kept):.3f}. "
        f"Σ min(p, q), the α of the rule: {theory.acceptance(p, q):.3f}.</div><div><b>{verdict}</b></div></div>"
    )


def bars(p: Sequence[float], q: Sequence[float], kept: Sequence[float], out: Sequence[float]) -> str:
    """The columns of all tokens, and beside them what they mean. As barPicture in sandbox.js."""
    bar, gap, columns = 44, 96, Columns(width=35, top=26, height=170)  # pixels; gap: from token to token
    foot, parts = columns.top + columns.height, [PATTERNS]
    for i, name in enumerate(TOKENS):
        left = 10 + gap * i
        right = left + bar * 0.9
        parts += columns.draw(left, right, kept[i], q[i], out[i], p[i])
        parts.append(label(left + bar * 0.4, foot + 14, "q", "middle"))
        parts.append(label(right + bar * 0.4, foot + 14, "out", "middle"))
        parts.append(label(left + bar * 0.85, foot + 32, name, "middle", bold=True))
    for i, (words, paint) in enumerate(LOOKS.values()):
        x, y = gap * len(TOKENS) + 14, columns.top + 14 + 26 * i
        parts.append(f'<rect x="{x}" y="{y}" width="16" height="14" {paint}/>' + label(x + 22, y + 12, words))
    width = gap * len(TOKENS) + 225
    look = f'fill="currentColor" style="max-width:{width * 1.3:.0f}px;font:13px sans-serif"'
    return svg(width, foot + 40, look, "One draft, checked", parts)


class Sandbox(Live):
    """p and q of three tokens by slider, a rule by menu, and what comes out. Any weights are made to add up to 1."""

    scripts = ("common.js", "controls.js", "theory.js", "sandbox.js")

    def __init__(self):
        weights = {f"{name[0]}{i}": weight for name, row in START.items() for i, weight in enumerate(row)}
        looks = {name: {"words": words, "look": paint} for name, (words, paint) in LOOKS.items()}
        start = {"rule": next(iter(theory.RULES)), **weights}
        super().__init__({"tokens": TOKENS, "heads": HEADS, "start": start, "looks": {**looks, "patterns": PATTERNS}})

    def picture(self) -> str:
        drawn = picture(*map(normalised, START.values()), next(iter(theory.RULES)))
        # It is hidden where the widget lives, and a hidden pattern that has the name of others takes their place.
        return f"<b>Acceptance Sandbox</b>{drawn.replace('sdl-no', 'sdl-no-still').replace('sdl-re', 'sdl-re-still')}"


sandbox = Sandbox  # as notebooks call it


@dataclass(frozen=True)
class Rules:
    """What comes out of each rule, for p and q over the three tokens of the sandbox."""

    p: theory.Row
    q: theory.Row

    def outputs(self) -> dict[str, list[float]]:
        return {name: theory.emitted(self.p, self.q, *rule(self.p, self.q)) for name, rule in theory.RULES.items()}

    def _mark(self, out: theory.Row) -> str:
        return "accepted" if distance(out, self.p) < 1e-9 else "rejected"

    def _repr_html_(self) -> str:
        tiles = [self._tile(name, out) for name, out in self.outputs().items()]
        note = "left of each pair: what is drafted, kept (full) or rejected (stripes); "
        note += "right: what comes out, over p (dashed)"
        return (
            f'<div style="display:flex;flex-wrap:wrap;gap:10px 18px">{"".join(tiles)}</div>'
            f'<div style="font-size:12px;opacity:.8">{note}</div>'
        )

    def _tile(self, name: str, out: theory.Row) -> str:
        columns, gap, width = Columns(width=20, top=0, height=92), 58, 178  # pixels; gap: from token to token
        accepts, _ = theory.RULES[name](self.p, self.q)
        parts = [PATTERNS]
        for i, token in enumerate(TOKENS):
            left = 4 + gap * i
            right = left + columns.width + 2
            parts += columns.draw(left, right, self.q[i] * accepts[i], self.q[i], out[i], self.p[i])
            parts.append(label(right, columns.height + 14, token, "middle"))
            parts.append(label(right, columns.height + 27, f"{out[i]:.2f}", "middle"))
        mark = MARKS[self._mark(out)]
        verdict = f"{mark.symbol} {'p comes out' if self._mark(out) == 'accepted' else 'not p'}"
        look = f'fill="currentColor" style="width:{width}px;font:11px sans-serif"'
        return (
            f'<div style="width:{width}px;font-size:13px"><div style="min-height:3.4em">{escape(name)}</div>'
            f"{svg(width, columns.height + 30, look, f'{name}: {verdict}', parts)}"
            f'<div style="border-left:4px solid {mark.colour};padding-left:6px"><b>{verdict}</b></div></div>'
        )

    def __repr__(self) -> str:
        lines = [f"p = {_numbers(self.p)}, q = {_numbers(self.q)}: what comes out of each rule"]
        for name, out in self.outputs().items():
            lines.append(f"{MARKS[self._mark(out)].symbol} {_numbers(out)}  {name}")
        return "\n".join(lines)


def _numbers(row: theory.Row) -> str:
    return " ".join(f"{x:.2f}" for x in row)
