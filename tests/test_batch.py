"""Batches: rows join, leave and go on at their own pace, and each writes what it writes alone."""

import copy
from functools import partial
from random import Random

import pytest
import torch
from checks import check_together
from random_nets import KINDS as DRAFTING
from random_nets import TREES
from random_nets import make as make_drafting
from small_models import KINDS, make
from tiny import TinyModel

from specdec_lab.drafters import HybridDrafter, LookupDrafter, LookupTreeDrafter, ModelDrafter
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request, Stops, speculative
from specdec_lab.engine.lockstep import Apply, Pass, run_in_lockstep
from specdec_lab.engine.rules import USUAL
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached, Row, Shared


def of_a_backend(kind: str):
    drafts = [ModelDrafter(make(kind, seed)) for seed in range(2)]  # seed 0 is the target itself
    return make(kind), [LookupDrafter(), *drafts]


def trained(*names: str):
    """Several names: each text has another drafter than its neighbours."""
    made = [make_drafting(name, 7, [0, 1, 2, 3, 5]) for name in names]
    return made[0][0], [drafter() for _, _, drafter, _ in made]


def trees_and_early_exits():
    """An early exit's neighbours go through the layers in two parts: their trees must be trees in both."""
    target, (early_exit, *trees) = trained("early-exit", *TREES)
    return target, [early_exit, *trees, LookupTreeDrafter(), HybridDrafter(trees[0], most=6)]


GROUPS = {
    **{kind: partial(of_a_backend, kind) for kind in KINDS},
    **{name: partial(trained, name) for name in DRAFTING},
    "mixed": partial(trained, *DRAFTING),
    "trees and early exits": trees_and_early_exits,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS)
def test_texts_that_draft_together_write_what_they_write_alone(name, full):
    """Joining, leaving and pausing at random, in real caches of each backend; in float64, where rounding decides nothing."""
    target, shared = GROUPS[name]()

    def drafts(dice: Random, i: int):
        return lambda: copy.copy(shared[i % len(shared)]), USUAL  # as `Lab.drafter` does: with the same net

    rounds = []
    for seed in range(6 if full else 1 if name in KINDS else 2):
        for _, trace in check_together(Random(seed), target, drafts, texts=10, most=4):
            rounds += trace.rounds
    assert sum(r.accepted for r in rounds) > 20
    assert any(r.is_tree and r.accepted for r in rounds) == ("trees" in name)


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
        assert trace.tokens == Trace(trace.prompt).collect(alone).tokens


def test_those_who_ask_for_the_same_are_served_by_one_call():
    calls = []

    def scaled(rows, by=1):
        calls.append((len(rows), by))
        return rows * by

    def asks(n, *more):
        return (yield Apply(scaled, [torch.ones(n, 2)], more))

    found = run_in_lockstep([asks(1, 3), asks(3, 3), asks(2, 4), asks(1)])
    assert [(len(rows), rows.unique().tolist()) for rows in found] == [(1, [3]), (3, [3]), (2, [4]), (1, [1])]
    assert sorted(calls) == [(1, 1), (2, 4), (4, 3)]


def test_passes_through_other_layers_are_not_one_pass():
    """Two early exits of different depths in one batch: each is answered by its own layers."""
    target = TinyModel(5, seed=1)
    shared, rows = Shared(target), [Row(target.cached()) for _ in range(2)]
    for row in rows:
        shared.join(row)

    def asks(row, last):
        return (yield Pass(row, [1], layers=(0, last)))[0].tolist()

    assert run_in_lockstep([asks(row, last) for last, row in enumerate(rows, 1)]) == [[1, 1], [1, 2]]
