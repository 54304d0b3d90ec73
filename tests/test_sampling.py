"""Logits to distributions, and distributions to tokens."""

import itertools

import pytest
import torch

from specdec_lab.engine.greedy import argmax_tokens, one_hot
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


def test_top_p_that_is_reached_exactly_takes_no_further_token():
    even = torch.zeros(4)  # a quarter each, which has no rounding
    assert [int((Sampler(1.0, top_p=top_p)(even) > 0).sum()) for top_p in (0.25, 0.26, 0.5, 0.75, 0.76)] == [
        1,
        2,
        2,
        3,
        4,
    ]


def test_rows_are_shaped_one_by_one():
    rows = torch.randn(3, 4, 7)
    for sampler in (Sampler(0), Sampler(0.7, top_k=3), Sampler(1.3, top_p=0.6), Sampler(0.8, min_p=0.4)):
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


P4 = torch.tensor([0.5, 0.3, 0.15, 0.05])


@pytest.mark.parametrize(
    ("sampler", "wanted"),
    [
        (Sampler(1.0, top_k=1), [1, 0, 0, 0]),
        (Sampler(1.0, top_k=3), [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0]),
        (Sampler(1.0, top_k=4), [0.5, 0.3, 0.15, 0.05]),
        (Sampler(1.0, top_p=0.75), [0.625, 0.375, 0, 0]),
        (Sampler(1.0, min_p=0.31), [0.625, 0.375, 0, 0]),
        (Sampler(1.0, min_p=1.0), [1, 0, 0, 0]),
        (Sampler(1.0, min_p=0.0), [0.5, 0.3, 0.15, 0.05]),
        (Sampler(0.5), [0.25 / 0.365, 0.09 / 0.365, 0.0225 / 0.365, 0.0025 / 0.365]),
        # In this order, each on what the one before it left: .5/.8 alone reaches .6, .5 would not have.
        (Sampler(1.0, top_k=2, top_p=0.6), [1, 0, 0, 0]),
        (Sampler(0.5, top_p=0.68), [1, 0, 0, 0]),
        (Sampler(1.0, top_k=3, min_p=0.5), [0.625, 0.375, 0, 0]),
        (Sampler(0.5, min_p=0.2), [0.25 / 0.34, 0.09 / 0.34, 0, 0]),
        (Sampler(1.0, top_p=0.81, min_p=0.2), [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0]),  # .5 and .3 of all are too few
    ],
)
def test_shapes_by_hand(sampler, wanted):
    found = sampler(P4.double().log())
    assert found.dtype == torch.float64 and found.tolist() == pytest.approx(wanted, abs=1e-7)


def test_what_is_just_as_likely_as_min_p_asks_is_kept():
    assert Sampler(1.0, min_p=1.0)(torch.zeros(4)).tolist() == [0.25] * 4


def test_the_logits_are_left_alone_and_half_precision_gives_whole_sums():
    logits = torch.randn(5, 1000).bfloat16()
    kept = logits.clone()
    for sampler in (Sampler(0), Sampler(0.7, top_k=9, top_p=0.9, min_p=0.01)):
        assert torch.allclose(sampler(logits).sum(-1), torch.ones(5, dtype=torch.float64), atol=1e-12)
        assert torch.equal(logits, kept)


@pytest.mark.parametrize("edge", [{"top_k": 1}, {"top_p": 1.0}, {"min_p": 0.0}, {"min_p": 1.0}, {"temperature": 0.0}])
def test_settings_at_the_edge_are_allowed(edge):
    Sampler(**{"temperature": 1.0, **edge})


@pytest.mark.parametrize("wrong", [{"min_p": -0.01}, {"min_p": 1.01}, {"temperature": float("inf")}, {"top_p": -0.5}])
def test_settings_just_past_the_edge_are_refused(wrong):
    with pytest.raises(LabError, match="must"):
        Sampler(**{"temperature": 1.0, **wrong})


