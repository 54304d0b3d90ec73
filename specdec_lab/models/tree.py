"""A token tree: drafts that go on from one text in more than one way (Miao et al. 2023, SpecInfer, arXiv 2305.09781).

Node i is a draft, parents[i] the draft before it, and −1 the text itself. One pass can run over all of them, if each
sees the text, the drafts on its own path back to it, and itself, and stands at the position of its depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

TEXT = -1  # the parent of a first draft


@dataclass(frozen=True)
class Tree:
    """The shape alone; the tokens stand beside it, in the same order.

    Args:
        parents: a parent comes before its children.

    Raises:
        ValueError: when one does not.
    """

    parents: tuple[int, ...]

    def __post_init__(self):
        if any(not TEXT <= parent < i for i, parent in enumerate(self.parents)):
            raise ValueError(f"In a tree a parent comes before its children; the parents here are {self.parents}.")

    @classmethod
    def chain(cls, n: int) -> "Tree":
        """n drafts, each behind the one before: the tree without branches."""
        return cls(tuple(range(TEXT, n - 1)))

    @property
    def is_chain(self) -> bool:
        return self.parents == tuple(range(TEXT, len(self.parents) - 1))

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """For TEXT and each draft those that go on from there, oldest first."""
        out: dict[int, list[int]] = {i: [] for i in range(TEXT, len(self.parents))}
        for i, parent in enumerate(self.parents):
            out[parent].append(i)
        return out

    @cached_property
    def depths(self) -> list[int]:
        """Drafts before each draft, on its path back to the text."""
        return [len(self.path(i)) - 1 for i in range(len(self.parents))]

    @cached_property
    def ranks(self) -> list[int]:
        """For each draft, how many older ones have the same depth. Depth and rank together identify a draft."""
        return [self.depths[:i].count(depth) for i, depth in enumerate(self.depths)]

    def path(self, i: int) -> list[int]:
        """The drafts from the text to draft i, itself included; none for TEXT."""
        out = []
        while i != TEXT:
            out.append(i)
            i = self.parents[i]
        return out[::-1]

    @cached_property
    def sees(self) -> Tensor:
        """[n, n]: whether draft i (the row) sees draft j."""
        out = torch.zeros(len(self.parents), len(self.parents), dtype=torch.bool)
        for i in range(len(self.parents)):
            out[i, self.path(i)] = True
        return out


TreeInCache = tuple[int, Tree]  # a tree in a cache: its draft i stands in the slot (the first number) + i


def inside(tree: TreeInCache, begin: int, k: int) -> tuple[slice, slice]:
    """Which of k tokens in the slots from `begin` on are drafts of the tree, and which drafts they are."""
    start, nodes = tree
    first, last = max(begin, start), max(begin, start, min(begin + k, start + len(nodes.parents)))
    return slice(first - begin, last - begin), slice(first - start, last - start)


def positions(slots: Tensor, trees: Sequence[TreeInCache | None], lengths: Sequence[int]) -> Tensor:
    """The positions [R, k] of tokens in their texts: a draft of a tree is at its depth, any other token at its slot.

    Args:
        slots: [R, k], where the tokens are written in the cache.
        trees: for each row its tree; may be shorter than R where no row has one.
        lengths: the first slot of each row.
    """
    out = slots.clone()
    for row, begin, tree in zip(out, lengths, trees):
        if tree:
            new, drafts = inside(tree, begin, len(row))
            row[new] = torch.tensor(tree[1].depths[drafts], dtype=row.dtype, device=row.device) + tree[0]
    return out


def mask_siblings(unseen: Tensor, trees: Sequence[TreeInCache | None], lengths: Sequence[int]) -> None:
    """Mark in `unseen` [R, k, visible] which drafts of its tree each draft does not see: all but those on its own path.

    Args:
        trees, lengths: as in `positions`.
    """
    for row, begin, tree in zip(unseen, lengths, trees):
        if tree:
            start, nodes = tree
            new, drafts = inside(tree, begin, len(row))
            row[new, start : start + len(nodes.parents)] = ~nodes.sees[drafts].to(row.device)


def mask_of(
    slots: Tensor, visible: int, trees: Sequence[TreeInCache | None], lengths: Sequence[int], dtype: torch.dtype
) -> Tensor:
    """[R, 1, k, visible], to be added to attention scores: a row at slot s sees its slots 0…s, of its tree its path alone.

    Args:
        slots, trees, lengths: as in `positions`.
        dtype: of the scores.
    """
    unseen = torch.arange(visible, device=slots.device) > slots[:, None, :, None]
    mask_siblings(unseen[:, 0], trees, lengths)
    mask = torch.zeros(unseen.shape, dtype=dtype, device=slots.device)
    return mask.masked_fill_(unseen, torch.finfo(dtype).min)
