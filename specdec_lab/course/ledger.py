"""The learner's ledger: a small file with every guess, its measurement, and every answer to a quiz.

    {"schema": 1,
     "claims": {id: {"question", "unit", "guess": {"value", "reason", "when", "after_outcome"},
                     "revision": {the same}, "measured": [{"value", "interval", "theory", "when"}], "assumed", "assumed_when"}},
     "quiz": {item id: [{"when", "question", "said", "chosen", "right", "confidence", "misconception"}]},
     "parts": {part id: {"tries", "best": {"points", …}, "last": {"when", "status", "points", "max_points",
                         "message", "misconception"}}}}

It outlives the kernel, two notebooks that write at once, a file that was cut off or is something
else, and a folder that cannot be written.
"""

import errno
import itertools
import json
import math
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from filelock import FileLock

from specdec_lab.course.working_copy import COPIED, FOLDERS
from specdec_lab.errors import LabError
from specdec_lab.files import check_plain, path_of, written_whole

PATIENCE = 5  # seconds for another notebook to finish its writing
MOST_POINTS = 1_000  # of a part; far more than any has
MEASUREMENTS = 20  # kept of each claim, the newest

Edit = Callable[[dict], None]  # changes the data of a ledger, or of one claim, in place
_waiting: dict[Path, list[Edit]] = {}  # what could not be written yet, for each file


