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
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from filelock import FileLock

from specdec_lab.course.working_copy import COPIED, FOLDERS
from specdec_lab.errors import LabError
from specdec_lab.files import check_plain, path_of, written_whole

PATIENCE = 5  # seconds for another notebook to finish its writing
MEASUREMENTS = 20  # kept of each claim, the newest
ENTERED = ("guess", "revision", "assumed")  # what a learner adds to a claim

Edit = Callable[[dict], object]  # changes the data of a ledger in place
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
        self._waiting = _waiting.setdefault(self.path, [])
        self._notes: dict[str, str] = {}

    def news(self) -> str:
        """What happened to the file since the last call: a sentence, or nothing."""
        notes, self._notes = self._notes, {}
        return " ".join(notes.values())

    @property
    def written(self) -> bool:
        """Whether nothing waits to be written."""
        return not self._waiting

    def read(self) -> dict:
        """Everything in it, as the module's docstring says."""
        try:
            return _edited(self._load(), self._waiting)
        except LabError:
            return self.change(lambda data: None)  # sets the file aside
        except OSError as e:
            self._cannot(e)
            return _edited(_empty(), self._waiting)

    def change(self, edit: Edit) -> dict:
        """Read, edit and write, while nobody else writes; returns everything that is in it then."""
        self._waiting.append(edit)
        try:
            check_plain(self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_suffix(".lock"), timeout=PATIENCE):
                edits = list(self._waiting)
                try:
                    data = self._load()
                except LabError:
                    data = self._set_aside()
                _write(self.path, _edited(data, edits))
                del self._waiting[: len(edits)]  # another thread may have added one meanwhile, which waits for its turn
            self._notes.pop("cannot", None)
            return data
        except OSError as e:  # a lock that is not given up in time is one too
            self._cannot(e)
        with suppress(LabError, OSError):
            return _edited(self._load(), self._waiting)
        return _edited(_empty(), self._waiting)

    def add(self, **sections: dict) -> dict:
        """Add the entries of these sections that are not there; as `change`."""
        return self.change(lambda data: merge(data, {**_empty(), **sections}))

    def _load(self) -> dict:
        try:
            return read_ledger(self.path)
        except FileNotFoundError:
            return _empty()

    def _set_aside(self) -> dict:
        """Give the file another name; returns the ledger that begins."""
        places = (self.path.with_stem(f"{self.path.stem} (set aside {n})") for n in itertools.count(1))
        place = next(p for p in places if not p.exists())
        self.path.rename(place)
        self._notes["aside"] = (
            f"{self.path.name} could not be read as a ledger: it is now “{place.name}”, and a new one begins."
        )
        return _empty()

    def _cannot(self, e: OSError) -> None:
        why = e.strerror or "another program holds it"
        self._notes["cannot"] = (
            f"The ledger {self.path} cannot be used ({why}): what you enter is kept only until the kernel stops."
        )

    # Predictions

    def claim(self, id: str) -> dict:
        """What is known about a claim; empty if nothing is."""
        return self.read()["claims"].get(id, {})

    def ask(self, id: str, question: str, unit: str = "") -> None:
        """Note the question, when it differs from what is noted."""
        asked = {"question": question, "unit": unit}
        if not asked.items() <= self.claim(id).items():
            self.change(lambda data: data["claims"].setdefault(id, {}).update(asked))

    def guess(self, id: str, value: float, reason: str = "", kind: str = "guess", when: str | None = None) -> dict:
        """Keep a guess, unless there is one; returns the one that is kept.

        Args:
            when: it was made, where that was before now: it may have waited for a kernel that was busy. What was
                measured meanwhile was not known to it.
        """
        known = [m for m in self.claim(id).get("measured", []) if not when or m.get("when", "") < when]
        after = kind == "revision" or bool(known)
        new = {"value": value, "reason": reason, "when": when or _now(), "after_outcome": after}
        return self.add(claims={id: {kind: new}})["claims"][id][kind]

    def add_measurement(
        self, id: str, value: float, interval: Sequence[float] | None = None, theory: float | None = None
    ) -> None:
        new = {"value": value, "interval": interval and list(interval), "theory": theory, "when": _now()}
        self.add(claims={id: {"measured": [new]}})

    def assume(self, id: str, line: str, when: str | None = None) -> None:
        """Keep the line "what I had assumed", unless there is one that was written after `when`."""
        new = {"assumed": line, "assumed_when": when or _now()}

        def edit(data: dict) -> None:
            claim = data["claims"].setdefault(id, {})
            if claim.get("assumed_when", "") <= new["assumed_when"]:
                claim.update(new)

        self.change(edit)

    # Quizzes

    def attempts(self, item: str) -> list[dict]:
        """All answers to a quiz item, the oldest first."""
        return self.read()["quiz"].get(item, [])

    def attempt(self, item: str, **answer) -> None:
        """Add an answer, unless this very one is there; its fields are those of the module's docstring."""
        self.add(quiz={item: [{"when": _now(), **answer}]})

    # Exercises

    def judge(self, part: str, verdict: dict) -> None:
        """Keep a verdict on a part: the last one, the best one, and how many there were."""
        new = {"when": _now(), **verdict}

        def edit(data: dict) -> None:
            kept = data["parts"].get(part, {"tries": 0, "best": new})
            best = max(kept["best"], new, key=lambda verdict: verdict["points"])
            data["parts"][part] = {"tries": kept["tries"] + 1, "best": best, "last": new}

        self.change(edit)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _empty() -> dict:
    return {"schema": 1, "claims": {}, "quiz": {}, "parts": {}}


