"""Where a learner's code runs when it is graded: it may compute, and reach nothing and nobody.

The first line is bubblewrap (`bwrap`, a Debian package): namespaces of its own for processes, network and messages, a
root of read-only folders, an empty environment, and one scratch folder in memory. All processes end with the first.
Where it is missing or may not be used, the second line is the kernel's own lock on files and TCP, Landlock, which leaves
more open (`WEAKER`); a process that runs none of the code ends all that it started. Where neither is there, nothing
runs unless the caller says so.
"""

import ctypes
import functools
import os
import shutil
import signal
import site
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

import specdec_lab
from specdec_grader.learner.calls import NO_NEW_PRIVILEGES
from specdec_lab.errors import LabError, Say

PACKAGE = Path(specdec_lab.__file__).resolve().parent
GRADER = Path(__file__).resolve().parents[1]
# What judges know, and what a checkout holds beside the package. What an exercise lends can be read.
HIDDEN = (
    GRADER / "sheets",
    GRADER / "data",
    *(PACKAGE.parent / name for name in ("solutions", "tests", "tools", ".git")),
)
SCRATCH = "/scratch"  # in bubblewrap; elsewhere it is a folder of this machine
OF_THE_SYSTEM = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/sys/devices/system/cpu")
OF_PROC = ("self", "thread-self", "cpuinfo", "meminfo", "stat", "version", "filesystems", "sys/vm", "sys/kernel/random")
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")

BUBBLEWRAP, LANDLOCK, UNLOCKED = "bubblewrap", "landlock", "unlocked"
WEAKER = (
    "bubblewrap is not here, or may not be used (Debian, Ubuntu: apt install bubblewrap; version 0.8 or newer), so only the "
    "kernel locks the learners' code: it cannot read, write or empty your files, nor use a network, but it can fill your "
    "disk, see how large a file is whose name it knows and, before Linux 6.12, stop your other programs."
)
LOCKED = "The code in the notebooks runs locked in (bubblewrap)."
OPEN = "The code in the notebooks is run as you, with all that you may do: grade only what you would run."
NO_JAIL = (
    "Nothing can lock the learners' code in here: that needs Linux with bubblewrap (Debian, Ubuntu: apt install bubblewrap), "
    "or with Landlock in the kernel. To run it all the same, with all that you may do yourself, add --unlocked."
)


@dataclass(frozen=True)
class Limits:
    """Of one notebook. Seconds are those that its processes compute, or sleep while the grader waits for them. What
    others on the machine take counts for nobody.

    Attributes:
        cell: seconds for a cell.
        notebook: seconds for all of it, judges included.
        memory: bytes of memory of all processes together.
        addresses: bytes that one process may ask for; torch takes 3 · 2³⁰ for itself.
        processes: at once.
        files: bytes in the scratch folder, and of a file.
    """

    cell: float = 60.0
    notebook: float = 600.0
    memory: int = 6 * 2**30
    addresses: int = 8 * 2**30
    processes: int = 100
    files: int = 512 * 2**20


LIMITS = Limits()


def jail() -> str | None:
    """Which line there is on this machine, the first that works; None where there is none."""
    if sys.platform != "linux":
        return None
    if bubblewrap_works():
        return BUBBLEWRAP
    return LANDLOCK if landlock_version() > 0 else None


def check_jail(say: Say, unlocked: bool) -> None:
    """Say what locks the learners' code in, where that is not the first line.

    Raises:
        LabError: when there is nothing, and the caller does not go on without.
    """
    kind = jail()
    if kind is None and not unlocked:
        raise LabError(NO_JAIL)
    say({BUBBLEWRAP: LOCKED, LANDLOCK: WEAKER, None: OPEN}[kind])


def python_folders() -> list[Path]:
    """What Python and its packages need to read."""
    found = [sys.prefix, sys.base_prefix, "/usr", "/nix/store"]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    named = [*map(Path, found)]
    return list(dict.fromkeys([*named, *(path.resolve() for path in named), PACKAGE, GRADER]))


def command(argv: Sequence[str], kind: str, limits: Limits = LIMITS) -> list[str]:
    """The command that runs `argv` behind the first line; elsewhere `argv` itself, which then calls `lock`."""
    return [*in_bubblewrap(limits), *argv] if kind == BUBBLEWRAP else list(argv)


def environment(folder: str) -> dict[str, str]:
    """All that the code finds in its environment: nothing of this process's."""
    own = dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR"), folder)
    threads = os.environ.get("OMP_NUM_THREADS")
    return own | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([str(PACKAGE.parent), str(GRADER.parent)])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        **({"OMP_NUM_THREADS": threads} if threads else {}),
    }


# The first line


