"""Logits to distributions, and distributions to tokens."""

import itertools

import pytest
import torch

from specdec_lab.engine.sampling import ACCEPT, DRAFT, RESAMPLE, Sampler, Uniforms, argmax_tokens, draw
from specdec_lab.engine.verify import residual
from specdec_lab.errors import LabError

P4 = torch.tensor([0.5, 0.3, 0.15, 0.05])


@pytest.mark.parametrize(
    ("sampler", "wanted"),
    [
        (Sampler(1.0, top_k=1), [1, 0, 0, 0]),
        (Sampler(1.0, top_k=3), [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0]),
        (Sampler(1.0, top_p=0.75), [0.625, 0.375, 0, 0]),
        (Sampler(1.0, min_p=0.31), [0.625, 0.375, 0, 0]),
        (Sampler(0), [1, 0, 0, 0]),
        (Sampler(1.0, top_k=99), [0.5, 0.3, 0.15, 0.05]),
        (Sampler(0.5), [0.25 / 0.365, 0.09 / 0.365, 0.0225 / 0.365, 0.0025 / 0.365]),
        # In this order, each on what the one before it left: 0.5/0.8 alone reaches 0.6, 0.5 would not have.
        (Sampler(1.0, top_k=2, top_p=0.6), [1, 0, 0, 0]),
        (Sampler(0.5, top_p=0.68), [1, 0, 0, 0]),
        (Sampler(1.0, top_k=3, min_p=0.5), [0.625, 0.375, 0, 0]),
        (Sampler(0.5, min_p=0.2), [0.25 / 0.34, 0.09 / 0.34, 0, 0]),
        # 0.5 and 0.3 of all are too few.
        (Sampler(1.0, top_p=0.81, min_p=0.2), [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0]),
    ],
)
def test_shapes_by_hand(sampler, wanted):
    found = sampler(P4.double().log())
    assert found.dtype == torch.float64 and found.tolist() == pytest.approx(wanted, abs=1e-7)


def test_of_tokens_as_likely_top_k_and_min_p_keep_all_and_top_p_takes_no_more_than_reach_it():
    even = torch.zeros(4)  # a quarter each, which has no rounding
    for sampler in (Sampler(1.0, top_k=1), Sampler(1.0, min_p=1.0)):
        assert sampler(even).tolist() == [0.25] * 4
    kept = {top_p: int((Sampler(1.0, top_p=top_p)(even) > 0).sum()) for top_p in (0.25, 0.26, 0.5, 0.75, 0.76)}
    assert kept == {0.25: 1, 0.26: 2, 0.5: 2, 0.75: 3, 0.76: 4}


def test_the_logits_are_left_alone_and_half_precision_gives_whole_sums():
    logits = torch.randn(5, 1000).bfloat16()
    kept = logits.clone()
    for sampler in (Sampler(0), Sampler(0.7, top_k=9, top_p=0.9, min_p=0.01)):
        assert torch.allclose(sampler(logits).sum(-1), torch.ones(5, dtype=torch.float64), atol=1e-12)
        assert torch.equal(logits, kept)


NAN, INF = float("nan"), float("inf")
OUT_OF_RANGE = {"temperature": (-1, NAN, INF), "top_k": (0,), "top_p": (0, 1.1), "min_p": (-0.01, 1.01, NAN)}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_settings_out_of_range_are_refused(name):
    for value in OUT_OF_RANGE[name]:
        with pytest.raises(LabError, match="must"):
            Sampler(**{"temperature": 1.0, name: value})


@pytest.mark.parametrize("bad", [NAN, INF])
def test_logits_that_are_not_finite_are_one_sentence(bad):
    """One row of them is enough; minus infinity is a token that cannot come, unless nothing else can."""
    rows = torch.zeros(3, 4)
    rows[1, 2] = bad
    with pytest.raises(LabError, match="contain NaN or infinity"):
        Sampler(1.0)(rows)
    rows[1] = -float("inf")
    with pytest.raises(LabError, match="contain NaN or infinity"):
        Sampler(1.0)(rows)
    rows[1, 2] = 0.0
    assert Sampler(1.0)(rows)[1].tolist() == [0, 0, 1, 0]


