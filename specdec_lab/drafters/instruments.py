"""Drafters whose acceptance rate you set: instruments for seeing what α does, not ways to be fast.

The dial asks the target for p, and mixes it with a known amount of noise. So it is an oracle and saves nothing: its
target passes are counted apart and its time as zero. The replay knows the greedy text beforehand, and costs nothing.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.drafters.drawing import ChainBuilder
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms, pick
from specdec_lab.errors import LabError
from specdec_lab.models.base import Row

RUNNERS_UP = 8  # plausible wrong tokens that the noise is spread over


class DialDrafter(ModelDrafter):
    """Drafts from q = (1 − λ)·p + λ·noise, with λ chosen row by row so that Σ min(p, q) = alpha.

    noise is uniform over the target's runners-up: its second to ninth choice. Since
    Σ min(p, q) = 1 − λ·TV(p, noise), no row can go below 1 − TV(p, noise), which is much where p itself
    is spread over the runners-up.

    At temperature 0 drafts are drawn from the same mixture, and q is one-hot on what was drawn.
    """

    name = "dial"
    oracle = True

    def __init__(self, alpha: float):
        if not 0 <= alpha <= 1:
            raise LabError(f"The dialled α is {alpha}, but must lie between 0 and 1.")
        self.alpha = alpha
        self.lowest_by_row: list[float] = []  # 1 − TV(p, noise) of every row drafted from

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.model = target.model
        super().start(target, prompt, hidden)

    def chain_builder(self, *how) -> "DialBuilder":
        return DialBuilder(self, *how)

    def mixed(self, logits: Tensor, sampler: Sampler) -> Tensor:
        """q [V] for one row of the target's logits."""
        p = sampler(logits)
        others = logits.to(p.device, torch.float64, copy=True)
        others[p.argmax()] = -float("inf")  # One id: in half precision several logits may be the largest.
        noise = torch.zeros_like(p)
        runners_up = others.topk(min(RUNNERS_UP, len(p) - 1)).indices
        noise[runners_up] = 1 / len(runners_up)
        distance = float((p - noise).clamp(min=0).sum())  # TV(p, noise)
        self.lowest_by_row.append(1 - distance)
        weight = min(1.0, (1 - self.alpha) / distance)  # no division by 0: noise spares p's first choice
        return (1 - weight) * p + weight * noise

    @property
    def lowest(self) -> float | None:
        """The lowest mean α that the rows drafted from so far could have had."""
        return sum(self.lowest_by_row) / len(self.lowest_by_row) if self.lowest_by_row else None

    @property
    def oracle_passes(self) -> int:
        """Passes of the target that drafting took: one a draft."""
        return len(self.lowest_by_row)


class DialBuilder(ChainBuilder):
    """Draws from the mixture, also at temperature 0."""

    def __init__(self, dial: DialDrafter, sampler: Sampler, uniforms: Uniforms, start: int):
        super().__init__(dial.width, None, sampler, uniforms, start)
        self.dial = dial

    def draw(self, logits: Tensor, u: float) -> Tensor:
        mixed = self.dial.mixed(logits, self.sampler)
        self._logits.append(mixed.log())
        if not self.sampler.greedy:
            self._q.append(mixed)
        return pick(mixed, u)


class ReplayDrafter(Drafter):
    """Drafts that are right as often as asked for: each is the next token of a text known from a plain run, or, with
    chance 1 − α, a wrong one. For greedy decoding only.

    The target really verifies, so the clock shows what verification alone costs; and hits are independent, which is
    what the formula assumes and real drafters are not.

    Args:
        known: the new tokens that plain greedy decoding gave for the same prompt.
        alpha: the chance of a right draft, 0 to 1.
    """

    name = "replay"

    def __init__(self, known: Sequence[int], alpha: float):
        if not 0 <= alpha <= 1:
            raise LabError(f"α is {alpha}, but must lie between 0 and 1.")
        self.known, self.alpha = list(known), alpha

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.begin, self.width = len(prompt), target.model.vocab_size

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        if not sampler.greedy:
            raise LabError("A replay knows one greedy text: use temperature 0.")
        done = len(text) - self.begin
        return Proposal(
            [
                token if uniforms(len(text) + i, DRAFT) < self.alpha else (token + 1) % self.width
                for i, token in enumerate(self.known[done : done + gamma])
            ]
        )
