"""What a learner's code can reach while it is graded: nothing, behind the first line; what `WEAKER` names, behind the second.

Each attack says `done` if it worked, checked from outside where it can be. `test_the_attacks_work_without_a_jail` shows
of some that they are attacks: of those that harm nothing, and that only the jail refuses. The filter of system calls,
which refuses others, is there without a jail, too.
"""

import json
import os
import platform
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from specdec_grader.learner import calls, jail
from specdec_grader.learner.jail import LIMITS, Watch
from specdec_grader.learner.process import Ended, Learner

from specdec_lab.errors import LabError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are jails on Linux only")

FLAGS = (
    "import fcntl, os\nfile = os.open(os.__file__, os.O_RDONLY)\nfcntl.ioctl(file, {}, bytes(64))"  # none, as it has
)
FILES = {
    "reads a neighbour": "open(neighbour).read()",
    "lists the class": "import os\nos.listdir(os.path.dirname(neighbour))",
    "writes beside it": "open(neighbour + '2', 'w').write('x')",
    "empties it": "import os\nos.truncate(neighbour, 0)",
    "empties it by opening": "import os\nos.close(os.open(neighbour, os.O_WRONLY | os.O_TRUNC))",
    "renames it": "import os\nos.rename(neighbour, neighbour + '3')",
    "links it": "import os\nos.link(neighbour, 'mine')\nopen('mine').read()",
    "reads the judges": "open(judges).read()",
    "reads the stored answers": "open(stored + '/reports.json').read()",
    "reads the solutions": "open(solutions).read()",
    "reads the environment of the grader": "open(f'/proc/{grader}/environ', 'rb').read()",
    "asks the network": "import socket\nsocket.create_connection(('127.0.0.1', port), timeout=2)",
    "serves the network": "import socket\ns = socket.socket()\ns.bind(('0.0.0.0', 0))\ns.listen()\nassert s.getsockname()[1] and outside",
    "stops the grader": "import os\nos.kill(grader, 0)",
    "calls an abstract socket": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0' + abstract)",
}  # fmt: skip
SILENT = {
    "changes its permissions": "import os\nos.chmod(neighbour, 0)",
    "changes its time": "import os\nos.utime(neighbour, (1, 1))",
    "gives it an attribute": "import os\nos.setxattr(neighbour, 'user.x', b'x')",
    "holds a file that it may read": "import fcntl, os\nfcntl.fcntl(os.open(os.__file__, os.O_RDONLY), 1024, 0)",
    "locks a file of all": "import fcntl, os\nfor lock in fcntl.flock, fcntl.lockf:\n    lock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_SH)",
    "changes a device": "import os\nos.chmod('/dev/null', 0)\nos.utime('/dev/full', (1, 1))",
}
OTHERS = {
    "calls a socket in a folder": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(by_path)",
    "sends by UDP": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('127.0.0.1', udp))",
    "limits the grader": "import resource\nresource.prlimit(grader, resource.RLIMIT_NOFILE, (4096, 4096))",
    "slows the grader down": "import os\nos.setpriority(os.PRIO_PROCESS, grader, 1)",
    "moves the grader": "import os\nos.sched_setaffinity(grader, {0})",
    "slows all of its user's down": "import os\nos.setpriority(os.PRIO_USER, 0, 1)",
    "slows its group down": "import os\nos.setpriority(os.PRIO_PGRP, 0, 1)",
    "sets flags of a file that it may read": FLAGS.format(0x40086602),
    "sets other flags of it": FLAGS.format(0x401C5820),
    "has rights of root": "assert int(open('/proc/self/status').read().partition('CapEff:')[2].split()[0], 16)",
    "shares a core with the grader": "assert libc.prctl(62, 2, grader, 0, 0) == 0",
    "connects by MPTCP": "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)\ns.connect(('127.0.0.1', port))",
    "connects while it sends": "import socket\ns = socket.socket()\ns.sendto(b'x', 0x20000000, ('127.0.0.1', port))",
    "serves without an address": "import socket\nsocket.socket().listen()",
    "reads the grader's keys": "assert libc.syscall(250, 11, libc.syscall(250, 0, -3, 0), None, 0) >= 0",
    "takes a key": "assert libc.syscall(248, b'user', b'mine', b'x', 1, -3) >= 0",
    "watches files": "assert libc.inotify_init() >= 0",
    "has memory that counts for nobody": "import os\nos.memfd_create('x')",
    "shares memory": "assert libc.shmget(77, 4096, 0o1600) >= 0",
    "traces": "assert libc.ptrace(16, 1, 0, 0) == 0",
    "makes namespaces": "assert libc.unshare(0x10000000) == 0",
    "kills its control group": "import os\nassert libc.unshare(0x12020000) == 0\nos.mkdir('c')\nassert libc.mount(b'cgroup2', b'c', b'cgroup2', 0, None) == 0",
}
ONLY_BUBBLEWRAP = {
    "changes the system": "open('/proc/sys/kernel/core_pattern', 'a').close()",
    "reads who has accounts": "open('/etc/passwd').read()",
    "writes in memory for all": "open('/dev/shm/of_all', 'w').write('x')\nassert outside",
}  # fmt: skip


