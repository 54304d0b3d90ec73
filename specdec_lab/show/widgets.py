"""Widgets over formulas: the Pass Explorer, one pass drawn with what it reads and what it computes; the Speed-up Explorer, with
a learner's own machine among those to choose from; and the Acceptance Sandbox, three tokens whose p and q are changed by hand,
and the rule, or a wrong one, at work.
"""

from collections.abc import Mapping, Sequence
from math import ceil, log2
from statistics import median

import numpy as np

from specdec_lab.measure.roofline import Machine, work
from specdec_lab.models.hardware import describe
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.show.live import Live
from specdec_lab.theory import RULES, Row

MOST = 10  # the largest γ of the explorer
FLAT = [1.0] * (MOST + 1)


class PassExplorer(Live):
    """The least time of a pass over k tokens: its weights are read once, and multiplied k times (lesson 01).

    Args:
        model: whose weights they are.
        machine: its rates, from `sd.measure_machine`.
    """

    scripts = ("common.js", "controls.js", "machine.js", "passes.js")

    def __init__(self, model: ReferenceModel, machine: Machine):
        reading, computing = work(model).floor(machine, k=1)
        crossing = max(1.0, reading / computing)  # tokens for which both take equally long
        super().__init__(
            {
                "title": f"One pass of {model.name} on {describe(model.device)}",
                "reading": reading,  # s
                "computing": computing,  # s, for each token
                "bytes": f"{work(model).weight_bytes / 1e6:,.0f} MB",
                "layers": model.layers,
                "most": min(1024, 2 ** ceil(log2(2 * max(8, crossing)))),
                "start": {"k": 1},
            }
        )


pass_explorer = PassExplorer  # as notebooks call it


def passes(times: Mapping[int, float]) -> list[float]:
    """v(γ) for γ = 0 … 10 from measured T(k): T(γ + 1) / T(1), on straight lines between the measured k.

    It never falls: where noise makes a wider pass look cheaper, the narrower one's value stands.
    """
    known = sorted(times)
    seconds = np.interp(range(1, MOST + 2), known, [times[k] for k in known])
    return np.maximum.accumulate(seconds / times[known[0]]).tolist()


class SpeedupExplorer(Live):
    """S over α and γ, with sliders for the costs.

    Args:
        machines: by name, the times of passes as `sd.pass_times` returns them, or v(γ) for γ = 0 … 10. A machine whose
            passes all cost the same comes after them.
        c, o: what one draft and the loop cost at first, in plain steps.
    """

    scripts = ("common.js", "controls.js", "theory.js", "speedup.js")

    def __init__(
        self,
        machines: Mapping[str, Sequence[float] | Mapping[int, Sequence[float]]] | None = None,
        c: float = 0.1,
        o: float = 0.0,
    ):
        all_machines = {
            name: passes({k: median(times) for k, times in v.items()}) if isinstance(v, Mapping) else list(v)
            for name, v in (machines or {}).items()
        } | {"a pass costs the same, however wide": FLAT}
        start = {"alpha": 0.75, "gamma": 4, "c": c, "o": o, "machine": next(iter(all_machines))}
        super().__init__({"machines": all_machines, "start": start})


class Sandbox(Live):
    """p and q of three tokens by slider, a rule by menu, and what comes out. Any weights are made to add up to 1."""

    scripts = ("common.js", "controls.js", "theory.js", "sandbox.js")

    def __init__(self):
        super().__init__({"rule": next(iter(RULES))})


class Rules(Live):
    """Every rule of `theory.RULES` as a small picture of the sandbox: which of them write p for this p and q, and which do not."""

    scripts = Sandbox.scripts

    def __init__(self, p: Row, q: Row):
        super().__init__({"rules": {"p": list(p), "q": list(q)}})
