"""A ledger in a file that travels: between the notebooks and the static site, or from one machine to another."""

import json
from pathlib import Path

from specdec_lab.course.ledger import MEASUREMENTS, Ledger, is_ledger
from specdec_lab.errors import LabError
from specdec_lab.files import check_plain, written_whole


def read_progress(path: str | Path) -> dict:
    """The ledger in a file which the site or `export_progress` wrote.

    Raises:
        LabError: for a file that is none.
        OSError: for one that cannot be read.
    """
    name = Path(path).name
    check_plain(Path(path))
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict) and isinstance(data.get("schema"), int) and data["schema"] > 1:
        raise LabError(f"“{name}” is from a newer version of the course: update this one, and import it then.")
    if not is_ledger(data):
        raise LabError(
            f"“{name}” is no progress file: give one that the course's pages saved under “your progress”, or that "
            "`specdec-lab progress --export` wrote."
        )
    return data


def import_progress(path: str | Path, ledger: Ledger) -> int:
    """Add to the ledger what only the file has; returns how many entries that were.

    Raises:
        LabError: for a file that is no ledger, and for a ledger that cannot be written.
        OSError: for a file that cannot be read.
    """
    theirs, added = read_progress(path), []
    ledger.change(lambda data: added.append(merge(data, theirs)))
    if not ledger.written:
        raise LabError(f"Nothing was imported from “{Path(path).name}”. {ledger.news()}")
    return added[0]


def export_progress(path: str | Path, ledger: Ledger) -> None:
    """Write the ledger to a file that the site and `import_progress` read.

    Raises:
        OSError: when the file cannot be written.
    """
    text = json.dumps(ledger.read(), indent=1, ensure_ascii=False) + "\n"
    with written_whole(Path(path)) as unfinished:
        unfinished.write_text(text, encoding="utf-8", errors="backslashreplace")


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
