"""A CUDA graph without a GPU: operations written down as they run, and run again on the same tensors.

It shares with the real thing that numbers which Python knew are frozen, that only the contents of tensors
change, and that whatever would wait for the device is refused while it captures. But it keeps all tensors
alive: a graph that reads one that is gone would not show.
"""

from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_lab.models.cuda_graph import CapturedPass

# "lift_fresh" is a tensor made of a list
WAITS = ("item", "_local_scalar_dense", "nonzero", "is_nonzero", "equal", "lift_fresh")


class Graph(TorchDispatchMode):
    """Takes the place of `torch.cuda.CUDAGraph`, and of the context in which it records."""

    def __init__(self):
        super().__init__()
        self.steps = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.overloadpacket.__name__ in WAITS:
            raise RuntimeError(f"{func} waits for the device")
        out = func(*args, **kwargs)
        given = set(map(storage, tensors([args, *kwargs.values()]))) - {None}
        view = not func._schema.is_mutable and any(storage(t) in given for t in tensors(out))
        if not view:  # a view has no contents of its own
            self.steps.append((func, args, kwargs, out))
        return out

    def replay(self) -> None:
        for func, args, kwargs, out in self.steps:
            again = func(*args, **kwargs)
            if not func._schema.is_mutable:
                for old, new in zip(tensors(out), tensors(again)):
                    old.copy_(new)


class Tape(CapturedPass):
    """A captured pass without torch.cuda, and without a look at its first replay."""

    def __init__(self, do: Callable[[Tensor], Tensor], x: Tensor):
        self.x, self.graph = x.clone(), Graph()
        with self.graph:
            self.out = do(self.x)


def each(change: Callable[[Tensor], object], given):
    """What an operation takes or returns, its tensors changed. (torch's `tree_map` takes much longer.)"""
    if isinstance(given, Tensor):
        return change(given)
    return type(given)([each(change, x) for x in given]) if isinstance(given, list | tuple) else given


def tensors(given) -> list[Tensor]:
    """All that are in it."""
    found = []
    each(found.append, given)
    return found


def storage(tensor: Tensor) -> int | None:
    """None: a packed weight, which has none of the usual kind."""
    tensor = getattr(tensor, "held", tensor)  # of a pretended GPU
    return None if tensor.layout == torch._mkldnn else tensor.untyped_storage().data_ptr()


# In the place of what `CapturedPass` calls of torch.cuda, on any machine.
STAND_INS = {
    "graph": lambda graph, *a, **k: graph,
    "graph_pool_handle": lambda: (0, 0),
    "Stream": object,
    "stream": nullcontext,
    "current_stream": lambda: None,
    "device": nullcontext,
    "CUDAGraph": Graph,
}
