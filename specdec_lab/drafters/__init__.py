"""Ways of drafting: each one file, behind the interface in `base`."""

from specdec_lab.drafters.base import Drafter, Proposal
from specdec_lab.drafters.dial import DialDrafter
from specdec_lab.drafters.hybrid import HybridDrafter
from specdec_lab.drafters.lookup import LookupDrafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.replay import ReplayDrafter

__all__ = ["DialDrafter", "Drafter", "HybridDrafter", "LookupDrafter", "ModelDrafter", "Proposal", "ReplayDrafter"]
