"""Grading a learner's notebook: its code runs in a process of its own (learner), and the judges stay in this one."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from specdec_grader.check import PARTS, judged
from specdec_grader.learner.jail import LIMITS, Limits
from specdec_grader.learner.process import Ended, Learner
from specdec_grader.part import MISSING, RIGHT, WRONG, Judgement
from specdec_grader.reader import (
    Cell,
    Check,
    Exercise,
    calls,
    exercise_of,
    exercises,
    is_only_checks,
    read_cells,
)
from specdec_lab.course.mistake import Wrong
from specdec_lab.errors import Say, silent
from specdec_lab.formats import cut, printable

RUNS = 4  # a cell that stops Python or never ends is left out, and the rest runs again, so often
AFTER = 120  # seconds that a grader's process may take beside the notebook's own
COPIES = 5  # how often a part is judged, where its check stands in several cells


def grade(
    path: str | Path, say: Say = silent, limits: Limits = LIMITS, exercise: str = "", unlocked: bool = False
) -> dict:
    """Run a notebook, and return {"notebook", "exercise", "points", "max_points", "parts": [{"id", "points", "max_points", "status", "message",
    "misconception"}]}.

    status: right, wrong, open, missing (there was nothing to judge), or by hand (a written answer; a person gives its
    points, which are counted nowhere here). What is judged are the names that the exercise hands in, at each place
    where the learner's notebook checks them, and at its end; the best verdict counts.

    Args:
        say: told about cells that were left out.
        exercise: the name of the one that this is an answer to; otherwise its checks tell.
        unlocked: as of `Learner`.

    Raises:
        LabError: for what is no notebook, or none of the exercises.
    """
    return graded(read_cells(Path(path)), Path(path).name, say, limits, exercise, unlocked)


def graded(
    cells: Sequence[Cell],
    name: str,
    say: Say = silent,
    limits: Limits = LIMITS,
    exercise: str = "",
    unlocked: bool = False,
) -> dict:
    """The same for cells that were read already."""
    asked = exercises()[exercise] if exercise in exercises() else exercise_of(cells, name)
    run = Run(cells, asked, name, say, limits, unlocked)
    run.to_the_end()
    parts = [run.verdict(check) for check in asked.checks.values()]
    by_hand = [
        {"id": id, "points": 0.0, "max_points": points, "status": "by hand", "message": "is read by a person."}
        for id, points in asked.written.items()
    ]
    points, most = (sum(part[key] for part in parts) for key in ("points", "max_points"))
    shown = printable(name, 200)
    return {"notebook": shown, "exercise": asked.name, "points": points, "max_points": most, "parts": parts + by_hand}


@dataclass
class Run:
    """One notebook while it is graded.

    Attributes:
        verdicts: by part, one for each place where it was judged.
        left_out: the places of cells that stopped Python, never ended, or took too much.
        errors: what cells raised, by their places.
    """

    cells: Sequence[Cell]
    exercise: Exercise
    name: str
    say: Say
    limits: Limits
    unlocked: bool
    verdicts: dict[str, list[Judgement]] = field(default_factory=dict)
    left_out: set[int] = field(default_factory=set)
    errors: dict[int, str] = field(default_factory=dict)

    def steps(self) -> list[tuple[str, list[Check]]]:
        """What is done, cell by cell: code of the learner's that runs, then the parts that are judged."""
        by_id = {check.grade_id: check for check in self.exercise.checks.values() if check.grade_id}
        steps = []
        for cell in self.cells:
            if cell.kind == "code":
                own = [by_id[cell.grade_id]] if cell.grade_id in by_id else []
                called = [c for c in calls(cell.source) if c.part in self.exercise.checks]
                found = [c for mine in called for c in (self.exercise.checks[mine.part], mine)]
                code = "" if is_only_checks(cell.source) else cell.source
                steps.append((code, self.different(own + found)))
        # Where an answer is one of a few letters, several would be guesses: only the last place counts.
        for part in (part for part in self.exercise.checks if PARTS[part].few):
            places = [at for at, (_, checks) in enumerate(steps) if any(c.part == part for c in checks)]
            for at in places[:-1]:
                steps[at] = steps[at][0], [c for c in steps[at][1] if c.part != part]
        # At the end once more: a check may have been deleted, or its part solved somewhere behind it.
        return [*steps, ("", list(self.exercise.checks.values()))]

    def different(self, checks: list[Check]) -> list[Check]:
        """Without those that hand in the same, or another number of things than the exercise does."""
        fit = [c for c in checks if len(c.made) == len(self.exercise.checks[c.part].made)]
        return list({(c.part, c.made): c for c in fit}.values())

    def to_the_end(self) -> None:
        """Run and judge all of it, in a new process after one that stopped, as long as there is time."""
        steps, judged_already = self.steps(), set()
        ends = time.monotonic() + self.limits.notebook
        for _ in range(RUNS + len(self.exercise.checks)):
            with Learner(self.limits, self.unlocked) as learner:
                for at, (code, checks) in enumerate(steps):
                    if time.monotonic() > ends:
                        self.say(f"{self.name}: stopped after {self.limits.notebook:g} seconds.")
                        return
                    if code.strip() and at not in self.left_out:
                        self.run_cell(learner, at, code)
                    for check in checks:
                        if learner.over or (at, check) in judged_already:
                            continue
                        if not self.is_enough(check, at == len(steps) - 1):
                            judged_already.add((at, check))
                            self.judge(learner, check, ends)
                    if learner.over:
                        break
                else:
                    return
            if len(self.left_out) >= RUNS:
                return

    def run_cell(self, learner: Learner, at: int, code: str) -> None:
        try:
            if error := learner.run(code):
                self.errors[at] = error
        except Ended as e:
            first = cut(printable(code.strip().splitlines()[0]), 60)
            self.say(f"{self.name}: the cell “{first}” {e}, and was left out.")
            self.left_out.add(at)

    def is_enough(self, check: Check, at_the_end: bool) -> bool:
        found = [verdict.status for verdict in self.verdicts.get(check.part, [])]
        return len(found) >= COPIES or RIGHT in found or (at_the_end and WRONG in found)

    def judge(self, learner: Learner, check: Check, ends: float) -> None:
        """Judge a part, where the names that it hands in stand for something."""
        part = PARTS[check.part]
        left = max(1.0, ends - time.monotonic())
        # Judges stop calls earlier, where there are alarms.
        with learner.killed_after(min(left, part.seconds + self.limits.cell)):
            try:
                made = learner.values(check.made)
            except Wrong as e:
                verdict = Judgement(check.part, WRONG, 0.0, part.points, str(e))
            else:
                if made is None:
                    return
                verdict = judged(check.part, *made)
            finally:
                learner.part_ends()
        self.verdicts.setdefault(check.part, []).append(verdict)

    def verdict(self, check: Check) -> dict:
        """The best verdict on a part."""
        found = self.verdicts.get(check.part, [])
        most = PARTS[check.part].points
        if not found:
            told = {"points": 0.0, "status": MISSING, "message": self.why_missing(check), "misconception": None}
        else:
            best = max(reversed(found), key=lambda verdict: verdict.points)
            told = asdict(best)
            told["message"] = printable(told["message"])
            if len({(v.points, v.message) for v in found}) > 1:
                told["message"] += " (It is checked in several places; this is the best of them.)"
        keys = ("points", "status", "message", "misconception")
        return {"id": check.part, "max_points": most} | {key: told[key] for key in keys}

    def why_missing(self, check: Check) -> str:
        names = [made for made in check.made if made.isidentifier()]
        for cell in self.cells:
            if cell.kind != "code" and any(f"def {name}(" in cell.source for name in names):
                return "its answer stands in a cell of text: make it a code cell."
        for at, error in self.errors.items():
            if any(name in self.steps()[at][0] for name in names):
                return f"the cell with its answer went wrong ({printable(error, 200)})."
        what = "the name " + " or ".join(f"`{name}`" for name in check.made)
        return f"nothing was found under {what}: a cell before it went wrong, or the name is another one."


