"""Medusa: extra heads on the target's last hidden row, one for each place ahead (Cai et al. 2024, arXiv 2401.10774).

The heads also read the newest token, which is known but has not been through the target yet (as the first of
Hydra's heads does, Ankner et al. 2024, arXiv 2402.05109). All drafts of a round come from these two and do
not see each other. That makes them cheap, and less often right the further ahead they look.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from specdec_lab.drafters.drawing import ChainBuilder, tree_of
from specdec_lab.drafters.student import EMBEDDING_SCALE, CutHead, Student
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.lockstep import Apply, Drafting
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.base import Row
from specdec_lab.models.linear import pack
from specdec_lab.models.reference import Loaded
from specdec_lab.models.tree import TEXT

HEADS = 4
# How often the first, second, … of some drawn drafts is the one that is accepted, a row for each head: measured at
# temperature 1 on 13 prompts of the built-in suite. The first row is from 469 places, the second from 164, both
# rounded. The third head had 36 places and the fourth 3, too few: their rows are guesses.
RATES = [[0.35, 0.08, 0.03, 0.03], [0.22, 0.05, 0.05, 0.04], [0.1, 0.03, 0.02, 0.01], [0.05, 0.02, 0.01, 0.01]]


class MedusaNet(Student):
    """Head k (from 0) guesses the row at i + k + 1 from that at i and token i + 1: row + W₂·SiLU(W₁·[row, embedding]).

    The paper's heads are one layer, row + SiLU(W·row), on rows of 4,096 numbers and more. On this
    small target such a head has too little room: after 0.25 M tokens α of the first head was 0.250
    with it, and 0.271 with two layers (three times as wide inside as the row; here twice, which costs less).
    Neither read the newest token yet.
    """

    def __init__(self, target: Loaded, ids: Tensor):
        super().__init__()
        size = target.config.hidden_size
        heads = [
            nn.Sequential(nn.Linear(2 * size, 2 * size), nn.SiLU(), nn.Linear(2 * size, size)) for _ in range(HEADS)
        ]
        for weights in (p for head in heads for p in head[-1].parameters()):
            nn.init.zeros_(weights)  # begins as the row itself
        self.heads = nn.ModuleList(heads).to(target.device, target.dtype)
        self.embeddings: Tensor
        self.register_buffer("embeddings", target.get_input_embeddings().weight.detach(), persistent=False)
        self.head = CutHead(target, ids)

    def guess(self, k: int, rows: Tensor, newest: Tensor) -> Tensor:
        """Head k's guesses [..., H], from rows [..., H] and the token after each [...]."""
        return rows + self.heads[k](self.inputs(rows, newest))

    def inputs(self, rows: Tensor, newest: Tensor) -> Tensor:
        """What all heads read, [..., 2H]."""
        return torch.cat([rows, EMBEDDING_SCALE * embedding(newest.to(rows.device), self.embeddings)], -1)

    def ahead(self, rows: Tensor, newest: Tensor, n: int) -> Tensor:
        """The guesses of the first n heads, [R, n, H], for rows [R, H]."""
        inputs = self.inputs(rows, newest)
        return torch.stack([head(inputs) for head in self.heads[:n]], 1) + rows[:, None]

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """One step for each head."""
        n = tokens.shape[1]
        return [(self.guess(k, rows[:, : n - k - 1], tokens[:, 1 : n - k]), rows[:, k + 1 :]) for k in range(HEADS)]


class MedusaDrafter(Drafter):
    """Drafts at most HEADS tokens a round, all from the last hidden row that the target has made."""

    name = "medusa"

    def __init__(self, net: MedusaNet):
        self.net: MedusaNet = pack(net.eval())

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.width, self.row = target.model.vocab_size, None if hidden is None else hidden[-1]

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        if gamma < 1 or self.row is None:  # a one-token prompt has no row yet
            return Proposal([])
        chain = ChainBuilder(self.width, self.net.head.ids, sampler, uniforms, len(text))
        for logits in (yield from self.heads(text[-1], gamma)):
            chain.add(logits)
        return chain.proposal()

    def heads(self, newest: int, gamma: int) -> Drafting:
        """The logits [n, F] of the first n heads, at most gamma of them: all at once, so that the target's head is read
        once.

        `self.row` is that of the last token but one: the newest has not been through the target yet.
        """
        newest_token = torch.tensor([newest], device=self.row.device)
        guesses = yield Apply(self.net.ahead, [self.row[None], newest_token], (min(gamma, HEADS),))
        return (yield Apply(self.net.head, [guesses[0]]))

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        self.row = hidden[-1]


class MedusaTreeDrafter(MedusaDrafter):
    """Drafts combinations of the heads' most likely tokens, with the net of a `MedusaDrafter`, which drafts chains.

    In the paper the tree has one shape for all rounds; here each round takes the combinations with the largest product
    of chances. A head does not see the drafts before its place, so all places of one depth share its logits, and
    drafting a tree takes no more passes than a chain.

    sampled: as in `EagleTreeDrafter`.
    """

    name = "medusa-tree"
    sampled = True

    def __init__(self, chain: MedusaDrafter):
        self.net = chain.net

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        if gamma < 1 or self.row is None:
            return Proposal([])
        ids = self.net.head.ids
        tree = tree_of(gamma, self.width, ids, sampler, uniforms, len(text), RATES, self.sampled)
        heads = yield from self.heads(text[-1], gamma)
        tree.behind([TEXT], heads[:1])
        while wait := [i for i in tree.waiting() if tree.depths[i] + 1 < len(heads)]:
            tree.behind(wait, heads[[tree.depths[i] + 1 for i in wait]])
        return tree.proposal()
