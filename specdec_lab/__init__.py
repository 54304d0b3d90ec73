"""specdec_lab: speculative decoding, run for real and shown token by token.

Start reading at `engine/forty_lines.py` (the whole idea), then `engine/verify.py` (the rule), `engine/decode.py` (the loop)
and `drafters/`.
"""

import importlib
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from specdec_lab import threads

if TYPE_CHECKING:
    from specdec_lab.lab import Lab

threads.set_up()

# The names of `sd.`, by module. Each is imported when it is first used: `doctor` must run where torch does not.
_NAMES = {
    "drafters": ["ReplayDrafter"],
    "engine.batch": ["Batch"],
    "engine.decode": ["Keep", "Request", "Stops", "plain", "speculative"],
    "engine.sampling": ["Sampler", "Uniforms"],
    "engine.trace": ["Round", "Trace"],
    "errors": ["LabError"],
    "lab": ["Lab", "load"],
    "measure.costs": ["doubts", "pass_times", "race", "times_as_long"],
    "measure.roofline": ["data_sheets", "measure_machine", "work"],
    "show.asked": ["guess", "ledger", "outcome", "quiz"],
    "show.charts": ["Dots", "FrequencyBars", "LearningCurve", "Line", "Passes", "Plot"],
    "show.explorer": ["explore", "replay", "round_by_hand"],
    "show.loadlab": ["LoadLab"],
    "show.progress_line": ["OneLine", "each"],
    "show.table": ["Table"],
    "show.widgets": ["Rules", "Sandbox", "SpeedupExplorer", "pass_explorer"],
}
_MODULE_OF = {name: f"specdec_lab.{module}" for module, names in _NAMES.items() for name in names}
_MODULES = {"in_words": "specdec_lab.show.words"}  # whole modules under a name of `sd.`
__all__ = [*_MODULE_OF, "load_soon"]
__version__ = "0.1.0"


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _MODULE_OF:
        raise AttributeError(f"specdec_lab has no {name!r}")
    if name == "load" and "torch" not in sys.modules:  # in a notebook nobody would know what takes so long
        from specdec_lab.show.progress_line import OneLine

        with OneLine("Importing PyTorch and transformers, once: some seconds …"):
            return importlib.import_module(_MODULE_OF[name]).load
    return getattr(importlib.import_module(_MODULE_OF[name]), name)


class Loading:
    """`load` in the background, its imports too: carry on, and call `.result()` when you need the Lab.

    It is here since this file imports nothing slow: what a notebook shows first must not wait for PyTorch.
    """

    def __init__(self, **settings):
        pool = ThreadPoolExecutor(1, thread_name_prefix="specdec-lab-load")
        self._lab = pool.submit(lambda: importlib.import_module("specdec_lab.lab").load(**settings))
        pool.shutdown(wait=False)

    def result(self) -> "Lab":
        from specdec_lab.show.progress_line import OneLine

        with OneLine("Importing PyTorch, and loading the models: some seconds …"):
            return self._lab.result()


load_soon = Loading  # as notebooks call it


def __dir__() -> list[str]:
    return sorted(__all__)
