"""Grading a learner's notebook: its code runs in a process of its own (learner), and the judges stay in this one."""

import ast
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from specdec_grader.checks import PARTS, grade_part
from specdec_grader.learner.jail import LIMITS, Limits, bubblewrap_works
from specdec_grader.learner.process import Ended, Learner
from specdec_grader.mistakes import Wrong
from specdec_grader.part import MISSING, OPEN, RIGHT, WRONG, Verdict
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.files import check_plain
from specdec_lab.formats import cut, printable

EXERCISES = Path(__file__).resolve().parents[1]
ANSWER = re.compile(r"<!-- answer ([\w.-]+): (\d+) points -->")
LARGEST = 50_000_000  # bytes of a notebook
MOST_CELLS = 2_000
MOST_TEXT = 3_000_000  # characters in cells that are read: Python's parser takes seconds for a million
LONGEST = 300_000  # characters of a cell; Python's parser fails on much longer ones
SHORT = 20_000  # of one that IPython reads: it may go through it hundreds of times
DEAD_CELLS = 12  # a cell that stops Python or never ends is left out, and the rest runs again, so often
PATIENCE = 10 * LIMITS.notebook  # seconds of the clock for a grader's process on a machine where others compute

# What is read: the cells of a notebook, and the calls of `check` in them.


@dataclass(frozen=True)
class Cell:
    kind: str
    source: str


@dataclass(frozen=True)
class Check:
    """A call `check("4.rate", alpha_hat)`. made: what is handed in, as it is written there."""

    part: str
    made: tuple[str, ...]


@dataclass(frozen=True)
class Exercise:
    """An exercise, as it was given out.

    Attributes:
        checks: by part.
        written: its written answers, with the points that a person may give.
    """

    name: str
    checks: dict[str, Check]
    written: dict[str, int]


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook, as nbformat 4 writes them (importing nbformat itself takes longer than most exercises).

    Raises:
        LabError: for anything else.
    """
    try:
        check_plain(path)
        if path.is_symlink():
            raise LabError(f"{path.name} is a link to another file: hand in the notebook itself.")
        if path.stat().st_size > LARGEST:
            raise LabError(f"{path.name} is larger than {LARGEST // 10**6} MB: no notebook of the course is.")
        cells = json.loads(path.read_bytes())["cells"]  # in UTF-8, or in another form of Unicode
        found = [Cell(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except OSError as e:
        raise LabError(f"{path} cannot be read ({e.strerror}).") from e
    except (ValueError, TypeError, LookupError, RecursionError, MemoryError) as e:
        told = "is no notebook of today's format (nbformat 4), or a damaged one: save it again with JupyterLab"
        raise LabError(f"{path.name} {told} ({type(e).__name__}).") from e
    if len(found) > MOST_CELLS or sum(min(len(cell.source), LONGEST) for cell in found) > MOST_TEXT:
        raise LabError(f"{path.name} has more than {MOST_CELLS} cells, or too much in them: none of the course has.")
    return found


def calls(source: str) -> list[Check]:
    """The calls of `check` in a cell's source that stand as statements of their own; none where it is no Python."""
    found = []
    for statement in statements(source) if "check" in source else ():
        call = getattr(statement, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) == "check":
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                with suppress(RecursionError):
                    found.append(Check(first.value, tuple(map(ast.unparse, call.args[1:]))))
    return found


def is_only_checks(source: str) -> bool:
    """Whether a cell does nothing but call `check`."""
    return not source.strip() or 0 < len(calls(source)) == len(statements(source))


def statements(source: str) -> list[ast.stmt]:
    """The statements of a cell; none where it is no Python. Lines that IPython alone reads, as !ls, are what it makes of them."""
    errors = SyntaxError, ValueError, RecursionError, MemoryError, RuntimeError
    with suppress(*errors):
        return ast.parse(source).body if len(source) <= LONGEST else []
    with suppress(*errors):
        return ast.parse(TransformerManager().transform_cell(source)).body if len(source) < SHORT else []
    return []


@cache
def exercises() -> dict[str, Exercise]:
    """The course's exercises, by name."""
    found = {}
    for path in sorted(EXERCISES.glob("*.ipynb")):
        cells = read_cells(path)
        checks = {check.part: check for cell in cells if cell.kind == "code" for check in calls(cell.source)}
        written = {id: int(points) for cell in cells for id, points in ANSWER.findall(cell.source)}
        found[path.stem] = Exercise(path.stem, checks, written)
    return found


