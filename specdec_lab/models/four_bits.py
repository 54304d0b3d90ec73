"""The target from the very numbers that its file stores: whole numbers of 4 bits, and in each row a scale and an offset
for every 32 of them (the format Q4_1 of llama.cpp). A pass then reads a fifth of the bytes of float32.

PyTorch's product takes these scales and offsets in bfloat16, where the file has float16. So the weights are not quite the
file's: the matrices of the course's target are .2 % away (Frobenius norm). Rounded to bfloat16 one by one, weights are
.14 % away.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from specdec_lab.errors import LabError
from specdec_lab.models.fast import paired
from specdec_lab.models.linear import Linear, fastest

GROUP = 32  # weights that share a scale and an offset
Stored = tuple[Tensor, Tensor, Tensor]  # of one matrix: numbers [out, in], scales and offsets [out, in / GROUP]


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
    """The same with numbers −128…127, and no offset (Q8_0)."""
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

    least, bits = 1, 5  # a weight's share of scale and offset included

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

    least, bits = 1, 10

    def __init__(self, numbers: Tensor, scales: Tensor, offsets: Tensor):
        super().__init__()
        upper = numbers >> 4  # −8…7
        self.upper = FourBits((upper + 8, 16 * scales, -128 * scales))
        self.lower = FourBits((numbers - 16 * upper, scales, offsets))

    def forward(self, x: Tensor) -> Tensor:
        return self.upper(x).add_(self.lower(x))

    __call__ = forward


def stored_products(hf: PreTrainedModel, name: str) -> list[nn.Module]:
    """The products of a Llama in the order of a pass, as in `fast.folded`, but with nothing folded in.

    Args:
        hf: the model in float32, on the CPU.

    Raises:
        LabError: when its matrices are not numbers of 4 bits.
    """
    heads, kv_heads = hf.config.num_attention_heads, hf.config.num_key_value_heads

    def stored(weight: Tensor) -> Stored:
        if found := four_bits(weight.detach()):
            return found
        raise LabError(
            f"{name} is not stored in 4 bits (as a model made from a GGUF file of the kind Q4_1 is, such as the course's "
            "own target), so its weights cannot be read as such: use --dtype float32 or bfloat16."
        )

    def products() -> Iterator[nn.Module]:
        for layer in hf.base_model.layers:
            a, m = layer.self_attn, layer.mlp
            q, k = (paired((x.weight, x.bias), n, 1.0) for x, n in ((a.q_proj, heads), (a.k_proj, kv_heads)))
            scaled = (len(q[0]) // heads) ** -0.5  # on the scales: the numbers are whole
            numbers, *rest = stored(q[0])
            biases = None if q[1] is None else torch.cat([q[1] * scaled, k[1], a.v_proj.bias]).detach().bfloat16()
            yield FourBits((numbers, *(x * scaled for x in rest)), stored(k[0]), stored(a.v_proj.weight), bias=biases)
            yield FourBits(stored(a.o_proj.weight))
            yield FourBits(stored(m.gate_proj.weight), stored(m.up_proj.weight))
            yield FourBits(stored(m.down_proj.weight))

    head = hf.get_output_embeddings().weight.detach()
    whole = eight_bits(head)
    with torch.inference_mode():
        return list(chain(products(), [EightBitsInTwo(*whole) if whole else FourBits(stored(head))]))


def row_times() -> dict[str, float]:
    """Seconds of one row of a product of seven million weights, by how the weights are kept, from a CPU's cold caches."""
    generator = torch.Generator().manual_seed(0)
    weight, x = (torch.randn(rows, 576, generator=generator) for rows in (12_288, 1))
    numbers = torch.randint(16, weight.shape, generator=generator, dtype=torch.int32)
    scales = torch.ones(len(weight), weight.shape[1] // GROUP)
    short = torch.bfloat16
    times = {"float32": fastest(Linear(weight), x), "bfloat16": fastest(Linear(weight.to(short)), x.to(short))}
    with suppress(RuntimeError, AttributeError):  # not in this build
        times["int4"] = fastest(FourBits((numbers, scales, scales)), x.to(short))
    return times
