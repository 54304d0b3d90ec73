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
from specdec_lab.engine.lockstep import Apply, run_in_lockstep
from specdec_lab.engine.rules import USUAL
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached


def finish(batch: Batch, gamma: int) -> int:
    """Steps until all texts are written: how many."""
    steps = 0
    while len(batch):
        batch.step(gamma)
        steps += 1
    return steps


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


def test_a_trace_in_a_batch_waits_for_its_neighbours():
    target = TinyModel(5, seed=3)
    batch = Batch(target, most=2)
    traces = [batch.submit(Request(target, [i], LookupDrafter(), stops=Stops(3))) for i in range(3)]
    assert len(batch) == 2  # the third waits
    assert finish(batch, 0) == 6 and all(trace.stop == "limit" for trace in traces)
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
    finish(batch, 2)
    assert lost.rounds == []
    for trace in traces:
        alone = speculative(target, LookupDrafter(), trace.prompt, gamma=2, stops=Stops(9))
        assert trace.tokens == Trace(trace.prompt).collect(alone).tokens


def test_bad_input_is_refused_before_it_can_harm_the_others():
    target = TinyModel(5, seed=3)
    batch = Batch(target)
    for call, said in (
        (lambda: Batch(target, most=0), "at least 1"),
        (lambda: batch.submit(Request(target, [], LookupDrafter())), "empty"),
        (lambda: batch.submit(Request(target, [0] * 64, LookupDrafter())), "shorten"),
        (lambda: batch.step(-1), "at least 0"),
    ):
        with pytest.raises(LabError, match=said):
            call()
    assert len(batch) == 0


def asks(*questions):
    """A drafter that returns all answers."""
    answers = []
    for question in questions:
        answers.append((yield question))
    return answers


def test_functions_are_called_once_for_all_who_ask_for_the_same():
    calls = []

    def scaled(a, b, by=1):
        calls.append((len(a), by))
        return (a - b) * by

    def other(a):
        calls.append((len(a), "other"))
        return a

    a = [torch.arange(2.0 * n).reshape(n, 2) for n in (1, 3, 2, 4, 1)]
    questions = [
        Apply(scaled, [a[0], a[0] / 2], (3,)),
        Apply(scaled, [a[1], a[1] / 2], (3,)),
        Apply(scaled, [a[2], a[2] / 2], (4,)),
        Apply(other, [a[3]]),
        Apply(scaled, [a[4], a[4] / 2]),
    ]
    found = [answers[0] for answers in run_in_lockstep([asks(question) for question in questions])]
    for answer, expected in zip(found, [1.5 * a[0], 1.5 * a[1], 2 * a[2], a[3], a[4] / 2], strict=True):
        assert torch.equal(answer, expected)
    assert sorted(calls, key=str) == [(1, 1), (2, 4), (4, "other"), (4, 3)]
