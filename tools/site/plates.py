"""A picture for each lesson, on its tile of the first page and beside its title: its idea, drawn from recorded rounds
where there are some, and from the formula where there is one. The ground is dark, on a light page, too."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from math import exp

from gallery import arms, recorded, traces

GREEN, AMBER, ORANGE, BLUE, PINK = "#37c997", "#f5b942", "#ff8142", "#5db4ff", "#e39ac8"
MARKS = {"accepted": GREEN, "rejected": ORANGE, "discarded": "#fff", "corrected": AMBER, "bonus": BLUE, "plain": BLUE}


def cells(found: Iterable[tuple[float, float, float, float, str, float]]) -> str:
    """Boxes of (x, y, width, height, colour, opacity), those of one look as one path: small ones as lines as thick as
    they are high, large ones filled, with a stroke that rounds them."""
    of_a_look = defaultdict(str)
    for x, y, wide, high, hue, part in found:
        small = high if wide < 20 or high < 20 else 0
        box = f"M{x:.4g} {y + high / 2:.4g}h{wide:.4g}"
        if not small:
            box = f"M{x + 1:.4g} {y + 1:.4g}h{wide - 2:.4g}v{high - 2:.4g}h{2 - wide:.4g}z"
        of_a_look[
            f'stroke="{hue}" stroke-width="{small:.4g}"'
            if small
            else f'fill="{hue}" stroke="{hue}" stroke-width="2" stroke-linejoin="round"',
            round(part, 1),
        ] += box
    return "".join(f'<path d="{path}" {paint}{pale(part)}/>' for (paint, part), path in of_a_look.items())


def pale(part: float) -> str:
    return f' opacity="{part:g}"' if part < 1 else ""


def look(status: str) -> tuple[str, float]:
    return MARKS[status], 0.2 if status == "discarded" else 1


def line(path: str, hue: str = "#fff", wide: float = 2.5, part: float = 1, more: str = "") -> str:
    return f'<path d="{path}" stroke="{hue}" stroke-width="{wide:g}" stroke-linecap="round"{pale(part)}{more}/>'


def dots(points: Iterable[tuple[float, float]], hue: str, size: float = 5, part: float = 1) -> str:
    circles = "".join(f'<circle cx="{x:.4g}" cy="{y:.4g}" r="{size:g}"/>' for x, y in points)
    return f'<g fill="{hue}" fill-opacity="{part:g}">{circles}</g>'


def curve(points: list[tuple[float, float]]) -> str:
    return "M" + " ".join(f"{x:.0f} {y:.0f}" for x, y in points)


DASHED = ' stroke-dasharray="7 6"'
GROUND = line("M24 172H300", part=0.5)
WRITTEN = ("accepted", "corrected", "bonus", "plain")


@cache
def rounds(text: str, arm: str) -> list[list[tuple[str, str]]]:
    """Of a recorded run, round by round: each token, and what became of it; the target's own one comes last."""
    found = []
    for r in run(text, arm)["rounds"]:
        own = [(r["emitted"]["text"], r["emitted"]["kind"])] if r["emitted"] else []
        found.append([(d["text"], d["status"]) for d in r["drafted"]] + own)
    return found


def run(text: str, arm: str) -> dict:
    return named()[f"{text}-{arm}"]


@cache
def named() -> dict:
    return traces(recorded())


def gain(text: str, arm: str) -> float:
    """Tokens per pass."""
    of = rounds(text, arm)
    return sum(status in WRITTEN for tokens in of for _, status in tokens) / len(of)


def race() -> str:
    """A text as bricks, twice: as far as plain decoding is when the drafts have written all of it."""
    text, arm = "summary", "hybrid-4-0"
    words = [(len(word), status) for tokens in rounds(text, arm) for word, status in tokens if status in WRITTEN]
    clock, plain = sum(run(text, arm)["seconds"]), run(text, arm)["plain"]["seconds"]
    written = sum(sum(plain[: i + 1]) <= clock for i in range(len(plain)))
    bricks = []
    for top, done in ((22, written), (112, len(words))):
        x, y = 24.0, top
        for i, (letters, status) in enumerate(words):
            wide = 5.2 * letters + 3
            if x + wide > 300:
                x, y = 24.0, y + 19
            shown = status if done == len(words) else "plain"
            bricks.append((x, y, wide, 14, *look(shown if i < done else "discarded")))
            x += wide + 3
    return cells(bricks)