def of_this_copy() -> Path:
    """The ledger of the working copy that one stands in, or of the one beside (`make lab` puts it there); in a clone, whose
    notebooks some editors open as they are, that of the whole clone; else one here.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise LabError("The folder that this runs in is gone: go to another one, and start the kernel again.") from None
    around = [here, *here.parents]
    clones = [folder for folder in around if all((folder / name).is_dir() for name in (*FOLDERS, "specdec_lab"))]
    places = [*around, *(folder / "my-course" for folder in (here, *clones))]
    copies = [folder for folder in places if (folder / COPIED).exists()]
    return (copies or clones or [here])[0] / "ledger.json"


class Ledger:
    """The ledger in the file `path`; by default where SPECDEC_LAB_LEDGER says, or ledger.json of this working copy.

    No method raises because of the file. What the learner should know is in `news`; what cannot be
    written is kept until the kernel stops.
    """

    def __init__(self, path: str | Path | None = None):
        self.path = path_of(path or os.environ.get("SPECDEC_LAB_LEDGER") or of_this_copy()).absolute()
        self._notes: dict[str, str] = {}

    def news(self) -> str:
        """What happened to the file since the last call: a sentence, or nothing."""
        notes, self._notes = self._notes, {}
        return " ".join(notes.values())

    @property
    def written(self) -> bool:
        """Whether nothing waits to be written."""
        return self.path not in _waiting

    def read(self) -> dict:
        """Everything in it, as the module's docstring says."""
        try:
            return self._with_waiting(self._load())
        except LabError:
            return self.change(lambda data: None)  # sets the file aside
        except OSError as e:
            self._cannot(e)
            return self._with_waiting(_empty())

    def change(self, edit: Edit) -> dict:
        """Read, edit and write, while nobody else writes; returns everything that is in it then."""
        data = _empty()
        try:
            check_plain(self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_suffix(".lock"), timeout=PATIENCE):
                try:
                    data = self._load()
                except LabError:
                    self._set_aside()
                edit(self._with_waiting(data))
                _write(self.path, data)
            _waiting.pop(self.path, None)
            self._notes.pop("cannot", None)
            return data
        except OSError as e:  # a lock that is not given up in time is one too
            self._cannot(e)
            _waiting.setdefault(self.path, []).append(edit)
        with suppress(LabError, OSError):
            return self._with_waiting(self._load())
        return self._with_waiting(_empty())

    def _load(self) -> dict:
        try:
            return read_ledger(self.path)
        except FileNotFoundError:
            return _empty()

    def _with_waiting(self, data: dict) -> dict:
        for edit in _waiting.get(self.path, []):
            edit(data)
        return data

    def _set_aside(self) -> None:
        places = (self.path.with_stem(f"{self.path.stem} (set aside {n})") for n in itertools.count(1))
        place = next(p for p in places if not p.exists())
        self.path.rename(place)
        self._notes["aside"] = (
            f"{self.path.name} could not be read as a ledger: it is now “{place.name}”, and a new one begins."
        )

    def _cannot(self, e: OSError) -> None:
        why = e.strerror or "another program holds it"
        self._notes["cannot"] = (
            f"The ledger {self.path} cannot be used ({why}): what you enter is kept only until the kernel stops."
        )

    # Predictions

    def claim(self, id: str) -> dict:
        """What is known about a claim; empty if nothing is."""
        return self.read()["claims"].get(id, {})

    def _change_claim(self, id: str, edit: Edit) -> dict:
        """Change one claim, which is empty at first; returns it."""
        return self.change(lambda data: edit(data["claims"].setdefault(id, {})))["claims"][id]

    def ask(self, id: str, question: str, unit: str = "") -> None:
        """Note the question, when it differs from what is noted."""
        asked = {"question": question, "unit": unit}
        if not asked.items() <= self.claim(id).items():
            self._change_claim(id, lambda claim: claim.update(asked))

    def guess(self, id: str, value: float, reason: str = "", kind: str = "guess", when: str | None = None) -> dict:
        """Keep a guess, unless there is one; returns the one that is kept.

        Args:
            when: it was made, where that was before now: it may have waited for a kernel that was busy. What was
                measured meanwhile was not known to it.
        """
        new = {"value": value, "reason": reason, "when": when or _now()}

        def edit(claim: dict) -> None:
            known = [m for m in claim.get("measured", []) if not when or m.get("when", "") < new["when"]]
            claim.setdefault(kind, {**new, "after_outcome": kind == "revision" or bool(known)})

        return self._change_claim(id, edit)[kind]

    def add_measurement(
        self, id: str, value: float, interval: tuple[float, float] | None = None, theory: float | None = None
    ) -> None:
        new = {"value": value, "interval": interval and list(interval), "theory": theory, "when": _now()}

        def edit(claim: dict) -> None:
            claim["measured"] = [*claim.get("measured", []), new][-MEASUREMENTS:]

        self._change_claim(id, edit)

    def assume(self, id: str, line: str, when: str | None = None) -> None:
        """Keep the line "what I had assumed", unless there is one that was written after `when`."""
        new = {"assumed": line, "assumed_when": when or _now()}

        def edit(claim: dict) -> None:
            written = min(claim.get("assumed_when", ""), _now())  # one of the future is of a wrong clock
            if written <= new["assumed_when"]:
                claim.update(new)

        self._change_claim(id, edit)

    # Quizzes

    def attempts(self, item: str) -> list[dict]:
        """All answers to a quiz item, the oldest first."""
        return self.read()["quiz"].get(item, [])

    def attempt(self, item: str, **answer) -> None:
        """Add an answer, unless this very one is there; its fields are those of the module's docstring, `when` may be
        missing.
        """
        new = {"when": _now(), **answer}

        def edit(data: dict) -> None:
            there = data["quiz"].setdefault(item, [])
            if "when" not in answer or new not in there:
                there.append(new)

        self.change(edit)

    # Exercises

    def judge(self, part: str, verdict: dict) -> None:
        """Keep a verdict on a part: the last one, the best one, and how many there were."""
        new = {"when": _now(), **verdict}

        def edit(data: dict) -> None:
            parts = data.setdefault("parts", {})
            kept = parts.get(part, {"tries": 0, "best": new})
            best = max(kept["best"], new, key=lambda verdict: verdict["points"])
            parts[part] = {"tries": kept["tries"] + 1, "best": best, "last": new}

        self.change(edit)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _empty() -> dict:
    return {"schema": 1, "claims": {}, "quiz": {}}


def _write(path: Path, data: dict) -> None:
    with written_whole(path) as unfinished:
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")  # half a character stays JSON


def read_ledger(path: str | Path) -> dict:
    """The ledger in a file: the learner's own, or one that travels, which the site or `export_progress` wrote.

    Raises:
        LabError: for a file that is none.
        OSError: for one that cannot be read, or that a newer version of the course wrote.
    """
    path, data = Path(path), None
    check_plain(path)
    with suppress(ValueError, RecursionError):  # no JSON, no text, or nested without end
        data = json.loads(path.read_text(encoding="utf-8-sig"))  # some editors put a mark in front
    if isinstance(data, dict) and isinstance(data.get("schema"), int) and data["schema"] > 1:
        raise OSError(errno.EINVAL, "it is of a newer version of the course: update this one", str(path))
    if not is_ledger(data):
        raise LabError(
            f"“{path.name}” is no progress file: give one that the course's pages saved under “your progress”, or that "
            "`specdec-lab progress --export` wrote."
        )
    return data


