"""A pass captured once as a CUDA graph, then replayed.

On a GPU a pass over a few tokens is hundreds of small operations, and starting one from Python takes
longer than computing it. A CUDA graph starts all of them at once: the same operations again,
on the same addresses. So whatever changes from pass to pass has to stand in tensors: the
input, and the position (`fast.KeyValues.start`).
"""

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor


class CapturedPass:
    """The function `do`, captured while it ran on x. Call this instead of `do`, with inputs of the same shape as x.

    Args:
        do: of all that may change between calls it may read only its argument, and tensors whose contents change in
            place; and it must not wait for the device.

    Raises:
        RuntimeError: when `do` cannot be captured, there is no memory for it, or a replay does not give what `do` gave.
    """

    # All captures take their memory from one pool: no two run at a time, and results are copied out at once. A pool
    # serves one stream, and ends with the last graph in it, so the first one is kept.
    pools: ClassVar[dict[torch.device, tuple]] = {}  # for each device its pool, stream and first graph

    def __init__(self, do: Callable[[Tensor], Tensor], x: Tensor):
        self.x = x.clone()
        expected = do(self.x).float()  # once as it is: libraries set themselves up on their first call
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(x.device):
            begun = self.pools.get(x.device)
            pool, own, _ = begun or (torch.cuda.graph_pool_handle(), torch.cuda.Stream(), None)
            # torch.cuda.graph does not leave its stream when a capture breaks off: the outer context does. And
            # "thread_local": other threads may load models meanwhile.
            with (
                torch.cuda.stream(torch.cuda.current_stream()),
                torch.cuda.graph(self.graph, pool, own, capture_error_mode="thread_local"),
            ):
                self.out = do(self.x)
        self.out.fill_(float("nan"))  # so that a capture of nothing shows
        apart, size = (self(x).float() - expected).norm(), expected.norm()
        if not apart <= 0.02 * size:  # NaN included; rows that are all 0 are as they should be
            raise RuntimeError(f"a replay differs by {float(apart / size):.2g} of the pass that was captured")
        self.pools.setdefault(x.device, (pool, own, self.graph))

    def __call__(self, x: Tensor) -> Tensor:
        self.x.copy_(x)
        self.graph.replay()
        return self.out.clone()  # the next replay writes here again
