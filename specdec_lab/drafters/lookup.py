"""Prompt lookup: copy what followed the last time these words appeared. No model at all.

(Saxena 2023, "Prompt Lookup Decoding"; known in serving engines as n-gram speculation.)
"""

from collections import defaultdict
from collections.abc import Sequence

from torch import Tensor

from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.together import Row


class LookupDrafter(Drafter):
    """Finds the longest run of up to `longest` last tokens, at least `shortest`, that occurred before, the
    most recent occurrence first, and copies what followed it. q is one-hot on each copied token."""

    name = "lookup"

    def __init__(self, longest: int = 3, shortest: int = 1):
        self.longest, self.shortest = longest, shortest

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.follows: dict[tuple[int, ...], list[int]] = defaultdict(list)  # n-gram -> where its continuations begin
        self.indexed = 1

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        source = self.find(text)
        return Proposal([] if source is None else self.copy(text, source, gamma))

    def copy(self, text: Sequence[int], source: int, n: int) -> list[int]:
        """The n tokens from `source` on. At the end of the text it reads on in what it has just copied."""
        longer = list(text[source:])  # grows while we read it
        for i in range(n):
            longer.append(longer[i])
        return longer[:n]

    def find(self, text: Sequence[int]) -> int | None:
        """The place to copy from: the one just behind the latest earlier occurrence of the text's last tokens.

        None when they have not occurred before.
        """
        return next(reversed(self.all(text)), None)

    def all(self, text: Sequence[int]) -> list[int]:
        """The places behind all earlier occurrences, oldest first; [] when there are none."""
        # Index the n-grams that end before each position that has become known since last time.
        for end in range(self.indexed, len(text)):
            for n in range(self.shortest, min(self.longest, end) + 1):
                self.follows[tuple(text[end - n : end])].append(end)
        self.indexed = len(text)
        for n in range(self.longest, self.shortest - 1, -1):
            # (Of a text shorter than n this is the whole text, which has not occurred before.)
            sources = self.follows.get(tuple(text[-n:]))
            if sources:
                return sources
        return []
