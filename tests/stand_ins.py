"""What measuring is tested on: a lab that decodes nothing, and a file of prompts."""

from types import SimpleNamespace

from tiny import rounds_of_accepted

from specdec_lab.engine.trace import Trace


def written(tmp_path, text: str) -> str:
    """The path of a file that holds this text."""
    path = tmp_path / "mine.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


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
