"""Batches: rows join, leave and go on at their own pace, and each writes what it writes alone."""

import copy
from functools import partial

import pytest
from checks import check_batch
from random_nets import KINDS as DRAFTING
from random_nets import make as make_drafting
from small_models import KINDS, make
from tiny import TinyModel

from specdec_lab.drafters import (
    EagleTreeDrafter,
    HybridDrafter,
    LookupDrafter,
    LookupTreeDrafter,
    MedusaTreeDrafter,
    ModelDrafter,
    Proposal,
    model,
)
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Keep, Request, Stops, plain, speculative
from specdec_lab.engine.lockstep import Pass, as_generator
from specdec_lab.engine.processors import LogitBias
from specdec_lab.engine.sampling import Sampler
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached


def own_draft(i: int):
    """Some texts are drafted well, some badly, some by lookup."""
    return LookupDrafter() if i % 3 == 0 else ModelDrafter(TinyModel(5, seed=3 if i % 3 == 1 else 4, spread=0.8))


def test_rows_that_join_and_leave_at_random_write_what_they_write_alone():
    """And the cases that matter are among them: end-of-text among the drafts, rows cut by their limit, whole rounds."""
    target, traces = TinyModel(5, seed=3, spread=0.8), []
    for seed in range(20):
        traces += check_batch(target, own_draft, most=1 + seed % 5, texts=12, seed=seed)
    assert len(traces) == 240 and {trace.stop for trace in traces} == {"eos", "limit"}
    last = [t.rounds[-1] for t in traces]
    assert sum(r.cut and r.stop == "eos" for r in last) > 5
    assert sum(r.cut and r.stop == "limit" for r in last) > 5
    assert sum(r.emitted is not None and r.emitted.kind == "bonus" for t in traces for r in t.rounds) > 50


def test_texts_that_are_shaped_drawn_or_written_down_whole_stand_beside_greedy_ones():
    """Greedy choices are read for all texts at once that need no more."""
    target = TinyModel(5, seed=3)
    against = LogitBias({token: -50.0 for token in (0, 1, 2)})  # another text than without it
    ways = {}, {"processors": (against,)}, {"sampler": Sampler(1.0)}, {}, {"keep": Keep(rows=True)}

    def written(ways):
        batch = Batch(target, len(ways))
        traces = [batch.submit(Request(target, [1, 2], LookupDrafter(), stops=Stops(4), **way)) for way in ways]
        while len(batch):
            batch.step(0)
        return [trace.tokens for trace in traces]

    together = written(ways)
    assert together == [written([way])[0] for way in ways] and together[1] != together[0]


@pytest.mark.parametrize("kind", KINDS)
def test_real_caches_let_rows_join_and_leave(kind, full):
    """Each backend, in float64, where rounding decides nothing."""
    target = make(kind)
    drafts = [make(kind, seed=i).cached().model for i in range(2)]  # seed 0 is the target itself

    def drafter(i: int):
        return LookupDrafter() if i % 3 == 0 else ModelDrafter(drafts[i % 2])

    for seed in range(3 if full else 1):
        check_batch(target, drafter, most=4, texts=10, seed=seed)


@pytest.mark.parametrize("name", [*DRAFTING, "mixed"])
def test_texts_that_draft_together_write_what_they_write_alone(name, full):
    """Joining, leaving and pausing at random, in float64; mixed: each text has another drafter than its neighbours."""
    names = list(DRAFTING) if name == "mixed" else [name]
    made = {n: make_drafting(n, 7, [0, 1, 2, 3, 5]) for n in names}
    target, shared = made[names[0]][0], {n: made[n][2]() for n in names}

    def drafter(i: int):
        return copy.copy(shared[names[i % len(names)]])  # as `Lab.drafter` does: with the same net

    traces = []
    for seed in range(6 if full else 2):
        traces += check_batch(target, drafter, most=4, texts=10, seed=seed)
    assert sum(r.accepted for t in traces for r in t.rounds) > 20


def test_trees_beside_chains_and_early_exits_write_what_they_write_alone(full):
    """An early exit's neighbours go through the layers in two parts: their trees must be trees in both."""
    made = {n: make_drafting(n, 7, [0, 1, 2, 3, 5]) for n in ("early-exit", "eagle", "medusa")}
    chains = {n: of[2]() for n, of in made.items()}
    trees = [EagleTreeDrafter(chains["eagle"]), MedusaTreeDrafter(chains["medusa"]), LookupTreeDrafter()]
    kinds = [chains["early-exit"], *trees, HybridDrafter(trees[0], most=6)]
    traces = []
    for seed in range(4 if full else 2):
        some = partial(lambda i, kinds: copy.copy(kinds[i % len(kinds)]), kinds=kinds)
        traces += check_batch(made["eagle"][0], some, most=4, texts=10, seed=seed)
    assert any(r.is_tree and r.accepted for trace in traces for r in trace.rounds)


@pytest.mark.parametrize("name", DRAFTING)
def test_a_batch_asks_each_net_once_for_all_its_texts(name, monkeypatch):
    """As often as for a single text, whatever the number of texts."""
    target, _, drafter, _ = make_drafting(name, 7, list(range(7)))
    shared = drafter()

    def passes(texts: int) -> int:
        batch = Batch(target, most=texts)
        for _ in range(texts):
            batch.submit(Request(target, [0, 1, 2, 4], copy.copy(shared), stops=Stops(40)))
        batch.step(3)
        count = []
        with monkeypatch.context() as m:
            extend = Cached.extend
            m.setattr(Cached, "extend", lambda self, *a, **k: count.append(1) or extend(self, *a, **k))
            batch.step(3)
        return len(count)

    assert passes(5) == passes(1) <= 6


