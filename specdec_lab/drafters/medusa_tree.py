"""Medusa with a tree: a sparse product of what its heads like best (Cai et al. 2024, arXiv 2401.10774).

There the tree has one shape for all rounds; here it follows the products of the heads' own chances.

A head does not see the drafts before its place, so all places of one depth share its logits, and a tree costs no
pass more than a chain.
"""

from collections.abc import Sequence

import torch

from specdec_lab.drafters.growing import tree_of
from specdec_lab.drafters.medusa import HEADS, MedusaDrafter
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.together import Apply, Drafting
from specdec_lab.models.tree import TEXT

# As `eagle_tree.RATES`, by head, on 13 prompts at temperature 1: the first head at 469 places, the second at 164. Of the
# third it is 36 places and of the fourth 3, too few: these two rows are guesses, and rows 1 and 2 are rounded.
RATES = [[0.35, 0.08, 0.03, 0.03], [0.22, 0.05, 0.05, 0.04], [0.1, 0.03, 0.02, 0.01], [0.05, 0.02, 0.01, 0.01]]


class MedusaTreeDrafter(MedusaDrafter):
    """Works with the net of another one, whose drafts are a chain. For `sampled` see `EagleTreeDrafter`."""

    name = "medusa-tree"
    sampled = True

    def __init__(self, chain: MedusaDrafter):
        self.net = chain.net

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        if gamma < 1 or self.row is None:  # a one-token prompt has no row yet
            return Proposal([])
        ids = self.net.head.ids
        growing = tree_of(gamma, self.width, ids, sampler, uniforms, len(text), RATES, self.sampled)
        newest = torch.tensor(text[-1:], device=self.row.device)
        guesses = yield Apply(self.net.ahead, [self.row[None], newest], (min(gamma, HEADS),))
        heads = yield Apply(self.net.head, [guesses[0]])
        growing.behind([TEXT], heads[:1])
        while wait := [i for i in growing.waiting() if growing.depth(i) + 1 < len(heads)]:
            growing.behind(wait, heads[[growing.depth(i) + 1 for i in wait]])
        return growing.proposal()