def _edited(data: dict, edits: list[Edit]) -> dict:
    for edit in edits:
        edit(data)
    return data


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
    return _empty() | data  # one without exercises has no parts


def _is_text(x: Any) -> bool:
    return isinstance(x, str)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float) and -1e300 < x < 1e300  # neither endless nor NaN, which Python reads as numbers


def _is_entry(*needed: str) -> Callable[[Any], bool]:
    """Asks whether something is an entry with these fields, and each of its fields is what it must be."""
    return lambda x: (
        isinstance(x, dict)
        and all(name in x for name in needed)
        and all(fits(x[name]) for name, fits in FIELDS.items() if name in x)
    )


def _is_list(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, list) and all(map(fits, x))


def _by_id(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, dict) and all(map(fits, x.values()))


FIELDS: dict[str, Callable[[Any], bool]] = {  # what each field of an entry must be, wherever it stands
    "schema": lambda x: x == 1,
    "claims": _by_id(_is_entry()),
    "quiz": _by_id(_is_list(_is_entry("right"))),
    "parts": _by_id(_is_entry("tries", "best", "last")),
    **dict.fromkeys(("guess", "revision"), _is_entry("value")),
    "measured": _is_list(_is_entry("value")),
    **dict.fromkeys(("best", "last"), _is_entry("points", "status")),
    **dict.fromkeys(("value", "points", "max_points", "tries"), _is_number),
    "theory": lambda x: x is None or _is_number(x),
    "interval": lambda x: x is None or (_is_list(_is_number)(x) and len(x) == 2),
    "right": lambda x: isinstance(x, bool),
    "misconception": lambda x: isinstance(x, int | None),
    **dict.fromkeys(("question", "unit", "reason", "when", "assumed", "assumed_when"), _is_text),
    **dict.fromkeys(("confidence", "status", "message"), _is_text),
}


def is_ledger(data: Any) -> TypeGuard[dict]:
    """Whether it has the form that the module's docstring says."""
    return _is_entry("schema", "claims", "quiz")(data)


def import_progress(path: str | Path, ledger: Ledger) -> int:
    """Add to the ledger what only the file has; returns how many entries that were."""
    theirs, added = read_ledger(path), []
    ledger.change(lambda data: added.append(merge(data, theirs)))
    if not ledger.written:
        raise LabError(f"Nothing was imported from “{Path(path).name}”. {ledger.news()}")
    return added[0]


def export_progress(path: str | Path, ledger: Ledger) -> None:
    """Write the ledger to a file that the site and `import_progress` read."""
    path = Path(path)
    if path.is_file() and path.stat().st_size:
        try:
            read_ledger(path)
        except LabError as e:
            raise LabError(f"“{path.name}” is no progress file, so it is not written over: give another name.") from e
    _write(path, ledger.read())


def merge(mine: dict, theirs: dict) -> int:
    """Add to a ledger what only the other one has; what is in both stays. Returns how many entries were added."""
    before = _entries(mine)
    for id, claim in theirs["claims"].items():
        here = mine["claims"].setdefault(id, {})
        measured = _joined(here.get("measured", []), claim.get("measured", []))[-MEASUREMENTS:]
        here.update({**claim, **here} | ({"measured": measured} if measured else {}))
    for id, attempts in theirs["quiz"].items():
        mine["quiz"][id] = _joined(mine["quiz"].get(id, []), attempts)
    mine["parts"] = theirs["parts"] | mine["parts"]
    return _entries(mine) - before


def _entries(data: dict) -> int:
    """How many guesses, second guesses, lines, measurements, answers and parts of exercises there are."""
    claims, quiz = data["claims"].values(), data["quiz"].values()
    in_claims = sum(sum(key in c for key in ENTERED) + len(c.get("measured", [])) for c in claims)
    return in_claims + sum(map(len, quiz)) + len(data["parts"])


def _joined(mine: list[dict], theirs: list[dict]) -> list[dict]:
    """What is in either, the oldest first."""
    return sorted([*mine, *(x for x in theirs if x not in mine)], key=lambda x: x.get("when", ""))