def test_draw_never_gives_a_token_of_probability_zero():
    """Also for u just below 1, where the product with the total can round up."""
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


def test_a_token_comes_as_often_as_its_share_of_what_need_not_add_up_to_one():
    weights = torch.tensor([1.0, 0.0, 2.0, 1.0], dtype=torch.float64)
    assert [draw(weights, (i + 0.5) / 8) for i in range(8)] == [0, 0, 2, 2, 2, 2, 3, 3]
    assert draw(weights, 0.25) == 2 and draw(weights, 0.75) == 3  # an edge belongs to the token behind it
    assert draw(weights, 1 - 2**-53) == 3 and draw(torch.tensor([0.0, 1.0, 0.0]), 1 - 2**-53) == 1


def test_where_rounding_gives_a_token_of_probability_zero_the_one_before_it_is_taken(monkeypatch):
    """As on a GPU, whose running sum can fall."""
    monkeypatch.setattr("specdec_lab.engine.sampling.pick", lambda probs, u: torch.tensor(3))
    assert draw(torch.tensor([0.5, 0.5, 0.0, 0.0, 0.0]), 0.5) == 1
    assert draw(torch.tensor([0.5, 0.0, 0.3, 0.0, 0.2]), 0.5) == 2
    assert draw(torch.tensor([0.5, 0.0, 0.0, 0.5, 0.0]), 0.5) == 3


def test_a_number_belongs_to_seed_request_position_purpose_and_rank_whatever_is_asked_first():
    wanted = [(1030, ACCEPT, 0), (5, DRAFT, 3), (512, DRAFT, 0), (511, RESAMPLE, 0), (0, ACCEPT, 1)]
    a, b = Uniforms(3, 1), Uniforms(3, 1)
    assert [a(*w) for w in wanted] == [b(*w) for w in reversed(wanted)][::-1]
    assert [Uniforms()(i, DRAFT) for i in range(9)] == [Uniforms(0, 0)(i, DRAFT, 0) for i in range(9)]
    for seed, request in ((-1, 0), (2**32, 0), (0, 2**32), (0, -1)):
        with pytest.raises(LabError, match="must be between"):
            Uniforms(seed, request)
    Uniforms(2**32 - 1, 2**32 - 1)


def test_no_two_streams_share_a_number():
    """Whatever differs: the seed, the request, the rank, or that each number is asked for once. Else texts that are
    thought to be independent are not."""
    seen = []
    for seed, request in itertools.product(range(4), repeat=2):
        table = Uniforms(seed, request)
        seen += [table(i, purpose) for i in range(600) for purpose in range(3)]
        seen += [table(i, purpose, rank) for i in (0, 700) for purpose in range(3) for rank in range(1, 70)]
        fresh = [u(0, DRAFT) for u in (table.fresh(), table.fresh().fresh())]
        assert fresh == [u(0, DRAFT) for u in (table.fresh(), table.fresh().fresh())]
        u = table.fresh()
        seen += [u(0, DRAFT) for _ in range(9)]
        assert len({u.fresh()(0, DRAFT) for _ in range(9)}) == 9  # a batch asks so in each round
    assert len(set(seen)) == len(seen) and all(0 <= number < 1 for number in seen)
    assert sum(seen) / len(seen) == pytest.approx(0.5, abs=0.01)


def test_the_largest_logits_of_several_texts_are_read_together():
    one, other, nan = torch.tensor([[1.0, 5, 2], [9, 0, -float("inf")]]), torch.tensor([[0.0, 4, 4]]), float("nan")
    assert argmax_tokens([one, other]) == [[1, 0], [1]] and argmax_tokens([]) == []  # of equals the first
    assert argmax_tokens([one.half(), other.half()]) == [[1, 0], [1]]
    for bad in ([nan, 0, 0], [-float("inf")] * 3):
        with pytest.raises(LabError, match="NaN or infinity"):
            argmax_tokens([one, torch.tensor([bad])])
