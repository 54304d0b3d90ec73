"""A Llama of a few of the target's layers: the body of the draft model, and of EAGLE."""

import copy
from collections.abc import Sequence

import torch
from torch import nn
from transformers import LlamaForCausalLM, PreTrainedModel

from specdec_lab.drafters.student import CutHead


def small_llama(target: PreTrainedModel, layers: Sequence[int], ids: torch.Tensor) -> LlamaForCausalLM:
    """A Llama whose layers begin as copies of some of the target's, and its final norm as a copy of the target's.

    It reads the target's embeddings and ends in a cut head; neither is trained.

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
