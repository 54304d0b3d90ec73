"""EAGLE with a tree that follows its own confidence (EAGLE-2, Li et al. 2024, arXiv 2406.16858).

The layer goes on from several of its guesses in one pass; each sees the true rows and the guesses on its own path.
"""

from collections.abc import Sequence

import torch

from specdec_lab.drafters.eagle import EagleDrafter
from specdec_lab.drafters.tree_growth import tree_of
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.together import Apply, Drafting, Pass
from specdec_lab.models.tree import TEXT, Tree

# How often the first, second, … of some drawn drafts is the one that is accepted: measured at temperature 1 on 13
# prompts of the built-in suite, where it hardly differed by depth.
RATES = [[0.44, 0.09, 0.06, 0.05]] * 8


class EagleTreeDrafter(EagleDrafter):
    """Drafts with the net of an `EagleDrafter`, which drafts chains.

    sampled: whether drafts are drawn at random when the target's tokens are. If not, they are the favourites at any
        temperature.
    """

    name = "eagle-tree"
    sampled = True

    def __init__(self, chain: EagleDrafter):
        self.net, self.model = chain.net, chain.model

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        if gamma < 1 or self.true is None:  # a one-token prompt has no row yet
            return Proposal([])
        guess = yield from self.feed(len(self.tokens))
        ids = self.net.head.ids
        growing = tree_of(gamma, self.width, ids, sampler, uniforms, len(text), RATES, self.sampled)
        start, fed = self.row.length, []  # the drafts that went through the layer, in their order
        guesses = {TEXT: guess[0]}
        growing.behind([TEXT], (yield Apply(self.model.head, [guess])))
        while wait := growing.waiting():
            parents = [growing.parent(i) for i in wait]
            fed += wait
            tree = Tree(tuple(TEXT if (parent := growing.parent(i)) == TEXT else fed.index(parent) for i in fed))
            before = torch.stack([guesses[parent] for parent in parents])
            tokens = torch.tensor([growing.tokens[i] for i in wait], device=before.device)
            inputs = yield Apply(self.net.inputs, [before, tokens])
            hidden = yield Pass(self.row, inputs, layers=(0, 1), tree=(start, tree))
            guesses |= zip(wait, hidden)
            growing.behind(wait, (yield Apply(self.model.head, [hidden])))
        self.row.rewind(len(text) - 1)
        self.true = None
        return growing.proposal()
