"""A server under load, simulated and real, and the policies that decide how much it drafts."""

import pytest
from tiny import TinyModel

from specdec_lab.drafters import LookupDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request, Stops
from specdec_lab.errors import LabError
from specdec_lab.measure.costs import batch_costs, join_cost
from specdec_lab.measure.serving import (
    Arrival,
    StepCosts,
    always,
    bursts,
    load_aware,
    never,
    scheduled,
    serve,
    simulate,
)

# A machine with a crossover: a pass is bound by memory up to 16 rows, then by arithmetic.
COSTS = StepCosts({(texts, gamma): max(1.0, texts * (gamma + 1) / 16) for texts in range(1, 65) for gamma in range(5)})
ACCEPTED = [0, 1, 2, 4, 4]  # mean 2.2: 3.2 tokens a round with γ = 4


class Watched(LookupDrafter):
    """Notes each time that it is asked."""

    def __init__(self, asked: list):
        super().__init__()
        self.asked = asked

    def propose(self, text, gamma, sampler, uniforms):
        self.asked.append(gamma)
        return super().propose(text, gamma, sampler, uniforms)


def test_one_request_alone_takes_its_steps():
    record = simulate([Arrival(3.0, 32)], never, COSTS, ACCEPTED)
    assert [(s.at, s.begun, s.done, s.tokens) for s in record.served] == [(3.0, 3.0, 35.0, 32)]
    assert record.mean == record.percentile(0.95) == 1.0
    assert record.throughput == 1.0
    fast = simulate([Arrival(0.0, 10_000)], always(4), COSTS, ACCEPTED)
    assert fast.mean == pytest.approx(1 / 3.2, rel=0.03)  # E tokens a step of the same length
    assert simulate([Arrival(0.0, 10_000)], always(1), COSTS, ACCEPTED).mean == pytest.approx(1 / 1.8, rel=0.03)


def test_texts_wait_when_the_batch_is_full_and_leave_when_done():
    record = simulate([Arrival(0.0, 4), Arrival(0.0, 4), Arrival(0.0, 4)], never, COSTS, ACCEPTED, most=2)
    assert [step.running for step in record.steps] == [2] * 4 + [1] * 4
    assert [s.done for s in record.served] == [4.0, 4.0, 8.0]
    assert record.served[2].begun == 4.0 and record.served[2].per_token == 2.0


def test_a_prompt_delays_the_step_in_which_it_joins():
    costs = StepCosts({(n, 0): 1.0 for n in (1, 2)}, join=0.5)
    record = simulate([Arrival(0.0, 2), Arrival(0.1, 2)], never, costs, ACCEPTED)
    assert [step.seconds for step in record.steps] == [1.5, 1.5, 1.0]


def test_costs_between_the_measured_ones_lie_on_lines():
    costs = StepCosts({(1, 0): 1.0, (4, 0): 4.0, (1, 2): 2.0, (4, 2): 8.0})
    assert costs(2, 0) == pytest.approx(2.0) and costs(3, 2) == pytest.approx(6.0)
    for texts, gamma in ((5, 0), (1, 1)):
        with pytest.raises(LabError, match="was not measured"):
            costs(texts, gamma)


def test_hysteresis_stops_the_flapping():
    """Around its limit a policy without hysteresis switches again and again."""
    plain, calm = load_aware(4, off_above=6), load_aware(4, off_above=6, on_below=4)
    assert [plain(n, 4) for n in (6, 7)] == [plain(n, 0) for n in (6, 7)] == [4, 0]
    assert [calm(n, 4) for n in (3, 4, 6, 7)] == [4, 4, 4, 0]
    assert [calm(n, 0) for n in (3, 4, 6, 7)] == [4, 0, 0, 0]
    arrivals = bursts([(600, 0.15)], seed=3)
    flapping, steady = (simulate(arrivals, p, COSTS, ACCEPTED).switches for p in (plain, calm))
    assert flapping > 2 * steady > 0  # not that it were faster: switching costs nothing here


