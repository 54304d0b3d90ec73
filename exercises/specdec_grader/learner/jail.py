"""Where a learner's code runs when it is graded: in bubblewrap (`bwrap`, a Debian package), on Linux.

There it has namespaces of its own for users, processes, network and messages, a root of read-only folders, an empty
environment, and one scratch folder in memory. All of its processes end with the first. Where bubblewrap is missing or
may not be used, nothing runs unless the caller says so; then only the limits hold.
"""

import ctypes
import functools
import os
import platform
import shutil
import site
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

import specdec_lab
from specdec_lab.errors import LabError, Say

PACKAGE = Path(specdec_lab.__file__).resolve().parent
GRADER = Path(__file__).resolve().parents[1]
# A learner's code needs what an exercise lends, and what runs it. All other folders hold what judges know.
LENT = ("supplied", "learner", "__pycache__")
SCRATCH = "/scratch"
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
OF_THE_SYSTEM = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/sys/devices/system/cpu")
JOIN_SESSION_KEYRING = (1, None)
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of the system call

INSTALL = "install bubblewrap 0.8 or newer (Linux; Debian, Ubuntu: apt install bubblewrap)"
NO_JAIL = (
    f"Nothing locks the learners' code in here: {INSTALL}, or add --unlocked to run it all the same, as you, with the "
    "right to read and write all of your files."
)
OPEN = "Nothing locks the learners' code in: it runs as you, and can read and write all of your files."
LOCKED = "The code in the notebooks runs locked in (bubblewrap)."
AS_ROOT = LOCKED + " Grade as another user than root: root's code could take /dev/null away from all programs here."


@dataclass(frozen=True)
class Limits:
    """Of one notebook. Seconds are those that its processes compute, or sleep while the grader waits for them. What
    others on the machine take counts for nobody.

    Attributes:
        cell: seconds for a cell.
        notebook: seconds for all of it, judges included.
        memory: bytes of memory of all processes together.
        addresses: bytes that one process may ask for; torch takes 3 · 2³⁰ for itself.
        processes: at once; each may have four threads.
        files: bytes in the scratch folder, and of a file.
    """

    cell: float = 60.0
    notebook: float = 600.0
    memory: int = 6 * 2**30
    addresses: int = 8 * 2**30
    processes: int = 100
    files: int = 512 * 2**20


LIMITS = Limits()


@functools.cache
def bubblewrap_works() -> bool:
    """Whether it is installed, new enough, and allowed: in some containers no namespace can be made."""
    try:
        tried = in_bubblewrap([sys.executable, "-I", "-S", "-c", ""], LIMITS)
        return subprocess.run(tried, capture_output=True, timeout=60, env=environment(SCRATCH)).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def check_jail(say: Say, unlocked: bool) -> None:
    """Say what locks the learners' code in.

    Raises:
        LabError: when there is nothing, and the caller does not go on without.
    """
    if bubblewrap_works():
        say(LOCKED if os.getuid() else AS_ROOT)
    elif unlocked:
        say(OPEN)
    else:
        raise LabError(NO_JAIL)


def in_bubblewrap(argv: list[str], limits: Limits) -> list[str]:
    """The command that runs `argv` in bubblewrap."""
    # The user namespace is asked for by name: root would do without one, and keep its rights.
    words = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user"]
    words += ["--uid", "1000", "--gid", "1000", "--hostname", "jail"]
    # No further user namespace: in one, root of the machine would be root again for what belongs to its files.
    words += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--disable-userns"]
    for path in SYSTEM:
        words += ["--symlink", os.readlink(path), path] if os.path.islink(path) else ["--ro-bind-try", path, path]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for path in map(str, [*OF_THE_SYSTEM, *python_folders()]):
        words += ["--ro-bind-try", path, path]
    for path in hidden():
        words += ["--tmpfs", str(path), "--remount-ro", str(path)]
    for path in (SCRATCH, "/dev/shm"):
        words += ["--size", str(limits.files), "--tmpfs", path]
    # What is left is read-only: a file of /proc/sys would change this machine if root runs the grader, and a file
    # beside the scratch folder would count for no limit.
    words += ["--dir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"]
    return [*words, "--chdir", SCRATCH, "--", *argv]


