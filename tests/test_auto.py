"""γ chosen by the round, on rounds whose costs and acceptance are known: never much slower than plain, near the best."""

import itertools
import random

import pytest
from tiny import TinyModel, slowed

from specdec_lab.drafters import HybridDrafter, LookupDrafter, ModelDrafter, Proposal, ReplayDrafter
from specdec_lab.engine.auto_gamma import MEMORY, TRIAL, AutoGamma, PartGamma
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.trace import ACCEPTED, CORRECTED, DISCARDED, REJECTED, Draft, Emitted, Round, Trace
from specdec_lab.measure import costs as costs_module
from specdec_lab.measure.costs import cached_round_costs, pass_times, round_costs

SMALL_CPU = [1.0, 1.12, 1.25, 1.37, 1.5, 1.65, 1.8, 1.95, 2.1]
FREE = [1.0, 1.02, 1.03, 1.04, 1.06, 1.1, 1.15, 1.2, 1.25]  # a lookup
DEAR = [1.0, 1.6, 2.1, 2.7, 3.3]  # a draft that is not small


def simulate(choose, costs, alpha, tokens: int, seed: int = 0) -> float:
    """Cost per token. alpha(n, depth) is the acceptance rate after n tokens."""
    dice, cost, made = random.Random(seed), 0.0, 0
    while made < tokens:
        gamma = choose.choose() if isinstance(choose, PartGamma) else choose
        hits = 0
        while hits < gamma and dice.random() < alpha(made, hits):
            hits += 1
        marks = [ACCEPTED] * hits + ([REJECTED] if hits < gamma else [])
        marks += [DISCARDED] * (gamma - len(marks))
        drafts = tuple(Draft(0, 1, 1, 1, 1, 1, None, mark, parent=i - 1) for i, mark in enumerate(marks))
        if isinstance(choose, PartGamma):
            choose.observe(Round(0, drafts, Emitted(0, CORRECTED, 1, 1)))
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


def test_a_drafter_that_has_nothing_to_say_is_not_one_that_does_not_pay():
    """A lookup often finds nothing; a miss after many such rounds is no failed trial."""
    auto = PartGamma(FREE)
    nothing = Round(0, (), Emitted(0, CORRECTED, 1, 1))
    missed = Round(0, (Draft(0, 1, 1, 1, 1, 1, None, REJECTED),), Emitted(0, CORRECTED, 1, 1))
    for r in [nothing] * 40 + [missed]:
        assert auto.choose() > 0
        auto.observe(r)
    assert auto.patience == TRIAL and auto.idle == 0


def test_a_trial_that_finds_nothing_to_copy_goes_on_until_something_is_tried():
    """Else a lookup, which seldom finds anything, would wait all over again for having had nothing to say."""
    auto = PartGamma(SMALL_CPU)
    nothing = Round(0, (), Emitted(0, CORRECTED, 1, 1))
    missed = Round(0, (Draft(0, 1, 1, 1, 1, 1, None, REJECTED),), Emitted(0, CORRECTED, 1, 1))
    while auto.choose() > 0:
        auto.observe(missed)
    for _ in range(TRIAL):
        assert auto.choose() == 0
        auto.observe(nothing)
    for r in [nothing] * 5 + [missed]:
        assert auto.choose() > 0 and auto.patience == TRIAL
        auto.observe(r)
    assert auto.choose() == 0 and auto.patience == 2 * TRIAL  # it has been tried now


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
    """On a clock that knows the answer: each pass takes as long as it has rows, each draft 0.25."""
    now = [0.0]
    target, draft = TinyModel(4, seed=0), TinyModel(4, seed=1)

    slowed(target, now, lambda row: 1.0 + 0.1 * (len(row) - 1))
    slowed(draft, now, lambda row: 0.25)
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    costs = round_costs(target, ModelDrafter(draft), [0, 1, 2], 3)
    assert costs == pytest.approx([1.0, 1.1 + 0.25, 1.2 + 0.5, 1.3 + 0.75])
    times = pass_times(target, [1, 5], held=10, samples=3)
    assert {k: len(v) for k, v in times.items()} == {1: 3, 5: 3}
    assert times[5] == pytest.approx([1.4] * 3)
    nothing = round_costs(target, LookupDrafter(), [0, 1, 2, 3], 2)
    assert nothing[0] == 1.0
    assert len(nothing) == 3