def in_bubblewrap(limits: Limits) -> list[str]:
    # The user namespace is asked for by name: root would do without one, and keep its rights.
    words = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user"]
    words += ["--uid", "1000", "--gid", "1000", "--hostname", "jail"]
    # No further user namespace: in one, root of the machine would be root again for what belongs to its files.
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--disable-userns"]
    for path in SYSTEM:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        else:
            words += ["--ro-bind-try", path, path]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for path in map(str, [*OF_THE_SYSTEM, *python_folders()]):
        words += ["--ro-bind-try", path, path]
    for path in HIDDEN:
        if path.exists() and any(top in path.parents for top in python_folders()):
            words += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for path in (SCRATCH, "/dev/shm"):
        words += ["--size", str(limits.files), "--tmpfs", path]
    # What is left is read-only: a file of /proc/sys would change this machine if root runs the grader, and a file
    # beside the scratch folder would count for no limit.
    words += ["--dir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"]
    return [*words, "--chdir", SCRATCH, "--"]


@functools.cache
def bubblewrap_works() -> bool:
    """Whether it is installed, new enough, and allowed: in some containers no namespace can be made."""
    if not shutil.which("bwrap"):
        return False
    try:
        tried = [*in_bubblewrap(LIMITS), sys.executable, "-I", "-S", "-c", ""]
        return subprocess.run(tried, capture_output=True, timeout=60, env=environment(SCRATCH)).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


# The second line, called by the process that is to be locked

CREATE, ADD, RESTRICT = 444, 445, 446  # Landlock's system calls, the same number on all machines
EXECUTE, WRITE, READ, LIST, TRUNCATE = 1, 2, 4, 8, 2**14  # rights on files
# All rights on files by version of Landlock: the second has REFER, the third TRUNCATE, the fifth IOCTL_DEV.
EVERYTHING = {1: 2**13 - 1, 2: 2**14 - 1, 3: 2**15 - 1, 4: 2**15 - 1, 5: 2**16 - 1}
NETWORK = 3  # to bind, and to connect, by TCP; from the fourth version on
OTHERS = 3  # abstract sockets, and signals to processes outside; from the sixth version on


def limit(limits: Limits, running: int) -> None:
    """Limit this process and each that it starts; running: processes and threads that its user has already."""
    if sys.platform == "win32":
        return
    import resource

    most = {
        resource.RLIMIT_AS: limits.addresses,
        resource.RLIMIT_FSIZE: limits.files,
        resource.RLIMIT_NOFILE: 256,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: int(limits.notebook) + 1,
        resource.RLIMIT_NPROC: running + limits.processes,
    }
    for what, value in most.items():
        with suppress(ValueError, OSError):  # a stricter limit was set already
            resource.setrlimit(what, (value, value))


def processes_of_user() -> int:
    """How many processes and threads this user has."""
    me = psutil.Process().username()
    found = psutil.process_iter(["username", "num_threads"])
    return sum(p.info["num_threads"] or 1 for p in found if p.info["username"] == me)


NOBODY = 65534  # the user to whom nothing belongs
SUBREAPER, DIES_WITH_PARENT, READABLE = 36, 1, 4  # of prctl


def give_up_rights(folder: Path) -> bool:
    """Give up all capabilities, and root where all can read Python: `folder` is where it may write.

    Returns whether this is another user now.
    """
    libc, tops = ctypes.CDLL(None), [top for top in python_folders() if top.exists()]
    way = [(each, 1) for top in (*tops, folder) for each in top.parents] + [(top, 5) for top in tops]
    if os.getuid() == 0 and all(each.stat().st_mode & right == right for each, right in way):
        with suppress(OSError):  # in some containers there is no such user
            os.chown(folder, NOBODY, NOBODY)
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            libc.prctl(READABLE, 1, 0, 0, 0)  # its own files in /proc belong to it
    libc.capset(struct.pack("Ii", 0x20080522, 0), bytes(24))  # the third form of this call; of three kinds none
    return os.getuid() == NOBODY


def stay_behind() -> None:
    """Go on in a child. This process stays, runs none of the learner's code, and ends all that was started when the
    child or the grader ends: whatever cuts itself loose becomes its child.
    """
    libc, grader, told = ctypes.CDLL(None), os.getppid(), []
    signal.signal(signal.SIGTERM, lambda *_: told.append(True))
    libc.prctl(SUBREAPER, 1, 0, 0, 0)
    if (child := os.fork()) == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    os.closerange(0, 2)  # the wire
    gone = 0
    while not told and gone != child and os.getppid() == grader:
        if not (gone := os.waitpid(-1, os.WNOHANG)[0]):
            time.sleep(0.05)
    with suppress(ChildProcessError):  # there is nobody any more
        while True:
            for each in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    each.kill()
            os.waitpid(-1, 0)
    os._exit(0)


