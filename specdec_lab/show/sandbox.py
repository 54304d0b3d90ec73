"""The Acceptance Sandbox: three tokens, p and q to be changed by hand, and the rule, or a wrong one, at work."""

from collections.abc import Sequence
from html import escape

from specdec_lab import theory
from specdec_lab.show.live import Live
from specdec_lab.show.marks import MARKS
from specdec_lab.show.table import table

TOKENS = ("on", "by", "near")
HEADS = "p, target", "q, draft", "chance to accept", "drafted and accepted", "replacement", "comes out"
START = {"p, target": (50, 30, 20), "q, draft": (70, 10, 20)}  # in hundredths: the standing example of the course
BAR, GAP, UP, TALL = 44, 96, 26, 170  # pixels: a bar's width, from token to token, above the bars, their height
GREEN, RED, ORANGE = (MARKS[word].colour for word in ("accepted", "rejected", "corrected"))
PATTERNS = (
    '<defs><pattern id="sdl-no" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    f'<rect width="6" height="6" fill="none"/><path d="M0 0V6" stroke="{RED}" stroke-width="3"/></pattern>'
    '<pattern id="sdl-re" width="6" height="6" patternUnits="userSpaceOnUse">'
    f'<circle cx="3" cy="3" r="2" fill="{ORANGE}"/></pattern></defs>'
)
LOOKS = {
    "✓ drafted and accepted": f'fill="{GREEN}" stroke="{GREEN}"',
    "✗ drafted and rejected": f'fill="url(#sdl-no)" stroke="{RED}"',
    "↻ the replacement": f'fill="url(#sdl-re)" stroke="{ORANGE}"',
    "p, what the target wants": 'fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="4 3"',
}
NAMES = ("accepted", "rejected", "replaced", "wanted")
ACCEPTED, REJECTED, REPLACED, WANTED = LOOKS.values()


def normalised(weights: Sequence[float]) -> list[float]:
    """Weights to probabilities; all zero means all alike."""
    total = sum(weights)
    return [w / total for w in weights] if total else [1 / len(weights)] * len(weights)


def picture(p: Sequence[float], q: Sequence[float], rule: str) -> str:
    """What the rule does with one draft from q where the target says p: two bar charts, a table, and a verdict."""
    accepts, replacement = theory.RULES[rule](p, q)
    out = theory.emitted(p, q, accepts, replacement)
    kept = [b * a for b, a in zip(q, accepts)]
    rejected = 1 - sum(kept)
    wrong = max(abs(a - b) for a, b in zip(out, p))
    verdict = f"{MARKS['accepted'].symbol} What comes out is p: nobody can tell that there was a draft."
    if wrong >= 1e-9:
        verdict = f"{MARKS['rejected'].symbol} What comes out is not p. The largest difference is {wrong:.3f}."
    columns = zip(TOKENS, p, q, accepts, kept, replacement, out)
    rows = [(name, *(f"{x:.3f}" for x in numbers)) for name, *numbers in columns]
    return (
        f'<div style="font-size:15px;max-width:820px">{bars(p, q, kept, [rejected * r for r in replacement])}'
        f"{table(('', *HEADS), rows, row_heads=True, align='right')}"
        f"<div>Accepted in all: <b>{sum(kept):.3f}</b>. Rejected: {rejected:.3f}. "
        f"Σ min(p, q), the α of the rule: {theory.acceptance(p, q):.3f}.</div><div><b>{verdict}</b></div></div>"
    )


def bars(p: Sequence[float], q: Sequence[float], kept: Sequence[float], replaced: Sequence[float]) -> str:
    """Left of each pair: q, cut into what is accepted and what is rejected. Right: what comes out, over an outline of p."""
    parts = [PATTERNS]
    for i, name in enumerate(TOKENS):
        left = 10 + GAP * i
        right = left + BAR * 0.9
        parts += [
            box(left, 0, kept[i], ACCEPTED),
            box(left, kept[i], q[i], REJECTED),
            box(right, 0, kept[i], ACCEPTED),
            box(right, kept[i], kept[i] + replaced[i], REPLACED),
            box(right, 0, p[i], WANTED),
            f'<text x="{left + BAR * 0.4}" y="{UP + TALL + 14}" text-anchor="middle">q</text>',
            f'<text x="{right + BAR * 0.4}" y="{UP + TALL + 14}" text-anchor="middle">out</text>',
            f'<text x="{left + BAR * 0.85}" y="{UP + TALL + 32}" text-anchor="middle" font-weight="600">{escape(name)}</text>',
        ]
    for i, (words, look) in enumerate(LOOKS.items()):
        x, y = GAP * len(TOKENS) + 14, UP + 14 + 26 * i
        parts.append(f'<rect x="{x}" y="{y}" width="16" height="14" {look}/>')
        parts.append(f'<text x="{x + 22}" y="{y + 12}">{words}</text>')
    width = GAP * len(TOKENS) + 225
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {UP + TALL + 40}" role="img" fill="currentColor" '
        f'style="max-width:{width * 1.3:.0f}px;font:13px sans-serif"><title>One draft, checked</title>{"".join(parts)}</svg>'
    )


def box(left: float, low: float, high: float, look: str) -> str:
    """A part of a bar, from the probability `low` to `high`."""
    place = f'x="{left}" y="{UP + TALL * (1 - high):.1f}" width="{BAR * 0.8:.0f}" height="{TALL * (high - low):.1f}"'
    return f"<rect {place} {look}/>"


class Sandbox(Live):
    """The widget. Weights need not add up to 100: they are made to."""

    scripts = ("common.js", "controls.js", "theory.js", "sandbox.js")

    def __init__(self):
        weights = {f"{name[0]}{i}": weight for name, row in START.items() for i, weight in enumerate(row)}
        looks = {name: {"words": words, "look": look} for name, (words, look) in zip(NAMES, LOOKS.items())}
        start = {"rule": next(iter(theory.RULES)), **weights}
        super().__init__({"tokens": TOKENS, "heads": HEADS, "start": start, "looks": {**looks, "patterns": PATTERNS}})

    def picture(self) -> str:
        drawn = picture(*map(normalised, START.values()), next(iter(theory.RULES)))
        # It is hidden where the widget lives, and a hidden pattern that has the name of others takes their place.
        return f"<b>Acceptance Sandbox</b>{drawn.replace('sdl-no', 'sdl-no-still').replace('sdl-re', 'sdl-re-still')}"


def sandbox() -> Sandbox:
    """p and q of three tokens by slider, a rule by menu, and what comes out."""
    return Sandbox()
