"""What the trained drafters share: a net that learns from the target, and what it takes from there: a part of the head,
and a few layers.
"""

import copy
from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding
from transformers import LlamaForCausalLM

from specdec_lab.models.linear import draft_product
from specdec_lab.models.reference import Loaded

# A target's embeddings are about so much smaller than its rows; multiplied by it, nets read both at the same size.
EMBEDDING_SCALE = 16.0


class CutHead(nn.Module):
    """The target's own head, for its F most frequent tokens only: `ids` [F] says which.

    A head over the whole vocabulary would cost a small draft more than all of its layers. q is
    zero on every other token, and verification stays exact whatever q is. Only `product` keeps a
    copy of these rows of the head's weights.
    """

    def __init__(self, target: Loaded, ids: Tensor):
        super().__init__()
        self.ids: Tensor
        self.whole: Tensor
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
    depths: after how many of the target's layers it also reads the residual stream (see `Drafter.depths`).
    unroll: drafting steps that are trained, for a net that learns on its own guesses.
    """

    head: CutHead
    depths: tuple[int, ...] = ()
    unroll = 1

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """For training: (guessed rows, true rows) of each drafting step, two tensors [R, m, H] with m ≤ n.

        Args:
            tokens: [R, n].
            rows: [R, n, (1 + len(depths)) · H], the target's last hidden rows at the tokens, and behind each those of
                the depths.
        """
        raise NotImplementedError


def exit_of(layers: int) -> int:
    """How many of a target's layers run before an early exit: a fifth of them, 6 of the embedded target's 30."""
    return max(1, layers // 5)


def middle_of(layers: int) -> int:
    """A depth between exit and end: 18 of the embedded target's 30 layers."""
    return layers * 3 // 5


def small_llama(target: Loaded, layers: Sequence[int], ids: Tensor) -> Loaded:
    """The body of the draft model and of EAGLE: a `LlamaForCausalLM` of a few of the target's layers.

    Its layers and its final norm begin as copies of the target's. It reads the target's embeddings and ends in a cut
    head; neither is trained.

    Args:
        layers: the numbers of the target's layers to copy.
        ids: [F], the tokens of the cut head.
    """
    config = type(target.config).from_dict(
        target.config.to_dict()
        | {"num_hidden_layers": len(layers), "vocab_size": 1}  # no embeddings of its own: they are replaced below
        | dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"))
    )
    small = LlamaForCausalLM(config).to(target.device, target.dtype)
    body = target.base_model
    for mine, number in zip(small.model.layers, layers):
        mine.load_state_dict(body.layers[number].state_dict())
    small.model.norm.load_state_dict(body.norm.state_dict())
    small.model.rotary_emb = copy.deepcopy(body.rotary_emb)  # its own has been rounded, where `dtype` is a short one
    small.set_input_embeddings(Borrowed(body.embed_tokens.weight))
    small.set_output_embeddings(CutHead(target, ids))
    return small


class Borrowed(nn.Module):
    """Another model's embedding table, frozen; not saved again and not trained."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.weight: Tensor
        self.register_buffer("weight", weight.detach(), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        return embedding(ids, self.weight)
