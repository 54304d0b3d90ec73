"""Attention over cached keys and values: `Looped` on a CPU where numba is, `Fused` on a GPU and elsewhere.

A matrix product adds up in an order that depends on its shape. So by products a token may be scored a little differently in
a pass over one row and in a pass over eight, and a greedy text can change where two tokens are nearly as likely. The loops
compute each row by itself, and a draft of a tree adds up the keys on its path in the order of their positions, as plain
decoding will: so a row has the same bits in every pass.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from specdec_lab.models import loops
from specdec_lab.models.tree import TreeInCache, inside, positions

FEW_ROWS = 64  # rows of one text for which products are written out


class Looped:
    """A pass, layer by layer: rotate q and k, write k and v, attend. In float32, whatever the products compute in.

    Args:
        kv: [layers, 2, texts, kv heads, size, D].
        turns: complex [size, 1, D/2], what heads are multiplied with at each position.
        heads: query heads.
        slots: [R, k], where each row writes.
        trees, lengths: as in `positions`.
        real: which of the R · k tokens exist, if not all do (see `base.real_rows`): the products compute these alone.
    """

    def __init__(
        self,
        kv: Tensor,
        turns: Tensor,
        heads: int,
        slots: Tensor,
        trees: Sequence[TreeInCache | None],
        lengths: Sequence[int],
        real: Tensor | None,
    ):
        _, _, texts, shared, size, dim = kv.shape
        places, (rows, k) = positions(slots, trees, lengths), slots.shape
        of = torch.arange(rows)[:, None].expand(rows, k)
        # Of each token its text, its position there, its slot, and how many slots it sees from the first one on; behind
        # them it sees those of its path, one for each position that is left.
        self.where = torch.stack([of, places, slots, places + 1]).flatten(1)
        deepest = max((max(tree.depths, default=0) + 1 for _, tree in filter(None, trees)), default=1)
        self.paths = torch.zeros(rows * k, deepest, dtype=torch.long)
        for row, (begin, placed) in enumerate(zip(lengths, trees)):
            if placed:
                start, tree = placed
                new, drafts = inside(placed, begin, k)
                for i, draft in zip(range(new.start, new.stop), range(drafts.start, drafts.stop)):
                    path = torch.tensor(tree.path(draft)) + start
                    self.where[3, row * k + i], self.paths[row * k + i, : len(path)] = start, path
        if real is not None:
            self.where, self.paths = self.where[:, real], self.paths[real]
        self.first, self.step, self.width = kv.data_ptr(), kv.stride(0) * kv.itemsize, heads * dim
        shape = self.where.shape[1], deepest, texts, heads, shared, size, dim
        self.more = turns.data_ptr(), self.where.data_ptr(), self.paths.data_ptr(), shape, dim**-0.5

    def __call__(self, layer: int, qkv: Tensor) -> Tensor:
        """[.., (heads + 2 kv heads) · D] to what the heads saw [.., heads · D]."""
        out = qkv.new_empty(*qkv.shape[:-1], self.width)
        where = self.first + layer * self.step
        loops.attention_loop(qkv.data_ptr(), out.data_ptr(), loops.SHORT[qkv.dtype], where, *self.more)
        return out


class Fused:
    """The same by products.

    Where few rows attend, they are written out. PyTorch's own attention goes through the keys one block after the other:
    that suits prompts, and leaves most of a GPU idle where a text has a few new tokens. On an NVIDIA H200 a pass of one
    token took 2.31 ms with it and takes 1.62 ms without (bfloat16; float32: 3.22 and 2.12 ms).

    Args:
        kv: [layers, 2, R, kv heads, size, D].
        rotations: complex [R or 1, k, 1, D/2], of the new positions.
        heads: query heads.
        slots: [R, k], where each row writes.
        at: the same as a slice, which is faster, if all rows write at the same slots; only then.
        mask: [R or 1, 1, k, visible]; see `mask_of`.
    """

    def __init__(self, kv: Tensor, rotations: Tensor, heads: int, slots: Tensor, at: slice | None, mask: Tensor):
        self.kv, self.rotations, self.slots, self.at = kv, rotations, slots, at
        self.heads, self.group = heads, heads // kv.shape[3]  # query heads that share their keys lie side by side
        self.mask, self.visible = mask.repeat(1, 1, self.group, 1), mask.shape[-1]
        self.row_numbers = torch.arange(kv.shape[2], device=kv.device)[:, None]

    def __call__(self, layer: int, qkv: Tensor) -> Tensor:
        """[R, k, (heads + 2 kv heads) · D] to what the heads saw [R, k, heads · D]."""
        kv, at, heads, group, dtype = self.kv[layer], self.at, self.heads, self.group, qkv.dtype
        rows, k, _ = qkv.shape
        _, _, shared, _, dim = kv.shape
        qkv = qkv.to(kv.dtype)
        rotated = qkv[..., : (heads + shared) * dim]
        pairs = rotated.to(self.rotations.real.dtype).view(rows, k, -1, dim // 2, 2)
        pairs = torch.view_as_complex(pairs).mul_(self.rotations)
        if qkv.dtype != pairs.real.dtype:  # then .to() was a copy; otherwise mul_ has changed qkv itself
            rotated.copy_(torch.view_as_real(pairs).view(rotated.shape))
        q, new = qkv.split((heads * dim, 2 * shared * dim), -1)
        if at:
            kv[:, :, :, at] = new.view(rows, k, 2, shared, dim).permute(2, 0, 3, 1, 4)
        else:
            kv[:, self.row_numbers, :, self.slots] = new.view(rows, k, 2, shared, dim)
        q = q.view(rows, k, shared, group, dim).permute(0, 2, 3, 1, 4).reshape(rows, shared, group * k, dim)
        keys, values = kv[:, :, :, : self.visible]
        if k > FEW_ROWS:
            seen = scaled_dot_product_attention(q, keys, values, self.mask)
        else:
            q, keys, values = (x.flatten(0, 1) for x in (q, keys, values))
            mask = self.mask.expand(rows, shared, -1, -1).flatten(0, 1)
            seen = torch.baddbmm(mask, q, keys.mT, alpha=dim**-0.5).softmax(-1) @ values
        seen = seen.view(rows, shared, group, k, dim).permute(0, 3, 1, 2, 4).reshape(rows, k, heads * dim)
        return seen.to(dtype)
