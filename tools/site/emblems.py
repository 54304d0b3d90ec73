"""A small picture for each lesson: on its tile of the first page, and beside its title."""

GREEN, AMBER, ORANGE, BLUE = "#009e73", "#e69f00", "#d55e00", "#0072b2"


def box(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="2.5" {look}/>'


def fill(colour: str, part: float = 0.85) -> str:
    return f'fill="{colour}" fill-opacity="{part}"'


def line(path: str, colour: str = "currentColor", more: str = "") -> str:
    faint = ' stroke-opacity=".45"' if colour == "currentColor" else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-linecap="round"{faint}{more}/>'


def dot(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>'


FAINT = 'fill="none" stroke="currentColor" stroke-opacity=".45" stroke-width="1.5" stroke-dasharray="3 2"'
DASHED = ' stroke-dasharray="5 4"'
AXES = line("M12 6V48H88")
EMBLEMS = {
    "00": box(8, 16, 16, 24, fill(GREEN)) + box(29, 16, 16, 24, fill(GREEN)) + box(50, 16, 16, 24, fill(AMBER))
    + box(71, 16, 16, 24, FAINT),
    "01": "".join(line(f"M10 {y}H50", BLUE) for y in range(10, 50, 6)) + f'<path d="M55 28L78 8V48Z" {fill(BLUE, 0.2)}/>'
    + "".join(dot(85, y, BLUE) for y in (14, 28, 42)),
    "02": "".join(box(x, y, 16, 16, fill(c)) for x, c, y in (
        (8, GREEN, 8), (29, GREEN, 8), (50, ORANGE, 8), (8, GREEN, 32), (29, GREEN, 32), (50, AMBER, 32)
    )) + box(71, 8, 16, 16, FAINT) + box(71, 32, 16, 16, FAINT),
    "03": "".join(box(x, 48 - q, 11, q, fill(BLUE)) + box(x + 13, 48 - p, 11, p, FAINT)
                  for x, q, p in ((10, 36, 26), (38, 10, 20), (66, 14, 14))) + line("M6 49H92"),
    "04": "".join(dot(x, y, BLUE) for x, y in (
        (58, 13), (70, 13), (80, 13), (38, 28), (50, 28), (60, 28), (20, 43), (30, 43), (44, 43)
    )) + "".join(line(f"M{x} {y - 5}V{y + 5}", ORANGE) for x, y in ((69, 13), (49, 28), (31, 43))),
    "05": AXES + line("M14 36H88", more=DASHED) + line("M14 30C28 12 40 10 50 11S76 20 88 25", BLUE) + dot(46, 11, BLUE),
    "06": "".join(line(f"M14 28C40 28 46 {y} 82 {y}", c) for y, c in (
        (8, GREEN), (18, BLUE), (28, AMBER), (38, ORANGE), (48, "currentColor")
    )) + dot(14, 28, BLUE),
    "07": AXES + line("M14 30H88", more=DASHED) + line("M14 11C34 12 44 20 54 30", GREEN) + line("M54 30C64 39 74 43 88 44", ORANGE),
    "08": box(16, 4, 64, 48, FAINT) + box(24, 12, 46, 8, fill(GREEN)) + box(24, 25, 34, 8, fill(BLUE)) + box(24, 38, 22, 8, fill(ORANGE)),
    "09": "".join(box(14, y, 12, 12, fill(c)) + line(f"M36 {y + 6}H84") for y, c in ((4, GREEN), (22, GREEN), (40, AMBER))),
    "10": "".join(line(f"M{a} {b}C{a + 14} {b} {c - 14} {d} {c} {d}") for a, b, c, d in (
        (12, 28, 44, 15), (12, 28, 44, 43), (44, 15, 82, 7), (44, 15, 82, 24), (44, 43, 82, 43)
    )) + "".join(box(x - 7, y - 6, 14, 12, fill(c)) for x, y, c in (
        (12, 28, BLUE), (44, 15, GREEN), (44, 43, ORANGE), (82, 7, GREEN), (82, 25, AMBER), (82, 43, ORANGE)
    )),
    "11": box(24, 6, 46, 14, fill(BLUE)) + line("M10 28H86") + box(12, 36, 20, 14, fill(GREEN)) + box(38, 36, 20, 14, fill(AMBER))
    + box(64, 36, 20, 14, FAINT),
    "12": AXES + line("M16 42C26 22 40 15 58 12S80 9 88 9", GREEN) + "".join(dot(x, y, GREEN) for x, y in ((24, 30), (42, 17), (62, 12))),
    "gallery": "".join(box(12 + 19 * i, 6 + 16 * j, 16, 13, fill(GREEN, part)) for j, row in enumerate(
        ((0.9, 0.5, 0.2, 0.7), (0.4, 0.8, 0.3, 0.2), (0.6, 0.2, 0.9, 0.4))
    ) for i, part in enumerate(row)),
}  # fmt: skip


def emblem(name: str) -> str:
    """The picture of a lesson, by its number; nothing for pages that have none."""
    parts = EMBLEMS.get(name)
    return f'<svg class="emblem" viewBox="0 0 96 56" aria-hidden="true">{parts}</svg>' if parts else ""
