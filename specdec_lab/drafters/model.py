"""A separate, smaller language model as the draft (Leviathan et al. 2023; Chen et al. 2023)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedModel

from specdec_lab.drafters.drawing import Drawing
from specdec_lab.drafters.student import Student, small_llama
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.together import Apply, Drafting, Pass, Row
from specdec_lab.models.base import PREFILL_CHUNK, Model

BELOW = -30.0  # the logit of the tokens that a cut head leaves out: far below those of the others


class DraftNet(Student):
    """The draft model: the target's first two layers, its embeddings, a cut head; trained on."""

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__()
        self.llama = small_llama(target, [0, 1], ids)
        self.head = self.llama.lm_head

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        return [(self.llama.model(tokens, use_cache=False).last_hidden_state, rows)]


class ModelDrafter(Drafter):
    """Drafts by plain decoding with `model`, which must share the target's vocabulary."""

    name = "model"
    stop_below = 0.0  # off; see Drawing

    def __init__(self, model: Model):
        self.model = model

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.width = target.model.vocab_size
        self.row = Row(self.model.cached())
        self.row.cached.prefill(self.known(prompt[:-1][: self.model.context]))

    def rows(self) -> list[Row]:
        return [self.row]

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        gamma = min(gamma, self.model.context - len(text))
        if gamma < 1:
            return Proposal([])
        # Usually the newest token alone; after a fully accepted round also the last draft, which was
        # drawn but never fed. After rounds that this drafter did not draft, more passes for those.
        new = self.known(text[self.row.length :])
        for i in range(0, len(new) - 2, PREFILL_CHUNK):
            yield Pass(self.row, new[i : min(i + PREFILL_CHUNK, len(new) - 2)])
        new = new[-2:]
        drawing = self.drawing(sampler, uniforms, len(text))
        while len(drawing.tokens) < gamma and not drawing.done:
            hidden = yield Pass(self.row, new)
            logits = yield Apply(self.model.head, [hidden[-1:]])
            new = drawing.add(logits[0])[0]
        return drawing.proposal()

    def drawing(self, sampler: Sampler, uniforms: Uniforms, start: int) -> Drawing:
        return Drawing(self.width, self.model.ids, sampler, uniforms, start, self.stop_below)

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        self.row.rewind(len(text) - 1)

    def known(self, tokens: Sequence[int]) -> list[int]:
        """The tokens, with each id that the draft does not have replaced by its last one.

        A target with a wider head may emit ids beyond the vocabulary, which stand for no text.
        """
        return [min(token, self.model.input_vocab - 1) for token in tokens]


@torch.no_grad()
def whole_llama(net: DraftNet, target: PreTrainedModel, texts: Sequence[Sequence[int]]) -> LlamaForCausalLM:
    """The draft model as any other program can use it: a plain Llama with the target's whole vocabulary.

    Tokens outside the cut head need rows of the head, too, whose logits must be below the others. All of them get the
    same row: the one whose logit is nearest to BELOW over all positions of some texts (least squares).

    Args:
        texts: token ids as the target's users and the target write them; random ones have other hidden rows.
    """
    config = type(target.config).from_dict(
        target.config.to_dict() | {"num_hidden_layers": len(net.llama.model.layers), "tie_word_embeddings": False}
    )
    whole = LlamaForCausalLM(config).to(target.device, target.dtype)
    whole.model.load_state_dict(net.llama.model.state_dict(), strict=False)
    whole.model.rotary_emb = net.llama.model.rotary_emb
    whole.model.embed_tokens.weight.copy_(net.llama.model.embed_tokens.weight)
    read = (torch.tensor([text], device=target.device)[:, : config.max_position_embeddings] for text in texts)
    rows = torch.cat([net.llama.model(ids).last_hidden_state[0] for ids in read])
    rows = rows.double().cpu()  # where least squares also takes rows that depend on each other
    low = torch.linalg.lstsq(rows, torch.full((len(rows), 1), BELOW, dtype=rows.dtype)).solution[:, 0]
    whole.lm_head.weight.copy_(low.to(whole.lm_head.weight).expand_as(whole.lm_head.weight))
    whole.lm_head.weight[net.head.ids] = net.head.weight
    return whole.eval()
