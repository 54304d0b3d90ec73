"""γ chosen by the round, on rounds whose costs and acceptance are known: never much slower than plain, near the best."""

import itertools
import random

import pytest
from tiny import TinyModel, slowed

from specdec_lab.drafters import HybridDrafter, LookupDrafter, ModelDrafter, Proposal, ReplayDrafter
from specdec_lab.engine.auto_gamma import AutoGamma, PartGamma
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.trace import ACCEPTED, CORRECTED, DISCARDED, REJECTED, Draft, Emitted, Round, Trace
from specdec_lab.measure import costs as costs_module
from specdec_lab.measure.costs import cached_round_costs, pass_times, round_costs

SMALL_CPU = [1.0, 1.12, 1.25, 1.37, 1.5, 1.65, 1.8, 1.95, 2.1]
FREE = [1.0, 1.02, 1.03, 1.04, 1.06, 1.1, 1.15, 1.2, 1.25]  # a lookup
DEAR = [1.0, 1.6, 2.1, 2.7, 3.3]  # a draft that is not small


def told(marks, parents=None):
    """A round whose drafts were accepted (+), rejected (x) or discarded (-)."""
    names = {"+": ACCEPTED, "x": REJECTED, "-": DISCARDED}
    parents = parents or range(-1, len(marks) - 1)
    drafts = tuple(Draft(0, 1, 1, 1, 1, 1, None, names[m], parent=p) for m, p in zip(marks, parents))
    return Round(0, drafts, Emitted(0, CORRECTED, 1, 1))


def simulate(choose, costs, alpha, tokens: int, seed: int = 0) -> float:
    """Cost per token. alpha(n, depth) is the acceptance rate after n tokens."""
    dice, cost, made = random.Random(seed), 0.0, 0
    while made < tokens:
        gamma = choose.choose() if isinstance(choose, PartGamma) else choose
        hits = 0
        while hits < gamma and dice.random() < alpha(made, hits):
            hits += 1
        if isinstance(choose, PartGamma):
            choose.observe(told(("+" * hits + "x" + "-" * gamma)[:gamma]))
        cost += costs[gamma]
        made += hits + 1
    return cost / made


@pytest.mark.parametrize("costs", [SMALL_CPU, FREE, DEAR])
@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.3, 0.5, 0.7, 0.95])
def test_near_the_best_and_never_much_slower_than_plain(costs, alpha):
    always = [simulate(g, costs, lambda n, i: alpha, 10_000) for g in range(len(costs))]
    auto = [simulate(PartGamma(costs), costs, lambda n, i: alpha, 3_000, seed) for seed in range(5)]
    assert max(auto) <= 1.03
    assert sum(auto) / 5 <= 1.06 * min(always)  # it has to find out


@pytest.mark.parametrize("costs", [SMALL_CPU, DEAR])
def test_a_short_text_pays_little_for_finding_out(costs):
    runs = [simulate(PartGamma(costs), costs, lambda n, i: 0.0, 64, seed) for seed in range(5)]
    assert sum(runs) / 5 < 1.15


def test_it_follows_a_text_that_changes():
    """Predictable and surprising stretches by turns: better than every fixed γ."""

    def alpha(n, depth):
        return 0.95 if n // 500 % 2 else 0.05

    fixed = [simulate(g, SMALL_CPU, alpha, 10_000) for g in range(len(SMALL_CPU))]
    assert simulate(PartGamma(SMALL_CPU), SMALL_CPU, alpha, 20_000) < 0.97 * min(fixed)


def test_it_turns_off_and_on_again_and_sees_that_later_heads_are_worse():
    auto = PartGamma(SMALL_CPU)
    simulate(auto, SMALL_CPU, lambda n, i: 0.0, 1_000)
    assert auto.choose() == 0
    simulate(auto, SMALL_CPU, lambda n, i: 0.95, 2_000)
    assert auto.choose() >= 4
    auto = PartGamma(SMALL_CPU)  # as of Medusa: the first guess is good, the third is not
    simulate(auto, SMALL_CPU, lambda n, i: (0.9, 0.6, 0.1, 0.05, 0, 0, 0, 0)[i], 3_000)
    assert auto.choose() == 2


def test_rests_between_trials_grow_and_only_what_was_tried_counts_as_a_trial():
    """A lookup, which seldom finds anything, must not wait all over again for having had nothing to say."""
    auto, tried = PartGamma(DEAR), []
    for n in range(900):
        if auto.choose() == 0:
            auto.observe(told(""))
            continue
        for _ in range(5):  # nothing to copy: the trial goes on
            auto.observe(told(""))
            assert auto.choose() > 0
        auto.observe(told("x"))
        tried.append(n)
    rests = [b - a for a, b in itertools.pairwise(tried) if b - a > 1]
    assert rests[0] > 10 and rests == sorted(rests) and rests[-1] == rests[-2] > 3 * rests[0]


def test_without_any_draft_to_choose_nothing_is_tried():
    auto = PartGamma([1.0])
    for _ in range(60):
        assert auto.choose() == 0
        auto.observe(told(""))


def test_the_engine_obeys_it_and_the_text_is_plain():
    target = TinyModel(4, seed=0)
    auto = AutoGamma({"model": SMALL_CPU})
    chosen, choose = [], auto.choose
    auto.choose = lambda part: chosen.append(choose(part)) or chosen[-1]
    trace = Trace([0, 1]).collect(
        speculative(target, ModelDrafter(TinyModel(4, seed=1)), [0, 1], gamma=auto, stops=Stops(50))
    )
    trace.check()
    assert trace.tokens == Trace([0, 1]).collect(plain(target, [0, 1], stops=Stops(50))).tokens
    assert [len(r.drafted) for r in trace.rounds] == chosen
    assert len(set(chosen)) > 1
    assert sum(auto.parts["model"].tested) > 0


