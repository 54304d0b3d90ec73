"""The edge to the disk: a file is read if it is a plain one of a sane size, and written whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from specdec_lab.errors import LabError

MAX_TEXT_BYTES = 50_000_000  # the size of somebody else's text file


def check_plain(path: Path) -> None:
    """Raises OSError where something else than a plain file stands: a folder, a device such as /dev/null, a pipe.

    To read such a thing may never end, and to replace it would take it away from every program on the machine.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no plain file", str(path))


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Lends a name beside `path` to write to. If the block does not fail, what was written takes the place of `path`.

    Raises:
        OSError: as `check_plain`, before the block; or when what was written cannot be put there.
    """
    check_plain(path)
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    except BaseException as e:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        if isinstance(e, OSError) and e.errno and e.filename is None:  # a full disk names no file
            raise OSError(e.errno, e.strerror, str(path)) from e
        raise


def path_of(name: str | Path) -> Path:
    """A path as somebody typed it; ~ stands for their home."""
    try:
        return Path(name).expanduser()
    except RuntimeError as e:
        raise LabError(f"There is no user whose folder “{name}” could be in: write the path out.") from e


def read_text(name: str | Path, largest: int | None = None) -> str:
    """The text of somebody's file.

    Raises:
        LabError: naming the file, for what is no plain file of text in UTF-8, or too large.
    """
    largest = largest or MAX_TEXT_BYTES
    path, shown = path_of(name), f"“{str(name)[:80]}”"
    try:
        if not str(name) or not path.is_file():  # a device or a pipe would be read for ever
            raise OSError("there is no file" if not str(name) or not path.exists() else "it is no plain file")
        if path.stat().st_size > largest:
            raise OSError(f"it is larger than {largest / 1e6:g} MB: give a part of it")
        data = path.read_bytes()
        if b"\0" in data[:100_000] or data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise OSError("it is no text, or one in UTF-16: save it as UTF-8")
        return data.decode().lstrip("\ufeff")  # byte-order marks may stand in front
    except (OSError, ValueError) as e:
        why = getattr(e, "strerror", None) or e
        why = "it is not UTF-8: save it in that form" if isinstance(e, UnicodeError) else why
        raise LabError(f"{shown} cannot be read ({why}).") from e


def new_folder(name: str | Path) -> Path:
    """A folder that is made, or that is empty."""
    path = path_of(name)
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise LabError(f"{name} is not empty, and nothing in it is overwritten: choose a new folder.")
        check_writable(path)
    except OSError as e:
        with suppress(OSError):
            path.rmdir()  # empty, as on a full disk
        raise LabError(f"The folder {name} cannot be written ({e.strerror}): choose another.") from e
    return path


def check_writable(folder: Path) -> None:
    """Raises OSError, naming the folder, where no file can be written into it now."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
    except OSError as e:
        raise OSError(e.errno or errno.EIO, e.strerror or str(e), str(folder)) from e
