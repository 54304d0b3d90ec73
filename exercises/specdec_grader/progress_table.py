"""How far a learner is: exercises, quizzes and guesses by lesson, out of the ledger."""

from specdec_grader.checks import PARTS
from specdec_lab.course.ledger import Ledger
from specdec_lab.course.quiz import items, lessons
from specdec_lab.show.table import Html, Markdown, markdown_table, one_line

CHECKPOINT = "09"
ROW = "{:8}{:>9}{:>10}{:>8}   {}"


def read_progress(path: str | None = None) -> tuple[dict, str]:
    """What is done, by number of the lesson, and what the ledger has to say about its file.

    Returns:
        {"lessons": [{"lesson", "guesses", "measured", "quiz": [right, of], "parts": [{"id", "points", "max_points",
        "status", "tries"}]}]} for each lesson and the checkpoint, 09.
    """
    ledger = Ledger(path)
    data = ledger.read()
    out = []
    for name in sorted({*lessons(), CHECKPOINT}):
        number = int(name)
        claims = [c for id, c in data["claims"].items() if id.startswith(f"{name}.")]
        asked = [item["id"] for item in items(name)] if name in lessons() else []
        right = sum(any(a["right"] for a in data["quiz"].get(id, [])) for id in asked)
        guesses, measured = (sum(bool(c.get(key)) for c in claims) for key in ("guess", "measured"))
        parts = [at_best(id, data["parts"].get(id)) for id in PARTS if id.startswith(f"{number}.")]
        out.append(
            {"lesson": name, "guesses": guesses, "measured": measured, "quiz": [right, len(asked)], "parts": parts}
        )
    return {"schema": 1, "lessons": out}, ledger.news()


def at_best(id: str, kept: dict | None) -> dict:
    """A part of an exercise with its best verdict so far."""
    best, tries = (kept["best"], kept["tries"]) if kept else ({"points": 0.0, "status": "open"}, 0)
    most = PARTS[id].points
    points = min(max(best["points"], 0), most)  # a file that was edited may hold 1e30, and a bar is drawn of it
    return {"id": id, "points": points, "max_points": most, "status": best["status"], "tries": tries}


class Lesson:
    """The numbers of one lesson, out of the data that `read_progress` returns."""

    def __init__(self, data: dict):
        self.lesson, self.guesses, self.measured = data["lesson"], data["guesses"], data["measured"]
        self.right, self.asked = data["quiz"]
        self.points, self.most = (sum(p[key] for p in data["parts"]) for key in ("points", "max_points"))
        self.open = [p["id"] for p in data["parts"] if p["points"] < p["max_points"]]

    @property
    def done(self) -> str:
        """Its exercise as a bar, and in points."""
        bar = f"{'█' * round(10 * self.points / self.most):░<10}" if self.most else ""
        return f"{bar} {self.points:g} of {self.most}" if self.most else "–"


def progress_text(done: dict, news: str = "") -> str:
    """A line a lesson."""
    lines = [news] if news else []
    lines.append(ROW.format("lesson", "guesses", "measured", "quiz", "exercise"))
    for x in map(Lesson, done["lessons"]):
        quiz = f"{x.right}/{x.asked}" if x.asked else "–"
        rest = f"   still open: {', '.join(x.open)}" if x.open and x.points else ""
        lines.append(ROW.format(x.lesson, x.guesses, x.measured, quiz, x.done + rest))
    return "\n".join(lines)


def progress(path: str | None = None) -> Html:
    """What you have done so far, from your ledger (default: the one beside this notebook)."""
    done, news = read_progress(path)
    heads = ("lesson", "guesses", "quiz, right", "exercise", "parts still open")
    rows = [
        (
            x.lesson,
            f"{x.guesses}, {x.measured} measured",
            f"{x.right} of {x.asked}" if x.asked else "–",
            x.done,
            ", ".join(x.open) or "–",
        )
        for x in map(Lesson, done["lessons"])
    ]
    return Html(Markdown(f"{one_line(news)}\n\n{markdown_table(heads, rows)}").html, progress_text(done, news))