def test_one_row_that_is_not_finite_is_enough():
    rows = torch.zeros(3, 4)
    rows[1] = -float("inf")  # nothing to choose from
    with pytest.raises(LabError, match="contain NaN or infinity"):
        Sampler(1.0)(rows)
    rows[1, 2] = 0.0
    assert Sampler(1.0)(rows)[1].tolist() == [0, 0, 1, 0]


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


def test_the_table_is_one_whatever_is_asked_first_and_twins_have_tables_of_their_own():
    far, near = Uniforms(3, 1), Uniforms(3, 1)
    late = far(1030, ACCEPT)
    for i in range(1031):
        last = near(i, ACCEPT)
    assert last == late and near(511, DRAFT) == far(511, DRAFT) and near(512, DRAFT) == far(512, DRAFT)
    ranks = [far(5, DRAFT, rank) for rank in range(4)]
    assert len(set(ranks)) == 4 and ranks == [Uniforms(3, 1)(5, DRAFT, rank) for rank in range(4)]
    numbers = [far(i, k, t) for i in range(2000) for k in range(3) for t in (0, 1)]
    assert len(set(numbers)) == len(numbers) and sum(numbers) / len(numbers) == pytest.approx(0.5, abs=0.01)


def test_fresh_numbers_are_new_each_time_and_belong_to_seed_and_request():
    def first(seed, request):
        fresh = Uniforms(seed, request).fresh()
        return [fresh(0, DRAFT), fresh(0, DRAFT), fresh.fresh()(7, ACCEPT)]

    assert first(1, 2) == first(1, 2) and len({*first(1, 2), *first(2, 1), *first(1, 3), *first(4, 2)}) == 12
    ranks = {Uniforms(1, 2)(0, k, rank) for k in range(3) for rank in range(70)}
    assert not ranks & set(first(1, 2))  # a stream of their own
    for seed, request in ((2**32, 0), (0, 2**32), (0, -1)):
        with pytest.raises(LabError, match="must be between"):
            Uniforms(seed, request)
    Uniforms(2**32 - 1, 2**32 - 1)


def test_the_three_purposes_have_three_numbers_at_every_position():
    table = Uniforms(3, 1)
    numbers = [table(i, purpose) for i in range(600) for purpose in (DRAFT, ACCEPT, RESAMPLE)]
    assert len(set(numbers)) == len(numbers)


def test_no_two_streams_share_a_number():
    """Whatever differs: the seed, the request, the rank, or that each number is asked for once. Else texts that are
    thought to be independent are not."""
    seen = []
    for seed, request in itertools.product(range(4), repeat=2):
        table = Uniforms(seed, request)
        seen += [table(i, purpose, rank) for i in (0, 700) for purpose in range(3) for rank in range(5)]
        fresh = table.fresh()
        seen += [fresh(0, DRAFT) for _ in range(9)]
    assert len(set(seen)) == len(seen)


def test_who_names_no_seed_and_no_request_gets_the_first_table():
    assert [Uniforms()(i, DRAFT) for i in range(9)] == [Uniforms(0, 0)(i, DRAFT, 0) for i in range(9)]


def test_favourites_of_several_texts_are_those_of_their_own_rows():
    nan, inf = float("nan"), float("inf")
    logits = torch.tensor([[[1.0, 5, 2], [9, 0, -inf], [nan, 0, 0]], [[0, 4, 4], [-inf] * 3, [0, 0, nan]]])
    assert argmax_tokens(logits, [2, 1]) == [[1, 0], [1]]  # of equals the first; what pads a text is not looked at
    assert argmax_tokens(logits.half(), [2, 0]) == [[1, 0], []]
    for used in ([3, 1], [2, 2]):
        with pytest.raises(LabError, match="NaN or infinity"):
            argmax_tokens(logits, used)


def test_one_hot_rows_have_no_more_columns_than_they_need():
    columns, p, q = one_hot([7, 3, 7], [3, 9])
    assert columns == [7, 3, 9]
    assert p.tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert q.tolist() == [[0, 1, 0], [0, 0, 1]]
    assert p.dtype == q.dtype == torch.float64
