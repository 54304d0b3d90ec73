"""Ways of drafting: each one file, behind the interface `Drafter`."""

from specdec_lab.drafters.copying import LookupDrafter, LookupTreeDrafter, SuffixDrafter
from specdec_lab.drafters.eagle import EagleTreeDrafter
from specdec_lab.drafters.hybrid import HybridDrafter, HybridTreeDrafter
from specdec_lab.drafters.instruments import DialDrafter, ReplayDrafter
from specdec_lab.drafters.medusa import MedusaTreeDrafter
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.engine.drafter import Drafter, Proposal

# By its name in `choices.WITHOUT_WEIGHTS`, each from what gives a drafter by its name.
FACTORIES = {
    "lookup": lambda drafter: LookupDrafter(),
    "suffix": lambda drafter: SuffixDrafter(),  # lookup by counts
    "hybrid": lambda drafter: HybridDrafter(drafter("eagle")),  # lookup, and EAGLE where it finds nothing
    "lookup-tree": lambda drafter: LookupTreeDrafter(),
    "medusa-tree": lambda drafter: MedusaTreeDrafter(drafter("medusa")),
    "eagle-tree": lambda drafter: EagleTreeDrafter(drafter("eagle")),
    "hybrid-tree": lambda drafter: HybridTreeDrafter(drafter("eagle-tree")),
}

__all__ = [
    "DialDrafter",
    "Drafter",
    "EagleTreeDrafter",
    "HybridDrafter",
    "HybridTreeDrafter",
    "LookupDrafter",
    "LookupTreeDrafter",
    "MedusaTreeDrafter",
    "ModelDrafter",
    "Proposal",
    "ReplayDrafter",
    "SuffixDrafter",
]
