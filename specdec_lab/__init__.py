"""specdec_lab: speculative decoding, run for real and shown token by token.

Start reading at `verify.py` (the rule), then `decode.py` (the loop) and `drafters/`.
"""

from specdec_lab.clock import race
from specdec_lab.decode import Stops, plain, speculative
from specdec_lab.errors import LabError
from specdec_lab.lab import Lab, load, load_soon, recorded_round
from specdec_lab.record import Keep
from specdec_lab.sampling import Sampler, Uniforms
from specdec_lab.show.bars import Bar, Bars
from specdec_lab.trace import Round, Trace

__all__ = [
    "Bar",
    "Bars",
    "Keep",
    "Lab",
    "LabError",
    "Round",
    "Sampler",
    "Stops",
    "Trace",
    "Uniforms",
    "load",
    "load_soon",
    "plain",
    "race",
    "recorded_round",
    "speculative",
]
__version__ = "0.1.0"
