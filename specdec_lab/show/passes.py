"""The Pass Explorer: one pass drawn, with what it reads and what it computes on the machine at hand."""

from math import ceil, log2

from specdec_lab.measure.roofline import Machine, work
from specdec_lab.models.hardware import describe
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.show.live import Live


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
