"""Drafts that are copied: what followed the last time these words appeared. No model at all.

Lookup copies from one place of one text (Saxena 2023, "Prompt Lookup Decoding"; known in serving engines as n-gram
speculation). Its tree copies from several. Suffix decoding counts, over all texts that it was shown, what followed.
"""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from torch import Tensor

from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.base import Row
from specdec_lab.models.tree import TEXT, Tree

CONTINUATIONS = 8  # how many a lookup tree looks at, the latest ones
COPY_CONTINUES = 0.8  # the chance that a copy is right for one token more: set by hand, not measured


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


class Memory:
    """How often each token followed each run of up to `longest` tokens, in every text that it was shown."""

    def __init__(self, longest: int = 8):
        self.longest = longest
        self.follows: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)

    def learn(self, text: Sequence[int], known: int) -> None:
        """Take in the tokens of a text from the place `known` on."""
        for end in range(max(known, 1), len(text)):
            for n in range(1, min(self.longest, end) + 1):
                after = self.follows[tuple(text[end - n : end])]
                after[text[end]] = after.pop(text[end], 0) + 1  # the latest stands last

    def next(self, text: Sequence[int]) -> tuple[int, float, int] | None:
        """What followed the longest known end of a text most often, of equals the latest: (token, its share, the
        length of that end); None when nothing is known.
        """
        for n in range(min(self.longest, len(text)), 0, -1):
            if after := self.follows.get(tuple(text[len(text) - n :])):
                token = max(reversed(after), key=after.__getitem__)
                return token, after[token] / sum(after.values()), n
        return None


class SuffixDrafter(Drafter):
    """Suffix decoding (Oliaro et al. 2024, arXiv 2411.04975): guesses that a text goes on as texts with the same last
    words did, and only as far as that is likely.

    Each drafted token has an estimated chance: its share of what followed. It drafts while their product is at least
    `min_confidence`, at most `each` tokens for each that matched. Nothing is drawn, so q is one-hot, and when to stop is
    free. What was learned from one text stays for the next: programs that call a model ask nearly the same again.

    Args:
        memory: what earlier texts have left; all texts that share it add to it. None begins with nothing.
    """

    name = "suffix"

    def __init__(self, memory: Memory | None = None, min_confidence: float = 0.1, each: int = 4):
        self.memory = Memory() if memory is None else memory
        self.min_confidence, self.each = min_confidence, each

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.learned = 0

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        self.memory.learn(text, self.learned)
        self.learned = len(text)
        end, drafts, chance, most = list(text[-self.memory.longest :]), [], 1.0, gamma
        while len(drafts) < most and (found := self.memory.next(end)):
            token, share, matched = found
            chance *= share
            if chance < self.min_confidence:
                break
            if not drafts:
                most = min(gamma, self.each * matched)
            drafts.append(token)
            end.append(token)
        return Proposal(drafts)
