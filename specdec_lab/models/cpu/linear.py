"""Matrix products for a few rows: weights packed once, so that a pass over them runs at memory speed.

On a CPU, `F.linear` reads a weight matrix at half of the memory's speed for one row, and at a
quarter for two to eight. oneDNN, given the weights in its own blocked order, reads them once,
whatever the number of rows; these are the operators that `torch.compile` uses, called directly.

Drafts may be computed more coarsely: the text is the target's whatever q is, as long as the q that a
draft was drawn from is the one that it is compared with.

And the target may run from the very numbers that its file stores: whole numbers of 4 bits, and in each row a scale and
an offset for every 32 of them (the format Q4_1 of llama.cpp). A pass then reads a fifth of the bytes of float32.
PyTorch's product takes these scales and offsets in bfloat16, where the file has float16. So the weights are not quite
the file's: the matrices of the course's target are 0.2 % away (Frobenius norm). Rounded to bfloat16 one by one, weights
are 0.14 % away.
"""

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers import PreTrainedModel

GROUP = 32  # weights in 4 bits that share a scale and an offset
TILE_ROWS = 32  # rows that AMX adds up together; with more, oneDNN may add in another order
Stored = tuple[Tensor, Tensor, Tensor]  # a matrix as numbers [out, in], their scales and offsets [out, in / GROUP]


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


def has_tiles(dtype: torch.dtype) -> bool:
    """Whether this processor computes products of this format with AMX."""
    return dtype == torch.bfloat16 and getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)()


def pack(net: nn.Module) -> Any:
    """Replace the linear layers in `net`, which drafts, by products made for that: it can no longer learn.

    A whole model inside it stays as it is, and is run by a `FastModel` made from it.
    """
    for name, child in net.named_children():
        if type(child) is nn.Linear:
            setattr(net, name, draft_product(child.weight, child.bias))
        elif not isinstance(child, PreTrainedModel):
            pack(child)
    return net


