"""A separate, smaller language model as the draft (Leviathan et al. 2023; Chen et al. 2023)."""

from collections.abc import Sequence

from torch import Tensor
from transformers import PreTrainedModel

from specdec_lab.drafters.drawing import ChainBuilder
from specdec_lab.drafters.student import Student, small_llama
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.lockstep import Apply, Drafting, Pass
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.base import PREFILL_CHUNK, Model, Row


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
        chain = self.chain_builder(sampler, uniforms, len(text))
        while len(chain.tokens) < gamma:
            hidden = yield Pass(self.row, new)
            logits = yield Apply(self.model.head, [hidden[-1:]])
            new = chain.add(logits[0])[0]
        return chain.proposal()

    def chain_builder(self, sampler: Sampler, uniforms: Uniforms, start: int) -> ChainBuilder:
        return ChainBuilder(self.width, self.model.ids, sampler, uniforms, start)

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        self.row.rewind(len(text) - 1)

    def known(self, tokens: Sequence[int]) -> list[int]:
        """The tokens, with each id that the draft does not have replaced by its last one.

        A target with a wider head may emit ids beyond the vocabulary, which stand for no text.
        """
        return [min(token, self.model.input_vocab - 1) for token in tokens]
