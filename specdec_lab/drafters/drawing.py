"""How a drafter with a net makes its proposal: drawn token by token, and read from the device once."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import pad

from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms, check_finite, pick


class Drawing:
    """Builds a proposal token by token from logits over some or all of the target's vocabulary.

    Its tokens stay on the device until the proposal is complete: reading each would make a GPU wait.

    Args:
        width: V, the target's vocabulary.
        ids: [F], the tokens that the logits stand for; None when logit i is token i. Logits past
            V are cut off: models of one family pad the same vocabulary to different sizes.
        start: the position of the first draft, for its random number.
        stop_below: the proposal is `done` when the draft's own probability of all its tokens is lower than this.
            Whether to go on depends on the tokens already drafted and on their q alone, so what is emitted still has
            the target's distribution.
    """

    def __init__(
        self,
        width: int,
        ids: Tensor | None,
        sampler: Sampler,
        uniforms: Uniforms,
        start: int,
        stop_below: float = 0.0,
    ):
        self.width, self.ids, self.sampler, self.uniforms, self.start = width, ids, sampler, uniforms, start
        self.stop_below, self.path = stop_below, 1.0
        self.tokens: list[Tensor] = []  # scalars, still on the device
        self._q: list[Tensor] = []
        self._logits: list[Tensor] = []

    def add(self, logits: Tensor) -> Tensor:
        """Draw the next token, [1, 1], from logits [F]."""
        token = self.draw(logits[: self.width], self.uniforms(self.start + len(self.tokens), DRAFT))
        if self.ids is not None:  # not ids[token]: that reads the token
            token = self.ids.index_select(0, token.to(self.ids.device).view(1))[0]
        self.tokens.append(token)
        return token.view(1, 1)

    def draw(self, logits: Tensor, u: float) -> Tensor:
        """The number [] of the logit that u draws. What it was drawn from is kept for the proposal."""
        self._logits.append(logits)
        if self.sampler.greedy:
            choice = logits.argmax()
        else:
            self._q.append(self.sampler.shaped(logits))
            choice = pick(self._q[-1], u)
        if self.stop_below:
            q = logits.softmax(-1) if self.sampler.greedy else self._q[-1]
            self.path *= float(q[choice])
        return choice

    @property
    def done(self) -> bool:
        """Whether the draft is too unsure of its tokens to add another. Reads the device, where a limit is set."""
        return self.path < self.stop_below

    def proposal(self, started: tuple[int, Tensor] | None = None) -> Proposal:
        """The tokens drawn so far, with their q. started: as in `Proposal`.

        Raises:
            LabError: where tokens were drawn at random from logits that hold NaN, or nothing finite.
        """
        if not self.tokens:
            return Proposal([])
        if self._q:
            check_finite(torch.stack(self._logits))
        q = whole_rows(self._q, self.ids, self.width, 0.0) if self._q else None
        logits = partial(whole_rows, self._logits, self.ids, self.width, float("-inf"))
        return Proposal(torch.stack(self.tokens).tolist(), q, logits, started)


def whole_rows(rows: Sequence[Tensor], ids: Tensor | None, width: int, missing: float) -> Tensor:
    """Rows of [F] as one tensor [n, V], with `missing` at the tokens that no logit stands for.

    Args:
        ids: [F], the tokens that the numbers stand for; None when number i is token i's.
        width: V.
    """
    stacked = torch.stack(list(rows))
    if ids is None:
        short = width - stacked.shape[1]
        return pad(stacked, (0, short), value=missing) if short else stacked
    whole = stacked.new_full((len(rows), width), missing)
    whole[:, ids.to(stacked.device)] = stacked
    return whole
