"""A separate, smaller language model as the draft (Leviathan et al. 2023; Chen et al. 2023)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.drafters.base import Drafter, Proposal
from specdec_lab.models.base import Cached, Model
from specdec_lab.sampling import DRAFT, Sampler, Uniforms, draw

CATCH_UP = 64  # tokens that the first drafting pass takes along; more go through a prefill


class ModelDrafter(Drafter):
    """Drafts by ordinary decoding with `model`, which must share the target's vocabulary."""

    name = "model"

    def __init__(self, model: Model):
        self.model = model

    def start(self, target: Cached, prompt: Sequence[int]) -> None:
        self.width = target.model.vocab_size
        self.cached = self.model.cached()
        self.cached.prefill(prompt[:-1][: self.model.context])

    def propose(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        gamma = min(gamma, self.model.context - len(text))
        if gamma < 1:
            return Proposal([])
        # Usually the newest token alone; after a fully accepted round also the last draft, which
        # was drawn but never fed; after rounds without drafts, all of those. One pass takes them.
        new = list(text[self.cached.lengths[0] :])
        self.cached.prefill(new[:-CATCH_UP])
        new = new[-CATCH_UP:]
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

    def fit(self, row: Tensor) -> Tensor:
        """Fit a row to the target's width: families pad one vocabulary to different sizes."""
        if len(row) < self.width:
            return torch.nn.functional.pad(row, (0, self.width - len(row)), value=float("-inf"))
        return row[: self.width]
