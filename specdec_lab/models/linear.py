"""Matrix products for a few rows: weights packed once, so that a pass over them runs at memory speed.

On a CPU, `F.linear` reads a weight matrix at half of the memory's speed for one row, and at a quarter for two to eight.
oneDNN, given the weights in its own blocked order, reads them once, whatever the number of rows; these are the operators
that `torch.compile` uses, called directly.

Drafts may be computed more coarsely: the text is the target's whatever q is, as long as the q that a draft was drawn from
is the one that it is compared with. And the target may run from the very numbers that its file stores: whole numbers of 4
bits, and in each row a scale and an offset for every 32 of them (the format Q4_1 of llama.cpp), a fifth of the bytes of
float32. PyTorch's product takes these scales and offsets in bfloat16, where the file has float16, so the matrices of the
course's target are 0.2 % away from the file's (Frobenius norm; weights rounded to bfloat16 are 0.14 % away).

A product takes one matrix [out, in], or several of the same width that are put below each other, and a bias [out] or None.
It is for inference only, and its weights are copies.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers import PreTrainedModel

from specdec_lab.errors import LabError

GROUP = 32  # weights in 4 bits that share a scale and an offset
TILE_ROWS = 32  # rows that AMX adds up together; with more, oneDNN may add in another order
TRIED = 300_000  # sums, to find `fewest_rows`: another order of bfloat16 numbers changes one in some thousands
FEWEST: dict[tuple, int] = {}  # `fewest_rows` of products that were tried, by shape, format and threads
Stored = tuple[Tensor, Tensor, Tensor]  # a matrix as numbers [out, in], their scales and offsets [out, in / GROUP]


def can_pack(weight: Tensor) -> bool:
    """Whether this torch, on this machine, has packed products for such a weight."""
    here = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    if weight.device.type != "cpu" or not here:
        return False
    return weight.dtype == torch.float32 or (
        weight.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    )


def has_tiles(dtype: torch.dtype) -> bool:
    """Whether this processor computes products of this format with AMX."""
    return dtype == torch.bfloat16 and getattr(torch.cpu, "_is_amx_tile_supported", lambda: False)()


def stacked(weights: tuple[Tensor, ...]) -> Tensor:
    return torch.cat([weight.detach() for weight in weights]) if weights[1:] else weights[0].detach()


def pack(net: nn.Module) -> Any:
    """Replace the linear layers in `net`, which drafts, by products made for that: it can no longer learn.

    A whole model inside it stays as it is, and is run by a `FastModel` made from it.
    """
    for name, child in net.named_children():
        if type(child) is nn.Linear:
            setattr(net, name, draft_product(child.weight, bias=child.bias))
        elif not isinstance(child, PreTrainedModel):
            pack(child)
    return net


class Linear(nn.Module):
    """x·Wᵀ + b, packed where that is possible.

    A row has the same bits beside any number of others between `min_rows` and `max_rows` (None: any number): a product of
    fewer rows is filled up, and one of more is cut.
    """

    def __init__(self, *weights: Tensor, bias: Tensor | None = None):
        super().__init__()
        weight = stacked(weights)
        (out, size), dtype = weight.shape, weight.dtype
        self.packed, self.bias = can_pack(weight), None if bias is None else bias.detach()
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if self.packed else weight
        self.max_rows = TILE_ROWS if self.packed and has_tiles(dtype) else None
        self.min_rows, key = 1, (out, size, dtype, torch.get_num_threads())
        if self.packed:
            if key not in FEWEST:
                FEWEST[key] = fewest_rows(self, out, size, dtype)
            self.min_rows = FEWEST[key]

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


@torch.inference_mode()
def fewest_rows(product: Callable[[Tensor], Tensor], out: int, size: int, dtype: torch.dtype) -> int:
    """From how many rows on a packed product gives each row the same bits: found by trying.

    oneDNN has ways of its own for one row and for two. They read the weights faster, by a fifth to a half of the time of
    such a product, and for some shapes add in another order: on AVX-512 one row of 1,536 numbers does, on AVX2 none.

    Args:
        out, size: numbers of a result, and of a row.
    """
    rows = 24 * -(-TRIED // max(out, 100) // 24)  # narrower ones are in nets for tests, and would take seconds
    x = torch.randn(rows, size, generator=torch.Generator().manual_seed(0)).to(dtype)
    whole = torch.cat([product(part) for part in x.split(8)])
    alike = [torch.equal(torch.cat([product(part) for part in x.split(k)]), whole) for k in range(1, 5)]
    return next(k for k in range(1, 5) if all(alike[k - 1 :]) or k == 4)


class EightBits(nn.Module):
    """x·Wᵀ + b in float32, with the weights in 8 bits, a scale for each row of W; x is rounded to 8 bits at each call. Good
    enough for drafts, not for the target.

    The rows of one call share a scale, so a draft's q depends a little on what is computed beside it. The text does not: a
    token is compared with the q that it was drawn from.
    """

    def __init__(self, *weights: Tensor, bias: Tensor | None = None):
        super().__init__()
        self.weight = in_eight_bits(stacked(weights).float(), None if bias is None else bias.detach().float())

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, x.shape[-1]).float()  # it takes no vector
        return torch.ops.quantized.linear_dynamic(flat, self.weight).view(*x.shape[:-1], -1)

    __call__ = forward


def in_eight_bits(weight: Tensor, bias: Tensor | None) -> torch.ScriptObject:
    """What `quantized.linear_dynamic` takes: the weights as numbers −127…127, with a scale for each row."""
    scales = weight.abs().amax(1).clamp(min=1e-8).double() / 127
    with warnings.catch_warnings(action="ignore"):  # torch deprecates quantised tensors
        coarse = torch.quantize_per_channel(weight, scales, torch.zeros(len(weight), dtype=torch.long), 0, torch.qint8)
    return torch.ops.quantized.linear_prepack(coarse, bias)


def draft_product(*weights: Tensor, bias: Tensor | None = None) -> Any:
    """What computes x·Wᵀ + b for a draft: in 8 bits where the processor is made for them, else as the target does."""
    short = weights[0].dtype in (torch.float32, torch.bfloat16)
    eight = weights[0].device.type == "cpu" and short and adds_up_eight_bits()
    return (EightBits if eight else Linear)(*weights, bias=bias)


@cache
def adds_up_eight_bits() -> bool:
    """Whether sums of products of 8-bit numbers are exact here, as they are with the instructions of VNNI. Without these,
    two of the largest overflow 16 bits; and 7 bits are no faster than float32 (measured on AVX2).
    """
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        return False
    largest = torch.ones(1, 64)
    return bool((EightBits(largest)(largest) - 64).abs() < 1)


def four_bits(weight: Tensor) -> Stored | None:
    """The numbers 0…15 with weight = number · scale + offset, exactly; None where there are none."""
    if weight.shape[1] % GROUP:
        return None
    groups = weight.detach().unflatten(1, (-1, GROUP))
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    return as_stored(groups, low, (high - low) / 15, 15)


def eight_bits(weight: Tensor) -> Stored | None:
    """The same with numbers −127…127, and no offset (Q8_0)."""
    if weight.shape[1] % GROUP:
        return None
    groups = weight.detach().unflatten(1, (-1, GROUP))
    largest = groups.abs().amax(-1, keepdim=True)
    return as_stored(groups, torch.zeros_like(largest), largest / 127, 127)


def as_stored(groups: Tensor, offset: Tensor, scale: Tensor, most: int) -> Stored | None:
    """groups [out, in / GROUP, GROUP] as numbers up to `most`, if they are exactly that."""
    scale = scale.half().float()
    numbers = ((groups - offset) / scale.where(scale > 0, 1)).round()
    exact = bool((numbers.abs() <= most).all()) and torch.equal(numbers * scale + offset, groups)
    return (numbers.int().flatten(1), scale[..., 0], offset[..., 0]) if exact else None


class FourBits(nn.Module):
    """x·Wᵀ + b in bfloat16, from the numbers of 4 bits that float32 weights were made from. A row has the same bits whatever
    their number.
    """

    bits = 5  # a weight's share of scale and offset included

    def __init__(self, *weights: Tensor, bias: Tensor | None = None):
        super().__init__()
        found = [stored for weight in weights if (stored := four_bits(weight))]
        if len(found) < len(weights):
            raise LabError(
                "These weights are not stored in 4 bits (as those of a model made from a GGUF file of the kind Q4_1 are, "
                "such as the course's own target), so they cannot be read as such: use --dtype float32 or bfloat16."
            )
        self.weight, self.pairs = packed_numbers(*map(torch.cat, zip(*found)))
        self.bias = None if bias is None else bias.detach().bfloat16()

    def forward(self, x: Tensor) -> Tensor:
        y = product_of_four_bits(x, self.weight, self.pairs)
        return y if self.bias is None else y + self.bias

    __call__ = forward


class EightBitsInTwo(nn.Module):
    """x·Wᵀ for numbers of 8 bits, as two products of 4: a number is 16 times its upper four bits, and its lower four."""

    bits = 10

    def __init__(self, numbers: Tensor, scales: Tensor, offsets: Tensor):
        super().__init__()
        upper = numbers >> 4  # −8…7
        self.upper = packed_numbers(upper + 8, 16 * scales, -128 * scales)
        self.lower = packed_numbers(numbers - 16 * upper, scales, offsets)

    def forward(self, x: Tensor) -> Tensor:
        return product_of_four_bits(x, *self.upper).add_(product_of_four_bits(x, *self.lower))

    __call__ = forward


def packed_numbers(numbers: Tensor, scales: Tensor, offsets: Tensor) -> tuple[Tensor, Tensor]:
    """What PyTorch's product takes: the numbers, packed; and [in / GROUP, out, 2], as it computes (number − 8) · scale + the
    offset with what stands for the 8.
    """
    pairs = torch.stack([scales, offsets + 8 * scales], -1)
    packed = torch._convert_weight_to_int4pack_for_cpu(numbers, 1)
    return packed, pairs.transpose(0, 1).contiguous().to(torch.bfloat16)


def product_of_four_bits(x: Tensor, packed: Tensor, pairs: Tensor) -> Tensor:
    flat = torch._weight_int4pack_mm_for_cpu(x.view(-1, x.shape[-1]), packed, GROUP, pairs)
    return flat.view(*x.shape[:-1], -1)


def stored_product(weight: Tensor) -> Any:
    """The head's product from the numbers that its file stores, of 8 bits or of 4."""
    found = eight_bits(weight)
    return EightBitsInTwo(*found) if found else FourBits(weight)
