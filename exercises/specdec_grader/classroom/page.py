"""The report on a class as Markdown."""

from specdec_lab.show.table import markdown_table, one_line


def body(data: dict) -> str:
    """A row for each student and the common misconceptions, from what `gradebook.read_class` returns."""
    names, students = data["assignments"], data["students"]
    rows = [
        (s["name"], *(points(s["points"].get(a)) for a in names), ", ".join(map(str, s["beliefs"])) or "–")
        for s in students
    ]
    beliefs = [(b["number"], b["belief"], b["students"]) for b in data["beliefs"]]
    waiting = sum(found["waits_for_a_hand"] for s in students for found in s["points"].values())
    numbers = [name.partition("_")[0] for name in names]  # ten columns have no room for names
    parts = [
        f"{len(students)} students. ✎ marks what waits for a written answer to be read ({waiting}).",
        markdown_table(("student", *numbers, "misconceptions"), rows),
        "## Common misconceptions",
        markdown_table(("number", "belief", "students"), beliefs) if beliefs else "None was found.",
        f"Assignments: {one_line(', '.join(names))}.",
    ]
    return "\n\n".join(parts)


def points(found: dict | None) -> str:
    if found is None:
        return "–"
    return f"{found['points']:g}/{found['max_points']:g}{' ✎' if found['waits_for_a_hand'] else ''}"
