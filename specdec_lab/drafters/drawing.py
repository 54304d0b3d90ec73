"""How a drafter with a net makes its proposal: drawn token by token, and read from the device once."""

import torch
from torch import Tensor

from specdec_lab.engine.drafter import Proposal, StartedPass
from specdec_lab.engine.sampling import Sampler, check_finite, pick


class Drawing:
    """Builds a proposal token by token from logits over some or all of the target's vocabulary.

    Its tokens stay on the device until the proposal is complete: reading each would make a GPU wait.

    Args:
        width: V, the target's vocabulary.
        ids: [F], the tokens that the logits stand for; None when logit i is token i. Logits past
            V are cut off: families pad one vocabulary to different sizes.
    """

    def __init__(self, width: int, ids: Tensor | None, sampler: Sampler):
        self.width, self.ids, self.sampler = width, ids, sampler
        self.tokens: list[Tensor] = []  # scalars, still on the device
        self._q: list[Tensor] = []
        self._logits: list[Tensor] = []

    def add(self, logits: Tensor, u: float) -> Tensor:
        """Draw the next token, [1, 1], from logits [F] with the uniform u."""
        logits = logits[: self.width]
        if self.sampler.greedy:
            token = logits.argmax()
        else:
            self._q.append(self.sampler.shaped(logits))
            token = pick(self._q[-1], u)
        self._logits.append(logits)
        if self.ids is not None:  # not ids[token]: that reads the token
            token = self.ids.index_select(0, token.to(self.ids.device).view(1))[0]
        return self.chosen(token)

    def chosen(self, token: Tensor) -> Tensor:
        self.tokens.append(token)
        return token.view(1, 1)

    def proposal(self, started: StartedPass | None = None) -> Proposal:
        if not self.tokens:
            return Proposal([])
        if self._q:
            check_finite(torch.stack(self._logits))
        q = self._spread(self._q, 0.0) if self._q else None
        return Proposal(torch.stack(self.tokens).tolist(), q, self._spread(self._logits, float("-inf")), started)

    def _spread(self, rows: list[Tensor], elsewhere: float) -> Tensor:
        """[n, F] to [n, V]."""
        stacked = torch.stack(rows)
        if self.ids is None and stacked.shape[1] == self.width:
            return stacked
        wide = stacked.new_full((len(rows), self.width), elsewhere)
        if self.ids is None:
            wide[:, : stacked.shape[1]] = stacked
        else:
            wide[:, self.ids.to(stacked.device)] = stacked
        return wide