def _is_number(x: Any, most: float = math.inf) -> bool:
    return isinstance(x, int | float) and math.isfinite(x) and x <= most


_FIELDS: dict[str, Callable[[Any], bool]] = {  # what each field of an entry must be, wherever it stands
    "value": _is_number,
    "theory": lambda x: not x or _is_number(x),
    "interval": lambda x: not x or (len(x) == 2 and all(map(_is_number, x))),
    "right": lambda x: isinstance(x, bool),
    "misconception": lambda x: isinstance(x, int | None),
    "points": lambda x: _is_number(x, MOST_POINTS) and x >= 0,
    "max_points": lambda x: _is_number(x, MOST_POINTS) and x >= 0,
    "tries": lambda x: isinstance(x, int) and 0 < x < 10**9,
    "measured": lambda x: isinstance(x, list) and all(_holds(m, "value") for m in x),
    **dict.fromkeys(("guess", "revision"), lambda x: _holds(x, "value")),
    **dict.fromkeys(("best", "last"), lambda x: _holds(x, "points", "status") and x["status"] != ""),
    **dict.fromkeys(
        ("assumed", "assumed_when", "confidence", "message", "question", "reason", "status", "unit", "when"),
        lambda x: isinstance(x, str),
    ),
}


def _holds(entry: Any, *needed: str) -> bool:
    """Whether it is an entry with these fields, and each of its fields is what it must be."""
    if not isinstance(entry, dict) or not all(name in entry for name in needed):
        return False
    return all(fits(entry[name]) for name, fits in _FIELDS.items() if name in entry)


def is_ledger(data: Any) -> TypeGuard[dict]:
    """Whether it has the form that the module's docstring says."""
    try:
        attempts, parts = data["quiz"].values(), data.get("parts", {}).values()
        return (
            data["schema"] == 1
            and all(map(_holds, data["claims"].values()))
            and all(isinstance(of_item, list) and all(_holds(a, "right") for a in of_item) for of_item in attempts)
            and all(_holds(part, "tries", "best", "last") for part in parts)
        )
    except (AttributeError, KeyError, TypeError, OverflowError):  # such as a number beyond all
        return False


def import_progress(path: str | Path, ledger: Ledger) -> int:
    """Add to the ledger what only the file has; returns how many entries that were.

    Raises:
        LabError: for a file that is no ledger, and for a ledger that cannot be written.
        OSError: for a file that cannot be read.
    """
    theirs, added = read_ledger(path), []
    ledger.change(lambda data: added.append(merge(data, theirs)))
    if not ledger.written:
        raise LabError(f"Nothing was imported from “{Path(path).name}”. {ledger.news()}")
    return added[0]


def export_progress(path: str | Path, ledger: Ledger) -> None:
    """Write the ledger to a file that the site and `import_progress` read.

    Raises:
        LabError: when there is a file of this name that is no progress file: it is not written over.
        OSError: when the file cannot be written.
    """
    if Path(path).is_file() and Path(path).stat().st_size:
        try:
            read_ledger(path)
        except LabError as e:
            raise LabError(
                f"“{Path(path).name}” is no progress file, so it is not written over: give another name."
            ) from e
    _write(Path(path), ledger.read())


def merge(mine: dict, theirs: dict) -> int:
    """Add to a ledger what only the other one has; what is in both stays. As `merge` in tools/site/progress.js.

    Returns:
        How many guesses, second guesses, lines, measurements, answers and parts of exercises were added.
    """
    added = 0
    for id, claim in theirs["claims"].items():
        here = mine["claims"].setdefault(id, {})
        added += sum(key in claim and key not in here for key in ("guess", "revision", "assumed"))
        before = here.get("measured", [])
        measured = joined(before, claim.get("measured", []))[-MEASUREMENTS:]
        added += sum(m not in before for m in measured)
        here.update({**claim, **here, **({"measured": measured} if measured else {})})
    for id, attempts in theirs["quiz"].items():
        before = mine["quiz"].get(id, [])
        mine["quiz"][id] = joined(before, attempts)
        added += len(mine["quiz"][id]) - len(before)
    for id, part in theirs.get("parts", {}).items():
        if id not in mine.setdefault("parts", {}):
            mine["parts"][id] = part
            added += 1
    return added


def joined(mine: list[dict], theirs: list[dict]) -> list[dict]:
    """What is in either, the oldest first."""
    return sorted([*mine, *(x for x in theirs if x not in mine)], key=lambda x: str(x.get("when", "")))
