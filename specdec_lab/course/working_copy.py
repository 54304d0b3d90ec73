"""The learner's working copy of lessons and exercises: results cleared, work never overwritten."""

import hashlib
import itertools
import json
import shutil
from pathlib import Path

from specdec_lab.errors import LabError

CLONE = Path(__file__).resolve().parents[2]
FOLDERS = ("lessons", "exercises")
COPIED = ".copied.json"  # in the working copy: which version of each notebook it began as


def cells_hash(notebook: dict) -> str:
    """A fingerprint of what was written, whatever was run: the cells without their results."""
    cells = [[c["cell_type"], "".join(c["source"])] for c in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def cleared(notebook: dict) -> dict:
    """The notebook without results, so that none gives a prediction away."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


def working_copy(target: Path, source: Path = CLONE) -> list[str]:
    """Bring the working copy in `target` up to date; returns a line for each thing done.

    A notebook that the learner has not edited follows the one of the course (having run it is no
    edit). One that was edited stays, and the new one is put beside it.

    Raises:
        LabError: when there are no lessons here, or the folder cannot be written.
    """
    notebooks = [path for folder in FOLDERS for path in sorted((source / folder).glob("*.ipynb"))]
    if not notebooks:
        raise LabError(
            "The lessons are not here: run this from a clone of the course, installed with `pip install -e .`."
        )
    new, done = 0, []

    def name_of(place: Path) -> str:
        return place.relative_to(target).as_posix()

    try:
        for folder in FOLDERS:
            (target / folder).mkdir(parents=True, exist_ok=True)
        list_of_copies = target / COPIED
        began_as = _read(list_of_copies)
        for path in notebooks:
            name, notebook = path.relative_to(source).as_posix(), json.loads(path.read_text(encoding="utf-8"))
            now, mine = cells_hash(notebook), target / name
            if mine.exists() and began_as.get(name) == now:
                continue
            place, what = mine, "updated"
            for n in itertools.count(1):
                if not place.exists() or _untouched(place, began_as.get(name_of(place))):
                    break
                place, what = mine.with_stem(f"{mine.stem} (update {n})"), "updated beside your edited copy"
            if mine.exists():
                done.append(f"{name_of(place)}: {what}")
            else:
                new += 1
            place.write_text(json.dumps(cleared(notebook), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            began_as |= {name: now, name_of(place): now}
        written = list_of_copies.with_suffix(".tmp")
        written.write_text(json.dumps(began_as, indent=1), encoding="utf-8")
        shutil.move(written, list_of_copies)
    except OSError as e:
        raise LabError(
            f"The working copy in {target} cannot be written ({e.strerror}): choose another with --dir."
        ) from e
    return [f"{new} new notebook{'s' if new > 1 else ''} in {target}"] * bool(new) + done


def _read(list_of_copies: Path) -> dict[str, str]:
    try:
        return json.loads(list_of_copies.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}  # then every copy that differs counts as edited


def _untouched(copy: Path, began_as: str | None) -> bool:
    try:
        return cells_hash(json.loads(copy.read_text(encoding="utf-8"))) == began_as
    except (json.JSONDecodeError, KeyError, TypeError):
        return False  # whatever it is, it is the learner's
