"""The course's EAGLE reads three depths of the target. Here is the one that came before it.

They are for comparison: trained on the same text with the same loop, and measured place by place (deeper_11_designs).
"""

from torch import Tensor, nn
from transformers import PreTrainedModel

from specdec_lab.drafters.eagle import EagleNet

PLACES = 4  # drafts a round


class LastRow(EagleNet):
    """The first EAGLE's input: the target's last row alone (Li et al. 2024, arXiv 2401.15077)."""

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__(target, ids)
        self.depths, self.join = (), nn.Identity()

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        return self.steps(tokens, rows, rows)
