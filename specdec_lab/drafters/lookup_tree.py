"""Lookup with several continuations: where the same words went on in different ways, copy more than one of them.

(As in REST, He et al. 2023, arXiv 2311.08252, and in suffix decoding, Oliaro et al. 2024, arXiv 2411.04975, which keep
what they copy from in a tree of all suffixes.)
"""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from specdec_lab.drafters.lookup import LookupDrafter
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.tree import TEXT, Tree

MOST = 8  # continuations that are looked at, the latest ones
COPY_CONTINUES = 0.8  # the chance that a copy is right for one token more: set by hand, not measured


class LookupTreeDrafter(LookupDrafter):
    """Copies the beginnings of continuations that are most likely to be right: those that many continuations share.

    A continuation counts half as much as the one that occurred after it.
    """

    name = "lookup-tree"

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        sources = self.all(text)[: -MOST - 1 : -1]
        chances: dict[tuple[int, ...], float] = defaultdict(float)  # of each beginning of a copy
        for age, source in enumerate(sources):
            copy = tuple(self.copy(text, source, gamma))
            for n in range(1, gamma + 1):
                chances[copy[:n]] += 0.5 ** (age + 1) * COPY_CONTINUES**n
        best = heapq.nsmallest(gamma, chances, key=lambda path: -chances[path])
        number = {(): TEXT} | {path: n for n, path in enumerate(best)}
        tree = Tree(tuple(number[path[:-1]] for path in best))
        return Proposal([path[-1] for path in best], tree=None if tree.is_chain else tree)
