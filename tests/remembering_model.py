"""A model that computes the rows behind each text once, however many runs ask for them.

Hundreds of runs from one prompt ask for few different rows, so evidence from many runs of a large model takes little
time. What stands above the model, the engine and its draws, runs as always.
"""

import copy

import torch
from torch import Tensor

from specdec_lab.models.base import Cached, Model, Rows


def remembered(model: Model) -> Model:
    """The same model with a memory that all its caches share. Each cache holds one text."""
    other = copy.copy(model)
    rows, real, heads = {}, {}, {}

    def head(hidden: Tensor) -> Tensor:
        key = hidden.numpy(force=True).tobytes()
        if key not in heads:
            heads[key] = model.head(hidden).clone()
        return heads[key]

    other.head = head
    other.cached = lambda texts=1: RememberedCache(other, model, rows, real)
    return other


class RememberedCache(Cached):
    """Holds the tokens of a text where a real cache holds their keys.

    Args:
        rows: the hidden row and the logits of each text's last token, by (last layer, whether it has logits, depths, text).
        real: for each last layer a real cache, and the text whose keys it holds through all layers before that one.
    """

    _run = _join = _drop = None  # it is extended here, and holds one text

    def __init__(self, model: Model, below: Model, rows: dict, real: dict):
        self.model, self.lengths, self.slots = model, [0], []
        self.below, self.rows, self.real = below, rows, real

    def extend(self, new, *, layers=None, logits=True, trees=(), depths=()) -> Rows:
        """A pass with a row that is not known yet is run as it was asked for, tree and all; else none is run."""
        (given,), (have,), (first, last) = new, self.lengths, layers or (0, self.model.layers)
        after, tree, headed = have + len(given), trees[0] if trees else None, logits and last == self.model.layers
        if first == 0:  # else these are the rows of tokens that have been through the layers before
            self.slots[have:] = given.tolist() if isinstance(given, Tensor) else given
        texts = [self.seen(at, tree) for at in range(have, after)]
        if first > 0:
            before = torch.stack([self.rows[first, False, (), text][0] for text in texts])
            assert torch.allclose(given, before, rtol=1e-3, atol=1e-2), "not the rows of the tokens in the cache"
        keys = [(last, headed, tuple(depths), text) for text in texts]
        if any(key not in self.rows for key in keys):
            out = self.run(new, have, first, last, logits, trees, tree, depths)
            heads = out.logits[0].clone() if headed else [None] * len(keys)
            for key, hidden, head in zip(keys, out.hidden[0].clone(), heads, strict=True):
                self.rows.setdefault(key, (hidden, head))
        self.lengths = [after]
        hidden, heads = zip(*(self.rows[key] for key in keys))
        return Rows(torch.stack(hidden)[None], torch.stack(heads)[None] if headed else None)

    def run(self, new, have: int, first: int, last: int, logits: bool, trees, tree, depths) -> Rows:
        """The pass itself, in a real cache that is first brought to this text."""
        cached, there = self.real.pop(last, None) or (self.below.cached(), [])
        text, tokens = self.slots[:have], self.slots[have : have + len(new[0])]
        same = next((i for i, (a, b) in enumerate(zip(text, there)) if a != b), min(have, len(there)))
        cached.rewind([same])
        if same < have:
            cached.extend([text[same:]], layers=(0, last), logits=False)
        if first > 0:
            cached.extend([tokens], layers=(0, first), trees=trees)
            cached.rewind([have])
        out = cached.extend(new, layers=(first, last), logits=logits, trees=trees, depths=depths)
        chain = tokens if tree is None else tokens[: max(0, tree[0] - have)]  # another pass can go on from these
        self.real[last] = cached, [*text, *chain]
        return out

    def seen(self, at: int, tree) -> tuple[int, ...]:
        """The text that ends in slot `at`: in a tree, the one on the way to that node."""
        if tree is None or at < tree[0]:
            return tuple(self.slots[: at + 1])
        start, nodes = tree
        return (*self.slots[:start], *(self.slots[start + i] for i in nodes.path(at - start)))

    def _move(self, row: int, to: int, slots: Tensor) -> None:
        self.slots[to : to + len(slots)] = [self.slots[slot] for slot in slots.tolist()]
