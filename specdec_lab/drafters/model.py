"""A separate, smaller language model as the draft (Leviathan et al. 2023; Chen et al. 2023)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM, PreTrainedModel

from specdec_lab.drafters.base import Drafter, Drawing, Proposal
from specdec_lab.drafters.small import CutHead, small_llama
from specdec_lab.models.base import Cached, Model
from specdec_lab.sampling import DRAFT, Sampler, Uniforms


class DraftNet(nn.Module):
    """The draft model: the target's first two layers, its embeddings, a cut head; trained on."""

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__()
        self.llama = small_llama(target, [0, 1], ids)

    @property
    def head(self) -> CutHead:
        return self.llama.lm_head

    def predict(self, tokens: Tensor, rows: Tensor, exits: Tensor) -> list[tuple[Tensor, Tensor]]:
        """For training: (guessed rows, true rows). Shapes [R, n] and [R, n, H]."""
        return [(self.llama.model(tokens, use_cache=False).last_hidden_state, rows)]


class ModelDrafter(Drafter):
    """Drafts by ordinary decoding with `model`, which must share the target's vocabulary."""

    name = "model"

    def __init__(self, model: Model):
        self.model = model

    def start(self, target: Cached, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.width = target.model.vocab_size
        self.cached = self.model.cached()
        self.cached.prefill(self.known(prompt[:-1][: self.model.context]))

    def propose(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        gamma = min(gamma, self.model.context - len(text))
        if gamma < 1:
            return Proposal([])
        # Usually the newest token alone; after a fully accepted round also the last draft, which was
        # drawn but never fed. After rounds that this drafter did not draft, one pass more for those.
        new = self.known(text[self.cached.lengths[0] :])
        self.cached.prefill(new[:-2])
        new = new[-2:]
        drawing = self.drawing(sampler)
        for i in range(gamma):
            row = self.cached.extend([new]).logits[0, -1]
            new = [drawing.add(row, uniforms(len(text) + i, DRAFT))]
        return drawing.proposal()

    def drawing(self, sampler: Sampler) -> Drawing:
        return Drawing(self.width, self.model.ids, sampler)

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        self.cached.rewind([len(text) - 1])

    def known(self, tokens: Sequence[int]) -> list[int]:
        """A target with a wider head may say an id that stands for no text, and that the draft has no row for."""
        return [min(token, self.model.reads - 1) for token in tokens]


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
