"""Medusa with a tree: combinations of the favourites of its heads (Cai et al. 2024, arXiv 2401.10774).

In the paper the tree has one shape for all rounds; here each round takes the combinations whose chances, multiplied,
are the largest.

A head does not see the drafts before its place, so all places of one depth share its logits, and drafting a tree takes
no more passes than a chain.
"""

from collections.abc import Sequence

import torch

from specdec_lab.drafters.medusa import HEADS, MedusaDrafter
from specdec_lab.drafters.tree_growth import tree_of
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.together import Apply, Drafting
from specdec_lab.models.tree import TEXT

# As `eagle_tree.RATES`, a row for each head, on 13 prompts at temperature 1: the first row from 469 places, the second
# from 164, both rounded. Of the third head there were 36 places and of the fourth 3, too few: their rows are guesses.
RATES = [[0.35, 0.08, 0.03, 0.03], [0.22, 0.05, 0.05, 0.04], [0.1, 0.03, 0.02, 0.01], [0.05, 0.02, 0.01, 0.01]]


class MedusaTreeDrafter(MedusaDrafter):
    """Drafts with the net of a `MedusaDrafter`, which drafts chains. For `sampled` see `EagleTreeDrafter`."""

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
