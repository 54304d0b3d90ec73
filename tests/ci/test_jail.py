"""What a learner's code can reach while it is graded: nothing, one attack of each kind.

Each attack says `done` if it worked; what says so and is not is seen from outside. That they are attacks is shown by the
same without a jail.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from specdec_grader.learner import jail
from specdec_grader.learner.jail import LIMITS, Watch
from specdec_grader.learner.process import Ended, Learner

from specdec_lab.errors import LabError

needs_bubblewrap = pytest.mark.skipif(not jail.bubblewrap_works(), reason="bubblewrap is not here, or may not be used")
SOLUTION = jail.PACKAGE.parent / "solutions/03_exactly_the_target.ipynb"

HARMLESS = {  # what can be tried without a jail, too
    "reads a neighbour": "open(neighbour).read()",
    "writes beside it": "open(neighbour + '2', 'w').write('x')",
    "reads the judges": "open(judges).read()",
    "reads the solutions": "open(solutions).read()",
    "reads the environment of the grader": "open(f'/proc/{grader}/environ', 'rb').read()",
    "stops the grader": "import os\nos.kill(grader, 0)",
    "asks the network": "import socket\nsocket.create_connection(('127.0.0.1', port), timeout=2)",
    "sees who listens": "assert f':{port:04X} ' in open('/proc/self/net/tcp').read()",
    "calls a socket in a folder": "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect(by_path)",
}
OTHERS = {
    "changes Python": "import os\nos.chmod(os.__file__, 0)",
    "has rights of root": "assert int(open('/proc/self/status').read().partition('CapEff:')[2].split()[0], 16)",
    "makes namespaces": (  # which only a process of one thread may
        "import subprocess, sys\ncode = 'import ctypes; sys.exit(ctypes.CDLL(None).unshare(0x10000000))'\n"
        "assert subprocess.run([sys.executable, '-c', 'import sys; ' + code]).returncode == 0"
    ),
    "reads the grader's keys": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nring = libc.syscall(250, 0, -3, 0)\n"
        "assert libc.syscall(250, 11, ring, None, 0) > 0"
    ),
    "writes in memory for all": "open('/dev/shm/of_all', 'w').write('x')\nassert outside",
}  # fmt: skip
REFUSED = {"PermissionError", "FileNotFoundError", "ConnectionRefusedError", "OSError", "ProcessLookupError", "AssertionError",
           "NotADirectoryError"}  # fmt: skip


@pytest.fixture
def world(tmp_path):
    """What there is to attack: a neighbour's notebook, and two sockets."""
    neighbour = tmp_path / "neighbour.ipynb"
    neighbour.write_text("{}", encoding="utf-8")
    sockets = [socket.socket(), socket.socket(socket.AF_UNIX)]
    for each, address in zip(sockets, [("127.0.0.1", 0), str(tmp_path / "s")]):
        each.bind(address)
        each.listen(20)
    yield {
        "neighbour": str(neighbour), "judges": str(jail.GRADER / "sheets/e03_exactly_the_target.py"), "solutions": str(SOLUTION),
        "port": sockets[0].getsockname()[1], "by_path": str(tmp_path / "s"), "grader": os.getpid(), "outside": False,
    }  # fmt: skip
    for each in sockets:
        each.close()


def attack(learner: Learner, names: dict, code: str) -> str:
    """What became of it: done, or the name of the error."""
    lines = "\n".join(f"    {line}" for line in code.split("\n"))
    learner.run("\n".join(f"{name} = {value!r}" for name, value in names.items()))
    learner.run(f"try:\n{lines}\n    said = 'done'\nexcept BaseException as e:\n    said = type(e).__name__")
    (said,) = learner.values(["said"])
    return said


@needs_bubblewrap
def test_nothing_is_reached(world):
    neighbour = Path(world["neighbour"])
    before = neighbour.stat()
    with Learner() as learner:
        said = {name: attack(learner, world, code) for name, code in (HARMLESS | OTHERS).items()}
        assert not {name: word for name, word in said.items() if word not in REFUSED}
        learner.run(f"import os\nhere = {{name: os.listdir({str(jail.GRADER)!r} + '/' + name) for name in "
                    f"{[path.name for path in jail.GRADER.iterdir() if path.is_dir()]}}}")  # fmt: skip
        (here,) = learner.values(["here"])
    assert {name for name, files in here.items() if files} - {"__pycache__"} == {"supplied", "learner"}
    after = neighbour.stat()
    assert (after.st_mode, after.st_mtime, after.st_size) == (before.st_mode, before.st_mtime, before.st_size)
    assert sorted(os.listdir(neighbour.parent)) == ["neighbour.ipynb", "s"]
    assert not Path("/dev/shm/of_all").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="some of the attacks are Linux's")
def test_the_attacks_work_without_a_jail(world, monkeypatch):
    """Else the test above would show nothing."""
    monkeypatch.setattr(jail, "bubblewrap_works", lambda: False)
    with Learner(unlocked=True) as learner:
        assert {attack(learner, world, code) for code in HARMLESS.values()} == {"done"}


