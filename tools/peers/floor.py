"""How near each pass comes to what this machine can do: `python tools/peers/floor.py`.

The floor of a pass is the longest of three jobs, which go on at once: reading the weights, computing, and starting its
operations.
"""

import argparse
import copy
import statistics
from dataclasses import asdict

from torch.utils._python_dispatch import TorchDispatchMode

from specdec_lab import load
from specdec_lab.choices import DTYPES
from specdec_lab.errors import LabError
from specdec_lab.formats import short
from specdec_lab.measure.costs import pass_times
from specdec_lab.measure.roofline import measure_machine, work
from specdec_lab.models.fast import FastModel
from specdec_lab.models.reference import ReferenceModel

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64)
LIMITS = "reading", "computing", "starting"
LIMITS_ROW = "{:>4}" + 5 * "{:>12}"


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


def limits_text(limits: dict) -> str:
    """`report` as a table."""
    machine = limits["machine"]
    lines = [
        f"This machine reads {machine['bandwidth'] / 1e9:.0f} GB/s, computes {machine['arithmetic'] / 1e9:.0f} GFLOP/s, and "
        f"starts an operation in {machine['launch'] * 1e6:.1f} µs. A pass over k tokens, in ms:",
        LIMITS_ROW.format("k", "measured", *LIMITS, "of floor"),
    ]
    for r in limits["passes"]:
        times = [short(1e3 * r[x]) for x in ("seconds", *LIMITS)]
        lines += [LIMITS_ROW.format(r["k"], *times, f"{max(r[x] for x in LIMITS) / r['seconds']:.0%}")]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="embedded", help="hub name or path")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto", help=", ".join(DTYPES))
    args = parser.parse_args()
    try:
        print(limits_text(report(load(args.target, device=args.device, dtype=args.dtype).target)))
    except LabError as e:
        parser.exit(2, f"{e}\n")


if __name__ == "__main__":
    main()
