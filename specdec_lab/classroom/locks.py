"""What the learner's process may not do. On Linux only, and no fortress: it keeps honest marks honest, and stops no expert.

Files outside what Python needs cannot be read and nothing outside one folder can be written, no network is reached
and no other process is told anything (Landlock, Linux 5.13; network from 6.7, signals from 6.12).
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

CREATE, ADD, RESTRICT = 444, 445, 446  # Landlock's system calls, the same number on all machines
NO_NEW_PRIVILEGES = 38
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8  # rights on files
EVERYTHING = 2**13 - 1  # all rights of Landlock's first version
NETWORK = 3  # to bind, and to connect
OTHERS = 3  # abstract sockets and signals of processes outside


def lock(readable: Sequence[str], hidden: Sequence[str], folder: Path, size: int, processes: int) -> bool:
    """Lock this process, and all that it starts. Returns whether files are locked, too.

    Args:
        readable: folders that may be read.
        hidden: folders inside them that may not.
        folder: where it may write.
        size: bytes of memory that it may ask for.
        processes: how many processes and threads its user may have.
    """
    if sys.platform != "linux":
        return False
    import resource

    for what, most in ((resource.RLIMIT_AS, size), (resource.RLIMIT_NPROC, processes), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):  # a stricter limit was set already
            resource.setrlimit(what, (most, most))
    rights = [right for top in readable for right in but(Path(top), [Path(p) for p in hidden])]
    return landlock([*rights, (folder, EVERYTHING), (Path("/dev/null"), READ | WRITE)])


def but(path: Path, hidden: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    """What may be done with it: all may be read but what is hidden inside."""
    if path in hidden or not path.exists():
        return
    if not any(path in h.parents for h in hidden):
        yield path, EXECUTE | READ | LIST
        return
    yield path, LIST
    for inside in path.iterdir():
        yield from but(inside, hidden)


def landlock(rights: Sequence[tuple[Path, int]]) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE, None, 0, 1)
    if version < 1:
        return False
    rules = struct.pack("QQQ", EVERYTHING, NETWORK if version >= 4 else 0, OTHERS if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(CREATE, rules, size, 0)
    for path, right in rights:
        with suppress(OSError):
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            right = right if path.is_dir() else right & (EXECUTE | READ | WRITE)
            libc.syscall(ADD, ruleset, 1, struct.pack("=Qi", right, beneath), 0)
            os.close(beneath)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    locked = libc.syscall(RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return locked
