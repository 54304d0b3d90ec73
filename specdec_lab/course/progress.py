"""How far a learner is: exercises, quizzes and guesses by lesson, out of the ledger."""

from specdec_lab.course.judges.check import PARTS
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import items, lessons


def progress(path: str | None = None) -> tuple[dict, str]:
    """What is done, by number of the lesson, and what the ledger has to say about its file.

    Returns:
        {"lessons": [{"lesson", "guesses", "measured", "quiz": [right, of], "parts": [{"id", "points", "max_points",
        "status", "tries"}]}]} for the lessons 00 to 09; 09 is the checkpoint.
    """
    ledger = Ledger(path)
    data = ledger.read()
    out = []
    for number in range(10):
        name = f"{number:02}"
        claims = [c for id, c in data["claims"].items() if id.startswith(f"{name}.")]
        asked = [i.id for i in items(name)] if name in lessons() else []
        right = sum(any(a["right"] for a in data["quiz"].get(id, [])) for id in asked)
        parts = [one(id, data.get("parts", {}).get(id)) for id in PARTS if id.startswith(f"{number}.")]
        out.append(
            {
                "lesson": name,
                "guesses": sum("guess" in c for c in claims),
                "measured": sum(bool(c.get("measured")) for c in claims),
                "quiz": [right, len(asked)],
                "parts": parts,
            }
        )
    return {"schema": 1, "lessons": out}, ledger.news()


def one(id: str, kept: dict | None) -> dict:
    """A part of an exercise, at its best."""
    most = PARTS[id].points
    if kept is None:
        return {"id": id, "points": 0.0, "max_points": most, "status": "open", "tries": 0}
    best = kept["best"]
    return {"id": id, "points": best["points"], "max_points": most, "status": best["status"], "tries": kept["tries"]}


class Lesson:
    """The numbers of one lesson, out of the data that `progress` returns."""

    def __init__(self, data: dict):
        self.lesson, self.guesses, self.measured = data["lesson"], data["guesses"], data["measured"]
        self.right, self.asked = data["quiz"]
        self.points, self.most = (sum(p[key] for p in data["parts"]) for key in ("points", "max_points"))
        self.open = [p["id"] for p in data["parts"] if p["points"] < p["max_points"]]


def progress_text(done: dict, news: str = "") -> str:
    """A line a lesson."""
    lines = [news] if news else []
    lines.append(f"{'lesson':8}{'guesses':>9}{'measured':>10}{'quiz':>8}   exercise")
    for x in map(Lesson, done["lessons"]):
        quiz = f"{x.right}/{x.asked}" if x.asked else "–"
        bar = f"{'█' * round(10 * x.points / x.most):░<10} {x.points:g} of {x.most}" if x.most else "–"
        rest = f"   still open: {', '.join(x.open)}" if x.open and x.points else ""
        lines.append(f"{x.lesson:8}{x.guesses:>9}{x.measured:>10}{quiz:>8}   {bar}{rest}")
    return "\n".join(lines)