class Linear(nn.Module):
    """x·Wᵀ + b, packed where that is possible. For inference only.

    Args:
        weight: [out, in]; bias: [out] or None. A packed weight is a copy, unless it was packed before.

    min_rows: rows that have the same bits whatever their number; a product of fewer is filled up (see `fewest_rows`).
    max_rows: rows that have the same bits whatever their number: a product of more is cut. None: any number.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        super().__init__()
        self.packed = can_pack(weight)
        self.min_rows, shape = 1, (*weight.shape, weight.dtype, torch.get_num_threads())
        self.max_rows = TILE_ROWS if self.packed and has_tiles(weight.dtype) else None
        weight = weight.detach()
        pack_it = self.packed and not weight.is_mkldnn
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if pack_it else weight
        self.bias = None if bias is None else bias.detach()
        if self.packed:
            if shape not in FEWEST:
                FEWEST[shape] = fewest_rows(self, len(weight), weight.shape[1], weight.dtype)
            self.min_rows = FEWEST[shape]

    def forward(self, x: Tensor) -> Tensor:
        if (rows := x.numel() // x.shape[-1]) < self.min_rows:
            filled = x.new_zeros(self.min_rows, x.shape[-1])
            filled[:rows] = x.reshape(rows, -1)
            return self(filled)[:rows].view(*x.shape[:-1], -1)
        if self.max_rows and rows > self.max_rows:
            parts = [self(part) for part in x.reshape(rows, -1).split(self.max_rows)]
            return torch.cat(parts).view(*x.shape[:-1], -1)
        if self.packed:
            return torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return linear(x, self.weight, self.bias)

    __call__ = forward  # past the hooks of nn.Module: they take a tenth of the time of a small product


FEWEST: dict[tuple, int] = {}  # `fewest_rows` of products that were tried, by shape, format and threads


TRIED = 300_000  # sums: another order of bfloat16 numbers changes one in some thousands


@torch.inference_mode()
def fewest_rows(product: Callable[[Tensor], Tensor], out: int, size: int, dtype: torch.dtype) -> int:
    """From how many rows on a packed product gives each row the same bits: found by trying.

    oneDNN has ways of its own for one row and for two. They read the weights faster, by a fifth to a half of the time of
    such a product, and for some shapes add in another order: on AVX-512 one row of 1,536 numbers does, on AVX2 none.

    Args:
        out, size: numbers of a result, and of a row.
    """
    rows = 24 * -(-TRIED // out // 24)
    x = torch.randn(rows, size, generator=torch.Generator().manual_seed(0)).to(dtype)
    whole = torch.cat([product(part) for part in x.split(8)])
    alike = [torch.equal(torch.cat([product(part) for part in x.split(k)]), whole) for k in range(1, 5)]
    return next(k for k in range(1, 5) if all(alike[k - 1 :]) or k == 4)


class EightBits(nn.Module):
    """x·Wᵀ + b with the weights in 8 bits, a scale for each row of W; x is rounded at each call, to 8 bits where the
    processor adds up such products without overflow, else to 7.

    A quarter of the memory to read. Good enough for drafts, not for the target.

    Args:
        weight: [out, in]; bias: [out] or None, on the CPU.

    The result is in float32, whatever x is in.
    """

    min_rows = 1

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        super().__init__()
        self.weight = in_eight_bits(weight.detach().float(), None if bias is None else bias.detach().float())
        self.seven = not adds_up_eight_bits()

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, x.shape[-1])  # it takes no vector
        if flat.dtype != torch.float32:
            flat = flat.float()
        return torch.ops.quantized.linear_dynamic(flat, self.weight, self.seven).view(*x.shape[:-1], -1)

    __call__ = forward


def in_eight_bits(weight: Tensor, bias: Tensor | None) -> torch.ScriptObject:
    """What `quantized.linear_dynamic` takes: the weights as numbers −127…127, with a scale for each row."""
    scales = weight.abs().amax(1).clamp(min=1e-8).double() / 127
    with warnings.catch_warnings(action="ignore"):  # torch deprecates quantised tensors
        coarse = torch.quantize_per_channel(weight, scales, torch.zeros(len(weight), dtype=torch.long), 0, torch.qint8)
    return torch.ops.quantized.linear_prepack(coarse, bias)


@cache
def adds_up_eight_bits() -> bool:
    """Whether sums of products of 8-bit numbers are exact here: without VNNI, two of the largest overflow 16 bits.

    On 18 prompts, EAGLE's tokens per pass are 2.06 with x in 7 bits, and 2.11 in 8.
    """
    largest = torch.ones(1, 64)
    product = torch.ops.quantized.linear_dynamic(largest, in_eight_bits(largest, None), False)
    return bool((product - 64).abs() < 1)


def draft_product(weight: Tensor, bias: Tensor | None = None) -> Any:
    """What computes x·Wᵀ + b for a draft: in 8 bits where that is faster, else as the target does."""
    short = weight.dtype in (torch.float32, torch.bfloat16)
    eight = weight.device.type == "cpu" and short and eight_bits_pay()
    return (EightBits if eight else Linear)(weight, bias)


@cache
def eight_bits_pay() -> bool:
    """Whether this CPU is clearly faster with weights in 8 bits; false where torch cannot do it."""
    generator = torch.Generator().manual_seed(0)  # whoever has set torch's own seed keeps it
    weight, x = (torch.randn(rows, 576, generator=generator) for rows in (12288, 1))
    threads = torch.get_num_threads()
    # Where another program runs, several threads wait for each other a hundred times as long as they compute.
    torch.set_num_threads(1)
    try:
        return 1.3 * fastest(EightBits(weight), x) < fastest(Linear(weight), x)
    except (RuntimeError, AttributeError):  # no such products in this build
        return False
    finally:
        torch.set_num_threads(threads)


def fastest(product: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """Seconds of the fastest of some calls. Before each the processor's caches are emptied, as a target's pass does."""
    seconds, other = [], torch.ones(32_000_000)
    for _ in range(8):
        other.sum()
        start = time.perf_counter()
        product(x)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def four_bits(weight: Tensor) -> Stored | None:
    """The numbers 0…15 with weight = number · scale + offset, exactly; None where there are none."""
    if weight.shape[1] % GROUP:
        return None
    groups = weight.unflatten(1, (-1, GROUP))
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    scale = ((high - low) / 15).half().float()
    numbers = ((groups - low) / scale.where(scale > 0, 1)).round()
    exact = bool((numbers <= 15).all()) and torch.equal(numbers * scale + low, groups)
    return (numbers.int().flatten(1), scale[..., 0], low[..., 0]) if exact else None


def eight_bits(weight: Tensor) -> Stored | None:
    """The same with numbers −127…127, and no offset (Q8_0)."""
    if weight.shape[1] % GROUP:
        return None
    groups = weight.unflatten(1, (-1, GROUP))
    scale = (groups.abs().amax(-1, keepdim=True) / 127).half().float()
    numbers = (groups / scale.where(scale > 0, 1)).round()
    exact = bool((numbers.abs() <= 127).all()) and torch.equal(numbers * scale, groups)
    return (numbers.int().flatten(1), scale[..., 0], torch.zeros_like(scale[..., 0])) if exact else None


class FourBits(nn.Module):
    """x·Wᵀ + b, with x in bfloat16. A row has the same bits whatever their number.

    Args:
        stored: of one matrix, or of several one below the other. bias: [out] or None.
    """

    min_rows, bits = 1, 5  # a weight's share of scale and offset included

    def __init__(self, *stored: Stored, bias: Tensor | None = None):
        super().__init__()
        numbers, scales, offsets = map(torch.cat, zip(*stored))
        self.weight = torch._convert_weight_to_int4pack_for_cpu(numbers, 1)
        # It computes (number − 8) · scale + what stands for the 8.
        pairs = torch.stack([scales, offsets + 8 * scales], -1)
        self.pairs = pairs.transpose(0, 1).contiguous().to(torch.bfloat16)  # [in / GROUP, out, 2]
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        flat = torch._weight_int4pack_mm_for_cpu(x.view(-1, x.shape[-1]), self.weight, GROUP, self.pairs)
        y = flat.view(*x.shape[:-1], -1)
        return y if self.bias is None else y + self.bias

    __call__ = forward


class EightBitsInTwo(nn.Module):
    """x·Wᵀ for numbers of 8 bits, as two products: a number is 16 times its upper four bits, and its lower four."""

    min_rows, bits = 1, 10

    def __init__(self, numbers: Tensor, scales: Tensor, offsets: Tensor):
        super().__init__()
        upper = numbers >> 4  # −8…7
        self.upper = FourBits((upper + 8, 16 * scales, -128 * scales))
        self.lower = FourBits((numbers - 16 * upper, scales, offsets))

    def forward(self, x: Tensor) -> Tensor:
        return self.upper(x).add_(self.lower(x))

    __call__ = forward


def price_of_bits(out: int = 4_608, size: int = 1_536) -> float:
    """How many times as long one row of a product takes here, where it is filled up so that its bits are always the same,
    as the quickest way for one row. 1.0 where that way has the same bits.

    Args:
        out, size: numbers of a result, and of a row; by default a shape that is filled up on some processors.
    """
    generator = torch.Generator().manual_seed(0)
    weight, x = torch.randn(out, size, generator=generator), torch.randn(1, size, generator=generator)
    product = Linear(weight)
    if product.min_rows == 1:
        return 1.0
    filled, product.min_rows = fastest(product, x), 1
    return filled / fastest(product, x)


def row_times() -> dict[str, float]:
    """Seconds of one row of a product of seven million weights, by how the weights are kept, from cold caches."""
    generator = torch.Generator().manual_seed(0)
    weight, x = (torch.randn(rows, 576, generator=generator) for rows in (12_288, 1))
    numbers = torch.randint(16, weight.shape, generator=generator, dtype=torch.int32)
    scales = torch.ones(len(weight), weight.shape[1] // GROUP)
    short = torch.bfloat16
    times = {"float32": fastest(Linear(weight), x), "bfloat16": fastest(Linear(weight.to(short)), x.to(short))}
    with suppress(RuntimeError, AttributeError):  # not in this build
        times["int4"] = fastest(FourBits((numbers, scales, scales)), x.to(short))
    return times
