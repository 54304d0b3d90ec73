"""What lesson 01 measures with: times that cannot be right are said to be so, and a small mixture of experts."""

from types import SimpleNamespace

import pytest
import torch

from specdec_lab.measure.costs import width_at
from specdec_lab.measure.doubts import doubts
from specdec_lab.measure.experts import Dense, Experts, block_times
from specdec_lab.measure.race import Race
from specdec_lab.show.lines import Line
from specdec_lab.theory import experts_woken


def times(noise: float = 0.0, **medians: float) -> dict[int, list[float]]:
    """Five samples around each median, in seconds: times(k1=0.010, k5=0.012)."""
    return {int(k[1:]): [m + step * noise for step in (-2, -1, 0, 1, 2)] for k, m in medians.items()}


@pytest.mark.parametrize(
    "quiet",
    [
        times(k1=0.010, k2=0.010, k5=0.012, k64=0.080),
        times(k1=0.010, k5=0.0098),  # within the noise of any clock
        times(k1=0.010, k5=0.0200, k8=0.0185),  # a program that changes its method
        times(noise=0.0001, k1=0.010, k5=0.010, k64=0.010),  # a wide machine: nothing rises, and nothing is wrong
        times(noise=0.001, k1=0.010, k5=0.012, k64=0.080),
        {1: [0.010, 0.010, 0.010, 0.010, 0.5], 5: [0.012] * 5},  # one slow moment
        {1: [0.010]},
    ],
)
def test_nothing_speaks_against_times_that_can_be_true(quiet):
    assert doubts(quiet) is None


@pytest.mark.parametrize(
    ("loud", "says"),
    [
        (times(k1=0.020, k5=0.015, k64=0.080), "5 tokens took 0.75 times as long as 1"),
        (times(k1=0.010, k5=0.0094), "5 tokens took 0.94 times as long as 1"),
        (times(k1=0.010, k16=0.080, k64=0.040), "64 tokens took 0.5 times as long as 16"),
        (times(k4=0.010, k2=0.020), "4 tokens took 0.5 times as long as 2"),  # in whatever order they come
        (times(k1=0.010, k5=0.008), "in each of 5 turns. Measure again, when nothing else runs: if it stays"),
        ({1: [0.010] * 4 + [0.007], 5: [0.008] * 5}, "as long as 1. Probably another program"),
        (times(noise=0.004, k1=0.010, k5=0.012), "differs by 8 ms from time to time, and 5 tokens by 2 ms from 1"),
    ],
)
def test_times_that_cannot_be_true_are_to_be_taken_again(loud, says):
    found = doubts(loud)
    assert says in found and "easure again, when nothing else runs" in found


@pytest.mark.parametrize(
    ("ratios", "says"),
    [
        ([1.5, 1.6, 1.7], None),
        ([2.5], "a round took 0.8 times as long as a plain step"),
        ([1.2, 1.6, 1.7], "1.2 times as fast in one race, 1.7 in another"),
    ],
)
def test_a_race_says_when_its_times_are_doubtful(ratios, says):
    two_tokens_a_pass = SimpleNamespace(tokens_per_pass=2.0)
    found = Race(ratios, plain=None, speculative=two_tokens_a_pass).doubt
    assert found is says is None or (says in found and found.endswith("measure again, when nothing else runs."))


def test_where_a_pass_takes_twice_as_long():
    T = times(k1=0.010, k5=0.010, k9=0.030)
    assert width_at(T, 2) == pytest.approx(7)
    assert width_at(T, 4) is None


def test_a_line_of_measured_times():
    line = Line.timed("T", times(noise=0.001, k1=0.010, k5=0.020))
    assert line.points == [(1, pytest.approx(10)), (5, pytest.approx(20))]
    assert line.spread[0] == (pytest.approx(8), pytest.approx(12))


def test_a_row_goes_through_the_experts_that_it_chose_and_no_others():
    experts, x = Experts(8, 16, experts=6, active=2), torch.randn(5, 8)
    scores = x @ experts.router.T
    for row, out in enumerate(experts(x)):
        best = scores[row].topk(2)
        parts = [experts.experts[i](x[row : row + 1])[0] for i in best.indices.tolist()]
        wanted = sum(share * part for share, part in zip(best.values.softmax(0), parts))
        assert torch.allclose(out, wanted, atol=1e-4, rtol=1e-4)
    assert experts.woken(x) == len(scores.topk(2).indices.unique())
    assert experts.woken(x[:1]) == 2


def test_experts_that_are_awake_weigh_as_much_as_the_dense_block():
    assert Experts(8, 16, experts=6, active=2).weights * 2 // 6 == Dense(8, 32).weights


def test_the_number_of_experts_that_wake():
    assert [round(experts_woken(32, 4, k), 2) for k in (0, 1, 2, 5)] == [0, 4, 7.5, 15.59]
    experts = Experts(16, 4, experts=32, active=4)
    seen = [experts.woken(torch.randn(5, 16)) for _ in range(300)]
    assert sum(seen) / 300 == pytest.approx(experts_woken(32, 4, 5), abs=2)


def test_blocks_are_timed_in_turns(monkeypatch):
    monkeypatch.setattr("specdec_lab.measure.experts.SWEEP", 8)
    found = block_times({"dense": Dense(8, 8), "experts": Experts(8, 4, experts=4, active=2)}, [1, 3], samples=2)
    assert {name: {k: len(s) for k, s in T.items()} for name, T in found.items()} == {
        "dense": {1: 2, 3: 2},
        "experts": {1: 2, 3: 2},
    }
    assert all(s > 0 for T in found.values() for seconds in T.values() for s in seconds)
