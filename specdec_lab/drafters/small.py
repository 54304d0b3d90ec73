"""What the trained drafters share: a few Llama layers that borrow the target's embeddings and a part of its head."""

from collections.abc import Sequence

import torch
from torch import nn
from transformers import LlamaForCausalLM, PreTrainedModel


class CutHead(nn.Linear):
    """The target's own head, for its F most frequent tokens only: `ids` [F] says which.

    A head over the whole vocabulary would cost a small draft more than all of its layers. q is
    zero on every other token, and verification stays exact whatever q is.
    """

    def __init__(self, target: PreTrainedModel, ids: torch.Tensor):
        weight = target.get_output_embeddings().weight
        nn.Module.__init__(self)
        self.in_features, self.out_features = weight.shape[1], len(ids)
        self.register_buffer("ids", ids.to(weight.device, torch.long), persistent=False)
        self.register_buffer("weight", weight.detach()[self.ids], persistent=False)
        self.bias = None


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


class DraftNet(nn.Module):
    """The draft model: the target's first two layers, its embeddings, a cut head; trained on."""

    def __init__(self, target: PreTrainedModel, ids: torch.Tensor):
        super().__init__()
        self.llama = small_llama(target, [0, 1], ids)

    @property
    def head(self) -> CutHead:
        return self.llama.lm_head

    def predict(
        self, tokens: torch.Tensor, rows: torch.Tensor, exits: torch.Tensor
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """For training: (guessed rows, true rows). Shapes [R, n] and [R, n, H]."""
        return [(self.llama.model(tokens, use_cache=False).last_hidden_state, rows)]


class Borrowed(nn.Module):
    """Another model's embedding table, frozen; not saved again and not trained."""

    def __init__(self, weight: torch.Tensor):
        super().__init__()
        self.register_buffer("weight", weight.detach(), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return nn.functional.embedding(ids, self.weight)


@torch.no_grad()
def whole_llama(net: DraftNet, target: PreTrainedModel) -> LlamaForCausalLM:
    """The draft model as any other program can use it: a plain Llama with the target's whole vocabulary.

    Tokens outside the cut head need rows too, which must lose against the others. All of them get
    one: against the direction that the model's hidden rows have in common, so that its logit is
    far below.
    """
    config = type(target.config).from_dict(
        target.config.to_dict() | {"num_hidden_layers": len(net.llama.model.layers), "tie_word_embeddings": False}
    )
    whole = LlamaForCausalLM(config).to(target.device, target.dtype)
    whole.model.load_state_dict(net.llama.model.state_dict(), strict=False)
    whole.model.embed_tokens.weight.copy_(net.llama.model.embed_tokens.weight)
    some = torch.randint(0, config.vocab_size, (8, 64), generator=torch.Generator().manual_seed(0))
    common = net.llama.model(some.to(target.device)).last_hidden_state.flatten(0, 1).mean(0)
    whole.lm_head.weight.copy_((-30 * common / common.pow(2).sum()).expand_as(whole.lm_head.weight))
    whole.lm_head.weight[net.head.ids] = net.head.weight
    return whole.eval()
