"""Batches: rows join, leave and go on at their own pace, and each writes what it writes alone."""

from functools import partial

import pytest
from checks import check_batch
from test_models import KINDS, make
from tiny import TinyModel

from specdec_lab.drafters import LookupDrafter, ModelDrafter, Proposal
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request, Stops
from specdec_lab.errors import LabError


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


@pytest.mark.parametrize("kind", KINDS)
def test_real_caches_let_rows_join_and_leave(kind, full):
    """Each backend, in float64, where rounding decides nothing."""
    target = make(kind)
    drafts = [make(kind, seed=i).cached().model for i in range(2)]  # seed 0 is the target itself

    def drafter(i: int):
        return LookupDrafter() if i % 3 == 0 else ModelDrafter(drafts[i % 2])

    for seed in range(3 if full else 1):
        check_batch(target, drafter, most=4, texts=10, seed=seed)


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
            tokens = (yield from type(request).drafting(request, g)).tokens
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
