"""The learner's working copy of lessons and exercises: results cleared, work never overwritten."""

import hashlib
import itertools
import json
from contextlib import suppress
from pathlib import Path

from specdec_lab.errors import LabError
from specdec_lab.files import check_plain, written_whole

CLONE = Path(__file__).resolve().parents[2]
FOLDERS = ("lessons", "exercises")
READ_ONLY = ("lessons/pictures/*.svg", "lessons/*.md")  # what the lessons show, and the glossary
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
    edit). One that was edited stays, and the new one is put beside it. Pictures and the glossary follow those of the course.
    """
    notebooks = [path for folder in FOLDERS for path in sorted((source / folder).glob("*.ipynb"))]
    if not notebooks:
        raise LabError("No lessons are here: run this from a clone of the course, installed with `pip install -e .`.")
    new, updated = 0, []
    try:
        for folder in FOLDERS:
            (target / folder).mkdir(parents=True, exist_ok=True)
        began_as = _read(target / COPIED)
        for path in notebooks:
            name, notebook = path.relative_to(source).as_posix(), json.loads(path.read_text(encoding="utf-8"))
            now, mine = cells_hash(notebook), target / name
            if mine.exists() and began_as.get(name) == now:
                continue
            beside = (mine.with_stem(f"{mine.stem} (update {n})") for n in itertools.count(1))
            place = next(p for p in itertools.chain([mine], beside) if _follows(p, target, began_as))
            place_name = place.relative_to(target).as_posix()
            if mine.exists():
                updated.append(f"{place_name}: updated{'' if place == mine else ' beside your edited copy'}")
            else:
                new += 1
            with written_whole(place) as unfinished:
                text = json.dumps(cleared(notebook), indent=1, ensure_ascii=False) + "\n"
                unfinished.write_text(text, encoding="utf-8")
            began_as |= {name: now, place_name: now}
        _copy_read_only(source, target)
        with written_whole(target / COPIED) as unfinished:
            unfinished.write_text(json.dumps(began_as, indent=1), encoding="utf-8")
    except OSError as e:
        raise LabError(
            f"The working copy in {target} cannot be written ({e.strerror}): choose another with --dir."
        ) from e
    return [f"{new} new notebook{'s' if new > 1 else ''} in {target}"] * bool(new) + updated


def _copy_read_only(source: Path, target: Path) -> None:
    """Pictures and pages are no work of the learner's: those of the course replace them."""
    for path in (p for pattern in READ_ONLY for p in sorted(source.glob(pattern))):
        mine, content = target / path.relative_to(source), path.read_bytes()
        mine.parent.mkdir(exist_ok=True)
        if not mine.exists() or mine.read_bytes() != content:
            mine.write_bytes(content)


def _read(list_of_copies: Path) -> dict[str, str]:
    """Which version each copy began as. Without such a list, every copy that differs counts as edited."""
    check_plain(list_of_copies)
    with suppress(FileNotFoundError, ValueError, RecursionError):
        found = json.loads(list_of_copies.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def _follows(copy: Path, target: Path, began_as: dict[str, str]) -> bool:
    """Whether a new version may be written here: nothing is here yet, or nothing that the learner wrote."""
    if not copy.exists():
        return True
    check_plain(copy)
    try:
        cells = cells_hash(json.loads(copy.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False  # whatever it is, it is the learner's
    return cells == began_as.get(copy.relative_to(target).as_posix())
