"""On a CPU a row of logits has the same bits in every pass: one token or many, in a tree, in a batch, in two halves.

In small, with the first layers of the target alone and its head: all layers have products of the same shapes, and the
planted bugs are noticed in these, too.
"""

import copy
from collections.abc import Iterator

import pytest
import torch

from specdec_lab.lab import load
from specdec_lab.models import loops
from specdec_lab.models.base import Cached, Rows
from specdec_lab.models.fast import FastModel
from specdec_lab.models.tree import Tree

# A node's siblings are drafts that nobody keeps; 1, 4 and 6 are the way that the text takes.
TREE, WAY = Tree((-1, -1, 0, 1, 1, 3, 4)), [1, 4, 6]
STARTS = 5, 62, 190, 382  # beginnings of a pass


@pytest.fixture(scope="module")
def tokens(lab):
    some = torch.randint(100, 40_000, (420,), generator=torch.Generator().manual_seed(1))
    return lab.encode("Write a short story about a dragon who learns to bake bread. " * 4)[:60] + some.tolist()


@pytest.fixture(scope="module", params=["float32", "bfloat16", "int4"])
def target(request, lab, full):
    if lab.target.device.type != "cpu" or not loops.HERE:
        pytest.skip("on a GPU another question (see test_gpu), and without numba nothing is promised")
    whole = lab if request.param == "float32" else load(dtype=request.param, say=lambda line: None)
    return cut(whole.target, full)


def cut(whole: FastModel, full: bool) -> FastModel:
    model = copy.copy(whole)
    model.layers = whole.layers if full else 6
    model.parts = whole.parts[: model.layers]
    return model


DEPTHS = 1, 4


def whole(rows: Rows) -> torch.Tensor:
    """Logits, and hidden rows at all depths."""
    return torch.cat([rows.logits, rows.hidden], -1)


def one_by_one(cached: Cached, tokens: list[int]) -> list[torch.Tensor]:
    return [whole(cached.extend([[token]], depths=DEPTHS))[0, 0] for token in tokens]


def compared(target, tokens: list[int]) -> Iterator[bool]:
    """Whether rows of passes over several tokens, or over a tree, are those of passes over one token, bit for bit."""
    cached, done = target.cached(), 0
    for start in STARTS:
        cached.rewind([done])
        cached.prefill(tokens[done:start])
        new, done = tokens[start : start + 6], start
        alone = one_by_one(cached, [*new, 0, 0])
        for i, j in ((0, 8), (0, 3), (2, 7), (1, 3)):
            cached.rewind([start + i])
            yield from same(whole(cached.extend([[*new, 0, 0][i:j]], depths=DEPTHS))[0], alone[i:j])
        cached.rewind([start])
        drafts = [7, new[1], 9, 11, new[2], 13, new[3]]
        rows = whole(cached.extend([[new[0], *drafts]], trees=[(start + 1, TREE)], depths=DEPTHS))[0]
        yield from same(rows[[0, *(i + 1 for i in WAY)]], alone[:4])
        cached.keep(0, start + 1, WAY)
        yield from same(one_by_one(cached, new[4:6]), alone[4:6])


def same(rows, others) -> Iterator[bool]:
    return (torch.equal(*pair) for pair in zip(rows, others, strict=True))


def test_a_row_is_the_same_in_every_pass(target, tokens):
    assert all(compared(target, tokens))


def test_a_row_is_the_same_in_a_batch(target, tokens):
    starts, widths = (5, 62, 150, 189, 260), (1, 5, 3, 8, 2)
    shared, alone = target.cached(0), []
    for start, k in zip(starts, widths):
        one = target.cached()
        one.prefill(tokens[:start])
        shared.join(one)
        alone.append(torch.stack(one_by_one(one, tokens[start : start + k])))
    trees = [None, None, None, (190, TREE), None]
    new = [tokens[start : start + k] for start, k in zip(starts, widths)]
    new[3] = [new[3][0], 7, new[3][1], 9, 11, new[3][2], 13, new[3][3]]
    rows = whole(shared.extend(new, trees=trees, depths=DEPTHS))
    for r, k in enumerate(widths):
        here = rows[r, [0, *(i + 1 for i in WAY)]] if trees[r] else rows[r, :k]
        assert torch.equal(here, alone[r][: len(here)]), (starts[r], k)


def test_a_row_is_the_same_in_two_halves(target, tokens):
    """As an early exit runs it: the first layers token by token, the others for all tokens together."""
    cached, half = target.cached(), target.layers // 2
    cached.prefill(tokens[:100])
    alone = torch.stack(one_by_one(cached, tokens[100:105]))
    cached.rewind([100])
    first = [cached.extend([[token]], layers=(0, half), logits=False).hidden[0] for token in tokens[100:105]]
    cached.rewind([100])
    rows = cached.extend(torch.cat(first)[None], layers=(half, target.layers), depths=DEPTHS[1:]).logits[0]
    assert torch.equal(rows, alone[:, : rows.shape[1]])


def test_without_loops_it_would_not_be(lab, tokens, full, monkeypatch):
    """So this file does see a bit that differs; and without numba the model does not say that none does."""
    if lab.target.device.type != "cpu":
        pytest.skip("on a GPU another question; see test_gpu")
    monkeypatch.setattr(loops, "SHORT", {})
    target = cut(lab.target, full)
    assert not target.same_bits and not all(compared(target, tokens))
