"""The small operations between a model's products as loops, which numba compiles for the processor that it finds.

They compute each row by itself, so a row has the same bits whatever stands beside it in a pass. And they are quick:
PyTorch starts five operations for a norm and a dozen for attention, and in a small model starting one takes longer than
the numbers do. What numba compiled it keeps on disk, by its version and the processor.

They read and write memory of tensors, which must be contiguous, and whose addresses they are given: arrays as arguments
would take longer than some of these loops. bfloat16, which numba does not know, is the upper half of a float32.
"""
# numba gives `pointer` its first argument:
# pyright: reportCallIssue=false

import torch
from torch import Tensor

try:
    import numpy as np
    from numba import carray, njit, types
    from numba.extending import intrinsic
except ImportError:  # then PyTorch's operations take their place, and bits may differ from pass to pass
    SHORT = {}
else:
    SHORT = {torch.float32: False, torch.bfloat16: True}  # the number formats there are; True for those of 16 bits

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
    def add_normed_loop(x, y, weight, out, short, rows, n, eps):
        """y and weight: 0 where there is none. y and out are `short` or not."""
        xs, ws = carray(pointer(x), (rows, n), np.float32), carray(pointer(weight), n, np.float32)
        row, size = np.empty(n, np.float32), 2 if short else 4
        for k in range(rows):
            if y:
                read(y + k * n * size, short, n, row)
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
            write(row, out + k * n * size, short, n)

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
    def attention_loop(qkv, out, short, keys_values, turns, seen_by, path_of, shape, scale):
        """See `attention.Looped`. All tokens are written before any of them attends: those of a text see each other."""
        n, deep, texts, heads, shared, size, dim = shape
        where = carray(pointer(seen_by), (4, n), np.int64)
        paths = carray(pointer(path_of), (n, deep), np.int64)
        cos_sin = carray(pointer(turns), (size, dim // 2, 2), np.float32)
        cache = carray(pointer(keys_values), (2, texts, shared, size, dim), np.float32)
        each, bytes_ = (heads + 2 * shared) * dim, 2 if short else 4
        row, queries = np.empty(each, np.float32), np.empty((n, heads, dim), np.float32)
        scores, bits, seen = np.empty(size, np.float32), np.empty(size, np.int32), np.empty(dim, np.float32)
        slots = np.arange(size)
        for i in range(n):
            text, place, slot = where[0, i], where[1, i], where[2, i]
            read(qkv + i * each * bytes_, short, each, row)
            for h in range(heads):
                turn(row[h * dim : (h + 1) * dim], cos_sin[place], queries[i, h])
            for h in range(shared):
                turn(row[(heads + h) * dim : (heads + h + 1) * dim], cos_sin[place], cache[0, text, h, slot])
                cache[1, text, h, slot] = row[(heads + shared + h) * dim : (heads + shared + h + 1) * dim]
        for i in range(n):
            text, visible, begin = where[0, i], where[1, i] + 1, where[3, i]
            for j in range(begin, visible):
                slots[j] = paths[i, j - begin]
            for h in range(heads):
                keys, values = cache[0, text, h // (heads // shared)], cache[1, text, h // (heads // shared)]
                for j in range(visible):
                    scores[j] = scale * dot(queries[i, h], keys[slots[j]])
                softmax(scores, visible, bits)
                weighted(scores, values, slots, visible, seen)
                write(seen, out + (i * heads + h) * dim * bytes_, short, dim)
            for j in range(begin, visible):
                slots[j] = j


HERE = bool(SHORT)


def here(*formats: torch.dtype) -> bool:
    """Whether the loops are here, for numbers of these formats."""
    return all(dtype in SHORT for dtype in formats)


def add_normed(x: Tensor, y: Tensor | None, weight: Tensor | None, eps: float, dtype: torch.dtype) -> Tensor:
    """Add y to x, in place; and x [..., H] / √(mean of x² + eps), times `weight` [H], as numbers of this kind.

    Args:
        x, weight: in float32. y: in `dtype`.
    """
    out, n = torch.empty_like(x, dtype=dtype), x.shape[-1]
    y_at, weight_at = (0 if part is None else part.data_ptr() for part in (y, weight))
    add_normed_loop(x.data_ptr(), y_at, weight_at, out.data_ptr(), SHORT[dtype], x.numel() // n, n, eps)
    return out


def gated(gate_up: Tensor) -> Tensor:
    """silu(gate) · up, of both side by side [..., 2 I]."""
    n = gate_up.shape[-1] // 2
    out = gate_up.new_empty(*gate_up.shape[:-1], n)
    gated_loop(gate_up.data_ptr(), out.data_ptr(), SHORT[gate_up.dtype], out.numel() // n, n)
    return out