@pytest.fixture
def world(tmp_path, monkeypatch):
    """What there is to attack: a neighbour's notebook, a few sockets, a secret."""
    monkeypatch.setenv("SECRET", "SECRET")
    neighbour = tmp_path / "neighbour.ipynb"
    neighbour.write_text("{}", encoding="utf-8")
    tcp, udp, by_path, abstract = socket.socket(), socket.socket(type=socket.SOCK_DGRAM), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)  # fmt: skip
    tcp.bind(("127.0.0.1", 0))
    udp.bind(("127.0.0.1", 0))
    by_path.bind(str(tmp_path / "s"))
    abstract.bind(f"\0specdec{os.getpid()}")
    for each in (tcp, by_path, abstract):
        each.listen(20)
    udp.settimeout(0.2)
    package = jail.PACKAGE
    names = {
        "neighbour": str(neighbour), "judges": str(jail.GRADER / "sheets/e03_exactly_the_target.py"), "stored": str(jail.GRADER / "data"),
        "solutions": str(package.parent / "solutions/03_exactly_the_target.ipynb"), "port": tcp.getsockname()[1],
        "udp": udp.getsockname()[1], "by_path": str(tmp_path / "s"), "abstract": f"specdec{os.getpid()}", "grader": os.getpid(),
    }  # fmt: skip
    yield names, udp
    for each in (tcp, udp, by_path, abstract):
        each.close()


def attack(learner: Learner, names: dict, code: str) -> str:
    """What became of it: done, or the name of the error."""
    lines = "\n".join(f"    {line}" for line in code.split("\n"))
    learner.run(
        "\n".join(f"{name} = {value!r}" for name, value in names.items())
        + "\noutside = False\nimport ctypes; libc = ctypes.CDLL(None)"
    )
    learner.run(f"try:\n{lines}\n    said = 'done'\nexcept BaseException as e:\n    said = type(e).__name__")
    (said,) = learner.values(["said"])
    return said


def unharmed(names: dict, before: os.stat_result, udp: socket.socket) -> None:
    after = os.stat(names["neighbour"])
    assert (after.st_mode, after.st_mtime, after.st_size) == (before.st_mode, before.st_mtime, before.st_size)
    assert sorted(os.listdir(Path(names["neighbour"]).parent)) == ["neighbour.ipynb", "s"]
    assert not os.listxattr(names["neighbour"]) and os.getpriority(os.PRIO_PROCESS, 0) == 0
    assert not locks_of(os.__file__)
    assert not Path("/dev/shm/of_all").exists()
    with pytest.raises(TimeoutError):
        udp.recv(10)


def locks_of(path: str) -> list[str]:
    """Lines of the kernel's list of locks on a file."""
    inode = f":{os.stat(path).st_ino} "
    return [line for line in Path("/proc/locks").read_text().splitlines() if inode in line]


def without_bubblewrap(monkeypatch):
    monkeypatch.setattr(jail, "bubblewrap_works", lambda: False)


@pytest.fixture(params=["first", "second"])
def line(request, monkeypatch) -> str:
    """Both lines, one after the other: bubblewrap where it is, and what holds without it."""
    if request.param == "second":
        without_bubblewrap(monkeypatch)
    elif not jail.bubblewrap_works():
        pytest.skip("bubblewrap is not here")
    return request.param


