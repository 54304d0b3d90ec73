"""Ways of drafting: each one file, behind the interface `Drafter`."""

from specdec_lab.drafters.dial import DialDrafter
from specdec_lab.drafters.eagle_tree import EagleTreeDrafter
from specdec_lab.drafters.hybrid import HybridDrafter
from specdec_lab.drafters.lookup import LookupDrafter
from specdec_lab.drafters.lookup_tree import LookupTreeDrafter
from specdec_lab.drafters.medusa_tree import MedusaTreeDrafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.replay import ReplayDrafter
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
