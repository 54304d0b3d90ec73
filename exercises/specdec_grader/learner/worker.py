"""The learner's process: it runs the cells of a notebook and answers calls. The judges and the marks are in the grader's.

Started by `learner.Learner`, which reads what it says as plain data and believes nothing else.
"""

import ast
import builtins
import contextlib
import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import specdec_grader
from specdec_grader.coerce import is_stub, shown
from specdec_grader.guard import Capped, learner_frames
from specdec_grader.learner import jail
from specdec_grader.learner.plain_data import LOOKS, Broken, Messages, pack, unpack


class Lent:
    """Something of the grader's: it can be called, and asked for what it offers by name."""

    def __init__(self, worker: "Worker", number: int, looks: str):
        self._worker, self._number, self._looks = worker, number, looks

    def __call__(self, *args: Any, **named: Any) -> Any:
        packed = self._worker.packed
        return self._worker.ask({"ask": self._number, "args": packed(args), "named": packed([named])})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._worker.ask({"ask": self._number, "name": name})

    def __repr__(self) -> str:
        return self._looks


class Worker:
    def __init__(self, messages: Messages):
        from IPython.core.interactiveshell import InteractiveShell

        self.messages = messages
        self.objects: list[Any] = []  # the learner's, which the grader has numbers of
        self.shell = InteractiveShell.instance()
        self.shell.history_manager.enabled = False
        self.shell.colors = "nocolor"
        self.shell.system = self.shell.system_raw  # for `!command`: without a terminal of its own
        self.handlers = {"cell": self.cell, "values": self.values, "call": self.call}

    def serve(self) -> dict:
        """Do what the grader asks; returns at the first message that is an answer to this side."""
        while True:
            message = self.messages.receive()
            if "answer" in message or "raise" in message:
                return message
            handle = next(handle for kind, handle in self.handlers.items() if kind in message)
            printed, reply = Capped(), {}
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                try:
                    reply = handle(message)
                except Broken:
                    raise
                except BaseException as e:
                    reply = {"raised": self.raised(e)}
            try:
                self.messages.send(reply | {"printed": printed.getvalue()})
            except ValueError as e:
                self.messages.send({"raised": self.raised(e), "printed": ""})

    def ask(self, message: dict) -> Any:
        self.messages.send(message)
        answer = self.serve()
        if "answer" in answer:
            return self.unpacked(answer["answer"])
        error = exception(answer["raise"]["type"], answer["raise"]["text"])
        error.number = answer["raise"]["number"]
        raise error

    def cell(self, message: dict) -> dict:
        """Run a cell. What stands behind a line that goes wrong, as an import of what is not there, is defined."""
        source, errors = self.shell.transform_cell(message["cell"]), []
        while source:
            ran = self.shell.run_cell(source, store_history=True)
            errors += filter(None, [ran.error_before_exec or ran.error_in_exec])
            source = behind(source, ran.error_in_exec) if ran.error_in_exec else ""
        return {"done": True, "error": self.raised(errors[0]) if errors else None}

    def values(self, message: dict) -> dict:
        return {"result": [pack(eval(source, self.shell.user_ns), self.keep) for source in message["values"]]}

    def call(self, message: dict) -> dict:
        made, results, changed = self.objects[message["call"]], [], []
        for packed in message["many"]:
            args = self.unpacked(packed)
            results.append(pack(made(*args), self.keep))
            after = self.packed(args)
            changed.append(after if after != packed else None)
        return {"result": results, "changed": changed}

    def keep(self, value: Any) -> dict:
        if isinstance(value, Lent):
            return {"lent": value._number, "looks": value._looks}
        self.objects.append(value)
        number = len(self.objects) - 1
        return {"object": number, "callable": callable(value), "stub": is_stub(value), "looks": shown(value, LOOKS)}

    def packed(self, args: Any) -> list:
        return [pack(a, self.keep) for a in args]

    def unpacked(self, value: Any) -> Any:
        return unpack(value, lambda sent: Lent(self, sent["lent"], sent["looks"]))

    def raised(self, e: BaseException) -> dict:
        """What the learner's code raised, and in which line of it."""
        mine, number = learner_frames(e), getattr(e, "number", None)
        line = (mine[-1].line or "")[:300] if mine else ""
        return {"type": type(e).__name__, "text": str(e)[:2000], "line": line, "number": number}


def behind(source: str, error: BaseException) -> str:
    """What a cell defines and imports after the line that raised the error."""
    at = next((f.lineno or 0 for f in learner_frames(error)), 0)
    kinds = ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Assign
    later = [s for s in ast.parse(source).body if 0 < at < s.lineno and isinstance(s, kinds)]
    # Where a line fails since there is no model, nothing of the package is of use, and it takes seconds to import.
    return "\n".join(ast.unparse(s) for s in later if not (getattr(s, "module", "") or "").startswith("specdec_lab"))


def exception(name: str, text: str) -> Any:
    """One of that name which says this: Python's own, or a new kind."""
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        with contextlib.suppress(TypeError):  # some take more than a text
            if str(kind(text)) == text:
                return kind(text)
            # A KeyError puts its text in quotes, and this one has them already; it is caught as one all the same.
            return type(name, (kind,), {"__str__": lambda self: text})(text)
    return type(name, (Exception,), {})(text)


def no_judges(check: Callable) -> None:
    """The package without them: `from specdec_grader import check` works, and judges nothing."""
    for file, name, value in (("checks", "check", check), ("progress_table", "progress", lambda *given: None)):
        module = types.ModuleType(f"specdec_grader.{file}")
        sys.modules[module.__name__] = module
        for place in (module, specdec_grader):
            setattr(place, name, value)


def main() -> None:
    settings = json.loads(sys.argv[1])
    messages = Messages(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    # A check that is called here gives what a right answer has: code that counts on it goes on, and learns nothing.
    no_judges(lambda part=None, *given: float(settings["points"].get(part, 0) if isinstance(part, str) else 0))
    # Where a notebook loads a model, that cell ends at once: no mark needs one, and it would take half a minute.
    sys.modules["specdec_lab.lab"] = None  # pyright: ignore[reportArgumentType]
    jail.limit_this_process(jail.Limits(**settings["limits"]), settings["locked"])
    worker = Worker(messages)
    messages.send({"ready": True})
    with contextlib.suppress(Broken):
        worker.serve()


if __name__ == "__main__":
    main()
