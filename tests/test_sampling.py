"""Logits to distributions, and distributions to tokens."""

import pytest
import torch

from specdec_lab.engine.sampling import ACCEPT, DRAFT, RESAMPLE, Sampler, Uniforms, draw
from specdec_lab.engine.verify import residual
from specdec_lab.errors import LabError

LOGITS = torch.tensor([2.0, 1.0, 0.5, 0.5, -1.0])


def test_temperature_shapes_the_softmax():
    assert torch.allclose(Sampler(1.0)(LOGITS), LOGITS.double().softmax(-1))
    assert torch.allclose(Sampler(0.5)(LOGITS), (LOGITS.double() / 0.5).softmax(-1))


def test_greedy_is_one_hot_and_the_limit_of_small_temperatures():
    assert Sampler(0)(LOGITS).tolist() == [1, 0, 0, 0, 0]
    assert torch.allclose(Sampler(1e-9)(LOGITS), Sampler(0)(LOGITS))


def test_top_k_keeps_k_and_ties():
    assert (Sampler(1.0, top_k=2)(LOGITS) > 0).tolist() == [True, True, False, False, False]
    assert (Sampler(1.0, top_k=3)(LOGITS) > 0).tolist() == [True, True, True, True, False]  # a tie
    assert torch.allclose(Sampler(1.0, top_k=99)(LOGITS), Sampler(1.0)(LOGITS))


def test_top_p_keeps_the_smallest_set_that_reaches_it():
    p = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    for top_p, kept in [(0.5, 1), (0.51, 2), (0.8, 2), (0.81, 3), (1.0, 4), (1e-6, 1)]:
        probs = Sampler(1.0, top_p=top_p)(p)
        assert int((probs > 0).sum()) == kept, top_p
        assert abs(float(probs.sum()) - 1) < 1e-12


def test_rows_are_shaped_one_by_one():
    rows = torch.randn(3, 4, 7)
    for sampler in (Sampler(0), Sampler(0.7, top_k=3), Sampler(1.3, top_p=0.6)):
        assert torch.equal(sampler(rows)[1, 2], sampler(rows[1, 2]))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_logits_are_one_sentence(bad):
    with pytest.raises(LabError, match="contain NaN or infinity"):
        Sampler(1.0)(torch.tensor([0.0, bad, 1.0]))


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"temperature": float("nan")}, {"top_k": 0}, {"top_p": 0}, {"top_p": 1.1}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(LabError, match="must"):
        Sampler(**{"temperature": 1.0, **wrong})


def test_draw_inverts_the_cumulative_distribution_and_never_gives_a_token_of_probability_zero():
    """Also for u just below 1, where the product with the total can round up."""
    p = torch.tensor([0.2, 0.0, 0.5, 0.3], dtype=torch.float64)
    assert [draw(p, u) for u in (0, 0.19, 0.21, 0.69, 0.71, 0.999)] == [0, 0, 2, 2, 3, 3]
    below_one = 1 - 2**-53
    for seed in range(200):
        p = torch.rand(50, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
        p[torch.rand(50, generator=torch.Generator().manual_seed(seed + 1)) < 0.6] = 0
        p[-1] = 0
        p = p / p.sum()
        for u in (0.0, below_one, 0.5):
            assert p[draw(p, u)] > 0


def test_residual_of_equal_distributions_is_not_nan():
    p = torch.tensor([0.5, 0.5], dtype=torch.float64)
    assert torch.equal(residual(p, p), p)


def test_uniforms_belong_to_position_and_purpose_and_a_negative_seed_is_refused():
    a, b = Uniforms(3, 1), Uniforms(3, 1)
    wanted = [(900, ACCEPT), (5, DRAFT), (5, RESAMPLE), (0, ACCEPT)]
    assert [a(*w) for w in wanted] == [b(*w) for w in reversed(wanted)][::-1]  # the order of asking is free
    everything = [
        u(i, k) for u in (Uniforms(3, 1), Uniforms(3, 2), Uniforms(4, 1)) for i in range(100) for k in range(3)
    ]
    assert len(set(everything)) == len(everything)
    assert all(0 <= u < 1 for u in everything)
    with pytest.raises(LabError, match="seed"):
        Uniforms(-1)