def test_costs_are_kept_and_a_torn_file_is_measured_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    count = itertools.count(2)
    monkeypatch.setattr(costs_module, "round_costs", lambda *args: [1.0, float(next(count))])
    target, draft = TinyModel(4, seed=0), ModelDrafter(TinyModel(4, seed=1))
    said = []
    assert [cached_round_costs(target, draft, [0, 1], 1, said.append) for _ in range(2)] == [[1.0, 2.0]] * 2
    assert len(said) == 1
    assert cached_round_costs(target, LookupDrafter(), [0, 1], 1) == [1.0, 3.0]  # another drafter
    assert cached_round_costs(target, draft, [0, 1], 1) == [1.0, 2.0]
    (tmp_path / "costs.json").write_text("[1, 2")
    assert cached_round_costs(target, draft, [0, 1], 1) == [1.0, 4.0]
    (tmp_path / "costs.json").unlink()
    tmp_path.chmod(0o500)
    assert cached_round_costs(target, draft, [0, 1], 1) == [1.0, 5.0]
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
        marks = (ACCEPTED, DISCARDED, ACCEPTED if u < 0.25 else REJECTED)
        marks = marks if u < 0.5 else (REJECTED, ACCEPTED if u < 0.8 else REJECTED, DISCARDED)
        drafts = tuple(Draft(0, 1, 1, 1, 1, 1, None, mark, parent=parent) for mark, parent in zip(marks, (-1, -1, 0)))
        auto.observe(Round(0, drafts, Emitted(0, CORRECTED, 1, 1)))
    found = auto.emitted()
    assert found[1:4] == pytest.approx([1.5, 1.8, 2.05], abs=0.25)  # about 25 drafts are remembered


def test_a_tree_whose_way_goes_to_its_end_is_no_failed_trial():
    """Some drafts of a tree are always left over."""
    marks = {TRIAL: (ACCEPTED, DISCARDED), 2 * TRIAL: (ACCEPTED, DISCARDED, REJECTED)}
    for patience, of_drafts in marks.items():
        auto = PartGamma(DEAR)
        auto.asked, auto.trial, auto.patience = 2, True, TRIAL
        drafts = tuple(
            Draft(0, 1, 1, 1, 1, 1, None, mark, parent=parent) for mark, parent in zip(of_drafts, (-1, -1, 0))
        )
        auto.observe(Round(0, drafts, Emitted(0, CORRECTED, 1, 1)))
        assert auto.patience == patience


def told(marks, cut=False, parents=None):
    parents = parents or range(-1, len(marks) - 1)
    names = {"+": ACCEPTED, "x": REJECTED, "-": DISCARDED}
    drafts = tuple(Draft(0, 1, 1, 1, 1, 1, None, names[m], parent=p) for m, p in zip(marks, parents))
    return Round(0, drafts, None if cut else Emitted(0, CORRECTED, 1, 1), "eos" if cut else None)


def test_what_is_expected_before_any_test_and_after_some():
    """The prior: half of the first drafts, on the weight of four tests; each further depth as the one before it."""
    auto = PartGamma([1.0, 1.1, 1.2, 1.3])
    assert auto.emitted() == pytest.approx([1, 1.5, 1.75, 1.875])
    auto.observe(told("+x-"))  # first: 1 of 1; second: 0 of 1; third never tested
    first = (1 + 4 * 0.5) / 5
    second = 4 * first / 5
    assert auto.emitted() == pytest.approx(
        [1, 1 + first, 1 + first + first * second, 1 + first + first * second * (1 + second)]
    )
    auto.observe(told("x--"))
    assert auto.tested == pytest.approx([MEMORY + 1, 1, 0]) and auto.accepted == pytest.approx([MEMORY, 0, 0])
    auto.observe(told("++-", cut=True))  # what a stop cut off was not refused
    assert auto.tested == pytest.approx([MEMORY**2 + MEMORY + 1, MEMORY + 1, 0])
    assert auto.accepted == pytest.approx([MEMORY**2 + 1, 1, 0])
    auto.observe(told("+++"))
    assert auto.tested[2] == auto.accepted[2] == 1


def test_many_tests_forget_the_prior_and_the_oldest():
    auto = PartGamma([1.0, 1.1])
    for mark in "x" * 300 + "+" * 25:
        auto.observe(told(mark))
    share = auto.accepted[0] / auto.tested[0]
    assert auto.tested[0] == pytest.approx(25, rel=0.01) and share == pytest.approx(1 - MEMORY**25, rel=0.01)
    assert auto.emitted()[1] == pytest.approx(1 + (auto.accepted[0] + 2) / (auto.tested[0] + 4))


def test_a_trial_comes_after_its_rest_and_rests_grow_up_to_a_limit():
    auto, drafted = PartGamma([1.0, 3.0, 2.9]), []
    for n in range(900):
        gamma = auto.choose()
        if gamma:
            drafted.append(n)
            assert gamma == 2  # of 1 and 2 the better one
        auto.observe(told("x-"[:gamma]))
    assert [b - a - 1 for a, b in itertools.pairwise([-1, *drafted])] == [24, 48, 96, 192, 192, 192]
    auto.patience, auto.idle = 48, 48
    assert auto.choose() == 2 and auto.trial
    auto.observe(told("++"))  # a trial that went well
    assert (auto.patience, auto.idle) == (TRIAL, 0)