def layers() -> str:
    """All weights are read for one token, and are read once for five."""
    stack = [(24, 18 + 7 * i, 118, 4.4, BLUE, 0.3 + 0.7 * exp(-(((i - 12) / 7) ** 2))) for i in range(24)]
    tokens = [
        (246, 26 + 31 * i, 46, 22, *look(status))
        for i, status in enumerate(("accepted",) * 3 + ("rejected", "discarded"))
    ]
    return cells(stack) + f'<path d="M150 100L236 28V172Z" fill="{BLUE}" opacity=".22"/>' + cells(tokens)


def one_round() -> str:
    """Five drafts, and the target's tokens below them."""
    lines, tokens = [], []
    for i, (draft, own) in enumerate((("accepted",) * 2,) * 3 + (("rejected", "corrected"), ("discarded",) * 2)):
        x = 24 + 56 * i
        lines.append(line(f"M{x + 23} 76V120", part=0.5 if i < 4 else 0.15))
        tokens += [(x, 34, 46, 34, *look(draft)), (x, 128, 46, 34, *look(own))]
    return "".join(lines) + cells(tokens)


def rule() -> str:
    """Bars of q below the outline of p: what is kept, what is rejected, and what is missing."""
    bars, outlines = [], ""
    for i, (q, p) in enumerate(((0.7, 0.5), (0.1, 0.3), (0.32, 0.4), (0.5, 0.22), (0.16, 0.2))):
        x, low, high = 26 + 56 * i, 210 * min(p, q), 210 * max(p, q)
        bars.append((x, 168 - low, 40, low, GREEN, 1))
        bars.append((x, 168 - high, 40, high - low - 2, ORANGE if q > p else AMBER, 1))
        outlines += f"M{x - 4} 168V{164 - 210 * p:.0f}h48V168"
    return line("M18 172H304", part=0.5) + cells(bars) + line(outlines, wide=2, more=' stroke-dasharray="5 5"')


def columns() -> str:
    """Round after round of real runs, as high as what it kept."""
    tokens = [
        (26 + 12 * i, 150 - 27 * j, 9, 23, *look(status))
        for i, of in enumerate([of for text in ("code", "letter", "list") for of in rounds(text, "eagle-4-0")][:23])
        for j, (_, status) in enumerate(of)
        if status != "corrected"
    ]
    return GROUND + cells(tokens)


def ridges() -> str:
    """S over γ = 1 to 12 for six acceptance rates, c = 0.08, o = 0.03, v = 1, and the best γ of each."""
    parts = [GROUND, line("M24 134H300", part=0.6, more=DASHED)]
    for alpha, hue in zip((0.9, 0.8, 0.7, 0.6, 0.45, 0.2), (GREEN, GREEN, BLUE, BLUE, PINK, ORANGE)):
        gains = [(1 - alpha ** (gamma + 1)) / (1 - alpha) / (0.08 * gamma + 1.03) for gamma in range(1, 13)]
        points = [(30 + 24 * i, 172 - 38 * gain) for i, gain in enumerate(gains)]
        parts += [line(curve(points), hue, 3), dots([points[gains.index(max(gains))]], "#fff")]
    return "".join(parts)


def strips() -> str:
    """The rounds of five drafters on one text, a row each."""
    drafts = []
    for row, arm in enumerate(("lookup-4-0", "model-4-0", "medusa-4-0", "early-exit-4-0", "eagle-4-0")):
        x = 24
        for tokens in rounds("summary", arm):
            for status in [status for _, status in tokens if status not in WRITTEN[1:]]:
                drafts.append((x, 18 + row * 34, 7, 24, *look(status)))
                x += 9
            x += 6
    return cells(cell for cell in drafts if cell[0] < 290)


def load() -> str:
    """The gain over the texts in a batch: four drafts, E = 2.31, and passes that are free up to 40 tokens."""
    parts = [GROUND, cells((32 + 40 * i, 180, 4 + 4.4 * i, 6, BLUE, 0.6) for i in range(7))]
    points = [
        (30 + 5.6 * i, 172 - 56 * 2.31 * (max(40, 2 ** (i / 8)) / max(40, 5 * 2 ** (i / 8))) ** 0.9) for i in range(47)
    ]
    for hue, part in ((GREEN, [p for p in points if p[1] <= 117]), (ORANGE, [p for p in points if p[1] >= 115])):
        parts.append(
            f'<path d="{curve(part)}V116H{part[0][0]:.0f}Z" fill="{hue}" opacity=".25"/>' + line(curve(part), hue, 4)
        )
    return "".join(parts) + line("M24 116H300", part=0.6, more=DASHED)


