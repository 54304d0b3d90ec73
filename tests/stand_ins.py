"""What measuring is tested on: a lab that decodes nothing, a file of prompts, and a policy that learners write."""

from types import SimpleNamespace

from tiny import rounds_of_accepted

from specdec_lab.engine.trace import Trace
from specdec_lab.measure.serving import Policy


def written(tmp_path, text: str) -> str:
    """The path of a file that holds this text."""
    path = tmp_path / "mine.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def load_aware(gamma: int, off_above: int, on_below: int | None = None) -> Policy:
    """γ drafts while few texts run, none while many do.

    Args:
        off_above: with more texts than this, speculation is turned off.
        on_below: with fewer texts than this it is turned on again (hysteresis); default: as soon as there are no more
            than off_above.
    """
    off_from = off_above + 1
    back_below = off_from if on_below is None else on_below
    return lambda running, last: gamma if running < (off_from if last else back_below) else 0


class FakeLab:
    """A lab that notes who was asked for what."""

    def __init__(self, context=100):
        self.asked, self.target = [], SimpleNamespace(context=context, name="fake")
        self.interrupted = False

    def encode(self, content, raw):
        return list(range(len(content) + 100 * raw))

    def drafter(self, name):
        return f"the {name}"

    def plain(self, ids, **settings):
        self.asked.append(("plain", tuple(ids), settings))
        return Trace([0]).collect(rounds_of_accepted([0], 0))

    def speculative(self, ids, *, drafter, gamma, keep, **settings):
        self.asked.append((drafter, tuple(ids), settings | {"gamma": gamma}))
        trace = Trace([0]).collect(rounds_of_accepted([1], gamma))
        trace.interrupted = self.interrupted
        return trace
