"""What a pass over a tree computes and a cache keeps of it: in both backends, in batches, in recorded passes."""

import random
from itertools import pairwise

import pytest
import torch
from small_models import KINDS, make

from specdec_lab.models import fast, reference, tree
from specdec_lab.models.tree import TEXT, Tree

BUSHY = Tree((-1, -1, 0, 0, 1, 3, 3, 6, 7))  # five drafts deep


def rows_of(cached, root, tokens, shape, *, start, passes):
    """The rows behind `root` and each draft, from so many passes."""
    cut = [0, 3, len(tokens)] if passes == 2 else [0, len(tokens)]
    rows = [] if root is None else [cached.extend([[root]]).logits[0]]
    for first, last in pairwise(cut):
        grown = Tree(shape.parents[:last])
        rows.append(cached.extend([tokens[first:last]], trees=[(start, grown)]).logits[0])
    return torch.cat(rows)


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_draft_sees_its_own_way_alone(kind, passes):
    """Every row of a tree is the row of its way written out; and so is all that follows once a way is kept."""
    model = make(kind)
    text, tokens = [3, 1, 4, 1, 5], [2, 7, 2, 8, 2, 1, 9, 3, 4]
    ways = {i: [tokens[j] for j in BUSHY.path(i)] for i in range(-1, len(tokens))}
    for kept in (8, 6, 4, 1, TEXT):
        cached = model.cached()
        cached.extend([text[:-1]])
        rows = rows_of(cached, text[-1], tokens, BUSHY, start=len(text), passes=passes)
        for i, way in ways.items():
            fresh = model.cached().extend([text + way]).logits[0, -1]
            assert (rows[i + 1] - fresh).abs().max() < 1e-9, f"draft {i}"
        cached.keep(0, len(text), BUSHY.path(kept))
        assert cached.lengths == [len(text) + len(BUSHY.path(kept))]
        after = cached.extend([[6, 2]]).logits[0]
        fresh = model.cached().extend([text + ways[kept] + [6, 2]]).logits[0, -2:]
        assert (after - fresh).abs().max() < 1e-9, f"kept {kept}"


@pytest.mark.parametrize("kind", ["llama", "fast llama", "replayed llama"])
def test_trees_beside_chains_in_a_batch(kind):
    model = make(kind)
    texts, drafts = [[3, 1, 4], [1, 5, 9, 2, 6], [5, 3]], [[2, 7, 2, 8], [1, 8], [2, 8, 1, 8, 2]]
    shapes = [Tree((-1, -1, 0, 1)), None, Tree((-1, 0, 0, -1, 3))]
    shared = model.cached(0)
    for text in texts:
        own = model.cached()
        own.extend([text[:-1]])
        shared.join(own)
    trees = [(len(text), shape) if shape else None for text, shape in zip(texts, shapes)]
    rows = shared.extend([[text[-1], *some] for text, some in zip(texts, drafts)], trees=trees).logits
    for r, (text, some, shape) in enumerate(zip(texts, drafts, shapes)):
        shape = shape or Tree.chain(len(some))
        for i in range(-1, len(some)):
            way = [some[j] for j in shape.path(i)]
            fresh = model.cached().extend([text + way]).logits[0, -1]
            assert (rows[r, i + 1] - fresh).abs().max() < 1e-9
    shared.keep(2, 2, [3, 4])
    shared.rewind([3, 5, 9])
    after = shared.extend([[4], [4], [4]]).logits[:, -1]
    for row, text in zip(after, [[3, 1, 4], [1, 5, 9, 2, 6], [5, 3, 8, 2]]):
        assert (row - model.cached().extend([[*text, 4]]).logits[0, -1]).abs().max() < 1e-9


CACHES = reference.ReferenceCached, fast.FastCached


def moving(change) -> list:
    """Both caches move other slots, or to other places, than they are told."""
    return [
        (kind, "_move", lambda self, row, to, slots, move=kind._move: move(self, row, *change(to, slots)))
        for kind in CACHES
    ]


def older_ones_alone(shape: Tree) -> torch.Tensor:
    everyone = range(len(shape.parents))
    return torch.tensor([[j in shape.path(i)[:-1] for j in everyone] for i in everyone])


PLANTED = {
    "sees a cousin": [(tree, "mask_siblings", lambda *_: None)],
    "positions by index": [(module, "positions", lambda slots, trees, lengths: slots) for module in (reference, fast)],
    "moved one off": moving(lambda to, slots: (to + 1, slots)),
    "a sibling's cache": moving(lambda to, slots: (to, slots - 1)),
    "not moved": [(kind, "_move", lambda *_: None) for kind in CACHES],
    "does not see itself": [(Tree, "sees", property(older_ones_alone))],
}


@pytest.mark.parametrize("kind", ["llama", "fast llama", "replayed llama"])
@pytest.mark.parametrize("bug", PLANTED)
def test_what_is_wrong_in_a_backend_is_caught(monkeypatch, kind, bug):
    for place, name, wrong in PLANTED[bug]:
        monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        test_a_draft_sees_its_own_way_alone(kind, 1)


def some_trees(number=60):
    dice = random.Random(0)
    for n in range(number):
        least = dice.choice((TEXT, n % 8))  # some are deep: most drafts follow the one before
        yield Tree(tuple(dice.randint(max(TEXT, min(least, i - 2)), i - 1) for i in range(n % 8)))


def way_of(shape, i):
    return [] if i == TEXT else [*way_of(shape, shape.parents[i]), i]


def test_what_a_tree_says_of_its_drafts_follows_from_its_parents():
    for shape in some_trees():
        n = len(shape.parents)
        ways = [way_of(shape, i) for i in range(n)]
        assert [shape.path(i) for i in range(TEXT, n)] == [[], *ways]
        assert shape.depths == [len(way) - 1 for way in ways]
        assert shape.sees.tolist() == [[j in way for j in range(n)] for way in ways]
        assert shape.children == {i: [j for j in range(n) if shape.parents[j] == i] for i in range(TEXT, n)}
        named = set(zip(shape.depths, shape.ranks))
        assert len(named) == n and all(rank == 0 or (depth, rank - 1) in named for depth, rank in named)
        assert shape.is_chain == (shape == Tree.chain(n)) == all(ways[i] == list(range(i + 1)) for i in range(n))
    for parents in [(-2,), (0,), (-1, 1), (-1, 0, 5)]:
        with pytest.raises(ValueError, match="a parent comes before"):
            Tree(parents)