def lock(folder: Path) -> bool:
    """Lock this process, and all that it starts, by Landlock. Returns whether it is locked.

    Args:
        folder: where it may write.
    """
    version = landlock_version()
    if version < 1:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    everything = EVERYTHING[min(version, max(EVERYTHING))]
    own = [*OF_THE_SYSTEM, *SYSTEM, *(f"/proc/{name}" for name in OF_PROC), "/dev/zero", "/dev/urandom", "/dev/random"]
    readable = [*python_folders(), *map(Path, own)]
    rights = [right for top in readable for right in without_hidden(top)]
    rights += [(folder, everything), (Path("/dev/null"), READ | WRITE | TRUNCATE)]
    rules = struct.pack("QQQ", everything, NETWORK if version >= 4 else 0, OTHERS if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.syscall(CREATE, rules, size, 0)
    for path, right in rights:
        with suppress(OSError):
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            right = right & everything if path.is_dir() else right & everything & (EXECUTE | READ | WRITE | TRUNCATE)
            libc.syscall(ADD, ruleset, 1, struct.pack("=Qi", right, beneath), 0)
            os.close(beneath)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    locked = libc.syscall(RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return locked


def landlock_version() -> int:
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None, use_errno=True).syscall(CREATE, None, 0, 1))


def without_hidden(path: Path) -> Iterator[tuple[Path, int]]:
    """What may be done with it: all may be read but what is hidden inside."""
    if path in HIDDEN or not path.exists():
        return
    if not any(path in h.parents for h in HIDDEN):
        yield path, EXECUTE | READ | LIST
        return
    yield path, LIST
    for inside in path.iterdir():
        yield from without_hidden(inside)


class Watch(threading.Thread):
    """Ends a process, and all that it started, once together they take more than they may.

    Attributes:
        why: what they took too much of; empty while they have not.
        spent: seconds that they have computed, or slept while the grader waited for them (`awaited`).
        ended: whether it has ended them.
    """

    EVERY = 0.2  # seconds
    PATIENCE = 10  # times a limit: so long it may last on a machine where others compute, too

    def __init__(self, process: subprocess.Popen, limits: Limits):
        super().__init__(daemon=True)
        self.process, self.limits, self.why, self.done = process, limits, "", threading.Event()
        self.spent, self.looked, self.awaited, self.ended = 0.0, time.monotonic(), False, False
        self.seconds: dict[psutil.Process, float] = {}  # of each process at the last look
        self.ends: tuple[float, float, list] | None = None  # what may be spent, until when, and what learns of the end

    def run(self) -> None:
        while not self.why and not self.done.wait(self.EVERY):
            with suppress(psutil.Error):
                self.look()

    def end_after(self, seconds: float) -> list:
        """End it when so many are spent; what is returned is not empty then."""
        late: list[bool] = []
        self.ends = (self.spent + seconds, time.monotonic() + self.PATIENCE * seconds, late)
        return late

    def look(self) -> None:
        first = psutil.Process(self.process.pid)
        all_of_them = [first, *first.children(recursive=True)]
        taken = threads = 0
        awake, seconds = False, {}
        for process in all_of_them:
            with suppress(psutil.Error), process.oneshot():
                taken += process.memory_info().rss
                threads += process.num_threads()
                awake |= process.status() in (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
                seconds[process] = sum(process.cpu_times()[:4])  # also of children that have ended
        self.count(seconds, awake)
        spare = psutil.virtual_memory()
        if len(all_of_them) > self.limits.processes or threads > 4 * self.limits.processes:
            self.why = f"had more than {self.limits.processes} processes"
        elif taken > self.limits.memory:
            self.why = f"took more than {self.limits.memory / 2**30:.2g} GiB of memory"
        elif spare.available < 0.03 * spare.total:  # files in memory count for no process
            self.why = "left the machine no memory"
        if late := self.ends and (self.spent > self.ends[0] or time.monotonic() > self.ends[1]):
            self.ends[2].append(True)
        if self.why or late:
            end(self.process)
            self.ended = True

    def count(self, seconds: dict[psutil.Process, float], awake: bool) -> None:
        """Add what was spent since the last look: what was computed; or all of the time, where nobody wanted to compute."""
        computed = sum(max(0.0, now - self.seconds.get(process, 0.0)) for process, now in seconds.items())
        passed, self.looked = time.monotonic() - self.looked, time.monotonic()
        self.spent += passed if self.awaited and not awake and computed < passed / 10 else computed
        self.seconds = seconds


def end(process: subprocess.Popen) -> None:
    """End a process and what it started. It sees itself to what has cut itself loose: it is bubblewrap, or stays behind."""
    started = []
    with suppress(psutil.Error):
        started = psutil.Process(process.pid).children(recursive=True)
    for each in started:
        with suppress(psutil.Error, OSError):
            each.kill()
    with suppress(OSError):
        process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