def test_a_load_aware_policy_gets_both():
    """On bursty arrivals: as fast as always when the load is low, as never when it is full, and better than both."""
    aware = load_aware(4, off_above=8, on_below=7)  # 8 texts with γ = 4 are 40 rows: 2.5 steps, for 3.2 tokens

    def latency(rates, policy):
        record = simulate(bursts(rates, seed=1), policy, COSTS, ACCEPTED)
        return record.mean, record.percentile(0.95)

    low, full, both = [(2000, 0.02)], [(200, 1.2)], [(300, 0.02), (60, 0.6)] * 6
    for i in range(2):
        assert latency(low, aware)[i] <= 1.05 * latency(low, always(4))[i] < latency(low, never)[i]
        assert latency(full, aware)[i] <= 1.03 * latency(full, never)[i] < latency(full, always(4))[i]
        assert latency(both, aware)[i] < min(latency(both, p)[i] for p in (never, always(4)))


def test_arrivals_are_as_many_as_asked_for():
    arrivals = bursts([(1000, 0.5), (1000, 0.0), (1000, 2.0)], tokens=(5, 9), seed=0)
    early, middle, late = (sum(1000 * i <= a.at < 1000 * (i + 1) for a in arrivals) for i in range(3))
    assert 420 < early < 580 and middle == 0 and 1850 < late < 2150
    assert {a.tokens for a in arrivals} == set(range(5, 10))


def test_a_real_run_serves_all_and_tells_the_same_story():
    target = TinyModel(5, seed=1)
    arrivals = [Arrival(0.02 * i, 3 + i % 4) for i in range(12)]

    def request(i: int, arrival: Arrival) -> Request:
        return Request(target, [i % 5], LookupDrafter(), stops=Stops(arrival.tokens))

    said = []
    record = serve(Batch(target, most=3), arrivals, request, load_aware(3, off_above=2), said.append)
    assert sorted(s.tokens for s in record.served) == sorted(a.tokens for a in arrivals)
    assert sum(step.tokens for step in record.steps) == sum(a.tokens for a in arrivals)
    assert all(s.at <= s.begun < s.done for s in record.served)
    assert all(step.gamma == (3 if step.running <= 2 else 0) for step in record.steps)
    assert said[-1] == "12 of 12 requests done"


def test_the_schedule_takes_what_writes_most_for_each_number_of_texts():
    """A pass takes its rows: free up to 8, then n(γ + 1)/8. E = 2.1 with γ = 1, 3 with γ = 3."""
    costs = StepCosts({(n, g): max(1.0, n * (g + 1) / 8) for n in range(1, 17) for g in (0, 1, 3)})
    assert costs.schedule({0: 1.0, 1: 2.1, 3: 3.0}) == [(1, 2, 3), (3, 16, 1)]  # 3 texts: 2.1/1 against 3/1.5
    assert costs.schedule({0: 1.0, 1: 1.5, 3: 1.8}) == [(1, 2, 3), (3, 5, 1), (6, 16, 0)]
    assert costs.crossover(1, 1.5) == 6  # 6 texts: 1.5 steps for 1.5 tokens
    policy = scheduled([(1, 2, 3), (3, 5, 1), (6, 16, 0)])
    assert [policy(n, 0) for n in (1, 2, 3, 5, 6, 16, 99)] == [3, 3, 1, 1, 0, 0, 0]


def test_a_schedule_does_not_follow_small_chances_of_the_clock():
    """With 2 texts one draft seems dear, by chance: 2 % too dear is noise, 20 % is not."""
    for chance, found in ((1.01, [(1, 1, 1), (2, 4, 0)]), (0.95, [(1, 1, 1), (2, 2, 0), (3, 4, 1)])):
        prices = {(n, 0): 1.0 for n in range(1, 5)} | {(n, 1): 1.5 * chance for n in range(1, 5)}
        costs = StepCosts(prices | {(1, 1): 1.2, (2, 1): 1.6})
        assert costs.schedule({0: 1.0, 1: 1.53}) == found


def test_steps_of_a_real_batch_can_be_timed():
    target = TinyModel(5, seed=1, context=400)
    costs = batch_costs(target, [0, 1], sizes=(1, 3), gammas=(0, 2), samples=3)
    assert set(costs) == {(1, 0), (1, 2), (3, 0), (3, 2)}
    assert all(seconds > 0 for seconds in costs.values())
    drafted = batch_costs(target, [0, 1], sizes=(2,), gammas=(2,), samples=2, drafter=Watched(asked := []))
    assert set(drafted) == {(2, 2)} and asked == [2] * 2 * 3  # each text in each step, one of which warms up
    assert StepCosts(costs, join_cost(target, [0, 1], samples=2)).join > 0
    assert StepCosts(costs)(2, 2) > 0
