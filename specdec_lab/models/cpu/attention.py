"""Attention over cached keys and values: on a GPU as few operations as it has; on a CPU one that gives each row the same
bits in every pass.

A matrix product adds up in an order that depends on its shape. So a token could be scored a little differently in a
pass over one row and in a pass over eight, and a greedy text could change where two tokens are nearly as likely. On a
CPU this does not happen here. The loops of `loops`, where numba is here, compute each row by itself. Otherwise there
are three rules for products:
    - Queries are filled up to MIN_QUERIES rows of a product, and keys to a multiple of KEY_MULTIPLE: with fewer,
      MKL takes other paths.
    - Values are added up KEY_BLOCK keys at a time: with more, MKL cuts the sum where the number of keys tells it to.
    - A draft of a tree adds up the keys on its path in the order of their positions, as plain decoding will.
That these are enough was measured for MKL with AVX2, AVX-512 and AMX; `tests/test_same_bits.py` measures it again.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from specdec_lab.models.cpu import loops
from specdec_lab.models.tree import Placed, inside, mask_of, positions

MIN_QUERIES = 4  # queries of a product
KEY_MULTIPLE = 64
KEY_BLOCK = 192  # a multiple of KEY_MULTIPLE
FEW_ROWS = 64  # rows of one text for which products are written out on a GPU


def rounded(slots: int) -> int:
    """The slots that are handed to a product where a row sees so many."""
    return slots + -slots % KEY_MULTIPLE


class Fused:
    """One pass, layer by layer, in the number format of the model: for a GPU.

    Where few rows attend, the products are written out. PyTorch's own attention goes through the keys one block after
    the other: that suits prompts, and leaves most of a GPU idle where a text has a few new tokens. On an NVIDIA H200 a
    pass of one token took 2.31 ms with it and takes 1.62 ms without (bfloat16; float32: 3.22 and 2.12 ms).

    Args:
        kv: [layers, 2, R, kv heads, size, D], of the layers that the pass goes through.
        rotations: complex [R or 1, k, 1, D/2], of the new positions.
        slots: [R, k], where each row writes.
        at: the same as a slice, which is faster, if all rows write at the same slots; only then.
        mask: [R or 1, 1, k, visible]; see `mask_of`. None where a single new token sees all.
        visible: slots handed over.
        heads: query heads.
    """

    def __init__(
        self,
        kv: Tensor,
        rotations: Tensor,
        slots: Tensor,
        at: slice | None,
        mask: Tensor | None,
        visible: int,
        heads: int,
    ):
        self.kv, self.rotations, self.slots, self.at, self.visible = kv, rotations, slots, at, visible
        self.heads, self.group = heads, heads // kv.shape[3]  # query heads that share their keys lie side by side
        self.mask = None if mask is None else mask.repeat(1, 1, self.group, 1)
        self.row_numbers = torch.arange(kv.shape[2], device=kv.device)[:, None]

    def __call__(self, layer: int, qkv: Tensor) -> Tensor:
        kv, at, visible = self.kv[layer], self.at, self.visible
        rows, k, _ = qkv.shape
        _, _, shared, _, dim = kv.shape
        heads, group = self.heads, self.group
        rotated = qkv[..., : (heads + shared) * dim]
        pairs = as_complex(rotated.to(self.rotations.real.dtype).view(rows, k, -1, dim)).mul_(self.rotations)
        if qkv.dtype != pairs.real.dtype:  # then .to() was a copy; otherwise mul_ has changed qkv itself
            rotated.copy_(torch.view_as_real(pairs).view(rotated.shape))
        q, new = qkv.split((heads * dim, 2 * shared * dim), -1)
        if at:
            kv[:, :, :, at] = new.view(rows, k, 2, shared, dim).permute(2, 0, 3, 1, 4)
        else:
            kv[:, self.row_numbers, :, self.slots] = new.view(rows, k, 2, shared, dim)
        q = q.view(rows, k, shared, group, dim).permute(0, 2, 3, 1, 4).reshape(rows, shared, group * k, dim)
        keys, values = kv[:, :, :, :visible]
        if k > FEW_ROWS:
            seen = scaled_dot_product_attention(q, keys, values, self.mask, scale=1.0)
        else:
            q, keys, values = (x.flatten(0, 1) for x in (q, keys, values))
            mask = self.mask if self.mask is None else self.mask.expand(rows, shared, -1, -1).flatten(0, 1)
            scores = q @ keys.mT if mask is None else torch.baddbmm(mask, q, keys.mT)
            seen = scores.softmax(-1) @ values
        return seen.view(rows, shared, group, k, dim).permute(0, 3, 1, 2, 4).reshape(rows, k, heads * dim)


class Looped:
    """A pass of one shape, layer by layer, by loops: rotate q and k, write k and v, attend. In float32, whatever the
    products compute in. Before each pass `behind` or `scattered` says where it writes.

    Args:
        kv: [layers, 2, R, kv heads, size, D], of the layers that the pass goes through.
        turns: complex [size, 2, 1, D/2], what keys and values are multiplied with at each position.
        k: new tokens of each row.
        heads: query heads.
        given: rows that the products compute for each text, k or more; those past k come out as zeros.
        dtype: of the products.
        there: where texts have different numbers of tokens, which of the R · k rows exist (see `base.existing`): the
            products then compute these alone, as one text.
    """

    def __init__(
        self,
        kv: Tensor,
        turns: Tensor,
        k: int,
        heads: int,
        given: int,
        dtype: torch.dtype,
        there: Tensor | None = None,
    ):
        _, _, rows, shared, _, dim = kv.shape
        self.kv, self.turns, self.shape = kv, turns, (rows, k, shared, heads // shared, dim)
        self.new = torch.arange(k).repeat(rows, 1)
        self.row = torch.arange(rows)[:, None] * given + self.new  # of the products' rows, that of each token
        if there is not None:
            self.row = torch.full((rows * k,), -1).index_copy_(0, there, torch.arange(len(there))).view(rows, k)
        self.out = kv.new_zeros(rows if there is None else 1, given, heads * dim, dtype=dtype)

    def behind(self, start: int) -> "Looped":
        """All rows write behind `start` slots, one token after the other."""
        slots = self.new + start
        return self.write(torch.stack([slots, slots, slots + 1, self.row]), self.new[:, :, None])

    def scattered(self, slots: Tensor, trees: Sequence[Placed | None], lengths: Sequence[int]) -> "Looped":
        """Each row writes at slots [R, k] of its own. trees, lengths: as in `positions`."""
        places = positions(slots, trees, lengths)
        where = torch.stack([places, slots, places + 1, self.row])
        deepest = max((max(tree[1].depths) + 1 for tree in trees if tree), default=1)
        paths = torch.zeros(*slots.shape, deepest, dtype=torch.long)
        for text, begin, tree in zip(range(len(slots)), lengths, trees):
            if tree:
                start, nodes = tree
                new, drafts = inside(tree, begin, slots.shape[1])
                for i, draft in zip(range(new.start, new.stop), range(drafts.start, drafts.stop)):
                    path = nodes.path(draft)
                    where[2, text, i] = start
                    paths[text, i, : len(path)] = torch.tensor(path) + start
        return self.write(where, paths)

    def write(self, where: Tensor, paths: Tensor) -> "Looped":
        """where, paths: see `loops.attention`, which needs their memory as long as the pass runs."""
        self.where, self.paths = where, paths
        self.attend = loops.attention(self.turns, where, paths, self.kv, self.shape, self.out)
        return self

    def __call__(self, layer: int, qkv: Tensor) -> Tensor:
        """[R, given, (heads + 2 kv heads) · D] to what the heads saw [R, given, heads · D]."""
        return self.attend(layer, qkv)


class SameBits:
    """The same as `Looped`, by products.

    What does not change from pass to pass, or from layer to layer, is made once, above all the views: in a small model
    they take as long as the numbers.

    Args:
        visible: slots handed over, a multiple of KEY_MULTIPLE. All others are those of `Looped`.
    """

    def __init__(self, kv: Tensor, turns: Tensor, k: int, heads: int, given: int, dtype: torch.dtype, visible: int):
        _, _, rows, shared, _, dim = kv.shape
        half, group = dim // 2, heads // shared  # heads of a group share their keys
        filled = max(k, -(-MIN_QUERIES // group))
        each = (heads + 2 * shared) * half
        self.precise, self.turns, self.shape = kv.dtype, turns, (rows, k, shared, group, filled)
        self.pairs = rows, given, heads + 2 * shared, half, 2
        self.q = (rows, k, shared, group, half), (given * each, each, group * half, half, 1)
        self.kv = (rows, k, 2, shared, half), (given * each, each, shared * half, half, 1), heads * half
        queries = kv.new_zeros(rows, shared, group, filled, dim)
        self.queries = queries.view(rows * shared, group * filled, dim)
        self.queries_of_rows = as_complex(queries)[:, :, :, :k].permute(0, 3, 1, 2, 4)
        self.scores = kv.new_empty(rows * shared, group * filled, visible)
        self.seen = kv.new_empty(rows * shared, group * filled, dim)
        self.out = kv.new_zeros(rows, given, heads * dim, dtype=dtype)
        self.out_of_rows = self.out.view(rows, given, shared, group, dim)[:, :k].permute(0, 2, 3, 1, 4)
        self.seen_of_rows = self.seen.view(rows, shared, group, filled, dim)[:, :, :, :k]
        self.keys = kv[:, 0, :, :, :visible].flatten(1, 2).transpose(2, 3).unbind()
        self.values = kv[:, 1, :, :, :visible].flatten(1, 2).unbind()
        self.places = as_complex(kv).permute(0, 2, 4, 1, 3, 5)  # [layers, R, size, 2, kv heads, D/2]
        # The mask of a pass behind s slots, for each s a part of this one: row i sees s + i + 1 slots. Rows past k,
        # which nobody asked for, see what the last one sees.
        sees = torch.arange(filled).clamp(max=k - 1)[:, None] >= torch.arange(-visible, visible)
        self.masks = kv.new_zeros(sees.shape).masked_fill_(~sees, torch.finfo(kv.dtype).min).repeat(group, 1)[None]

    def behind(self, start: int) -> "SameBits":
        k, visible = self.shape[1], self.scores.shape[2]
        self.written, self.slots = self.places[:, :, start : start + k].unbind(), None
        self.turn_kv = self.turns[None, start : start + k]
        self.mask, self.order, self.apart = self.masks.narrow(2, visible - start, visible), None, []
        return self

    def scattered(self, slots: Tensor, trees: Sequence[Placed | None], lengths: Sequence[int]) -> "SameBits":
        rows, k, shared, group, filled = self.shape
        self.written, self.slots = self.places.unbind(), (torch.arange(rows)[:, None], slots)
        self.turn_kv = self.turns[positions(slots, trees, lengths)]
        mask = mask_of(slots, self.scores.shape[2], trees, lengths, self.precise)
        mask = torch.cat([mask, mask[:, :, -1:].expand(-1, -1, filled - k, -1)], 2)
        self.mask = mask.repeat(1, shared, group, 1).flatten(0, 1)
        self.order, self.apart = None, []
        if any(trees):
            self.follow(trees, lengths)
        return self

    def __call__(self, layer: int, qkv: Tensor) -> Tensor:
        self.turn(layer, qkv)
        values = self.values[layer]
        scores = torch.baddbmm(self.mask, self.queries, self.keys[layer], out=self.scores)
        if self.order is None:
            weighted(torch.softmax(scores, -1, out=scores), values, self.seen)
        else:
            weights = scores.gather(-1, self.order).softmax(-1)
            weighted(weights.gather(-1, self.back), values, self.seen)
            for text, on_path, order in self.apart:
                there = values[text, order]
                self.seen[text, on_path] = weighted(weights[text], there, torch.empty_like(self.seen[text]))[:, on_path]
        self.out_of_rows.copy_(self.seen_of_rows)
        return self.out

    def turn(self, layer: int, qkv: Tensor) -> None:
        """Rotate q and k, and write them and v to where they belong."""
        if qkv.dtype != self.precise:
            qkv = qkv.to(self.precise)
        pairs = torch.view_as_complex(qkv.view(self.pairs))
        torch.mul(pairs.as_strided(*self.q), self.turn_kv[:, :, :1], out=self.queries_of_rows)
        kv = pairs.as_strided(*self.kv)
        if self.slots is None:
            torch.mul(kv, self.turn_kv, out=self.written[layer])
        else:
            self.written[layer][self.slots] = kv * self.turn_kv

    def follow(self, trees: Sequence[Placed | None], lengths: Sequence[int]) -> None:
        """Prepare for trees: in which order each row adds up its keys, and which are cut by the end of a KEY_BLOCK."""
        rows, k, shared, group, filled = self.shape
        order = torch.arange(self.scores.shape[2]).repeat(rows, filled, 1)
        for text, begin, tree in zip(range(rows), lengths, trees):
            if not tree:
                continue
            start, nodes = tree
            new, drafts = inside(tree, begin, k)
            order[text, new, start : start + len(nodes.parents)] = nodes.order[drafts] + start
            if cut(start, len(nodes.parents)):
                for leaf in range(drafts.start, drafts.stop):
                    if not any(child < drafts.stop for child in nodes.children[leaf]):
                        on_path = [d + new.start - drafts.start for d in nodes.path(leaf) if d >= drafts.start]
                        at = [g * filled + i for g in range(group) for i in on_path]
                        self.apart.append(
                            (slice(text * shared, (text + 1) * shared), at, order[text, on_path[-1]].clone())
                        )
        back = order.argsort(-1)
        self.order, self.back = (x.repeat(1, group, 1).repeat_interleave(shared, 0) for x in (order, back))


def cut(start: int, n: int) -> bool:
    """Whether n slots from `start` on lie in more than one KEY_BLOCK."""
    return start // KEY_BLOCK < (start + n - 1) // KEY_BLOCK


def weighted(weights: Tensor, values: Tensor, out: Tensor) -> Tensor:
    """weights [n, m, visible] · values [n, visible, D], KEY_BLOCK keys after KEY_BLOCK keys, into `out` [n, m, D]."""
    visible = weights.shape[2]
    if visible <= KEY_BLOCK:
        return torch.bmm(weights, values, out=out)
    torch.bmm(weights[:, :, :KEY_BLOCK], values[:, :KEY_BLOCK], out=out)
    for i in range(KEY_BLOCK, visible, KEY_BLOCK):
        out.baddbmm_(weights[:, :, i : i + KEY_BLOCK], values[:, i : i + KEY_BLOCK])
    return out


def as_complex(x: Tensor) -> Tensor:
    """Pairs of the last dimension as complex numbers: [..., D] to [..., D/2]."""
    return torch.view_as_complex(x.view(*x.shape[:-1], -1, 2))