def python_folders() -> list[Path]:
    """What Python and its packages need to read."""
    found = [sys.prefix, sys.base_prefix, "/usr", "/nix/store"]
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    named = [*map(Path, found)]
    return list(dict.fromkeys([*named, *(path.resolve() for path in named), PACKAGE, GRADER]))


def hidden() -> list[Path]:
    """What judges know, and what a checkout holds beside the package, where it lies in a folder that can be read."""
    beside = [PACKAGE.parent / name for name in ("solutions", "tests", "tools", ".git")]
    known = [path for path in GRADER.iterdir() if path.name not in LENT]
    return [path for path in known + beside if path.is_dir() and any(top in path.parents for top in python_folders())]


def environment(folder: str) -> dict[str, str]:
    """All that the code finds in its environment: nothing of this process's."""
    threads = os.environ.get("OMP_NUM_THREADS")
    return dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR"), folder) | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([str(PACKAGE.parent), str(GRADER.parent)])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        **({"OMP_NUM_THREADS": threads} if threads else {}),
    }


def limit_this_process(limits: Limits, locked: bool) -> None:
    """Limit this process and each that it starts, before any of the learner's code runs in it."""
    with suppress(ImportError):  # on Windows
        import resource

        most = {
            resource.RLIMIT_AS: limits.addresses,
            resource.RLIMIT_FSIZE: limits.files,
            resource.RLIMIT_NOFILE: 256,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_CPU: int(limits.notebook) + 1,
        }
        if locked:  # elsewhere the user's other programs would count
            most[resource.RLIMIT_NPROC] = 4 * limits.processes
        for what, value in most.items():
            with suppress(ValueError, OSError):  # a stricter limit was set already
                resource.setrlimit(what, (value, value))
    if locked and platform.machine() in KEYCTL:  # no namespace hides the keys of the grader's session
        ctypes.CDLL(None).syscall(KEYCTL[platform.machine()], *JOIN_SESSION_KEYRING)


class Watch(threading.Thread):
    """Ends a process, and all that it started, once together they take more than they may.

    Attributes:
        why: what they took too much of; empty while they have not.
        spent: seconds that they have computed, or slept while the grader waited for them (`awaited`).
    """

    EVERY = 0.2  # seconds
    PATIENCE = 10  # times a limit: so long it may last on a machine where others compute, too

    def __init__(self, process: subprocess.Popen, limits: Limits):
        super().__init__(daemon=True)
        self.process, self.limits, self.why, self.done = process, limits, "", threading.Event()
        self.spent, self.looked, self.awaited = 0.0, time.monotonic(), False
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
        late = self.ends and (self.spent > self.ends[0] or time.monotonic() > self.ends[1])
        if self.ends and late:
            self.ends[2].append(True)
        if self.why or late:
            end(self.process)

    def count(self, seconds: dict[psutil.Process, float], awake: bool) -> None:
        """Add what was spent since the last look: what was computed; or all of the time, where nobody wanted to compute."""
        computed = sum(max(0.0, now - self.seconds.get(process, 0.0)) for process, now in seconds.items())
        passed, self.looked = time.monotonic() - self.looked, time.monotonic()
        self.spent += passed if self.awaited and not awake and computed < passed / 10 else computed
        self.seconds = seconds


def end(process: subprocess.Popen) -> None:
    """End a process and what it started. In bubblewrap that is all: the kernel ends whatever has cut itself loose."""
    started = []
    with suppress(psutil.Error):
        started = psutil.Process(process.pid).children(recursive=True)
    for each in (*started, process):
        with suppress(psutil.Error, OSError):
            each.kill()
    process.wait()
