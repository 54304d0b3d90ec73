"""Prompt lookup: copy what followed the last time these words appeared. No model at all.

(Saxena 2023, "Prompt Lookup Decoding"; known in serving engines as n-gram speculation.)
"""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from torch import Tensor

from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.lockstep import Row
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.tree import TEXT, Tree


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


# Where the same words went on in different ways, a tree holds more than one of them.

CONTINUATIONS = 8  # how many are looked at, the latest ones
COPY_CONTINUES = 0.8  # the chance that a copy is right for one token more: set by hand, not measured


class LookupTreeDrafter(LookupDrafter):
    """Copies the beginnings of continuations that are most likely to be right: those that many continuations share.

    A continuation counts half as much as the one that occurred after it. (As in REST, He et al. 2023, arXiv 2311.08252,
    and in suffix decoding, Oliaro et al. 2024, arXiv 2411.04975, which keep what they copy from in a tree of all
    suffixes.)
    """

    name = "lookup-tree"

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        sources = self.all(text)[: -CONTINUATIONS - 1 : -1]
        chances: dict[tuple[int, ...], float] = defaultdict(float)  # that a beginning of a copy is right
        for age, source in enumerate(sources):
            copy = tuple(self.copy(text, source, gamma))
            for n in range(1, gamma + 1):
                chances[copy[:n]] += 0.5 ** (age + 1) * COPY_CONTINUES**n
        best = heapq.nsmallest(gamma, chances, key=lambda path: -chances[path])
        number = {(): TEXT} | {path: n for n, path in enumerate(best)}
        return Proposal([path[-1] for path in best], tree=Tree(tuple(number[path[:-1]] for path in best)))
