"""Parts of training whose mistakes a trained student shows only slowly: means, steps, the head, what is drawn."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from specdec_lab.train import recipes
from specdec_lab.train.distill import Fit, Head, fit
from specdec_lab.train.loop import Optimizer, Text, mean_of


def test_a_mean_is_over_positions_and_not_over_batches():
    """Batches are of unequal size."""
    found = mean_of([Fit(1, 0.0, 1.0, 1.0), Fit(3, 4.0, 0.0, 0.5)])
    assert found == Fit(4, 3.0, 0.25, 0.625)


def test_each_step_starts_from_no_gradient_for_matrices_and_vectors():
    """Else those of all steps before would add up."""
    net = nn.Sequential(nn.Linear(4, 4, bias=False), nn.LayerNorm(4))
    optimizer, x = Optimizer(net), torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    assert len(optimizer.parts) == 2
    for _ in range(2):
        optimizer.step((net(x) ** 3).sum(), 1e-3)
        assert all(p.grad is None or not p.grad.any() for p in net.parameters())


def test_the_head_has_the_tokens_that_the_target_wrote_and_not_those_before_them(monkeypatch):
    monkeypatch.setattr(recipes, "FREQUENT", 3)
    tokens, own = np.array([[5, 6, 7, 7, 8]]), np.array([[False, True, True, False]])  # it wrote 7 and 7
    shard, tokenizer = SimpleNamespace(tokens=tokens, own=own), SimpleNamespace(all_special_ids=[2, 99])
    assert recipes.frequent_ids([shard], tokenizer, 10, [9]).tolist() == [2, 7, 9]


def test_probabilities_of_a_head_in_half_precision_are_whole():
    """Only the product is coarse: a softmax in 8 bits would take a hundredth of all that is to be learned."""
    weight = torch.randn(3000, 16, generator=torch.Generator().manual_seed(0))
    rows = torch.randn(50, 16, generator=torch.Generator().manual_seed(1))
    head = Head(weight.bfloat16())
    p = head.probabilities(rows)
    assert p.dtype == torch.float32 and (p.sum(-1) - 1).abs().max() < 1e-5
    assert fit(rows, rows, head).overlap == pytest.approx(1, abs=1e-5)


def test_shards_are_drawn_by_what_the_target_wrote_in_them():
    """So that each token of its own comes as often, also from a shard that is mostly users' words."""

    def shard(number, written):
        own = np.zeros((4, 10), dtype=bool)
        own[:, :written] = True
        tokens = np.full((4, 11), number)
        return SimpleNamespace(tokens=tokens, own=own, last=np.zeros((4, 10, 2)), answered=int(own.sum()))

    text, draw = Text([shard(0, 9), shard(1, 1)], [], torch.device("cpu")), np.random.default_rng(0)
    first = [int(text.random(1, draw)[0][0, 0]) for _ in range(400)]
    assert 0.05 < np.mean(first) < 0.15