def traffic() -> str:
    """Tokens per pass of three drafters on all recorded texts: a dot for each, a stroke at the mean."""
    parts = [line(f"M{30 + 120 * i} 18V182", part=0.2) for i in range(3)]
    for y, arm, hue in ((48, "eagle-4-0", GREEN), (100, "model-4-0", BLUE), (152, "lookup-4-0", ORANGE)):
        places = [30 + 120 * (gain(text, arm) - 1) for text in recorded()["texts"]]
        parts.append(dots([(x, y) for x in places], hue, 9, 0.6))
        parts.append(line(f"M{sum(places) / len(places):.0f} {y - 18}v36", wide=4))
    return "".join(parts)


def questions() -> str:
    found = [(30, 22 + 42 * i, 28, 28, hue, 1) for i, hue in enumerate((GREEN, GREEN, AMBER, "#fff"))]
    for i, wide in enumerate((200, 160, 214, 180)):
        found += [(76, 26 + 42 * i, wide, 7, "#fff", 0.5), (76, 40 + 42 * i, wide * 0.6, 7, "#fff", 0.3)]
    return cells(found)


BRANCHES = {
    (40, 100): ((120, 46), (120, 100), (120, 154)), (120, 46): ((200, 26), (200, 66)), (120, 100): ((200, 100),),
    (120, 154): ((200, 134), (200, 174)), (200, 66): ((280, 46), (280, 86)),
}  # fmt: skip


def tree() -> str:
    """One way through a tree is kept, and the target's own token follows it."""
    kept, lines, tokens = {(120, 46), (200, 66)}, [], [(22, 88, 36, 24, *look("plain"))]
    for (a, b), ends in BRANCHES.items():
        for c, d in ends:
            path = f"M{a + 18} {b}C{a + 44} {b} {c - 44} {d} {c - 18} {d}"
            lines.append(line(path, GREEN, 4) if (c, d) in kept else line(path, part=0.35))
            status = "accepted" if (c, d) in kept else "corrected" if (c, d) == (280, 86) else "discarded"
            tokens.append((c - 18, d - 12, 36, 24, *look(status)))
    return "".join(lines) + cells(tokens)


def designs() -> str:
    """The layers of one target, and seven drafters of other sizes that stand on it."""
    found = [(24, 150 + 7 * i, 276, 4.4, BLUE, 0.9 - 0.1 * i) for i in range(5)]
    for i, (high, hue) in enumerate(zip((7, 1, 3, 2, 5, 4, 9), (GREEN, AMBER, ORANGE, PINK) * 2)):
        found += [(24 + 40 * i, 124 - 11 * j, 34, 8, hue, 1 - 0.1 * (j // 2)) for j in range(high)]
    return cells(found) + line("".join(f"M{41 + 40 * i} 135V147" for i in range(7)), part=0.5, wide=2)


def learning() -> str:
    parts = [GROUND]
    for most, rate, hue in ((140, 0.22, GREEN), (104, 0.3, BLUE), (70, 0.5, PINK)):
        points = [(30 + 24 * i, 168 - most * (1 - exp(-rate * i))) for i in range(12)]
        parts += [line(curve(points), hue, 3.5), dots(points[::2], hue)]
    return "".join(parts)


def gallery() -> str:
    """Every greedy run that was recorded: the more tokens per pass, the brighter."""
    greedy = [arm for arm in arms(recorded()) if arm.endswith("-0")]
    return cells(
        (24 + 23 * column, 17 + 19 * row, 19, 15, GREEN, min(1, 0.12 + 0.33 * (gain(text, arm) - 1)))
        for column, text in enumerate(recorded()["texts"])
        for row, arm in enumerate(greedy)
    )


PLATES = {
    "00": race, "01": layers, "02": one_round, "03": rule, "04": columns, "05": ridges, "06": strips, "07": load,
    "08": traffic, "09": questions, "10": tree, "11": designs, "12": learning, "gallery": gallery,
}  # fmt: skip


@cache
def plate(name: str) -> str:
    """The picture of a lesson, by its number; nothing for pages that have none."""
    parts = PLATES[name]() if name in PLATES else ""
    return f'<svg class="plate" viewBox="0 0 320 200" fill="none" aria-hidden="true">{parts}</svg>' if parts else ""
