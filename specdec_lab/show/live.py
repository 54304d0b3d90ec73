"""Widgets whose logic runs in the page: Python hands over data once, and gets back what the learner did.

What learners enter in a `Recorded` one goes into their ledger: in a notebook by way of Python, on the site into the
browser.
"""

import json
import uuid
from pathlib import Path

import anywidget
import traitlets
from IPython.display import display

from specdec_lab.course.ledger import Ledger
from specdec_lab.show.marks import MARKS

STORED = "application/vnd.specdec-lab.widget+json"  # its data, in a stored page: what the static site shows live


def script(*names: str) -> str:
    """Files beside this one, one behind the other."""
    return "\n".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names)


class Live(anywidget.AnyWidget):
    """Shows `data`. What stays of it in a stored lesson is what the page drew: see lessons/stills.py."""

    scripts: tuple[str, ...]  # files beside this one, the last of which has `render`
    _css = script("explorer.css")
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
        widget, metadata = self._repr_mimebundle_()
        display(widget, metadata=metadata, raw=True)
        # From 7.4 on, ipykernel hands what a page sends to the thread that last spoke to this widget: here the one that
        # runs cells, which may be busy for a minute. Forgotten, JupyterLab's own choice counts, a thread that is free.
        vars(self.comm).pop("_reply_subshell_id", None)


class Recorded(Live):
    """Its `state` is a piece of the ledger, {id: what is there}; the page adds to it, and `write` to the ledger.

    The page sends entries, {"n", "id", "kind", "value"}, and calls one kept when its number n was `heard`.

    Args:
        section: of the ledger, "claims" or "quiz".
        ids: what of it the widget shows and adds to.
        state: at first.
    """

    news = traitlets.Unicode().tag(sync=True)  # what happened to the ledger's file
    outgoing, heard = traitlets.List().tag(sync=True), traitlets.List().tag(sync=True)

    def __init__(self, data: dict, section: str, ids: list[str], state: dict, ledger: Ledger):
        super().__init__({**data, "ledger": {"section": section, "ids": ids}})
        self.ledger, self.state, self.news = ledger, state, ledger.news()
        self.observe(self._entered, "outgoing")

    def _entered(self, change: dict) -> None:
        entries = well_formed(change["new"])
        for entry in entries:
            self.write(entry["id"], entry["kind"], entry["value"])
        self.state = self.entered()
        self.news = self.ledger.news()
        if self.ledger.written:  # else the page must go on asking
            self.heard = [entry["n"] for entry in entries]

    def write(self, id: str, kind: str, value: object) -> None:
        """Put an entry into the ledger; the same one may come twice."""
        raise NotImplementedError

    def entered(self) -> dict:
        """The state as it is now."""
        raise NotImplementedError


def well_formed(data: object) -> object:
    """The same JSON without halves of characters, which a page may send and Python cannot send back."""
    text = json.dumps(data, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