def exercise_of(cells: Sequence[Cell], name: str) -> Exercise:
    """The exercise that most of the checks, and of the functions that are handed in, belong to; between several, and
    where there are none, the one that the file is named after.

    Raises:
        LabError: when there is none.
    """
    parts = {check.part for cell in cells for check in calls(cell.source)}
    defined = {made for cell in cells for made in re.findall(r"(?m)^(?:def |)(\w+) *[=(]", cell.source)}

    def likeness(exercise: Exercise) -> int:
        handed_in = {made for check in exercise.checks.values() for made in check.made}
        asked = len(parts & set(exercise.checks))
        named = exercise.name.lower() in name.lower()
        return 3 * asked + len(defined & handed_in) + named * (1 + 100 * asked)  # a notebook may have two exercises

    best = max(exercises().values(), key=likeness)
    if likeness(best):
        return best
    known = ", ".join(exercises())
    raise LabError(
        f"{name} is an answer to none of the course's exercises: no part of one is in it. If it is one, name the file so: {known}."
    )


# What is done with it.


def grade(
    path: str | Path, say: Say = silent, limits: Limits = LIMITS, exercise: str = "", unlocked: bool = False
) -> dict:
    """Run a notebook, and return {"notebook", "exercise", "locked", "points", "max_points", "parts": [{"id", "points",
    "max_points", "status", "message", "misconception"}]}.

    locked: whether its code was locked in. status: right, wrong, open, missing (there was nothing to judge), or by hand
    (a written answer; a person gives its points, which are counted nowhere here).

    Args:
        say: told about cells that were left out.
        exercise: the name of the one that this is an answer to; otherwise its checks tell.
        unlocked: as of `Learner`.

    Raises:
        LabError: for what is no notebook, or none of the exercises.
    """
    name, cells = Path(path).name, read_cells(Path(path))
    asked = exercises()[exercise] if exercise in exercises() else exercise_of(cells, name)
    run = Run(cells, asked, name, say, limits, unlocked)
    run.to_the_end()
    parts = [run.told(check) for check in asked.checks.values()]
    by_hand = [
        {"id": id, "points": 0.0, "max_points": points, "status": "by hand", "message": "is read by a person."}
        for id, points in asked.written.items()
    ]
    points, most = (sum(part[key] for part in parts) for key in ("points", "max_points"))
    return {
        "notebook": printable(str(path), 200), "exercise": asked.name, "locked": bubblewrap_works(),
        "points": points, "max_points": most, "parts": parts + by_hand,
    }  # fmt: skip


