"""The grader's side of a learner's process: it has cells run there, and calls the learner's functions one at a time."""

import inspect
import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

from specdec_grader.coerce import shown
from specdec_grader.learner import jail
from specdec_grader.learner.jail import LIMITS, Limits
from specdec_grader.learner.plain_data import LOOKS, Broken, Messages, pack, unpack
from specdec_grader.learner.worker import exception
from specdec_grader.mistakes import Wrong
from specdec_grader.part import PARTS
from specdec_grader.question import RemoteFunction
from specdec_lab.errors import LabError

STARTING = 60  # seconds for Python to be there
CALLS = 500  # of a function, in one message
MOST_ASKED = 5_000_000  # questions that the code may ask for one part
MOST_ERRORS = 10_000  # that it may raise here meanwhile
UNKNOWN = "something that is no plain data"
HANDED_BACK = "Your code hands in what the check gave it. Hand in something of your own."


class Ended(Exception):
    """The learner's process did not come to an end in time, or ended by itself. Its text says which."""


class Thing:
    """An object that stays in the learner's process; here one sees how it looks."""

    def __init__(self, looks: str):
        self.looks = looks

    def __repr__(self) -> str:
        return self.looks


class LearnerFunction(Thing, RemoteFunction):
    """A function there. Calling it raises what it raises there, by name, text and line."""

    def __init__(self, learner: "Learner", number: int, looks: str, stub: bool):
        super().__init__(looks)
        self.learner, self.number, self.stub = learner, number, stub

    def __call__(self, *args: Any) -> Any:
        return self.learner.call(self.number, [args])[0]

    def many(self, cases: Sequence[tuple]) -> list[Any]:
        return [x for i in range(0, len(cases), CALLS) for x in self.learner.call(self.number, cases[i : i + CALLS])]

    def spent(self) -> float:
        return self.learner.watch.spent