class Neighbours(Pass):
    """Hands each text the rows of the one beside it."""

    @staticmethod
    def answer(asked):
        found = Pass.answer(asked)
        return found[-1:] + found[:-1]


class PadsCount(Pass):
    """Texts that asked for nothing hold one token more afterwards."""

    @staticmethod
    def answer(asked):
        cached, found = asked[0].row.cached, Pass.answer(asked)
        if len(cached.lengths) > len(asked):
            who = {one.row.at for one in asked}
            cached.lengths = [n + (r not in who) for r, n in enumerate(cached.lengths)]
        return found


@pytest.mark.parametrize("wrong", [Neighbours, PadsCount])
def test_wrong_passes_of_several_drafters_are_caught(wrong, monkeypatch):
    target, _, drafter, _ = make_drafting("model", 7, list(range(7)))
    shared = drafter()
    monkeypatch.setattr(model, "Pass", wrong)
    with pytest.raises((AssertionError, RuntimeError, IndexError)):
        for seed in range(20):
            check_batch(target, lambda i: copy.copy(shared), most=4, texts=10, seed=seed)


class DropsNothing(Batch):
    """The last row does not take the place of the one that left."""

    def step(self, gamma):
        cached = self.shared.cached
        cached.drop = lambda row: cached.lengths.pop() and cached.slots.pop()
        return super().step(gamma)


class RewindsTogether(Batch):
    """All rows are rewound to the shortest, as if they were one."""

    def step(self, gamma):
        cached = self.shared.cached
        cached.rewind = lambda lengths: type(cached).rewind(cached, [min(lengths)] * len(lengths))
        return super().step(gamma)


class NeverRewinds(Batch):
    def step(self, gamma):
        self.shared.cached.rewind = lambda lengths: None
        return super().step(gamma)


class ReadsThePadding(Batch):
    """Takes a row's last place of the padded pass for its own last row."""

    def step(self, gamma):
        def filled_up(request, g):
            tokens = (yield from as_generator(type(request).drafting(request, g))).tokens
            return Proposal([*tokens, *[0] * (gamma - len(tokens))])  # with token 0, as the pass does

        for request, _ in [*self.running, *self.waiting]:
            request.drafting = partial(filled_up, request)
        return super().step(gamma)


@pytest.mark.parametrize("wrong", [DropsNothing, RewindsTogether, NeverRewinds, ReadsThePadding])
def test_wrong_batches_are_caught(wrong):
    target = TinyModel(5, seed=3, spread=0.8)
    with pytest.raises((AssertionError, IndexError)):
        for seed in range(4):
            check_batch(target, own_draft, most=3, texts=12, seed=seed, batch=wrong)


def test_a_trace_in_a_batch_waits_for_its_neighbours():
    target = TinyModel(5, seed=3)
    batch = Batch(target, most=2)
    traces = [batch.submit(Request(target, [i], LookupDrafter(), stops=Stops(3))) for i in range(3)]
    assert len(batch) == 2  # the third waits
    steps = 0
    while len(batch):
        batch.step(0)
        steps += 1
    assert steps == 6 and all(trace.stop == "limit" for trace in traces)
    assert traces[0].clock == traces[1].clock  # both waited for the same steps
    assert batch.step(0) == []


class CannotBegin(LookupDrafter):
    """As where no memory is left for its cache."""

    def start(self, target, prompt, hidden):
        raise LabError("no memory")


def test_a_text_that_cannot_begin_leaves_the_others_in_step():
    """It holds no row, so that nobody is given another one's."""
    target = TinyModel(5, seed=3)
    batch = Batch(target, most=3)
    traces = [batch.submit(Request(target, [i], LookupDrafter(), stops=Stops(9))) for i in range(2)]
    batch.step(2)
    lost = batch.submit(Request(target, [2], CannotBegin(), stops=Stops(9)))
    traces.append(batch.submit(Request(target, [3], LookupDrafter(), stops=Stops(9))))
    with pytest.raises(LabError, match="no memory"):
        batch.step(2)
    while len(batch):
        batch.step(2)
    assert lost.rounds == []
    for trace in traces:
        alone = speculative(target, LookupDrafter(), trace.prompt, gamma=2, stops=Stops(9))
        assert trace.tokens == [token for r in alone for token in r.tokens]


def test_bad_input_is_refused_before_it_can_harm_the_others():
    target = TinyModel(5, seed=3)
    batch = Batch(target)
    with pytest.raises(LabError, match="allow at least 1"):
        Batch(target, most=0)
    with pytest.raises(LabError, match="The prompt is empty"):
        batch.submit(Request(target, [], LookupDrafter()))
    with pytest.raises(LabError, match="shorten the prompt"):
        batch.submit(Request(target, [0] * 64, LookupDrafter()))
    with pytest.raises(LabError, match="at least 0"):
        batch.step(-1)
    assert len(batch) == 0


def test_texts_without_a_drafter_are_decoded_plainly():
    target = TinyModel(5, seed=3)
    batch = Batch(target, most=1)
    traces = [batch.submit(Request(target, prompt, stops=Stops(6))) for prompt in ([1, 2], [3])]
    while len(batch):
        batch.step(0)
    assert [t.tokens for t in traces] == [
        [x for r in plain(target, p, stops=Stops(6)) for x in r.tokens] for p in ([1, 2], [3])
    ]
