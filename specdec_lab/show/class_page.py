"""A class report as a page that needs nothing, and as text."""

from html import escape

from specdec_lab.show.report import STYLE
from specdec_lab.show.table import table
from specdec_lab.show.widget import as_text


def page(data: dict) -> str:
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        f'<title>The class</title><body style="{STYLE}"><h1>The class</h1>{body(data)}</body></html>'
    )


def report_text(data: dict) -> str:
    return as_text(body(data))


def body(data: dict) -> str:
    rows = []
    for student in data["students"]:
        found = [student["points"].get(a) for a in data["assignments"]]
        rows.append((student["name"], *(cell(f) for f in found), ", ".join(map(str, student["beliefs"])) or "–"))
    beliefs = [(b["number"], b["belief"], b["students"]) for b in data["beliefs"]]
    waiting = sum(f["waits_for_a_hand"] for s in data["students"] for f in s["points"].values())
    parts = [
        f"<p>{len(data['students'])} students. ✎ marks what waits for a written answer to be read ({waiting}).</p>",
        table(("student", *(short(a) for a in data["assignments"]), "misconceptions"), rows),
        "<h2>Common misconceptions</h2>",
        table(("number", "belief", "students"), beliefs) if beliefs else "<p>None was found.</p>",
        f"<p>Assignments: {escape(', '.join(data['assignments']))}.</p>",
    ]
    return "".join(parts)


def short(assignment: str) -> str:
    """Its number: a table of ten columns has no room for names."""
    return assignment.partition("_")[0]


def cell(found: dict | None) -> str:
    if found is None:
        return "–"
    return f"{found['points']:g}/{found['max_points']:g}{' ✎' if found['waits_for_a_hand'] else ''}"
