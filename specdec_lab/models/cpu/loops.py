"""The small operations between a model's products, each as one loop where numba is here
(`pip install "specdec-lab[fast]"`).

PyTorch starts five operations for a norm and two for a gate, and in a small model starting one takes longer than the
numbers do. These loops do the same for each row by itself, so a row has the same bits whatever stands beside it. Numba
compiles them when they are first called, for the processor that it finds, and keeps them on disk.

They read and write memory of tensors, which must be contiguous, and whose addresses they are given. bfloat16, which
numba does not know, is the upper half of a float32.
"""
# numba gives `pointer` its first argument:
# pyright: reportCallIssue=false

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import silu

try:
    import numpy as np
    from numba import carray, njit, types
    from numba.extending import intrinsic
except ImportError:
    HERE = False
else:
    HERE = True

    def compiled(function):
        """Sums may be taken in lanes: in an order that depends on the length of a row alone."""
        how = {"fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}
        try:
            return njit(**how, cache=True)(function)
        except RuntimeError:  # no folder to keep them in can be written
            return njit(**how)(function)

    @intrinsic
    def pointer(typing, address):
        def convert(context, builder, signature, given):
            return builder.inttoptr(given[0], context.get_value_type(types.voidptr))

        return types.voidptr(types.int64), convert

    @compiled
    def read(address, short, n, out):
        """n numbers from there into out, a float32 array: bfloat16 ones if `short`."""
        if short:
            bits, halves = out.view(np.uint32), carray(pointer(address), n, np.uint16)
            for i in range(n):
                bits[i] = np.uint32(halves[i]) << np.uint32(16)
        else:
            whole = carray(pointer(address), n, np.float32)
            for i in range(n):
                out[i] = whole[i]

    @compiled
    def write(row, address, short, n):
        """The opposite; rounds to the nearest, of two the even one, as PyTorch does."""
        if short:
            bits, halves = row.view(np.uint32), carray(pointer(address), n, np.uint16)
            for i in range(n):
                up = np.uint32(0x7FFF) + ((bits[i] >> np.uint32(16)) & np.uint32(1))
                halves[i] = np.uint16((bits[i] + up) >> np.uint32(16))
        else:
            whole = carray(pointer(address), n, np.float32)
            for i in range(n):
                whole[i] = row[i]

    @compiled
    def exponential(x, n, bits):
        """exp of n numbers in place, by a polynomial of degree 6 on −½ ln 2 … ½ ln 2 (Cephes). bits: int32 scratch."""
        power = bits.view(np.float32)
        for i in range(n):
            v = min(max(x[i], np.float32(-87)), np.float32(88))
            z = np.floor(v * np.float32(1.44269504) + np.float32(0.5))
            r = v - z * np.float32(0.693359375) + z * np.float32(2.12194440e-4)
            p = np.float32(1.9875691500e-4)
            p = p * r + np.float32(1.3981999507e-3)
            p = p * r + np.float32(8.3334519073e-3)
            p = p * r + np.float32(4.1665795894e-2)
            p = p * r + np.float32(1.6666665459e-1)
            p = p * r + np.float32(5.0000001201e-1)
            x[i] = p * r * r + r + np.float32(1)
            bits[i] = (np.int32(z) + np.int32(127)) << np.int32(23)
        for i in range(n):
            x[i] *= power[i]

    @compiled
    def add_normed_loop(x, y, short_y, weight, out, short, rows, n, eps):
        """y and weight: 0 where there is none."""
        xs, ws = carray(pointer(x), (rows, n), np.float32), carray(pointer(weight), n, np.float32)
        row = np.empty(n, np.float32)
        for k in range(rows):
            if y:
                read(y + k * n * (2 if short_y else 4), short_y, n, row)
                for i in range(n):
                    xs[k, i] += row[i]
            total = np.float32(0)
            for i in range(n):
                total += xs[k, i] * xs[k, i]
            scale = np.float32(1) / np.sqrt(total / np.float32(n) + np.float32(eps))
            if weight:
                for i in range(n):
                    row[i] = xs[k, i] * scale * ws[i]
            else:
                for i in range(n):
                    row[i] = xs[k, i] * scale
            write(row, out + k * n * (2 if short else 4), short, n)

    @compiled
    def gated_loop(given, out, short, rows, n):
        gate, up, e = np.empty(n, np.float32), np.empty(n, np.float32), np.empty(n, np.float32)
        bits, size = np.empty(n, np.int32), 2 if short else 4
        for k in range(rows):
            read(given + 2 * k * n * size, short, n, gate)
            read(given + (2 * k + 1) * n * size, short, n, up)
            for i in range(n):
                e[i] = -gate[i]
            exponential(e, n, bits)
            for i in range(n):
                up[i] *= gate[i] / (np.float32(1) + e[i])
            write(up, out + k * n * size, short, n)

    @compiled
    def dot(a, b):
        total = np.float32(0)
        for d in range(len(a)):
            total += a[d] * b[d]
        return total

    @compiled
    def softmax(scores, n, bits):
        largest = scores[0]
        for j in range(n):
            largest = max(largest, scores[j])
        for j in range(n):
            scores[j] -= largest
        exponential(scores, n, bits)
        total = np.float32(0)
        for j in range(n):
            total += scores[j]
        for j in range(n):
            scores[j] /= total

    @compiled
    def turn(given, cos_sin, out):
        """Pairs of numbers as complex ones, times others."""
        for d in range(len(cos_sin)):
            a, b, cos, sin = given[2 * d], given[2 * d + 1], cos_sin[d, 0], cos_sin[d, 1]
            out[2 * d] = a * cos - b * sin
            out[2 * d + 1] = a * sin + b * cos

    @compiled
    def weighted(weights, values, slots, n, out):
        """The sum of n values, four at a time: in an order that depends on n alone."""
        out[:] = np.float32(0)
        for j in range(0, n - n % 4, 4):
            v, w, x, y = values[slots[j]], values[slots[j + 1]], values[slots[j + 2]], values[slots[j + 3]]
            for d in range(len(out)):
                out[d] += weights[j] * v[d] + weights[j + 1] * w[d] + weights[j + 2] * x[d] + weights[j + 3] * y[d]
        for j in range(n - n % 4, n):
            v = values[slots[j]]
            for d in range(len(out)):
                out[d] += weights[j] * v[d]

    @compiled
    def attended_loop(qkv, short, keys_values, turns, seen_by, path_of, deep, out, out_short, shape, capacity, size):
        rows, k, shared, group, dim = shape
        heads = shared * group
        where = carray(pointer(seen_by), (4, rows, k), np.int64)
        paths = carray(pointer(path_of), (rows, k, deep), np.int64)
        each, of_qkv, of_out = (heads + 2 * shared) * dim, 2 if short else 4, 2 if out_short else 4
        cos_sin = carray(pointer(turns), (size, 2, dim // 2, 2), np.float32)
        cache = carray(pointer(keys_values), (2, capacity, shared, size, dim), np.float32)
        row, queries = np.empty(each, np.float32), np.empty((k, heads, dim), np.float32)
        scores, bits, slots, seen = (
            np.empty(size, np.float32),
            np.empty(size, np.int32),
            np.arange(size),
            np.empty(dim, np.float32),
        )
        for r in range(rows):
            keys, values = cache[0, r], cache[1, r]
            for i in range(k):
                place, slot, at = where[0, r, i], where[1, r, i], where[3, r, i]
                if at < 0:
                    continue
                read(qkv + at * each * of_qkv, short, each, row)
                for h in range(heads):
                    turn(row[h * dim : (h + 1) * dim], cos_sin[place, 0], queries[i, h])
                for h in range(shared):
                    turn(row[(heads + h) * dim : (heads + h + 1) * dim], cos_sin[place, 0], keys[h, slot])
                    values[h, slot] = row[(heads + shared + h) * dim : (heads + shared + h + 1) * dim]
            for i in range(k):
                n, begin, at = where[0, r, i] + 1, where[2, r, i], where[3, r, i]
                if at < 0:
                    continue
                for j in range(begin, min(n, begin + deep)):
                    slots[j] = paths[r, i, j - begin]
                for h in range(heads):
                    of = h // group
                    for j in range(n):
                        scores[j] = dot(queries[i, h], keys[of, slots[j]])
                    softmax(scores, n, bits)
                    weighted(scores, values[of], slots, n, seen)
                    write(seen, out + (at * heads + h) * dim * of_out, out_short, dim)
                for j in range(begin, min(n, begin + deep)):
                    slots[j] = j


# The loops are written for these number formats; True for those of 16 bits.
SHORT = {torch.float32: False, torch.bfloat16: True} if HERE else {}


@cache
def number(value: float, dtype: torch.dtype) -> Tensor:
    return torch.tensor(value, dtype=dtype)


def here(*formats: torch.dtype) -> bool:
    """Whether the loops are here, for numbers of these formats."""
    return all(dtype in SHORT for dtype in formats)


def add_normed(x: Tensor, y: Tensor | None, weight: Tensor | None, eps: float, dtype: torch.dtype) -> Tensor:
    """Add y to x, in place; and x [..., H] / √(mean of x² + eps), times `weight` [H], as numbers of this kind.

    Args:
        x, weight: in float32, or both in float64.
    """
    if dtype in SHORT and (y is None or y.dtype in SHORT):
        out, n = torch.empty_like(x, dtype=dtype), x.shape[-1]
        short_y, at_y = (False, 0) if y is None else (SHORT[y.dtype], y.data_ptr())
        at_weight = 0 if weight is None else weight.data_ptr()
        add_normed_loop(x.data_ptr(), at_y, short_y, at_weight, out.data_ptr(), SHORT[dtype], x.numel() // n, n, eps)
        return out
    if y is not None:
        x += y
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    normed = x * torch.addcmul(number(eps, x.dtype), length, length, value=1 / x.shape[-1]).rsqrt_()
    if weight is not None:
        normed *= weight
    return normed.to(dtype)


def gated(gate_up: Tensor, looped: bool = True) -> Tensor:
    """silu(gate) · up, of both side by side [..., 2 I]. looped: by a loop, where there is one for such numbers."""
    if looped and gate_up.dtype in SHORT:
        n = gate_up.shape[-1] // 2
        out = gate_up.new_empty(*gate_up.shape[:-1], n)
        gated_loop(gate_up.data_ptr(), out.data_ptr(), SHORT[gate_up.dtype], out.numel() // n, n)
        return out
    gate, up = gate_up.chunk(2, -1)
    return silu(gate).mul_(up)


def attention(
    turns: Tensor, where: Tensor, paths: Tensor, kv: Tensor, shape: tuple[int, ...], out: Tensor
) -> Callable[[int, Tensor], Tensor]:
    """What is done in each layer of a pass (see `attention.Looped`): rotate q and k, write k and v, attend.

    Args:
        turns: complex [size, 2, 1, D/2].
        where: [4, R, k], for each token its position in the text, its slot, how many slots it sees from the first
            one on, and its row of qkv and of out; −1 for what only fills a text up to the widest.
        paths: [R, k, n], the slots that it sees behind those; may be longer.
        kv: [layers, 2, R, kv heads, size, D], the first R rows of a cache.
        shape: (R, k, kv heads, group, D).
        out: [.., heads · D], where each result is written.

    Returns:
        A function of a layer's number and its qkv [.., (heads + 2 kv heads) · D].
    """
    first, step, size = kv.data_ptr(), kv.stride(0) * kv.itemsize, kv.shape[4]
    read = turns.data_ptr(), where.data_ptr(), paths.data_ptr(), paths.shape[2]
    written, capacity = (out.data_ptr(), SHORT[out.dtype]), kv.stride(1) // kv.stride(2)
    more = *read, *written, shape, capacity, size

    def attend(layer: int, qkv: Tensor) -> Tensor:
        attended_loop(qkv.data_ptr(), SHORT[qkv.dtype], first + layer * step, *more)
        return out

    return attend