REFUSED = {"PermissionError", "FileNotFoundError", "ConnectionRefusedError", "OSError", "ProcessLookupError", "AssertionError",
           "NotADirectoryError", "TimeoutError"}  # fmt: skip


def test_nothing_is_reached(world, line):
    if line == "second" and jail.landlock_version() < 6:
        pytest.skip("the kernel has no Landlock, or an old one")
    names, udp = world
    before = os.stat(names["neighbour"])
    attacks = FILES | OTHERS | SILENT | (ONLY_BUBBLEWRAP if line == "first" else {})
    with Learner() as learner:
        said = {name: attack(learner, names, code) for name, code in attacks.items()}
    for name in SILENT:
        assert said.pop(name) == "done"  # it is said to be done, and `unharmed` sees that it is not
    assert not {name: word for name, word in said.items() if word not in REFUSED}
    unharmed(names, before, udp)


def test_the_attacks_work_without_a_jail(world, monkeypatch):
    """Else the test above would show nothing."""
    monkeypatch.setattr(jail, "jail", lambda: None)
    names, _ = world
    harmless = ["reads a neighbour", "lists the class", "reads the judges", "reads the stored answers", "reads the solutions",
                "stops the grader", "empties it"]  # fmt: skip
    with Learner(unlocked=True) as learner:
        for name in harmless:
            assert attack(learner, names, (FILES | SILENT)[name]) == "done", name


@pytest.mark.usefixtures("line")
def test_the_code_has_a_folder_and_python():
    with Learner() as learner:
        learner.run(
            "open('own', 'w').write('x')\nimport torch\nsaid = open('own').read() + str(int(torch.ones(2).sum()))"
        )
        assert learner.values(["said"]) == ["x2"]
        printed = learner.run("!echo from a shell\ndef behind(): return 1")
        learner.run(
            "import os, tempfile\nsaid = (os.environ.get('HOME') == os.getcwd(), tempfile.gettempdir() == os.getcwd())"
        )
        assert learner.values(["said", "behind()"]) == [(True, True), 1], printed


