"""The least time that a pass can take: weights must be read, products computed, and operations started.

Lesson 01 in code. A pass over k new tokens reads every weight once, whatever k is, and computes two
operations per weight and token. Both go on at the same time, so a pass takes at least as long as the longer of the two
(the roofline of Williams, Waterman and Patterson 2009). And it is some hundred operations of the device, one after the
other: a pass of a small model can take longer to start than to run.

First for this machine; then, computed from data sheets, for machines that are not here; then what a pass costs in a
mixture of experts, where each token wakes only some of the weights.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn.functional import silu

from specdec_lab.measure.costs import SAMPLES, seconds_of
from specdec_lab.measure.results import recorded
from specdec_lab.models.base import Model
from specdec_lab.models.fast import FastModel
from specdec_lab.models.linear import Linear
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.theory import experts_woken

SECONDS = 0.3  # how long each rate is measured
STARTS = 100  # operations that are started for one time of the launch
# What is read, in bytes, and the side of what is multiplied. No cache holds it, and on a GPU it takes long enough that
# the time of asking does not count.
BIG, SIDE = {"cuda": 2**31}, {"cuda": 8192}
SWEEP = 2**26  # numbers, 256 MB: to read them leaves nothing of the blocks near the processor, as other layers would


@dataclass(frozen=True)
class Machine:
    """bandwidth: bytes read a second. arithmetic: operations a second. launch: seconds to start one operation, in a
    captured pass where passes are captured.
    """

    bandwidth: float
    arithmetic: float
    launch: float


@dataclass(frozen=True)
class Work:
    """What a pass over k tokens must do: read weight_bytes, and multiply each of the weights k times."""

    weights: int
    weight_bytes: int

    def floor(self, machine: Machine, k: int) -> tuple[float, float]:
        """The least seconds (of reading, of computing) of a pass over k tokens."""
        return self.weight_bytes / machine.bandwidth, 2 * self.weights * k / machine.arithmetic


def work(model: ReferenceModel) -> Work:
    """Every matrix of the layers, and the head. Of the embedding table a pass reads only k rows, which do not count."""
    layers = sum(p.numel() for p in model.hf.base_model.layers.parameters() if p.dim() == 2)
    head = model.hf.get_output_embeddings().weight.numel()
    if model.four_bits and isinstance(model, FastModel):
        of_layers, of_head = model.parts[0].qkv.bits, model.head.bits
    else:
        of_layers = of_head = 8 * model.dtype.itemsize
    return Work(layers + head, (layers * of_layers + head * of_head) // 8)


@torch.inference_mode()
def measure_machine(model: Model) -> Machine:
    """This device's rates, in the number format of `model`."""
    like = {"device": model.device, "dtype": model.dtype}
    kind = torch.device(model.device).type
    n, side = BIG.get(kind, 2**28) // 4, SIDE.get(kind, 2048)
    big = torch.ones(n, device=model.device, dtype=torch.float32)  # adding up shorter numbers takes longer than reading
    product, square = Linear(torch.ones(side, side, **like)), torch.ones(1, side, side, **like)
    small = torch.ones(8, **like)

    def start(x: Tensor) -> Tensor:
        for _ in range(STARTS):
            x = x.add_(1.0)
        return x

    if capture := getattr(model, "capture", None):
        start = capture(start, small)
    reading = _median_seconds(model, lambda: big.sum())
    computing = _median_seconds(model, lambda: product(square))
    launching = _median_seconds(model, lambda: start(small))
    return Machine(big.nbytes / reading, 2 * side**3 / computing, launching / STARTS)


def _median_seconds(model: Model, do: Callable[[], object]) -> float:
    """Of one call of `do`, the median of the calls that fill SECONDS."""
    times = [seconds_of(model, do)]  # the first one warms up
    while sum(times[1:]) < SECONDS:
        times.append(seconds_of(model, do))
    return statistics.median(times[1:])


# Machines that are not here: what passes should cost on them, computed. A pass takes the longer of two jobs, reading the
# weights that its tokens use and the cache of each text, or computing. A real program is slower, and its times rise
# earlier.


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
        costs = [self.seconds(machine, bits, texts, texts * (gamma + 1), context) for gamma in range(11)]
        return [cost / costs[0] for cost in costs]


# Makers' data sheets, read in November 2026: bytes and operations a second, dense; products of 16 bits where no other
# number is named (a card that multiplies in half of the bits does so twice as often). Models from their published
# configurations. By a load's name: model, machine, bits of a weight, texts, and tokens in the cache of each.
SHEETS = recorded("machines")
H100 = Machine(**SHEETS["machines"]["H100"])


def data_sheets() -> dict[str, list[float]]:
    """v(γ) by machine, model and load, for `SpeedupExplorer`: computed, not measured."""
    machines, models = SHEETS["machines"], SHEETS["models"]
    return {
        name: Sizes(**models[model]).v(Machine(**machines[machine]), *load)
        for name, (model, machine, *load) in SHEETS["loads"].items()
    }


# A mixture of experts: two feed-forward blocks with random weights, of the kind that a layer of a model has. `Dense` is
# read whole in every pass; `Experts` is many small dense blocks of which a router picks some for each row. Their outputs
# are noise; their times are real. Both run on the processor, also where there is a GPU: there so small a block would be
# bound by launches.


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