def test_costs_are_measured_for_every_gamma(monkeypatch):
    """On a clock that knows the answer: each pass takes as long as it has rows, each draft 0.25. One is slow by chance."""
    now, passes = [0.0], itertools.count()
    target, draft = TinyModel(4, seed=0), TinyModel(4, seed=1)

    slowed(target, now, lambda row: 1.0 + 0.1 * (len(row) - 1) + 500.0 * (next(passes) % 50 == 49))
    slowed(draft, now, lambda row: 0.25)
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    costs = round_costs(target, ModelDrafter(draft), [0, 1, 2], 3)
    assert costs == pytest.approx([1.0, 1.1 + 0.25, 1.2 + 0.5, 1.3 + 0.75])
    times = pass_times(target, [1, 5], held=10, samples=3)
    assert {k: len(v) for k, v in times.items()} == {1: 3, 5: 3}
    assert sorted(times[5])[1] == pytest.approx(1.4)
    assert set(pass_times(target, [40], held=50, samples=1)) == {40}  # behind what the context leaves
    nothing = round_costs(target, LookupDrafter(), [0, 1, 2, 3], 2)
    assert nothing[0] == 1.0
    assert len(nothing) == 3


def test_costs_are_kept_for_each_pair_and_a_torn_file_is_measured_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    measured, said = itertools.count(2), []
    monkeypatch.setattr(costs_module, "round_costs", lambda *args: [1.0] * args[-1] + [float(next(measured))])
    target, draft = TinyModel(4, seed=0), ModelDrafter(TinyModel(4, seed=1))

    def last(drafter, most=1):
        return cached_round_costs(target, drafter, [0, 1], most, said.append)[-1]

    assert [last(draft), last(draft)] == [2.0, 2.0] and len(said) == 1
    assert last(LookupDrafter()) == 3.0 and last(draft) == 2.0
    assert last(draft, most=2) == 4.0
    target.capture = object()  # recorded passes have costs of their own
    assert last(draft) == 5.0
    target.dtype = "another number format"
    assert last(draft) == 6.0 and last(draft) == 6.0
    (tmp_path / "costs.json").write_text("[1, 2")
    assert last(draft) == 7.0
    (tmp_path / "costs.json").unlink()
    tmp_path.chmod(0o500)
    assert last(draft) == 8.0
    tmp_path.chmod(0o700)


def test_copies_and_guesses_of_the_hybrid_are_judged_apart():
    """Copies always hold here and guesses never do: the one must not be drafted less for the other's sake."""
    target = TinyModel(4, seed=0)
    plain_text = Trace([0, 1]).collect(plain(target, [0, 1], stops=Stops(60))).tokens
    hybrid = HybridDrafter(ReplayDrafter(plain_text, 0.0))
    hybrid.lookup.find = lambda text: 0 if len(text) % 3 == 0 else None
    hybrid.lookup.drafting = lambda text, gamma, *_: Proposal(
        plain_text[len(text) - 2 :][:gamma] if len(text) % 3 == 0 else []
    )
    auto = AutoGamma({"lookup": FREE, "replay": SMALL_CPU[:3]})
    trace = Trace([0, 1]).collect(speculative(target, hybrid, [0, 1], gamma=auto, stops=Stops(58)))
    assert trace.tokens == plain_text[:58]
    copies, guesses = auto.parts["lookup"], auto.parts["replay"]
    assert sum(copies.accepted) == pytest.approx(sum(copies.tested)) and sum(copies.tested) > 5
    assert sum(guesses.accepted) == 0 < sum(guesses.tested)
    assert copies.choose() > 2 > guesses.choose()


def test_the_hybrid_counts_the_rounds_of_both_its_parts(lab, monkeypatch):
    costs = {"lookup": FREE, "eagle": SMALL_CPU}
    monkeypatch.setattr(
        "specdec_lab.measure.costs.cached_round_costs", lambda target, drafter, *rest: costs[drafter.name]
    )
    assert lab.auto_gamma(lab.drafter("eagle")).parts["eagle"].costs == SMALL_CPU
    parts = lab.auto_gamma(lab.drafter("hybrid")).parts
    assert {name: part.costs for name, part in parts.items()} == {"lookup": FREE, "eagle": SMALL_CPU[:3]}


def test_the_drafts_of_a_tree_are_judged_by_their_order():
    """Two first drafts, then one behind the first: kept in 50, 30 and 25 of 100 rounds."""
    auto, dice = PartGamma(FREE), random.Random(0)
    for _ in range(4_000):
        u = dice.random()
        marks = ("+-+" if u < 0.25 else "+-x") if u < 0.5 else "x+-" if u < 0.8 else "xx-"
        auto.observe(told(marks, parents=(-1, -1, 0)))
    found = auto.emitted()
    assert found[1:4] == pytest.approx([1.5, 1.8, 2.05], abs=0.25)  # about 25 drafts are remembered
    for _ in range(50):  # a draft beside a better one is never thought likelier than that one
        auto.observe(told("x+-", parents=(-1, -1, 1)))
    gains = [b - a for a, b in itertools.pairwise(auto.emitted())]
    assert all(0 < later <= earlier <= 1 for earlier, later in itertools.pairwise(gains))
