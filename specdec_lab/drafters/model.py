"""A separate, smaller language model as the draft (Leviathan et al. 2023; Chen et al. 2023)."""

from collections.abc import Sequence

from torch import Tensor

from specdec_lab.drafters.base import Drafter, Drawing, Proposal
from specdec_lab.models.base import Cached, Model
from specdec_lab.sampling import DRAFT, Sampler, Uniforms


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
