"""The grader's side of a learner's process: it has cells run there, and calls the learner's functions one at a time."""

import inspect
import json
import os
import signal
import site
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

import specdec_lab
from specdec_lab.classroom.plain_data import Broken, Wire, look, pack, unpack
from specdec_lab.classroom.worker import exception
from specdec_lab.course.afar import Afar
from specdec_lab.course.mistake import Wrong
from specdec_lab.errors import LabError

PACKAGE = Path(specdec_lab.__file__).resolve().parent
MEMORY = 8 * 2**30  # bytes of addresses that the learner's process may ask for; torch takes 3 for itself
PROCESSES = 200  # processes and threads that it may add to those of its user
STARTING = 120  # seconds for Python to be there
CALLS = 500  # of a function, in one message
UNKNOWN = "something that is no plain data"


def threads_now() -> int:
    """How many this user has, in all processes."""
    me = psutil.Process().username()
    found = psutil.process_iter(["username", "num_threads"])
    return sum(p.info["num_threads"] or 1 for p in found if p.info["username"] == me)


class Ended(Exception):
    """The learner's process did not come to an end in time, or ended by itself. Its text says which."""


class Thing:
    """An object that stays in the learner's process; here one sees how it looks."""

    def __init__(self, looks: str):
        self.looks = looks

    def __repr__(self) -> str:
        return self.looks


class Remote(Thing, Afar):
    """A function there. Calling it raises what it raises there, by name, text and line."""

    def __init__(self, learner: "Learner", number: int, looks: str):
        super().__init__(looks)
        self.learner, self.number = learner, number

    def __call__(self, *args: Any) -> Any:
        return self.learner.call(self.number, [args])[0]

    def many(self, cases: Sequence[tuple]) -> list[Any]:
        return [x for i in range(0, len(cases), CALLS) for x in self.learner.call(self.number, cases[i : i + CALLS])]


