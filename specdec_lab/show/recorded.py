"""Widgets whose entries go into the learner's ledger: in a notebook by way of Python, on the site into the browser."""

import traitlets

from specdec_lab.course.ledger import Ledger
from specdec_lab.show.live import Live


class Recorded(Live):
    """`state` is a piece of the ledger, {id: what is there}; the page adds to it, and `write` to the ledger.

    Args:
        section: of the ledger, "claims" or "quiz".
        ids: what of it the widget shows and adds to.
        state: at first.
    """

    news = traitlets.Unicode().tag(sync=True)  # what happened to the ledger's file

    def __init__(self, data: dict, section: str, ids: list[str], state: dict, ledger: Ledger):
        super().__init__({**data, "ledger": {"section": section, "ids": ids}})
        self.ledger, self.state, self.news = ledger, state, ledger.news()
        self.observe(self._entered, "state")

    def _entered(self, change: dict) -> None:
        self.unobserve(self._entered, "state")  # what follows is not the learner's doing
        self.state = self.write(change["new"])
        self.news = self.ledger.news()
        self.observe(self._entered, "state")

    def write(self, state: dict) -> dict:
        """Put into the ledger what is new in `state`; returns the state as it is then."""
        raise NotImplementedError
