"""specdec_lab: speculative decoding, run for real and shown token by token.

Start reading at `engine/verify.py` (the rule), then `engine/decode.py` (the loop) and `drafters/`.
"""

import importlib
import os

# Threads of torch that wait for each other keep a core busy; GNU's, on Linux, for 300,000 turns unless told otherwise.
# Several kernels on one machine, or one beside other programs, then mostly wait. Measured on 2 cores: with 2,000 turns
# each of two kernels is 1.8 to 1.9 times as fast, and one alone as fast as before (16.9 and 16.8 ms a pass, medians of
# six runs by turns; single runs differ by more). It counts if torch is not imported yet.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")

# Each name is imported when it is first used: `doctor` must run where torch does not.
_HOME = {
    "Bar": "show.bars",
    "Bars": "show.bars",
    "Batch": "engine.batch",
    "Keep": "engine.decode",
    "Lab": "lab",
    "LabError": "errors",
    "Line": "show.lines",
    "OneLine": "show.progress_line",
    "Plot": "show.plot",
    "ReplayDrafter": "drafters",
    "Request": "engine.decode",
    "Round": "engine.trace",
    "Sampler": "engine.sampling",
    "Stops": "engine.decode",
    "Trace": "engine.trace",
    "Uniforms": "engine.sampling",
    "check": "course.judges.check",
    "each": "show.progress_line",
    "guess": "show.guess",
    "ledger": "show.ledger",
    "load": "lab",
    "load_lab": "show.loadlab",
    "load_soon": "lab",
    "measure_machine": "measure.roofline",
    "outcome": "show.guess",
    "pass_times": "measure.costs",
    "plain": "engine.decode",
    "progress": "show.progress",
    "quiz": "show.quiz",
    "race": "measure.race",
    "recorded_round": "lab",
    "sandbox": "show.sandbox",
    "speculative": "engine.decode",
    "speedup_explorer": "show.speedup",
    "work": "measure.roofline",
}
__all__ = list(_HOME)
__version__ = "0.1.0"


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"specdec_lab has no {name!r}")
    return getattr(importlib.import_module(f"specdec_lab.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