# Each has one limit that the code breaks, so that it does not matter what the watch sees first: 60 processes take more
# than 300 MiB, and on a busy machine it looks while there are only a few of them.
TOO_MUCH = {
    "memory in several processes": (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        x = b'1' * 10**8\n        time.sleep(20)\ntime.sleep(20)",
        replace(LIMITS, cell=20.0, memory=300 * 2**20), "of memory",
    ),
    "processes": (
        "import os, time\ntry:\n    for _ in range(60):\n        if os.fork() == 0:\n            time.sleep(20)\n"
        "except OSError:\n    os._exit(1)\ntime.sleep(20)",
        replace(LIMITS, processes=30, memory=2**40), "more than 30 processes",
    ),
    "sleep": ("import time\ntime.sleep(60)", replace(LIMITS, cell=2.0), "did not come to an end within 2 seconds of processor"),
}  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
@pytest.mark.parametrize("what", TOO_MUCH)
def test_who_takes_too_much_is_ended(what):
    code, limits, why = TOO_MUCH[what]
    with Learner(limits, unlocked=True) as learner, pytest.raises(Ended, match=why):
        learner.run(code)


@needs_bubblewrap
def test_the_code_has_a_folder_with_a_limit_for_its_files():
    """For one file, and for all together."""
    with Learner(replace(LIMITS, files=5_000_000)) as learner:
        learner.run("import os, tempfile, torch\nsaid = os.environ['HOME'] == os.getcwd() == tempfile.gettempdir()")
        printed = learner.run("!echo from a shell\ndef behind(): return 1")
        assert learner.values(["said", "behind()"]) == [True, 1], printed
        learner.run(
            "for n in range(3):\n    try:\n        open(f'{n}', 'wb').write(b'x' * 4_000_000)\n        said = 'done'\n"
            "    except OSError: said = 'refused'"
        )
        assert learner.values(["said"]) == ["refused"]


def alive(mark: str) -> list[psutil.Process]:
    """Those that run, and are not just waiting to be collected."""
    running = (p for p in psutil.process_iter(["cmdline", "status"]) if p.info["status"] != psutil.STATUS_ZOMBIE)
    return [process for process in running if mark in (process.info["cmdline"] or [])]


LOOSE = """
import contextlib, os, subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", "MARK"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3, 64):  # the pipe to the grader, which would wait until nobody holds it
            with contextlib.suppress(OSError):
                os.set_inheritable(number, True)
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", "MARK"])
    os._exit(0)
import time
time.sleep(1)
"""


@needs_bubblewrap
def test_no_process_is_left_behind():
    """Also none that has a session of its own, is nobody's child any more, or holds the pipe, when the code ends itself."""
    mark = f"left_behind_{os.getpid()}"
    with Learner() as learner:
        learner.run(LOOSE.replace("MARK", mark))
        assert len(alive(mark)) == 2
        with pytest.raises(Ended, match="stopped Python"):
            learner.run("os._exit(1)")
        assert becomes(lambda: not alive(mark))


def becomes(true: Callable[[], bool], seconds: float = 10) -> bool:
    """Waits until it is true, but not for ever."""
    ends = time.monotonic() + seconds
    while not true() and time.monotonic() < ends:
        time.sleep(0.1)
    return true()


@needs_bubblewrap
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_who_ends_the_grading_ends_all_of_it(sent, tmp_path):
    """Ctrl-C in a terminal, and what the kernel sends, to the command alone."""
    mark = f"of_a_notebook_{os.getpid()}_{sent}"
    cells = [{"cell_type": "code", "metadata": {}, "source": LOOSE.replace("MARK", mark) + "\ntime.sleep(60)"}]
    (tmp_path / "06_variants.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    given = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    command = [sys.executable, "-m", "specdec_lab", "grade", str(tmp_path / "06_variants.ipynb")]
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as grading:
        assert becomes(lambda: len(alive(mark)) == 2, 60)
        grading.send_signal(sent)
        assert grading.wait(20) != 0
        assert becomes(lambda: not alive(mark))
    assert not any((tmp_path / "tmp").iterdir())


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


def test_where_nothing_locks_the_code_in_it_is_refused(monkeypatch):
    monkeypatch.setattr(jail, "bubblewrap_works", lambda: False)
    with pytest.raises(LabError, match="--unlocked"):
        Learner()
    said = []
    with pytest.raises(LabError, match="apt install bubblewrap"):
        jail.check_jail(said.append, unlocked=False)
    jail.check_jail(said.append, unlocked=True)
    assert "runs as you, and can read and write all of your files" in said[0]
    with Learner(unlocked=True) as learner:
        assert learner.values(["1 + 1"]) == [2]


def test_a_learners_own_check_needs_no_bubblewrap(tmp_path):
    """Where there is none, and without a look at whether there is one."""
    code = (
        "import sys\nfrom specdec_grader import check\nprint(check('1.bytes', lambda *given: 0.0))\n"
        "print([name for name in sys.modules if name.startswith('specdec_grader.learner')])"
    )
    given = os.environ | {"PATH": str(tmp_path), "SPECDEC_LAB_LEDGER": str(tmp_path / "ledger.json")}
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, encoding="utf-8")
    assert done.stdout.splitlines()[-2:] == ["0.0", "[]"] and "✗ 1.bytes" in done.stdout, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script of a shell")
def test_bubblewrap_that_may_not_be_used_is_not_used(tmp_path, monkeypatch):
    """As in a container without namespaces: it is there, and fails."""
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not jail.bubblewrap_works.__wrapped__()
