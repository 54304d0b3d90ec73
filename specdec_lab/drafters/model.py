"""A separate, smaller language model as the draft (Leviathan et al. 2023; Chen et al. 2023)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.drafters.base import Drafter, Proposal
from specdec_lab.models.base import Cached, Model
from specdec_lab.sampling import DRAFT, Sampler, Uniforms, draw


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
        tokens, q, logits = [], [], []
        for i in range(gamma):
            row = self.fit(self.cached.extend([new]).logits[0, -1])
            token, q_row, shown = self.choose(row, sampler, uniforms(len(text) + i, DRAFT))
            tokens.append(token)
            q.append(q_row)
            logits.append(shown)
            new = [token]
        return Proposal(tokens, torch.stack(q), torch.stack(logits))

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        self.cached.rewind([len(text) - 1])

    def choose(self, logits: Tensor, sampler: Sampler, u: float) -> tuple[int, Tensor, Tensor]:
        """A token, the distribution q [V] that it was drawn from, and the raw logits [V] to show for it."""
        q = sampler(logits)
        return draw(q, u), q, logits

    def known(self, tokens: Sequence[int]) -> list[int]:
        """Ids past the draft's vocabulary stand for no text, but a target with a wider head may say one."""
        return [min(token, self.model.vocab_size - 1) for token in tokens]

    def fit(self, row: Tensor) -> Tensor:
        """Fit a row to the target's width: families pad one vocabulary to different sizes."""
        if len(row) < self.width:
            return torch.nn.functional.pad(row, (0, self.width - len(row)), value=float("-inf"))
        return row[: self.width]