class Learner:
    """The process. Whatever it sends is judged, and is never a mark.

    Args:
        seconds: for a cell.

    Raises:
        LabError: when the process cannot be started.
    """

    def __init__(self, seconds: float):
        self.seconds, self.over = seconds, False
        self.lent: list[Any] = []  # what it has numbers of
        self.errors: list[BaseException] = []  # that were raised here, in what it called
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        settings = {
            "readable": [sys.prefix, sys.base_prefix, site.getuserbase(), str(PACKAGE), "/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"],
            "hidden": [str(PACKAGE / "course" / "judges"), str(PACKAGE.parent / "solutions")],
            "folder": self.folder.name, "bytes": MEMORY, "processes": threads_now() + PROCESSES,
        }  # fmt: skip
        path = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))
        own = dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR"), self.folder.name)
        own |= {"PYTHONPATH": path, "PYTHONUSERBASE": site.getuserbase()}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "specdec_lab.classroom.worker", json.dumps(settings)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=self.folder.name, env=os.environ | own, start_new_session=True,
        )  # fmt: skip
        self.wire = Wire(self.process.stdout, self.process.stdin)
        try:
            with self.killed_after(STARTING):
                self.wire.receive()
        except Broken as e:
            self.close()
            raise LabError("Python could not be started for the learner's code: is the [lab] extra installed?") from e

    def __enter__(self) -> "Learner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, and all that it started."""
        self.over = True
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                stream.close()
        self.folder.cleanup()

    @contextmanager
    def killed_after(self, seconds: float) -> Iterator[list]:
        """It is killed when this takes longer; then the list is not empty."""
        late: list[bool] = []
        timer = threading.Timer(seconds, lambda: (late.append(True), self.process.kill()))
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()

    def run(self, source: str) -> None:
        """Run a cell; what it raises stays there. Raises Ended."""
        with self.killed_after(self.seconds) as late:
            try:
                self.wire.send({"cell": source})
                self.reply()
            except Broken as e:
                self.over = True
                raise Ended("did not come to an end" if late else "stopped Python") from e

    def values(self, sources: Sequence[str]) -> list[Any] | None:
        """What these names stand for there; None when one of them stands for nothing."""
        try:
            self.wire.send({"values": list(sources)})
            message = self.reply()
            return self.unpacked(message["result"]) if "result" in message else None
        except Broken:
            self.over = True
            return None

    def call(self, number: int, cases: Sequence[tuple]) -> list[Any]:
        """What a function there gives for each case. Raises what it raises; Wrong when its process ends."""
        try:
            self.wire.send({"call": number, "many": [[self.packed(a) for a in args] for args in cases]})
            reply = self.reply()
            sys.stdout.write(str(reply.get("printed", "")))
            if "raised" in reply:
                raise self.error(reply["raised"])
            results, changed = self.unpacked(reply.get("result")), reply.get("changed")
            if not isinstance(results, list) or len(results) != len(cases):
                raise Broken
            for args, after in zip(cases, changed if isinstance(changed, list) else []):
                self.change(args, after)
            return results
        except Broken as e:
            self.over = True
            raise Wrong("Your code stopped Python, or sent something else than a result.") from e
        except BaseException as e:
            # Stopped in the middle of a message, by an alarm: nothing can be asked of it any more.
            if not getattr(e, "from_there", False) and e not in self.errors:
                self.over = True
            raise

    def change(self, args: tuple, after: object) -> None:
        """What the learner's code did to the lists that it was given."""
        for arg, now in zip(args, after if isinstance(after, list) else []):
            if isinstance(arg, list) and isinstance(now, list):
                arg[:] = self.unpacked(now)

    def reply(self) -> dict:
        """What is sent when it is done. Meanwhile this side answers what the learner's code asks."""
        while "ask" in (message := self.wire.receive()):
            self.answer(message)
        return message

    def error(self, raised: object) -> BaseException:
        """What was raised there; where it was raised here, in something lent, the same again."""
        if not isinstance(raised, dict):
            raise Broken
        number = raised.get("number")
        if isinstance(number, int) and 0 <= number < len(self.errors):
            return self.errors[number]
        name, text, line = (str(raised.get(part) or "")[:2000] for part in ("type", "text", "line"))
        error = exception(name if name.isidentifier() else "Exception", text)
        error.line, error.from_there = line, True
        return error

    def answer(self, message: dict) -> None:
        """Call what was lent, or look up what it offers."""
        try:
            if not isinstance(message["ask"], int) or not 0 <= message["ask"] < len(self.lent):
                raise Broken
            thing, name = self.lent[message["ask"]], message.get("name")
            if name is None:
                args, names, values = (self.unpacked(message.get(part, [])) for part in ("args", "names", "values"))
                found = thing(*args, **dict(zip(names, values)))
            elif name in getattr(type(thing), "LENT", ()):
                found = getattr(thing, name)
            else:
                raise AttributeError(f"there is no {str(name)[:80]!r} here")
            reply = {"answer": self.packed(found)}
        except Broken:
            raise
        except Exception as e:
            self.errors.append(e)
            reply = {"raise": {"type": type(e).__name__, "text": str(e), "number": len(self.errors) - 1}}
        self.wire.send(reply)

    def packed(self, value: Any) -> Any:
        def lend(thing: Any) -> dict:
            self.lent.append(thing)
            return {"lent": len(self.lent) - 1, "looks": "a function" if inspect.isroutine(thing) else look(thing)}

        return pack(value, lend)

    def unpacked(self, value: Any) -> Any:
        def found(sent: dict) -> Any:
            if isinstance(sent.get("lent"), int) and 0 <= sent["lent"] < len(self.lent):
                return self.lent[sent["lent"]]
            looks = str(sent.get("looks", UNKNOWN))[:200]
            if sent.get("callable") is True and isinstance(sent.get("object"), int):
                return Remote(self, sent["object"], looks)
            return Thing(looks)

        return unpack(value, found)
