"""Widgets whose logic runs in the page: Python hands over data once, and gets back what the learner did.

What learners enter in a `Recorded` one goes into their ledger: in a notebook by way of Python, on the site into the
browser.
"""

import hashlib
import uuid
import weakref
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets
from IPython.display import display

from specdec_lab.course.ledger import Ledger
from specdec_lab.show.terminal import MARKS

STORED = "application/vnd.specdec-lab.widget+json"  # its data, in a stored page: what the static site shows live


def script(*names: str) -> str:
    """Files beside this one, one behind the other."""
    return "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names)


class Live(anywidget.AnyWidget):
    """Shows `data`. What stays of it in a stored lesson is what the page drew: see lessons/stills.py."""

    scripts: tuple[str, ...]  # files beside this one, the last of which has `render`
    _css = script("explorer.css", "machine.css")
    data = traitlets.Dict().tag(sync=True)
    # What the learner did, kept here so that a second view of the widget, or a reloaded page, still shows it.
    state = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **more) -> None:
        if "scripts" in vars(cls):  # and not in those that traitlets derives
            cls._esm = script(*cls.scripts)
        super().__init_subclass__(**more)

    def __init__(self, data: dict):
        marks = {word: mark._asdict() for word, mark in MARKS.items()}
        super().__init__(data={**data, "marks": marks, "id": uuid.uuid4().hex[:8]})

    @classmethod
    def stored(cls, data: dict) -> dict:
        """What the static site needs to show one with this data."""
        return {"script": cls.scripts[-1].removesuffix(".js"), "data": data}

    def __repr__(self) -> str:
        return f"{type(self).__name__}: it lives in JupyterLab and on the site, and cannot be drawn here."

    def _ipython_display_(self) -> None:
        widget, metadata = self._repr_mimebundle_() or ({}, {})
        display(widget, metadata=metadata, raw=True)
        # From 7.4 on, ipykernel hands what a page sends to the thread that last spoke to this widget: here the one that
        # runs cells, which may be busy for a minute. Forgotten, JupyterLab's own choice counts, a thread that is free.
        vars(self.comm).pop("_reply_subshell_id", None)


class Recorded(Live):
    """Its `state` is a piece of the ledger, {id: what is there}; the page adds to it, and `write` to the ledger.

    The page sends entries, {"n", "id", "kind", "value", "when", "age"}, the last in ms, and calls one kept when its n was
    `heard`.

    Args:
        section: of the ledger, "claims" or "quiz".
        ids: what of it the widget shows and adds to.
        state: at first.
    """

    news = traitlets.Unicode().tag(sync=True)  # what happened to the ledger's file
    written = traitlets.Bool(True).tag(sync=True)  # else the entries are in this kernel alone
    owner = traitlets.Unicode().tag(sync=True)  # which ledger it is: what waits for another one is not sent to it
    outgoing, heard = traitlets.List().tag(sync=True), traitlets.List().tag(sync=True)
    shown: ClassVar[weakref.WeakSet["Recorded"]] = weakref.WeakSet()

    def __init__(self, data: dict, section: str, ids: list[str], state: dict, ledger: Ledger):
        super().__init__({**data, "ledger": {"section": section, "ids": ids}})
        self.ledger, self.state, self.news, self.written = ledger, state, ledger.news(), ledger.written
        self.owner = hashlib.sha256(str(ledger.path).encode()).hexdigest()[:8]
        self.observe(self._entered, "outgoing")
        self.shown.add(self)

    def _entered(self, change: dict) -> None:
        for entry in change["new"]:
            self.write(entry["id"], entry["kind"], entry["value"], made(entry["when"], entry["age"]))
        news = self.ledger.news()
        for widget in [widget for widget in self.shown if widget.owner == self.owner]:
            # An outcome that is there already learns of a guess that came late, and all of them if the file has it.
            widget.written = self.ledger.written
            widget.state, widget.news = widget.entered(), news
        if self.written:  # else the page must go on asking
            self.heard = [entry["n"] for entry in change["new"]]

    def write(self, id: str, kind: str, value: Any, made: str) -> None:
        """Put an entry into the ledger; the same one may come twice. made: when, by the clock of this machine."""
        raise NotImplementedError

    def entered(self) -> dict:
        """The state as it is now."""
        raise NotImplementedError


def made(when: str, age: float) -> str:
    """When an entry was made: the earlier one of what its page says, and so many ms ago, since both may be too late."""
    told, counted = datetime.fromisoformat(when), datetime.now(UTC) - timedelta(milliseconds=max(0, age))
    return min(told, counted).isoformat(timespec="seconds")
