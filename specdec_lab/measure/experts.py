"""A mixture of experts: what a pass costs where each token wakes only some of the weights.

Two feed-forward blocks with random weights, of the kind that a layer of a model has: `Dense`, all of
which is read in every pass, and `Experts`, many small dense blocks of which a router picks some for
each row. Their outputs are noise; their times are real. Both run on the processor, also where there
is a GPU: there so small a block would be bound by launches.
"""

import time
from collections.abc import Mapping, Sequence

import torch
from torch import Generator, Tensor
from torch.nn.functional import silu

from specdec_lab.measure.costs import SAMPLES
from specdec_lab.models.linear import Linear

SWEEP = 2**26  # numbers, 256 MB: to read them leaves nothing of the blocks near the processor, as other layers would


class Dense:
    """Up, a gate, and down again: rows [k, hidden] → [k, hidden].

    Args:
        dice: where the random weights come from.
    """

    def __init__(self, hidden: int, inner: int, dice: Generator | None = None):
        self.hidden, self.weights = hidden, 3 * hidden * inner
        self.gate_up = Linear(torch.randn(2 * inner, hidden, generator=dice))
        self.down = Linear(torch.randn(hidden, inner, generator=dice))

    @torch.inference_mode()
    def __call__(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x).chunk(2, -1)
        return self.down(silu(gate) * up)


class Experts:
    """`experts` dense blocks: rows [k, hidden] → [k, hidden]. Each row wakes the `active` ones that the router scores
    highest for it.
    """

    def __init__(self, hidden: int, inner: int, experts: int, active: int, dice: Generator | None = None):
        self.hidden, self.active = hidden, active
        self.router = torch.randn(experts, hidden, generator=dice)
        self.experts = [Dense(hidden, inner, dice) for _ in range(experts)]
        self.weights = sum(expert.weights for expert in self.experts)

    @torch.inference_mode()
    def __call__(self, x: Tensor) -> Tensor:
        scores, chosen = (x @ self.router.T).topk(self.active)  # [k, active] each
        shares, out = scores.softmax(-1), torch.zeros_like(x)
        for number in chosen.unique().tolist():  # every expert that any row has chosen, once
            row, place = (chosen == number).nonzero(as_tuple=True)
            out[row] += shares[row, place, None] * self.experts[number](x[row])
        return out

    def woken(self, x: Tensor) -> int:
        """How many experts these rows wake together."""
        return len((x @ self.router.T).topk(self.active).indices.unique())


def block_times(
    blocks: Mapping[str, Dense | Experts], widths: Sequence[int], samples: int = SAMPLES
) -> dict[str, dict[int, list[float]]]:
    """T(k) of each block: its seconds for k random rows, `samples` times, all in turns."""
    times: dict[str, dict[int, list[float]]] = {name: {k: [] for k in widths} for name in blocks}
    sweep, dice = torch.ones(SWEEP), Generator().manual_seed(0)
    for turn in range(samples + 1):
        for k in widths:
            for name, block in blocks.items():
                x = torch.randn(k, block.hidden, generator=dice)
                sweep.sum()
                begin = time.perf_counter()
                block(x)
                seconds = time.perf_counter() - begin
                if turn:  # the first one warms up
                    times[name][k].append(seconds)
    return times
