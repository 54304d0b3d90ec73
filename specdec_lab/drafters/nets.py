"""What the trained drafters share: how they are trained, a part of the target's head, and a few Llama layers."""

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import nn
from transformers import LlamaForCausalLM, PreTrainedModel

from specdec_lab.models.linear import Linear


class CutHead(nn.Module):
    """The target's own head, for its F most frequent tokens only: `ids` [F] says which.

    A head over the whole vocabulary would cost a small draft more than all of its layers. q is
    zero on every other token, and verification stays exact whatever q is.
    """

    def __init__(self, target: PreTrainedModel, ids: torch.Tensor):
        super().__init__()
        weight = target.get_output_embeddings().weight.detach()
        self.register_buffer("ids", ids.to(weight.device, torch.long), persistent=False)
        self.register_buffer("weight", weight[self.ids], persistent=False)

    @cached_property
    def product(self) -> Linear:
        return Linear(self.weight)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Logits [..., F] of hidden rows [..., H], for drafting."""
        return self.product(rows)


class Student(nn.Module):
    """A net that learns to guess the target's last hidden rows.

    head: turns its guesses into logits.
    reads_exits: whether `predict` also needs the target's rows at the exit layer.
    unroll: drafting steps that are trained, for a net that learns on its own guesses.
    """

    head: CutHead
    reads_exits = False
    unroll = 1

    def predict(
        self, tokens: torch.Tensor, rows: torch.Tensor, *exits: torch.Tensor
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """For training: (guessed rows, true rows) of each drafting step, two tensors [R, m, H] with m ≤ n.

        Args:
            tokens: [R, n].
            rows: [R, n, H], the target's last hidden rows at the tokens.
            exits: one tensor [R, n, H], the residual stream after the exit layer, if `reads_exits`.
        """
        raise NotImplementedError


def small_llama(target: PreTrainedModel, layers: Sequence[int], ids: torch.Tensor) -> LlamaForCausalLM:
    """A Llama of len(layers) layers that begin as copies of the target's layers of those numbers.

    It reads the target's embeddings and ends in a cut head; both are shared, frozen, and not
    among its trainable parameters. Its final norm begins as the target's.
    """
    config = type(target.config).from_dict(
        # One embedding row, to be replaced: the real table is the target's.
        target.config.to_dict()
        | {"num_hidden_layers": len(layers), "vocab_size": 1}
        | dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"))
    )
    small = LlamaForCausalLM(config).to(target.device, target.dtype)
    body = target.base_model
    for mine, number in zip(small.model.layers, layers):
        mine.load_state_dict(body.layers[number].state_dict())
    small.model.norm.load_state_dict(body.norm.state_dict())
    small.model.embed_tokens = Borrowed(body.embed_tokens.weight)
    small.lm_head = CutHead(target, ids)
    return small


class Borrowed(nn.Module):
    """Another model's embedding table, frozen; not saved again and not trained."""

    def __init__(self, weight: torch.Tensor):
        super().__init__()
        self.register_buffer("weight", weight.detach(), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return nn.functional.embedding(ids, self.weight)
