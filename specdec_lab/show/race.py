"""The race: plain and speculative decoding of one text, side by side on the clock that was recorded."""

from collections.abc import Callable
from html import escape

from specdec_lab.engine.trace import Trace, to_json
from specdec_lab.errors import LabError
from specdec_lab.show.live import Live
from specdec_lab.show.marks import MARKS
from specdec_lab.show.table import table

WIDE, HIGH, NAME = 640, 34, 96  # pixels: of the picture, of a lane, and of the name in front of it
MOMENTS = 5  # rows of the table, at equal distances


def race_data(plain: Trace, speculative: Trace, text_of: Callable[[list[int]], str], title: str, hardware: str) -> dict:
    """What the race shows, as plain data: tokens and rounds with the seconds that each took.

    Raises:
        LabError: for traces without rounds (interrupted before the first).
    """
    if not (plain.rounds and speculative.rounds):
        raise LabError(
            "There is nothing to show of this race: it was interrupted before its first round. Run it again."
        )
    return {
        "title": title,
        "hardware": hardware,
        "greedy": all(d.u is None for r in speculative.rounds for d in r.drafted),
        "plain": {"tokens": [text_of([token]) for token in plain.tokens], "seconds": plain.times},
        "rounds": to_json(speculative, text_of),
        "seconds": speculative.times,
    }


def lanes(data: dict) -> dict[str, list[tuple[float, int]]]:
    """For both ways, after each pass: (seconds since the start, tokens written)."""
    rounds = [sum(d["status"] == "accepted" for d in r["drafted"]) + bool(r["emitted"]) for r in data["rounds"]]
    ways = {
        "plain": (data["plain"]["seconds"], [1] * len(data["plain"]["tokens"])),
        "speculative": (data["seconds"], rounds),
    }
    found = {}
    for name, (seconds, tokens) in ways.items():
        at, n, found[name] = 0.0, 0, []
        for more, new in zip(seconds, tokens):
            at, n = at + more, n + new
            found[name].append((at, n))
    return found


def result(data: dict) -> str:
    """Who was how much faster, in a sentence. Texts may differ in length, so what counts is seconds a token."""
    (plain, n), (speculative, m) = (lane[-1] for lane in lanes(data).values())
    ratio = (plain / n) / (speculative / m)
    return (
        f"Plain decoding wrote {n} tokens in {plain:.2f} s, with a pass for each. Speculation wrote {m} tokens in "
        f"{speculative:.2f} s, in {len(data['rounds'])} rounds: {ratio:.2f} times as fast a token."
    )


class RaceWidget(Live):
    """Shows `data`, as `race_data` makes it or as it was recorded."""

    scripts = ("common.js", "kit.js", "race.js")

    def picture(self) -> str:
        found = lanes(self.data)
        end = max(lane[-1][0] for lane in found.values())
        per_second = (WIDE - NAME - 10) / end
        parts = []
        for i, (name, lane) in enumerate(found.items()):
            top, before = 6 + i * (HIGH + 8), 0.0
            mark = MARKS["plain" if name == "plain" else "bonus"]
            parts.append(f'<text x="0" y="{top + HIGH / 2 + 4}">{name}</text>')
            for at, _ in lane:
                left, width = NAME + before * per_second, (at - before) * per_second
                parts.append(
                    f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{HIGH}" fill="{mark.colour}" '
                    'fill-opacity=".3" stroke="currentColor" stroke-opacity=".5"/>'
                )
                before = at
        rows = []
        for k in range(1, MOMENTS + 1):
            now = end * k / MOMENTS
            written = (max([n for at, n in lane if at <= now + 1e-9], default=0) for lane in found.values())
            rows.append((f"{now:.2f} s", *map(str, written)))
        return (
            f'<div style="font-size:14px"><b>{escape(self.data["title"])}</b>'
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {2 * HIGH + 20}" role="img" fill="currentColor" '
            f'style="max-width:{WIDE}px;width:100%;font:13px sans-serif"><title>A box is a pass; its width is its time</title>'
            f"{''.join(parts)}</svg>{table(('after', *(f'{name}: tokens' for name in found)), rows, row_heads=True, align='right')}"
            f"<div>{escape(result(self.data))} Measured on {escape(self.data['hardware'])}, without the prompt's own pass.</div></div>"
        )
