"""What the trained drafters share: a few Llama layers that borrow the target's embeddings and a part of its head."""

from collections.abc import Sequence

import torch
from torch import nn
from transformers import LlamaForCausalLM, PreTrainedModel


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

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Logits [..., F] of hidden rows [..., H]."""
        return nn.functional.linear(rows, self.weight)


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
