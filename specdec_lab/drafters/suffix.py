"""Suffix decoding: guess that a text goes on as texts with the same last words did, and only as far as that is likely
(Oliaro et al. 2024, arXiv 2411.04975).

Lookup copies from one place of one text. Here all places count, each drafted token has an estimated chance, and
what was learned from one text stays for the next: programs that call a model ask nearly the same again and again.
"""

from collections import defaultdict
from collections.abc import Sequence

from torch import Tensor

from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.lockstep import Row
from specdec_lab.engine.sampling import Sampler, Uniforms


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
    """Drafts while the product of the shares is at least `stop_below`, at most `each` tokens for each that matched.

    Nothing is drawn, so q is one-hot, and when to stop is free.

    Args:
        memory: what earlier texts have left; all texts that share it add to it. None begins with nothing.
    """

    name = "suffix"

    def __init__(self, memory: Memory | None = None, stop_below: float = 0.1, each: int = 4):
        self.memory = Memory() if memory is None else memory
        self.stop_below, self.each = stop_below, each

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.learned = 0

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        self.memory.learn(text, self.learned)
        self.learned = len(text)
        end, drafts, chance, most = list(text[-self.memory.longest :]), [], 1.0, gamma
        while len(drafts) < most and (found := self.memory.next(end)):
            token, share, matched = found
            chance *= share
            if chance < self.stop_below:
                break
            if not drafts:
                most = min(gamma, self.each * matched)
            drafts.append(token)
            end.append(token)
        return Proposal(drafts)
