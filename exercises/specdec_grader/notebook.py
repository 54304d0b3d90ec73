"""Grading a learner's notebook: its code runs in a process of its own (learner), and the judges stay in this one."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from specdec_grader.checks import PARTS, judged
from specdec_grader.learner.jail import LIMITS, Limits
from specdec_grader.learner.process import Ended, Learner
from specdec_grader.mistake import Wrong
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
from specdec_lab.errors import Say, silent
from specdec_lab.formats import cut, printable

RUNS = 4  # a cell that stops Python or never ends is left out, and the rest runs again, so often
LONGEST = (
    10 * LIMITS.notebook
)  # seconds of the clock that a grader's process may take on a machine where others compute
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
        spent: seconds of the learner's processes that have ended.
        began: what this process had computed before, in seconds.
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
    spent: float = 0.0
    began: float = field(default_factory=time.process_time)

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
        # Where an answer is one of a few letters, several would be guesses: only the last check counts.
        for part in (part for part in self.exercise.checks if PARTS[part].few):
            all_of_them = [(at, c) for at, (_, checks) in enumerate(steps) for c in checks if c.part == part]
            for at, check in all_of_them[:-1]:
                steps[at][1].remove(check)
        # At the end once more: a check may have been deleted, or its part solved somewhere behind it.
        return [*steps, ("", list(self.exercise.checks.values()))]

    def different(self, checks: list[Check]) -> list[Check]:
        """Without those that hand in another number of things than the exercise does; of equal ones the last."""
        fit = [c for c in checks if len(c.made) == len(self.exercise.checks[c.part].made)]
        return list({(c.part, c.made): c for c in reversed(fit)}.values())[::-1]

    def to_the_end(self) -> None:
        """Run and judge all of it, in a new process after one that stopped, as long as there is time."""
        steps, judged_already = self.steps(), set()
        for _ in range(RUNS + COPIES * len(self.exercise.checks)):
            shown, again = set(), False  # the parts whose judges have shown this process what they judge on
            with self.learner() as learner:
                for at, (code, checks) in enumerate(steps):
                    if self.left(learner) <= 0:
                        self.say(f"{self.name}: stopped after {self.limits.notebook:g} seconds of processor time.")
                        return
                    if code.strip() and at not in self.left_out:
                        self.run_cell(learner, at, code)
                    for check in checks:
                        if learner.over or (at, check) in judged_already:
                            continue
                        if not self.is_enough(check, at == len(steps) - 1):
                            if check.part in shown:
                                again = True
                                continue
                            judged_already.add((at, check))
                            self.judge(learner, check)
                            if PARTS[check.part].shows:
                                shown.add(check.part)
                    if learner.over:
                        break
                else:
                    if not again:
                        return
            if len(self.left_out) >= RUNS:
                return

    @contextmanager
    def learner(self) -> Iterator[Learner]:
        with Learner(self.limits, self.unlocked) as learner:
            try:
                yield learner
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

    def is_enough(self, check: Check, at_the_end: bool) -> bool:
        found = [verdict.status for verdict in self.verdicts.get(check.part, [])]
        return len(found) >= COPIES or RIGHT in found or (at_the_end and WRONG in found)

    def judge(self, learner: Learner, check: Check) -> None:
        """Judge a part, where the names that it hands in stand for something."""
        part = PARTS[check.part]
        left = max(1.0, self.left(learner))
        # Judges stop calls earlier, where there are alarms.
        with learner.killed_after(min(left, part.seconds + self.limits.cell)) as late:
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
        if late and verdict.status != RIGHT:
            said = f"time ran out: a whole notebook has {self.limits.notebook:g} seconds of processor time."
            verdict = replace(verdict, message=said)
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

    Each is graded in a process of its own: one notebook never ends the grading of the others, whatever it does. Where
    several have one name, "notebook" has as many folders before it as tell them apart.
    """
    for path, name in zip(paths, shortest_names(paths)):
        found = grade_apart(path, say, unlocked, exercise)
        if "error" in found:
            why = printable(str(found["error"]))
            found = {"notebook": printable(str(path), 200), "points": 0.0, "max_points": 0, "parts": [], "error": why}
        elif name != Path(path).name:
            found["notebook"] = printable(name, 200)
        yield found


def shortest_names(paths: Sequence[str | Path]) -> list[str]:
    """A name for each file: the end of its path that no other one has, as short as it can be."""
    whole = [Path(path).absolute().parts for path in paths]
    names = []
    for mine in whole:
        others = [parts for parts in whole if parts != mine]
        ends = (mine[-n:] for n in range(1, len(mine) + 1))
        names.append("/".join(next((end for end in ends if all(o[-len(end) :] != end for o in others)), mine)))
    return names


def grade_apart(path: str | Path, say: Say, unlocked: bool = False, exercise: str = "") -> dict:
    """The result of `grade`, in a process of its own, or {"error": a sentence}."""
    asked = json.dumps({"path": str(path), "unlocked": unlocked, "exercise": exercise})
    command = [sys.executable, "-m", "specdec_grader", asked]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")  # fmt: skip
    try:
        out, said = child.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        ended(child)
        return {"error": f"{Path(path).name} could not be graded within {LONGEST:.0f} seconds."}
    except BaseException:  # an interrupt
        ended(child)
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


def ended(child: subprocess.Popen) -> None:
    """End a grader's process. It has some seconds to end the learner's, and to take its folder away."""
    child.terminate()
    try:
        child.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
