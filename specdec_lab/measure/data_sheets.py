"""What passes should cost on machines that are not here, computed from their data sheets.

A pass takes the longer of two jobs, as in `roofline`: reading the weights that its tokens use and the cache of each
text, or computing. A real program is slower, and its times rise earlier.
"""

from dataclasses import dataclass

from specdec_lab.measure.roofline import Machine
from specdec_lab.theory import experts_woken

GAMMAS = range(11)


@dataclass(frozen=True)
class Sizes:
    """A model of today: weights that every token uses, and experts of which a token picks some.

    every, experts: weights, without the embedding table, of which a pass reads a few rows. picked: experts of `of` that
    a token picks in each layer. width: what all query heads of a layer hold together; kv_width: the same of its keys.
    """

    every: float
    layers: int
    width: int
    kv_width: int
    experts: float = 0.0
    picked: int = 0
    of: int = 1

    def seconds(self, machine: Machine, bits: int, texts: int, rows: int, context: int) -> float:
        """The least time of a pass.

        Args:
            bits: of a weight; the cache has 16.
            texts: that are decoded together. rows: tokens in the pass, of all texts together.
            context: tokens that each text has in its cache; all rows of a text share one reading of it.
        """
        awake = experts_woken(self.of, self.picked, rows) / self.of
        read = (self.every + self.experts * awake) * bits / 8 + texts * context * 4 * self.layers * self.kv_width
        used = self.every + self.experts * self.picked / self.of
        compute = rows * (2 * used + context * 4 * self.layers * self.width)
        return max(read / machine.bandwidth, compute / machine.arithmetic)

    def v(self, machine: Machine, bits: int, texts: int, context: int) -> list[float]:
        """v(γ) for γ = 0 … 10: a pass with γ drafts for each text, in passes without drafts."""
        costs = [self.seconds(machine, bits, texts, texts * (gamma + 1), context) for gamma in GAMMAS]
        return [cost / costs[0] for cost in costs]


# Makers' data sheets, read in November 2026: bytes and operations a second, dense; products of 16 bits where no other
# number is named. A card that multiplies in half of the bits does so twice as often.
H100 = Machine(bandwidth=3350e9, arithmetic=989e12, launch=0)
H100_FP8 = Machine(bandwidth=3350e9, arithmetic=1979e12, launch=0)
RTX_4090 = Machine(bandwidth=1008e9, arithmetic=165e12, launch=0)
# From the published configurations of Llama 3.1 8B and Qwen3 30B-A3B.
DENSE = Sizes(every=7.5e9, layers=32, width=4096, kv_width=1024)
EXPERTS = Sizes(every=1.2e9, layers=48, width=4096, kv_width=512, experts=29e9, picked=8, of=128)


def data_sheets() -> dict[str, list[float]]:
    """v(γ) by machine, model and load, for `SpeedupExplorer`: computed, not measured."""
    return {
        "computed: H100, 8 billion weights, 1 text": DENSE.v(H100, 16, 1, 500),
        "computed: H100, 8 billion weights, 128 texts of 500 tokens": DENSE.v(H100, 16, 128, 500),
        "computed: H100, 8 billion weights, 128 texts of 3,000 tokens": DENSE.v(H100, 16, 128, 3_000),
        "computed: H100, the same model, weights of 8 bits, products of 16, 64 texts": DENSE.v(H100, 8, 64, 500),
        "computed: H100, the same model, weights and products of 8 bits (FP8), 64 texts": DENSE.v(H100_FP8, 8, 64, 500),
        "computed: RTX 4090, the same model, weights of 4 bits, products of 16, 8 texts": DENSE.v(RTX_4090, 4, 8, 500),
        "computed: H100, 30 billion weights in experts, 1 text": EXPERTS.v(H100, 16, 1, 500),
        "computed: H100, 30 billion weights in experts, 64 texts": EXPERTS.v(H100, 16, 64, 500),
    }
