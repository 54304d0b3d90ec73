"""The least time that a pass can take on this machine: its weights must be read, its products computed, and its
operations started.

Lesson 01 in code. A pass over k new tokens reads every weight once, whatever k is, and computes two
operations per weight and token. Both go on at the same time, so a pass takes at least as long as the longer of the two
(the roofline of Williams, Waterman and Patterson 2009). And it is some hundred operations of the device, one after the
other: a pass of a small model can take longer to start than to run.
"""

import copy
import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_lab.measure.costs import pass_times, seconds_of
from specdec_lab.models.base import Model
from specdec_lab.models.fast import FastModel
from specdec_lab.models.linear import Linear
from specdec_lab.models.reference import ReferenceModel

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64)
SECONDS = 0.3  # how long each rate is measured
STARTS = 100  # operations that are started for one time of the launch
# What is read, in bytes, and the side of what is multiplied. No cache holds it, and on a GPU it takes long enough that
# the time of asking does not count.
BIG, SIDE = {"cuda": 2**31}, {"cuda": 8192}


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


class Operations(TorchDispatchMode):
    """Counts the operations that run within it. Another view of the same numbers is none."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += not func.is_view
        return func(*args, **(kwargs or {}))


def operations(model: ReferenceModel) -> int:
    """How many operations a pass over one token is, the head included. Other widths have nearly as many."""
    model = copy.copy(model)
    if isinstance(model, FastModel):
        model.capture = None  # a captured pass is started as one, and runs all of them
    cached = model.cached()
    with Operations() as found:
        cached.extend([[0]])
    return found.count


def report(model: ReferenceModel) -> dict:
    """What passes over k tokens take, and the least that they can take, in seconds, as plain data."""
    machine, least = measure_machine(model), work(model)
    starting, rows = operations(model) * machine.launch, []
    for k, times in pass_times(model, [k for k in WIDTHS if k <= model.context]).items():
        parts = dict(zip(("reading", "computing", "starting"), (*least.floor(machine, k), starting)))
        rows.append({"k": k, "seconds": statistics.median(times)} | parts)
    return {"machine": asdict(machine), "work": asdict(least), "passes": rows}


def _median_seconds(model: Model, do: Callable[[], object]) -> float:
    """Of one call of `do`, the median of the calls that fill SECONDS."""
    times = [seconds_of(model, do)]  # the first one warms up
    while sum(times[1:]) < SECONDS:
        times.append(seconds_of(model, do))
    return statistics.median(times[1:])