SMALL = replace(LIMITS, cell=20.0, memory=300 * 2**20, files=5_000_000)
# Each has one limit that the code breaks, so that it does not matter what the watch sees first: 60 processes take more
# than 300 MiB, and on a busy machine it looks while there are only a few of them.
TOO_MUCH = {
    "memory in one process": (
        "x = bytearray(10**9)\nx[::4096] = b'1' * len(x[::4096])\nimport time\ntime.sleep(20)", SMALL, "of memory",
    ),
    "memory in several": (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        x = b'1' * 10**8\n        time.sleep(20)\ntime.sleep(20)",
        SMALL, "of memory",
    ),
    "processes": (
        "import os, time\ntry:\n    for _ in range(60):\n        if os.fork() == 0:\n            time.sleep(20)\n"
        "except OSError:\n    os._exit(1)  # the kernel's own limit, which root does not have\ntime.sleep(20)",
        replace(LIMITS, processes=30, memory=2**40), "more than 30 processes|stopped Python",
    ),
    "time": ("while True:\n    pass", replace(LIMITS, cell=2.0), "did not come to an end within 2 seconds of processor"),
    "sleep": ("import time\ntime.sleep(60)", replace(LIMITS, cell=2.0), "did not come to an end"),
    "time of others": (
        "import subprocess\nsubprocess.run(['sh', '-c', 'while :; do :; done'])", replace(LIMITS, cell=2.0), "did not come to an end",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TOO_MUCH)
def test_who_takes_too_much_is_ended(what):
    code, limits, why = TOO_MUCH[what]
    with Learner(limits) as learner, pytest.raises(Ended, match=why):
        learner.run(code)


def test_files_are_limited():
    with Learner(SMALL) as learner:
        learner.run(
            "try:\n    open('big', 'wb').write(b'x' * 6_000_000)\n    said = 'done'\nexcept OSError: said = 'refused'"
        )
        assert learner.values(["said"]) in (["refused"], None)  # None: the signal of a file that is too large ended it


def alive(mark: str) -> list[psutil.Process]:
    """Those that run, and are not just waiting to be collected."""
    running = (p for p in psutil.process_iter(["cmdline", "status"]) if p.info["status"] != psutil.STATUS_ZOMBIE)
    return [process for process in running if mark in (process.info["cmdline"] or [])]


LOOSE = """
import os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "MARK"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "MARK"])
    os._exit(0)
import time
time.sleep(1)
"""


@pytest.mark.parametrize("end", ["is done with", "ends itself"])
def test_no_process_is_left_behind(line, end):
    """Also none that has a session of its own, or that is nobody's child any more; and whoever ends it."""
    mark = f"left_behind_{os.getpid()}_{line}_{end[0]}"
    with Learner() as learner:
        learner.run(LOOSE.replace("MARK", mark))
        assert len(alive(mark)) == 2
        if end == "ends itself":
            with pytest.raises(Ended, match="stopped Python"):
                learner.run("os._exit(1)")
            assert becomes(lambda: not alive(mark))
    assert becomes(lambda: not alive(mark))


def becomes(true: Callable[[], bool], seconds: float = 10) -> bool:
    """Waits until it is true, but not for ever."""
    ends = time.monotonic() + seconds
    while not true() and time.monotonic() < ends:
        time.sleep(0.1)
    return true()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_who_ends_the_grading_ends_all_of_it(line, sent, tmp_path):
    """Ctrl-C in a terminal, and what a batch system or the kernel sends, to the command alone."""
    mark = f"of_a_notebook_{os.getpid()}_{line}_{sent}"
    cells = [{"cell_type": "code", "metadata": {}, "source": LOOSE.replace("MARK", mark) + "\ntime.sleep(60)"}]
    (tmp_path / "06_variants.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    paths = os.environ["PATH"] if line == "first" else str(Path(sys.executable).parent)  # where there is no bwrap
    (tmp_path / "tmp").mkdir()
    given = os.environ | {"PATH": paths, "TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-m", "specdec_lab", "grade", str(tmp_path / "06_variants.ipynb")]
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as grading:
        assert becomes(lambda: len(alive(mark)) == 2, 60)
        grading.send_signal(sent)
        assert grading.wait(20) != 0
        assert becomes(lambda: not alive(mark))
    assert becomes(lambda: not any((tmp_path / "tmp").iterdir()))  # nor the folder in which the notebook wrote


def test_time_is_what_is_computed_or_slept(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(jail.time, "monotonic", lambda: now[0])
    watch = Watch(None, LIMITS)

    def passes(seconds: float, computed: float, awake: bool, awaited: bool) -> float:
        before, watch.awaited = watch.spent, awaited
        now[0] += seconds
        watch.count({"it": watch.seconds.get("it", 0.0) + computed}, awake)
        return round(watch.spent - before, 6)

    assert passes(1.0, 0.9, awake=True, awaited=True) == 0.9
    assert passes(9.0, 0.1, awake=True, awaited=True) == 0.1  # it wants to compute, and others do
    assert passes(1.0, 0.0, awake=False, awaited=True) == 1.0  # it sleeps
    assert passes(1.0, 0.0, awake=False, awaited=False) == 0.0  # it waits for the grader
    assert passes(1.0, 1.9, awake=False, awaited=True) == 1.9  # two threads
    watch.count({}, awake=False)
    assert passes(1.0, 0.5, awake=True, awaited=True) == 0.5  # another process, after that one has ended


# What the filter lets through. Without rights, and with arguments that are none, the calls below do nothing.


NOT_ALLOWED = {
    "setxattrat": 463, "removexattrat": 466, "file_setattr": 469, "reboot": 169, "swapoff": 168, "setdomainname": 171, "chroot": 161,
    "clock_adjtime": 305, "settimeofday": 164, "quotactl": 179, "mount": 165, "mount_setattr": 442, "fsconfig": 431, "kexec_load": 246,
    "init_module": 175, "bpf": 321, "open_by_handle_at": 304, "pidfd_open": 434, "pidfd_send_signal": 424, "pidfd_getfd": 438,
    "process_madvise": 440, "io_uring_setup": 425, "sched_setscheduler": 144, "sched_setattr": 314, "ioprio_set": 251, "setpriority": 141,
    "mlock": 149, "keyctl": 250, "userfaultfd": 323, "setuid": 105, "setgroups": 116, "iopl": 172, "personality": 135, "bind": 49,
    "listen": 50, "connect": 42, "sendmsg": 46, "a call of a later kernel": 600, "another one": 1000,
}  # fmt: skip


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers are those of one kind of machine")
@pytest.mark.usefixtures("line")
def test_a_call_that_is_not_on_the_list_is_none():
    """Whether it would need rights is not even looked at."""
    with Learner() as learner:
        learner.run(
            "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\ndef tried(number):\n"
            "    ctypes.set_errno(0)\n    return libc.syscall(number, -1, -1, -1, -1, -1, -1), ctypes.get_errno()"
        )
        (tried,) = learner.values(["tried"])
        assert {name: tried(number) for name, number in NOT_ALLOWED.items()} == dict.fromkeys(NOT_ALLOWED, (-1, 38))


HEADERS = {  # where the kernel's own numbers may stand, and by which of ours
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), 1: Path("/usr/include/asm-generic/unistd.h"),
}  # fmt: skip


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_the_kernels(machine):
    if not HEADERS[machine].is_file():
        pytest.skip("the kernel's headers are not here")
    theirs = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)\n", HEADERS[machine].read_text()))
    theirs["newfstatat"] = theirs.get("newfstatat", theirs.get("fstatat"))
    rows = [row.split() for table in (calls.ALLOWED, calls.SILENT) for row in table.split(",")]
    rows += [(name, *map(str, numbers)) for name, numbers, *_ in calls.BY_ARGUMENT]
    ours = {row[0]: row[1 + machine] for row in rows if row[1 + machine] != "-" and row[0] != "fchmodat2"}
    assert len(ours) > 100 and ours == {name: theirs.get(name) for name in ours}
    assert len({*ours.values()}) == len(ours)


GIVES_UP = """
import os, sys
from pathlib import Path
from specdec_grader.learner import jail
jail.python_folders = lambda: [*map(Path, sys.argv[1:])]
gone = jail.give_up_rights(Path.cwd())
rights = int(open("/proc/self/status").read().partition("CapEff:")[2].split()[0], 16)
Path("own").write_text("it can write here")
print(gone, os.getuid(), os.getgroups() == [], rights)
"""


@pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="only root has it")
def test_root_and_its_rights_are_given_up(tmp_path):
    """Root only where all can read Python, its rights everywhere; in a process of its own, since nothing comes back."""
    (tmp_path / "closed").mkdir(mode=0o700)

    def then(*folders: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", GIVES_UP, *folders]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        return done.stdout.split()

    assert then("/usr") == ["True", str(jail.NOBODY), "True", "0"]
    assert then("/usr", str(tmp_path / "closed"))[::3] == ["False", "0"]


def test_where_nothing_locks_the_code_in_it_is_refused(monkeypatch):
    without_bubblewrap(monkeypatch)
    monkeypatch.setattr(jail, "landlock_version", lambda: 0)
    assert jail.jail() is None
    with pytest.raises(LabError, match="--unlocked"):
        Learner()
    said = []
    with pytest.raises(LabError, match="bubblewrap"):
        jail.check_jail(said.append, unlocked=False)
    jail.check_jail(said.append, unlocked=True)
    assert "as you" in said[0]
    with Learner(unlocked=True) as learner:
        assert learner.values(["1 + 1"]) == [2]


def test_a_lock_that_fails_is_noticed(monkeypatch):
    """The process itself says whether it is locked; where it is not, nothing of the learner's runs."""
    monkeypatch.setattr(jail, "jail", lambda: "nothing that the process knows")
    with pytest.raises(LabError, match="--unlocked"):
        Learner()


def test_bubblewrap_that_may_not_be_used_is_not_used(tmp_path, monkeypatch):
    """As in a container without namespaces: it is there, and fails."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    jail.bubblewrap_works.cache_clear()
    try:
        assert not jail.bubblewrap_works()
    finally:
        jail.bubblewrap_works.cache_clear()


def test_the_second_line_handles_all_rights_on_files(tmp_path):
    """TRUNCATE came with the third version of Landlock; a list of the first leaves every file to be emptied."""
    assert jail.EVERYTHING[3] & jail.TRUNCATE and jail.EVERYTHING[5] >> 15 & 1
    done = subprocess.run([sys.executable, "-c", "from specdec_grader.learner.jail import lock; from pathlib import Path; print(lock(Path('.')))"],
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert done.stdout.strip() == str(jail.landlock_version() > 0)