def grade_each(
    paths: Sequence[str | Path], say: Say = silent, unlocked: bool = False, exercise: str = ""
) -> Iterator[dict]:
    """The result of `grade` for each notebook; where one cannot be graded, {"notebook", …, "error": a sentence}.

    Each is graded in a process of its own: one notebook never ends the grading of the others, whatever it does.
    """
    for path in paths:
        found = grade_apart(path, say, unlocked, exercise)
        if "error" in found:
            why = printable(str(found["error"]))
            found = {"notebook": printable(str(path), 200), "points": 0.0, "max_points": 0, "parts": [], "error": why}
        yield found


def grade_apart(path: str | Path, say: Say, unlocked: bool = False, exercise: str = "") -> dict:
    """The result of `grade`, in a process of its own, or {"error": a sentence}."""
    asked = json.dumps({"path": str(path), "unlocked": unlocked, "exercise": exercise})
    command = [sys.executable, "-m", "specdec_grader", asked]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")  # fmt: skip
    try:
        out, said = child.communicate(timeout=LIMITS.notebook + AFTER)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return {"error": f"{Path(path).name} could not be graded within {LIMITS.notebook + AFTER:.0f} seconds."}
    except BaseException:  # an interrupt: its jail ends with it
        child.kill()
        raise
    lines = [line for line in said.splitlines() if line.startswith(Path(path).name)]
    for line in lines:
        say(printable(line, 300))
    with suppress(ValueError):
        found = json.loads(out.splitlines()[-1] if out.strip() else "")
        if isinstance(found, dict):
            return found
    last = (said.strip().splitlines() or ["it ended without a word"])[-1]
    return {"error": f"{Path(path).name} could not be graded ({last[:200]})."}