def test_without_any_draft_to_choose_nothing_is_tried():
    auto = PartGamma([1.0])
    for _ in range(60):
        assert auto.choose() == 0
        auto.observe(told(""))
    assert not auto.trial and auto.emitted() == [1.0]


def test_round_costs_are_medians_of_whole_rounds_in_plain_steps(monkeypatch):
    """Some rounds have fewer drafts than they may: those count for no γ. One slow moment moves nothing."""
    now, slow = [0.0], itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    target = TinyModel(4, seed=0, context=4000)
    slowed(target, now, lambda row: 2.0 * len(row) + (500.0 if next(slow) % 9 == 0 else 0.0))

    class Sometimes(ReplayDrafter):
        """Two drafts in every third round, else one."""

        def drafting(self, text, gamma, sampler, uniforms):
            return Proposal([3] * min(gamma, 2 if len(text) % 3 == 0 else 1))

    costs = round_costs(target, Sometimes([], 1.0), [0, 1, 2], 3, samples=15)
    assert costs == [1.0, 2.0, 3.0, 3.0]  # never three drafts: as with two
    with monkeypatch.context() as m:
        m.setattr("specdec_lab.engine.decode.plain", lambda target, prompt, **_: asked.append(len(prompt)) or iter(()))
        asked = []
        with pytest.raises(IndexError):  # of these rounds there is none
            round_costs(TinyModel(4, seed=0, context=40), Sometimes([], 1.0), [0] * 30, 1)
        assert asked == [10]  # a quarter of the context


def test_passes_are_timed_behind_what_is_held_and_from_a_layer_on(monkeypatch):
    now, held = [0.0], []
    target = TinyModel(4, seed=0, context=64)
    make = target.cached

    def cached(rows=1):
        cache = make(rows)
        extend = cache.extend

        def slow(new, layers=None, **options):
            assert layers == (1, 2) or all(0 <= token < 4 for token in new[0])
            held.append((cache.lengths[0], len(new[0]), layers))
            now[0] += len(new[0]) * (1 if layers is None or layers[0] == 0 else 0.5)
            return extend(new, layers=layers, **options)

        cache.extend = slow
        return cache

    target.cached = cached
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    times = pass_times(target, [1, 4], held=10, samples=2)
    assert times == {1: [1.0, 1.0], 4: [4.0, 4.0]}
    assert {h for h, *_ in held[1:]} == {10} and {layers for *_, layers in held[1:]} == {(0, 2)}
    held.clear()
    assert pass_times(target, [1, 40], held=50, samples=1) == {1: [1.0], 40: [40.0]}
    assert {h for h, *_ in held[1:]} == {24}  # what the context leaves
    held.clear()
    assert pass_times(target, [2, 3], samples=1, first=1) == {2: [1.0], 3: [1.5]}
    assert [(n, layers) for _, n, layers in held[1:]] == [(3, (0, 1)), *[(2, (1, 2)), (3, (1, 2))] * 2]


def test_kept_costs_are_those_of_this_target_and_drafter_and_captured_passes_have_their_own(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECDEC_LAB_CACHE", str(tmp_path))
    asked = []
    monkeypatch.setattr(costs_module, "round_costs", lambda *args: asked.append(args) or [1.0, float(len(asked))])
    target, drafter = TinyModel(4, seed=0), LookupDrafter()
    assert cached_round_costs(target, drafter, [0, 1], 1) == [1.0, 1.0]
    assert asked == [(target, drafter, [0, 1], 1)]
    target.capture = object()
    assert cached_round_costs(target, drafter, [0, 1], 1) == [1.0, 2.0]
    assert cached_round_costs(target, drafter, [0, 1], 2) == [1.0, 3.0]  # for more drafts
    target.dtype = "another number format"
    assert cached_round_costs(target, drafter, [0, 1], 1) == [1.0, 4.0]


@pytest.mark.parametrize("costs", [[1.0, 3.0], [1.0, 3.0, 9.0]])
def test_a_trial_may_be_of_a_single_draft(costs):
    auto = PartGamma(costs)
    for mark in "x" * 60:
        auto.observe(told(mark))
    asked = []
    while not asked or asked[-1] == 0:
        asked.append(auto.choose())
        auto.observe(told("x" * asked[-1]))
    assert asked == [0] * TRIAL + [1]


def test_no_draft_is_thought_likelier_than_the_one_before_it():
    """Also where a tree's first draft is refused and the second, beside it, is kept, again and again."""
    auto = PartGamma([1.0, 1.1, 1.2, 1.3])
    for _ in range(50):
        auto.observe(told("x+-", parents=[-1, -1, 1]))
    gains = [b - a for a, b in itertools.pairwise(auto.emitted())]
    assert all(0 < later <= earlier <= 1 for earlier, later in itertools.pairwise(gains))
