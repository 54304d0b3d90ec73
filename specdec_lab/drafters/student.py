"""What the trained drafters share: a net that learns from the target, and a part of the target's head."""

from functools import cached_property

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from specdec_lab.models.linear import draft_product

EMBEDDING_SCALE = 16.0  # a target's embeddings are about so much smaller than its rows: nets read both at the same size


class CutHead(nn.Module):
    """The target's own head, for its F most frequent tokens only: `ids` [F] says which.

    A head over the whole vocabulary would cost a small draft more than all of its layers. q is
    zero on every other token, and verification stays exact whatever q is. Only `product` keeps a
    copy of these rows of the head's weights.
    """

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__()
        weight = target.get_output_embeddings().weight.detach()
        self.register_buffer("ids", ids.to(weight.device, torch.long), persistent=False)
        self.register_buffer("whole", weight, persistent=False)  # the target's, not a copy

    @property
    def weight(self) -> Tensor:
        """[F, H], copied from the target's head at each call."""
        return self.whole[self.ids]

    @cached_property
    def product(self) -> nn.Module:
        return draft_product(self.weight)

    def forward(self, rows: Tensor) -> Tensor:
        """Logits [..., F] of hidden rows [..., H], for drafting."""
        return self.product(rows)


class Student(nn.Module):
    """A net that learns to guess the target's last hidden rows.

    head: turns its guesses into logits.
    depths: where `predict` also needs the target's rows, besides its last ones: "exit", "middle".
    unroll: drafting steps that are trained, for a net that learns on its own guesses.
    """

    head: CutHead
    depths: tuple[str, ...] = ()
    unroll = 1

    def predict(self, tokens: Tensor, rows: Tensor, *lower: Tensor) -> list[tuple[Tensor, Tensor]]:
        """For training: (guessed rows, true rows) of each drafting step, two tensors [R, m, H] with m ≤ n.

        Args:
            tokens: [R, n].
            rows: [R, n, H], the target's last hidden rows at the tokens.
            lower: a tensor [R, n, H] for each of `depths`, the residual stream there.
        """
        raise NotImplementedError