@dataclass
class Run:
    """One notebook while it is graded.

    A part is judged where its check stands last, as it is handed in there, and at the end once more if it was still
    open, or nothing was there: a check may have been deleted, or its part solved behind it.

    Attributes:
        verdicts: by part, the last one.
        tried: where a part was judged, so that a new process does not judge it there again.
        left_out: the places of cells that stopped Python, never ended, or took too much.
        errors: what cells raised, by their places.
        spent: seconds of the learner's processes that have ended.
        began: what this process had computed before, in seconds.
    """

    cells: Sequence[Cell]
    exercise: Exercise
    name: str
    say: Say
    limits: Limits
    unlocked: bool
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    tried: set[tuple[int, str]] = field(default_factory=set)
    left_out: set[int] = field(default_factory=set)
    errors: dict[int, str] = field(default_factory=dict)
    spent: float = 0.0
    began: float = field(default_factory=time.process_time)

    def steps(self) -> list[tuple[str, list[Check]]]:
        """What is done, cell by cell: code of the learner's that runs, then the parts that are judged."""
        last, at_the_end = {}, dict(self.exercise.checks)
        for at, cell in enumerate(self.cells):
            for check in calls(cell.source) if cell.kind == "code" else ():
                asked = self.exercise.checks.get(check.part)
                if asked and len(asked.made) == len(check.made):
                    last[check.part] = (at, check)
        # A judge that shows what it judges on is asked once: code that has seen it could know it the next time.
        for part in [part for part in last if PARTS[part].shows]:
            _, at_the_end[part] = last.pop(part)
        runs = [cell.source if cell.kind == "code" and not is_only_checks(cell.source) else "" for cell in self.cells]
        found = [(code, [check for at, check in last.values() if at == here]) for here, code in enumerate(runs)]
        return [*found, ("", [*at_the_end.values()])]

    def to_the_end(self) -> None:
        """Run and judge all of it, in a new process after one that stopped."""
        while not self.came_to_the_end():
            if len(self.left_out) == DEAD_CELLS:
                return self.say(f"{self.name}: stopped, since {DEAD_CELLS} cells had to be left out.")

    def came_to_the_end(self) -> bool:
        """Run it in one process, and judge what is not judged yet; False when the process stopped on the way."""
        with Learner(self.limits, self.unlocked) as learner:
            try:
                for at, (code, checks) in enumerate(self.steps()):
                    if self.left(learner) <= 0:
                        self.say(f"{self.name}: stopped after {self.limits.notebook:g} seconds of processor time.")
                        return True
                    if code and at not in self.left_out:
                        self.run_cell(learner, at, code)
                    for check in checks:
                        verdict = self.verdicts.get(check.part)
                        is_settled = verdict and verdict.status != OPEN
                        if not learner.over and not is_settled and (at, check.part) not in self.tried:
                            self.tried.add((at, check.part))
                            self.judge(learner, check)
                    if learner.over:
                        return False
                return True
            finally:
                self.spent += learner.watch.spent

    def left(self, learner: Learner) -> float:
        """Seconds that may still be spent."""
        return self.limits.notebook - (time.process_time() - self.began + self.spent + learner.watch.spent)

    def run_cell(self, learner: Learner, at: int, code: str) -> None:
        try:
            if error := learner.run(code):
                self.errors[at] = error
        except Ended as e:
            first = cut(printable(code.strip().splitlines()[0]), 60)
            self.say(f"{self.name}: the cell “{first}” {e}, and was left out.")
            self.left_out.add(at)

    def judge(self, learner: Learner, check: Check) -> None:
        """Judge a part, where the names that it hands in stand for something."""
        part = PARTS[check.part]
        # Judges stop calls earlier, where there are alarms.
        with learner.killed_after(min(max(1.0, self.left(learner)), part.seconds + self.limits.cell)) as late:
            try:
                made = learner.values(check.made)
                verdict = grade_part(check.part, *made) if made is not None else None
            except Wrong as e:
                verdict = Verdict(check.part, WRONG, 0.0, part.points, str(e))
            finally:
                learner.part_ends()
        if late and verdict and verdict.status != RIGHT:
            said = f"time ran out: a whole notebook has {self.limits.notebook:g} seconds of processor time."
            verdict = replace(verdict, message=said)
        if verdict:
            self.verdicts[check.part] = verdict

    def told(self, check: Check) -> dict:
        """The verdict on a part, as `grade` returns it."""
        part = PARTS[check.part]
        nothing = Verdict(part.id, MISSING, 0.0, part.points, "")
        verdict = self.verdicts.get(part.id) or replace(nothing, message=self.why_missing(check))
        about = asdict(verdict) | {"message": printable(verdict.message)}
        return {"id": about.pop("part")} | about

    def why_missing(self, check: Check) -> str:
        names = [made for made in check.made if made.isidentifier()]
        if any(c.kind != "code" and any(f"def {name}(" in c.source for name in names) for c in self.cells):
            return "its answer stands in a cell of text: make it a code cell."
        for at, error in self.errors.items():
            if any(name in self.cells[at].source for name in names):
                return f"the cell with its answer went wrong ({printable(error, 200)})."
        what = "the name " + " or ".join(f"`{name}`" for name in check.made)
        wrong = [f"“{cut(self.cells[at].source.strip(), 60)}” went wrong ({e:.200})" for at, e in self.errors.items()]
        before = f"the cell {wrong[0]}" if wrong else "its cell was left out"
        return printable(f"nothing was found under {what}: {before}, or the name is another one.")


# Several notebooks: one never ends the grading of the others, whatever it does to its grader.


def grade_each(paths: Sequence[str | Path], say: Say = silent, unlocked: bool = False) -> Iterator[dict]:
    """The result of `grade` for each notebook; where one cannot be graded, {"notebook", …, "error": a sentence}."""
    for path in paths:
        found = grade_apart(path, say, unlocked)
        if "error" in found:
            why = printable(str(found["error"]))
            found = {"notebook": printable(str(path), 200), "points": 0.0, "max_points": 0, "parts": [], "error": why}
        yield found


def grade_apart(path: str | Path, say: Say, unlocked: bool = False, exercise: str = "") -> dict:
    """The result of `grade`, in a process of its own (__main__), or {"error": a sentence}."""
    asked = json.dumps({"path": str(path), "unlocked": unlocked, "exercise": exercise})
    command, name = [sys.executable, "-m", "specdec_grader", asked], Path(path).name
    try:
        child = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", timeout=PATIENCE)  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"{name} could not be graded within {PATIENCE:.0f} seconds."}
    with suppress(ValueError):
        found = json.loads(child.stdout.strip().rpartition("\n")[2])
        if isinstance(found, dict):
            for line in found.pop("said", ()):
                say(printable(line, 300))
            return found
    lines = child.stderr.strip().splitlines()
    return {"error": f"{name} could not be graded ({lines[-1][:200] if lines else 'it ended without a word'})."}
