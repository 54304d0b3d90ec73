"""A server under load, simulated and real, and the policies that decide how much it drafts."""

import random
from itertools import pairwise

import pytest
from tiny import TinyCached, TinyModel, slowed

from specdec_lab.drafters import LookupDrafter, ModelDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Keep, Request, Stops, plain, speculative
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.measure.costs import batch_costs, catch_up_cost, join_cost
from specdec_lab.measure.serving import (
    Arrival,
    ByConfidence,
    Outcome,
    Served,
    ServingLog,
    Step,
    StepCosts,
    always,
    bursts,
    one_step,
    sampled_rounds,
    scheduled,
    serve,
    simulate,
)

# A machine with a crossover: a pass is bound by memory up to 16 rows, then by arithmetic.
COSTS = StepCosts({(texts, gamma): max(1.0, texts * (gamma + 1) / 16) for texts in range(1, 65) for gamma in range(5)})


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """What the clock says."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    return now


@pytest.mark.parametrize("policy", [always(4), ByConfidence(COSTS, [Outcome(4, (0.9, 0.8, 0.7, 0.6))])])
def test_what_cannot_be_simulated_is_one_sentence(policy):
    """More texts than were priced, and no rounds to draw from."""
    with pytest.raises(LabError, match="What 65 texts with γ"):
        simulate([Arrival(0.0, 9)] * 65, policy, COSTS, [Outcome(4, (0.9, 0.8, 0.7, 0.6))], most=99)
    with pytest.raises(LabError, match="no rounds to draw from"):
        simulate([Arrival(0.0, 9)], policy, COSTS, [])


def test_the_schedule_takes_what_writes_most():
    """A pass takes its rows: free up to 8, then n(γ + 1)/8. E = 2.1 with γ = 1, 3 with γ = 3."""
    costs = StepCosts({(n, g): max(1.0, n * (g + 1) / 8) for n in range(1, 17) for g in (0, 1, 3)})
    assert costs.schedule({0: 1.0, 1: 2.1, 3: 3.0}) == [(1, 2, 3), (3, 16, 1)]  # 3 texts: 2.1/1 against 3/1.5
    assert costs.schedule({0: 1.0, 1: 1.5, 3: 1.8}) == [(1, 2, 3), (3, 5, 1), (6, 16, 0)]
    assert costs.crossover(1, 1.5) == 6  # 6 texts: 1.5 steps for 1.5 tokens
    policy = scheduled([(1, 2, 3), (3, 5, 1), (6, 16, 0)])
    assert [policy(n, 0) for n in (1, 2, 3, 5, 6, 16, 99)] == [3, 3, 1, 1, 0, 0, 0]


def test_a_schedule_only_falls():
    """With 2 texts one draft seems dear, by chance; it pays with 1 and with 3, and with 4 it does not."""
    prices = {(n, 0): 1.0 for n in range(1, 6)} | {(n, 1): 1.4 for n in range(1, 4)} | {(4, 1): 1.7, (5, 1): 1.9}
    costs = StepCosts(prices | {(2, 1): 1.6})
    assert costs.schedule({0: 1.0, 1: 1.53}) == [(1, 3, 1), (4, 5, 0)]


def test_the_numbers_of_a_log_by_hand():
    log = ServingLog(
        served=[Served(2.0, 3.0, 6.0, 4), Served(1.0, 1.5, 11.0, 5), Served(3.0, 5.0, 6.5, 7)],
        steps=[Step(0, 1, 1, g, 1) for g in (0, 0, 2, 4, 0, 1)],
    )
    assert [s.per_token for s in log.served] == [1.0, 2.0, 0.5]  # from arrival, not from the first step
    assert log.throughput == 16 / 10 and log.mean == pytest.approx(3.5 / 3)
    assert (log.percentile(0.3), log.percentile(0.5), log.percentile(0.95), log.percentile(1.0)) == (0.5, 1.0, 2.0, 2.0)
    assert log.switches == 3 and ServingLog().switches == 0


def test_a_simulation_step_by_step():
    """γ by the number of texts and by the γ before; drafts from the table; nothing past what was asked for."""
    seen, accepted = [], [2]

    def policy(running, last):
        seen.append((running, last))
        return 3 if running == 1 else 1

    costs = StepCosts({(n, g): 10.0 * n + g for n in (1, 2, 3) for g in (1, 3)}, join=0.5)
    log = simulate([Arrival(20.0, 3), Arrival(1.0, 7), Arrival(12.0, 4)], policy, costs, accepted)
    # At 1.0 the first alone: 13.5 s, 3 tokens. At 14.5 the second joins: 21.5 s, 2 each. At 36.0 the third: 31.5 s; the
    # first ends with its 7th, the second with its 4th. Then the third alone ends with its last.
    assert [(s.at, s.seconds, s.running, s.gamma, s.tokens) for s in log.steps] == [
        (1.0, 13.5, 1, 3, 3), (14.5, 21.5, 2, 1, 4), (36.0, 31.5, 3, 1, 6), (67.5, 13.0, 1, 3, 1),
    ]  # fmt: skip
    assert seen == [(1, 0), (2, 3), (3, 1), (1, 1)]
    assert [(s.at, s.begun, s.done, s.tokens) for s in log.served] == [
        (1.0, 1.0, 67.5, 7), (12.0, 14.5, 67.5, 4), (20.0, 36.0, 80.5, 3),
    ]  # fmt: skip


def test_drafts_that_come_back_pay_for_what_they_missed():
    """Two steps without drafts write a token each for two texts; the third step drafts, and the fourth owes nothing."""
    gammas = iter([0, 0, 1, 1])
    costs = StepCosts({(n, g): 10.0 for n in (1, 2) for g in (0, 1)}, catch_up=0.25)
    log = simulate([Arrival(0.0, 6), Arrival(0.0, 6)], lambda running, last: next(gammas), costs, [1])
    assert [(s.seconds, s.tokens) for s in log.steps] == [(10.0, 2), (10.0, 2), (11.0, 4), (10.0, 4)]


def test_a_real_run_by_a_clock_that_is_told(monkeypatch):
    """Steps take 1.0; the second comes while the first runs, the third after all are done."""
    now, slept = [50.0], []

    def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr("time.sleep", sleep)
    target = TinyModel(5, seed=1)
    batch = Batch(target, most=4)
    step = batch.step

    def slow(gamma, seconds=None):
        now[0] += 1.0
        return step(gamma)

    batch.step = slow
    asked = []

    def request(i, arrival):
        asked.append((i, arrival.at))
        return Request(target, [i], LookupDrafter(), stops=Stops(arrival.tokens))

    said, policy = [], scheduled([(1, 1, 2)])
    log = serve(batch, [Arrival(9.0, 1), Arrival(0.0, 3), Arrival(0.5, 1)], request, policy, said.append)
    assert [step.gamma for step in log.steps] == [2, 0, 2, 2] and said[-1] == "3 of 3 requests done"
    assert asked == [(1, 0.0), (2, 0.5), (0, 9.0)]
    assert [(s.at, s.begun, s.done, s.tokens) for s in log.served] == [
        (0.5, 1.0, 2.0, 1), (0.0, 0.0, 3.0, 3), (9.0, pytest.approx(9.0, abs=0.051), pytest.approx(10.0, abs=0.051), 1),
    ]  # fmt: skip
    assert [(s.running, s.tokens) for s in log.steps] == [(1, 1), (2, 2), (1, 1), (1, 1)]
    assert [s.seconds for s in log.steps] == pytest.approx([1.0] * 4)
    assert sum(slept) == pytest.approx(6.0) and max(slept) == 0.05


def test_costs_lie_on_lines_between_the_measured_ones():
    costs = StepCosts({(2, 0): 1.0, (4, 0): 4.0, (2, 2): 2.0, (4, 2): 8.0})
    assert costs(3, 0) == pytest.approx(2.5) and costs(3, 2) == pytest.approx(5.0) and costs(4, 2) == 8.0
    assert costs(1, 0) == 1.0  # with fewer than were measured, as with the fewest
    for texts, gamma in ((5, 0), (2, 1)):
        with pytest.raises(LabError, match=f"{texts} texts with γ = {gamma} cost was not measured"):
            costs(texts, gamma)


def test_the_crossover_is_where_drafts_no_longer_pay():
    """n texts with γ = 1 cost n times as much as one alone, plainly they cost 1 always: 1.5 tokens for 1, 1.5 for 1.5 …"""
    costs = StepCosts({(n, g): 1.0 if g == 0 else n / 2 for n in (1, 2, 3, 4, 6) for g in (0, 1)})
    assert costs.crossover(1, 1.5) == 3 and costs.crossover(1, 1.51) == 4  # at a tie they do not pay
    assert costs.crossover(1, 0.5) == 1 and costs.crossover(1, 3.01) is None
    assert costs.crossover(1, 2.5) == 5  # on the line between 4 and 6
    # Where plain steps grow, too, drafts pay longer than beside a step of one text.
    grows = StepCosts({(n, g): n * (1.0 + g * n / 10) for n in range(1, 9) for g in (0, 1)})
    assert grows.crossover(1, 1.55) == 6  # 6 texts: 1.6 plain steps of 6 texts for 1.55 tokens
    slow = StepCosts({(n, g): 1.0 if g == 0 else 9.0 if n == 2 else n / 2 for n in (1, 2, 3, 4, 6) for g in (0, 1)})
    assert slow.crossover(1, 1.6) == 4  # one slow moment, with 2 texts, is not the border


def test_arrivals_have_their_rates_and_their_seed():
    rates = [(1000, 0.5), (1000, 0.0), (1000, 2.0)]
    arrivals = bursts(rates, tokens=(5, 9), seed=0)
    early, middle, late = (sum(1000 * i <= a.at < 1000 * (i + 1) for a in arrivals) for i in range(3))
    assert 420 < early < 580 and middle == 0 and 1850 < late < 2150 and early + late == len(arrivals)
    assert {a.tokens for a in arrivals} == set(range(5, 10))
    assert arrivals == bursts(rates, tokens=(5, 9), seed=0) != bursts(rates, tokens=(5, 9), seed=1)
    gaps = [b.at - a.at for a, b in pairwise(bursts([(4000, 1.0)], seed=1))]
    assert min(gaps) >= 0
    assert sum(g > 1 for g in gaps) / len(gaps) == pytest.approx(0.368, abs=0.03)  # as a Poisson process waits


def test_batches_are_timed_with_the_drafts_they_name(monkeypatch, now):
    """Each row of a pass takes 1.0: n texts with γ drafts take n(γ + 1). And a prompt takes its tokens."""
    target = TinyModel(5, seed=1, context=400)
    slowed(target, now, len)
    join, held = TinyCached.join, []
    monkeypatch.setattr(TinyCached, "join", lambda self, other: held.append(other.lengths[0]) or join(self, other))
    costs = batch_costs(target, [0, 1, 2], sizes=(1, 3), gammas=(0, 1, 4), samples=2)
    assert costs == {(n, g): n * (g + 1) for n in (1, 3) for g in (0, 1, 4)}
    assert set(held) == {2}  # behind the whole prompt, of which a step reads the last token
    assert join_cost(target, [0, 1, 2, 3], samples=2) == 3.0  # all but the last token
    once = [100.0]
    slowed(target, now, lambda row: once.pop() if once else 0.0)
    assert join_cost(target, [0, 1, 2, 3], samples=1) == 3.0  # a first join that is slow does not count
    assert not once
    drafting, asked = LookupDrafter.drafting, []
    monkeypatch.setattr(LookupDrafter, "drafting", lambda *a: asked.append(a[2]) or drafting(*a))
    assert set(batch_costs(target, [0, 1], sizes=(2,), gammas=(2,), samples=2, drafter=LookupDrafter())) == {(2, 2)}
    assert asked == [2] * 2 * 3  # each text in each step, one of which warms up


def test_what_a_drafter_missed_is_timed_a_token(now):
    """Two texts, and a drafter that takes 0.5 for each token that it has not read."""

    class Reads(LookupDrafter):
        def drafting(self, text, gamma, sampler, uniforms):
            now[0] += 0.5 * (len(text) - getattr(self, "read", 0)) if gamma else 0.0
            self.read = len(text) if gamma else getattr(self, "read", 0)
            return Proposal([])

    target = TinyModel(5, seed=1, context=400)
    assert catch_up_cost(target, Reads(), [0, 1, 2], texts=2, missed=3, samples=3) == 0.5
    assert catch_up_cost(target, LookupDrafter(), [0, 1, 2], texts=2, missed=3, samples=3) == 0.0


def test_each_row_costs_no_less_than_the_last():
    free = {(n, g): max(1.0, n * (g + 1) / 8) for n in (1, 4) for g in (0, 1, 2, 4)} | {(4, 2): 2.2}  # a bump
    costs = StepCosts({key: seconds + 0.1 * key[1] for key, seconds in free.items()}, free=free)
    seconds = costs.seconds_by_rows(4, 4)
    assert (seconds(4), seconds(20)) == pytest.approx((1.0 + 0.4, 2.5 + 0.4))  # all are drafted, whatever is checked
    assert seconds(12) == pytest.approx(1.5 + 0.4)  # between 8 and 20 rows, without the bump
    assert StepCosts(free).seconds_by_rows(1, 2)(3) == 1.0  # drafts that cost nothing
    for seed in range(20):
        dice = random.Random(seed)
        free = {(4, g): g + dice.expovariate(1.0) for g in range(8)}
        seconds = StepCosts(free).seconds_by_rows(4, 7)
        prices = [seconds(n + 1) - seconds(n) for n in range(4, 32)]
        assert all(b >= a - 1e-9 for a, b in pairwise(prices))
        assert all(seconds(4 * (g + 1)) <= cost + 1e-9 for (_, g), cost in free.items())


SURE, UNSURE = Outcome(4, (0.95, 0.9, 0.9, 0.85)), Outcome(0, (0.2, 0.05, 0.02, 0.01))


def test_a_policy_may_choose_the_drafts_by_its_own_function():
    policy = ByConfidence(COSTS, [SURE])
    policy.to_check = lambda chances, seconds: [len(chances[0]), 0, 0]
    assert one_step([SURE] * 3, 4, COSTS, policy)[0] == [1 + SURE.accepted, 1, 1]
    policy.best = {n: n for n in COSTS.sizes}
    assert [policy(n, 0) for n in (1, 5, 99)] == [1, 5, 64]


def test_a_real_server_checks_what_pays_its_row():
    target, draft = TinyModel(4, seed=1, context=200), TinyModel(4, seed=2, spread=3.0, context=200)
    costs = StepCosts({(n, g): max(1.0, n * (g + 1) / 5) for n in (1, 2, 3) for g in (0, 4)})
    batch, prompts, traces = Batch(target, 3), [[1, 2, 3], [3, 0], [2, 3]], []

    def request(i, arrival):
        return Request(target, prompts[i], ModelDrafter(draft), stops=Stops(arrival.tokens), uniforms=Uniforms(0, i))

    submit = batch.submit
    batch.submit = lambda request: traces.append(submit(request)) or traces[-1]
    log = serve(batch, [Arrival(0.0, 12)] * 3, request, ByConfidence(costs, [SURE, UNSURE]))
    assert sum(step.tokens for step in log.steps) == 36
    assert len({len(r.drafted) for trace in traces for r in trace.rounds}) > 1
    for prompt, trace in zip(prompts, traces):
        assert trace.tokens == Trace(prompt).collect(plain(target, prompt, stops=Stops(12))).tokens


def test_outcomes_have_the_chances_that_the_draft_gave():
    target, draft = TinyModel(4, seed=1), TinyModel(4, seed=2)
    run = speculative(target, ModelDrafter(draft), [1, 2], gamma=2, stops=Stops(12), keep=Keep(top=2))
    trace = Trace([1, 2]).collect(run)
    found = sampled_rounds([trace])
    whole = [r for r in trace.rounds if r.stop is None]
    assert [o.accepted for o in found] == [r.accepted for r in whole]
    for o, r in zip(found, whole):
        text = [*trace.prompt, *trace.tokens][: r.start]
        first, second = draft.probabilities(text).max(), draft.probabilities(text, [r.drafted[0].id]).max()
        assert o.chances == pytest.approx([float(first), float(first * second)])
    with pytest.raises(LabError, match="without the drafts' favourites"):
        sampled_rounds(
            [Trace([1, 2]).collect(speculative(target, ModelDrafter(draft), [1, 2], gamma=2, stops=Stops(12)))]
        )
