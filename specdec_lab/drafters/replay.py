"""An instrument for sweeps over α: drafts that are right as often as asked for, and cost nothing.

The greedy text is known beforehand from a plain run. Each draft is its next token, or, with
chance 1 − α, a wrong one. The target really verifies, so the clock shows what verification alone
costs; and hits are independent, which is what the formula assumes and real drafters are not.
"""

from collections.abc import Sequence

from torch import Tensor

from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms
from specdec_lab.engine.together import Row
from specdec_lab.errors import LabError


class ReplayDrafter(Drafter):
    """For greedy decoding only.

    Args:
        known: the new tokens that plain greedy decoding gave for the same prompt.
        alpha: the chance of a right draft, 0 to 1.

    Raises:
        LabError: for an alpha outside its range; in `drafting`, when the decoding is sampled.
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
