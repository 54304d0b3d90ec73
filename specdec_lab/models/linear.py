"""Matrix products for a few rows: weights packed once, so that a pass over them runs at memory speed.

On a CPU, `F.linear` reads a weight matrix at half of the memory's speed for one row, and at a
quarter for two to eight. oneDNN, given the weights in its own blocked order, reads them once,
whatever the number of rows; these are the operators that `torch.compile` uses, called directly.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers import PreTrainedModel


def can_pack(weight: Tensor) -> bool:
    """Whether this torch, on this machine, has packed products for such a weight."""
    return (
        weight.device.type == "cpu"
        and torch.backends.mkldnn.is_available()
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
        and (
            weight.dtype == torch.float32
            or (weight.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported())
        )
    )


def pack(net: nn.Module) -> nn.Module:
    """Replace the linear layers in `net` by packed ones: it can draft then, but no longer learn.

    A whole model inside it stays as it is, and is run by a `FastModel` made from it.
    """
    for name, child in net.named_children():
        if type(child) is nn.Linear:
            setattr(net, name, Linear(child.weight, child.bias))
        elif not isinstance(child, PreTrainedModel):
            pack(child)
    return net


class Linear(nn.Module):
    """x·Wᵀ + b, packed where that is possible. For inference only.

    Args:
        weight: [out, in]; bias: [out] or None. A packed weight is a copy.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        super().__init__()
        self.packed = can_pack(weight)
        weight = weight.detach()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if self.packed else weight
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        if self.packed:
            return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return linear(x, self.weight, self.bias)

    __call__ = forward  # past the hooks of nn.Module: they take a tenth of the time of a small product
