"""Ways of drafting: each one file, behind the interface `Drafter`."""

from specdec_lab.drafters.eagle import EagleTreeDrafter
from specdec_lab.drafters.hybrid import HybridDrafter
from specdec_lab.drafters.instruments import DialDrafter, ReplayDrafter
from specdec_lab.drafters.lookup import LookupDrafter, LookupTreeDrafter
from specdec_lab.drafters.medusa import MedusaTreeDrafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.suffix import SuffixDrafter
from specdec_lab.engine.drafter import Drafter, Proposal

__all__ = [
    "DialDrafter",
    "Drafter",
    "EagleTreeDrafter",
    "HybridDrafter",
    "LookupDrafter",
    "LookupTreeDrafter",
    "MedusaTreeDrafter",
    "ModelDrafter",
    "Proposal",
    "ReplayDrafter",
    "SuffixDrafter",
]
