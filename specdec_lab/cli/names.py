"""Names of files and folders on the command line, looked at before anything is done with them."""

import argparse
import os
from collections.abc import Iterator

from specdec_lab.errors import LabError
from specdec_lab.files import path_of

OPTIONS = ("target", "draft", "weights", "dir", "html", "prompts", "passages", "folder", "start", "out", "ledger",
           "import", "export")  # fmt: skip
POSITIONS = ("out", "folder", "file", "course", "gradebook", "notebooks")  # these have no name to be called by
LONGEST, LONGEST_PART = 4096, 255  # bytes, on the systems that allow most


def check_names(args: argparse.Namespace) -> None:
    """Raises LabError for a text that cannot be one, and for a name that no file can have."""
    for part, value in vars(args).items():
        for text in value if isinstance(value, list) else [value]:
            halved = isinstance(text, str) and any("\ud800" <= c <= "\udfff" for c in text)
            if halved and part not in (*OPTIONS, *POSITIONS):
                option = f"--{part.replace('_', '-')}"
                raise LabError(f"{option} holds half a character (a lone surrogate): write it out again.")
    for option, name in given(args):
        if not name.strip():
            raise LabError(f"{option} is empty: give a name, or leave it out.")
        path_of(name)
        if wrong := no_name(name):
            raise LabError(f"{option} is no name of a file or a folder: it {wrong}.")


def given(args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """What names files or folders, and what it is called."""
    for part, value in vars(args).items():
        if part in (*OPTIONS, *POSITIONS):
            for name in value if isinstance(value, list) else [value]:
                if isinstance(name, str):
                    yield (f"--{part}" if part not in POSITIONS else f"“{legible(name)}”"), name


def no_name(name: str) -> str | None:
    try:
        data = os.fsencode(name)
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate)"
    if b"\0" in data:
        return "holds a zero byte"
    if len(data) > LONGEST or any(len(part) > LONGEST_PART for part in data.replace(b"\\", b"/").split(b"/")):
        return "is too long"
    return None


def legible(name: str) -> str:
    name = name if len(name) <= 80 else f"…{name[-80:]}"
    return name.encode(errors="replace").decode().replace("\0", "?")


def told(e: OSError) -> str:
    """A sentence about a file that nothing else said one about."""
    name = f"“{legible(str(e.filename))}”" if e.filename else "A file"
    return f"{name} cannot be used ({e.strerror or type(e).__name__}): is it where it should be, and yours to write?"