class Learner:
    """The process, in bubblewrap. Whatever it sends is judged, and is never a mark.

    Args:
        unlocked: run the code also where nothing locks it in.

    Raises:
        LabError: when the process cannot be started, or nothing locks it in.
    """

    def __init__(self, limits: Limits = LIMITS, unlocked: bool = False):
        locked = jail.bubblewrap_works()
        if not locked and not unlocked:
            raise LabError(jail.NO_JAIL)
        self.limits, self.over = limits, False
        self.lent: dict[int, Any] = {}  # what it has numbers of, while one part is judged
        self.errors: dict[int, Any] = {}  # that were raised here, in what it called
        self.numbers, self.asked = itertools.count(), 0
        self.folder = None if locked else tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        folder = self.folder.name if self.folder else jail.SCRATCH
        points = {id: part.points for id, part in PARTS.items()}
        settings = json.dumps({"locked": locked, "limits": asdict(limits), "points": points})
        command = [sys.executable, "-m", "specdec_grader.learner.worker", settings]
        self.process = subprocess.Popen(
            jail.in_bubblewrap(command, limits) if locked else command,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd="/" if locked else folder, env=jail.environment(folder), start_new_session=True,
        )  # fmt: skip
        assert self.process.stdout and self.process.stdin
        self.watch = jail.Watch(self.process, limits)
        self.messages = Messages(self.process.stdout, self.process.stdin)
        self.watch.start()
        try:
            with self.killed_after(STARTING):
                self.heard()
        except Broken as e:
            self.close()
            raise LabError("Python could not be started for the learner's code: is the [lab] extra installed?") from e

    def __enter__(self) -> "Learner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.watch.done.set()
        jail.end(self.process)
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                stream.close()
        if self.folder:
            with suppress(OSError, RecursionError):  # folders in folders without end
                self.folder.cleanup()

    def part_ends(self) -> None:
        """What was lent for a part is lent no more, and what was raised is forgotten: no other part can use it."""
        self.lent.clear()
        self.errors.clear()
        self.asked = 0

    @contextmanager
    def killed_after(self, seconds: float) -> Iterator[list]:
        """It is killed when it spends more on this; then the list is not empty."""
        late = self.watch.end_after(seconds)
        try:
            yield late
        finally:
            self.watch.ends = None

    def heard(self) -> dict:
        """The next message, for which the grader waits."""
        self.watch.awaited = True
        try:
            return self.messages.receive()
        finally:
            self.watch.awaited = False

    def run(self, source: str) -> str:
        """Run a cell; returns what it raised, such as "NameError: …", or nothing. Raises Ended."""
        with self.killed_after(self.limits.cell) as late:
            try:
                self.messages.send({"cell": source})
                error = self.reply().get("error")
                return f"{error.get('type')}: {str(error.get('text'))[:200]}" if isinstance(error, dict) else ""
            except Broken as e:
                self.over = True
                out = f"did not come to an end within {self.limits.cell:g} seconds of processor time"
                raise Ended(self.watch.why or (out if late else "stopped Python")) from e
            except ValueError as e:
                raise Ended("is too long") from e

    def values(self, sources: Sequence[str]) -> list[Any] | None:
        """What these names stand for there; None when one of them stands for nothing.

        Raises:
            Wrong: when one of them is something lent.
        """
        try:
            self.messages.send({"values": list(sources)})
            message = self.reply()
            made = self.unpacked(message["result"]) if "result" in message else None
            return made if isinstance(made, list) and len(made) == len(sources) else None
        except Broken:
            self.over = True
            return None

    def call(self, number: int, cases: Sequence[tuple]) -> list[Any]:
        """What a function there gives for each case. Raises what it raises; Wrong when its process ends."""
        done = False
        try:
            self.messages.send({"call": number, "many": [[self.packed(a) for a in args] for args in cases]})
            reply = self.reply()
            done = True
            sys.stdout.write(str(reply.get("printed", "")))
            if "raised" in reply:
                raise self.error(reply["raised"])
            results, changed = self.unpacked(reply.get("result")), reply.get("changed")
            if not isinstance(results, list) or len(results) != len(cases):
                raise Broken
            for args, after in zip(cases, changed if isinstance(changed, list) else []):
                for arg, now in zip(args, after if isinstance(after, list) else []):
                    if isinstance(arg, list) and isinstance(now, list):  # what the learner's code did to a list
                        arg[:] = self.unpacked(now, lent_too=True)
            return results
        except Broken as e:
            self.over = True
            raise Wrong("Your code stopped Python, or sent something else than a result.") from e
        except BaseException:
            # Stopped in the middle of a message, by an alarm: nothing can be asked of it any more.
            self.over = self.over or not done
            raise

    def reply(self) -> dict:
        """What is sent when it is done. Meanwhile this side answers what the learner's code asks."""
        while "ask" in (message := self.heard()):
            self.answer(message)
        return message

    def error(self, raised: object) -> BaseException:
        """What was raised there; where it was raised here, in something lent, the same again."""
        if not isinstance(raised, dict):
            raise Broken
        number = raised.get("number")
        name, text, line = (str(raised.get(part) or "")[:2000] for part in ("type", "text", "line"))
        if isinstance(number, int) and number in self.errors:
            error = self.errors[number]
        else:
            error = exception(name if name.isidentifier() else "Exception", text)
        error.line = line  # the learner's, also where what was lent has failed
        return error

    def answer(self, message: dict) -> None:
        """Call what was lent, or look up what it offers."""
        self.asked += 1
        if not isinstance(message["ask"], int) or self.asked > MOST_ASKED or len(self.errors) > MOST_ERRORS:
            raise Broken
        try:
            if message["ask"] not in self.lent:
                raise RuntimeError("this was lent for another part of the exercise")
            thing, name = self.lent[message["ask"]], message.get("name")
            if name is None:
                args, (named,) = (self.unpacked(message[part], lent_too=True) for part in ("args", "named"))
                found = thing(*args, **named)
            elif name in getattr(type(thing), "LENT", ()):
                found = getattr(thing, name)
            else:
                raise AttributeError(f"there is no {str(name)[:80]!r} here")
            reply = {"answer": self.packed(found)}
        except (Broken, MemoryError):
            raise
        except Exception as e:
            number = next(self.numbers)
            self.errors[number] = e.with_traceback(None)  # which would keep the whole message
            reply = {"raise": {"type": type(e).__name__, "text": str(e)[:2000], "number": number}}
        self.messages.send(reply)

    def packed(self, value: Any) -> Any:
        def lend(thing: Any) -> dict:
            number = next(self.numbers)
            self.lent[number] = thing
            return {"lent": number, "looks": "a function" if inspect.isroutine(thing) else shown(thing, LOOKS)}

        return pack(value, lend)

    def unpacked(self, value: Any, lent_too: bool = False) -> Any:
        """What was sent. Raises Wrong where an answer holds something that was lent.

        Args:
            lent_too: it is no answer: something lent is called with it.
        """

        def found(sent: dict) -> Any:
            if "lent" in sent:
                if lent_too and sent["lent"] in self.lent:
                    return self.lent[sent["lent"]]
                raise Wrong(HANDED_BACK)
            looks = str(sent.get("looks", UNKNOWN))[: LOOKS + 1]
            if sent.get("callable") is True and isinstance(sent.get("object"), int):
                return LearnerFunction(self, sent["object"], looks, sent.get("stub") is True)
            return Thing(looks)

        return unpack(value, found)
