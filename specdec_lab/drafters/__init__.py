"""Ways of drafting: each one file, behind the interface `Drafter`."""

from specdec_lab.drafters.dial import DialDrafter
from specdec_lab.drafters.hybrid import HybridDrafter
from specdec_lab.drafters.lookup import LookupDrafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.replay import ReplayDrafter
from specdec_lab.engine.drafter import Drafter, Proposal

__all__ = ["DialDrafter", "Drafter", "HybridDrafter", "LookupDrafter", "ModelDrafter", "Proposal", "ReplayDrafter"]
