"""The least time that a pass can take on this machine: its weights must be read, its products computed.

Lesson 01 in code. A pass over k new tokens reads every weight once, whatever k is, and computes two
operations per weight and token. Both go on at the same time, so a pass takes at least as long as the longer of the two
(the roofline of Williams, Waterman and Patterson 2009).
"""

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch

from specdec_lab.measure.costs import pass_times, seconds_of
from specdec_lab.models.base import Model
from specdec_lab.models.linear import Linear
from specdec_lab.models.reference import ReferenceModel

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64)
SECONDS = 0.3  # how long each rate is measured


@dataclass(frozen=True)
class Machine:
    """bandwidth: bytes read a second. arithmetic: operations a second. launch: seconds to start one operation."""

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
    layers = (p.numel() for p in model.hf.base_model.layers.parameters() if p.dim() == 2)
    weights = sum(layers) + model.hf.get_output_embeddings().weight.numel()
    return Work(weights, weights * model.dtype.itemsize)


@torch.inference_mode()
def measure_machine(model: Model) -> Machine:
    """This device's rates, in the number format of `model`."""
    like = {"device": model.device, "dtype": model.dtype}
    big = torch.ones(2**28 // model.dtype.itemsize, **like)  # 256 MB: no cache holds it
    product, square = Linear(torch.ones(2048, 2048, **like)), torch.ones(1, 2048, 2048, **like)
    small = torch.ones(8, **like)
    reading = _median_seconds(model, lambda: big.sum())
    computing = _median_seconds(model, lambda: product(square))
    launching = _median_seconds(model, lambda: [small.add_(1.0) for _ in range(100)])
    return Machine(big.nbytes / reading, 2 * 2048**3 / computing, launching / 100)


def report(model: ReferenceModel) -> dict:
    """What passes over k tokens take, and the least that they can take, in seconds, as plain data."""
    machine, least = measure_machine(model), work(model)
    rows = []
    for k, times in pass_times(model, [k for k in WIDTHS if k <= model.context]).items():
        reading, computing = least.floor(machine, k)
        rows.append({"k": k, "seconds": statistics.median(times), "reading": reading, "computing": computing})
    return {"machine": asdict(machine), "work": asdict(least), "passes": rows}


def _median_seconds(model: Model, do: Callable[[], object]) -> float:
    """Of one call of `do`, the median of the calls that fill SECONDS."""
    times = [seconds_of(model, do)]  # the first one warms up
    while sum(times[1:]) < SECONDS:
        times.append(seconds_of(model, do))
    return statistics.median(times[1:])
