"""Early exit: the target drafts with its own first layers (Elhoushi et al. 2024, LayerSkip, arXiv 2404.16710).

What the first layers compute for a draft is not lost: the verify pass takes their rows and
cache, and runs only the remaining layers.
"""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import rms_norm

from specdec_lab.drafters.drawing import ChainBuilder
from specdec_lab.drafters.student import CutHead, Student, exit_of
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.lockstep import Apply, Drafting, Pass
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.base import Row
from specdec_lab.models.linear import pack
from specdec_lab.models.reference import Loaded


class EarlyExitNet(Student):
    """From the residual stream after `layers` layers to a guess of the last hidden row: one MLP and the norm."""

    def __init__(self, target: Loaded, ids: Tensor, layers: int | None = None):
        super().__init__()
        self.layers = layers or exit_of(target.config.num_hidden_layers)
        self.depths = (self.layers,)
        body = target.base_model
        last = body.layers[-1]
        # Begins as copies of the target's own, whose weights may be frozen.
        self.before, self.mlp, self.norm = (
            copy.deepcopy(theirs).requires_grad_() for theirs in (last.post_attention_layernorm, last.mlp, body.norm)
        )
        self.head = CutHead(target, ids)

    def guess(self, residual: Tensor) -> Tensor:
        """The last hidden rows [..., H], guessed from the residual stream [..., H] at the exit."""
        return normed(residual + self.mlp(normed(residual, self.before)), self.norm)

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        last, exits = rows.chunk(2, -1)
        return [(self.guess(exits), last)]


def normed(x: Tensor, norm: Loaded) -> Tensor:
    """What a Llama's norm makes of x, in one operation instead of eight: on a GPU each takes its time to start."""
    return rms_norm(x.to(norm.weight.dtype), norm.weight.shape, norm.weight, norm.variance_epsilon)


class EarlyExitDrafter(Drafter):
    """Runs the target's first layers in the target's own cache, which the verify pass then completes."""

    name = "early-exit"

    def __init__(self, net: EarlyExitNet):
        self.net: EarlyExitNet = pack(net.eval())

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.target = target

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        if gamma < 1:
            return Proposal([])
        chain = ChainBuilder(self.target.model.vocab_size, self.net.head.ids, sampler, uniforms, len(text))
        token, rows = [text[-1]], []
        for i in range(gamma + 1):  # the last draft goes through the first layers too, for the verify pass
            rows.append((yield Pass(self.target, token, layers=(0, self.net.layers))))
            if i < gamma:
                guess = yield Apply(self.net.guess, [rows[-1]])
                logits = yield Apply(self.net.head, [guess])
                token = chain.add(logits[0])[0]
        return chain.proposal(started=(self.net.layers, torch.cat(rows)))
