"""Any texts in any batch, drafted in any way: Hypothesis chooses them, and each writes what it writes alone.

What may draft is in `KINDS`; what else a text is asked for with, and what must hold of it, in `checks`. Real backends: test_batch.
"""

from random import Random

import torch
from branched_drafter import DEEP, TWO_BY_TWO, TreeOf
from checks import check_together
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny import TinyModel, at_depth

from specdec_lab.drafters import Drafter, LookupDrafter, ModelDrafter, Proposal
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.lockstep import Pass
from specdec_lab.engine.rules import BLOCK, USUAL
from specdec_lab.engine.sampling import DRAFT, draw
from specdec_lab.engine.trace import Trace


class Reads(ModelDrafter):
    """Is told the target's rows at other depths, too, as EAGLE is; the drafts are a tiny model's."""

    def __init__(self, draft: TinyModel, *depths: int):
        super().__init__(draft)
        self.depths = depths


class Exits(Drafter):
    """Runs the first layers of the target over what it drafts, as an early exit does; the drafts are a tiny model's."""

    name = "exits"

    def __init__(self, draft: TinyModel, layers: int = 1):
        self.draft, self.layers = draft, layers

    def start(self, target, prompt, hidden):
        self.target = target

    def drafting(self, text, gamma, sampler, uniforms):
        if gamma < 1:
            return Proposal([])
        tokens, q, rows = [], [], [(yield Pass(self.target, text[-1:], layers=(0, self.layers)))]
        for i in range(gamma):
            q.append(sampler(self.draft.logits([*text, *tokens])))
            tokens.append(draw(q[-1], uniforms(len(text) + i, DRAFT)))
            rows.append((yield Pass(self.target, tokens[-1:], layers=(0, self.layers))))
        return Proposal(tokens, torch.stack(q), started=(self.layers, torch.cat(rows)))


def noted(drafter: Drafter | None) -> Drafter | None:
    """`drafter.told`: all hidden rows that the target gave it; `drafter.text`: what it was told to stand."""
    if drafter is None:
        return None
    drafter.told, start, observe = [], drafter.start, drafter.observe

    def starts(row, prompt, hidden):
        drafter.text = list(prompt)
        drafter.told += [] if hidden is None else list(hidden)
        start(row, prompt, hidden)

    def observes(text, hidden):
        drafter.text = list(text)
        drafter.told += list(hidden)
        observe(text, hidden)

    drafter.start, drafter.observe = starts, observes
    return drafter


TARGET, OTHER = TinyModel(5, seed=3, spread=0.8, context=32), TinyModel(5, seed=4, spread=0.6, context=32)
KINDS = {
    "chain": lambda: ModelDrafter(OTHER),
    "its own": lambda: ModelDrafter(TARGET),
    "tree": lambda: TreeOf(OTHER, TWO_BY_TWO),
    "deep tree": lambda: TreeOf(TARGET, DEEP),
    "early exit": lambda: Exits(OTHER),
    "its own early exit": lambda: Exits(TARGET, 2),
    "copies": LookupDrafter,
    "a depth": lambda: Reads(OTHER, 1),
    "two depths": lambda: Reads(TARGET, 1, 0),
    "none": lambda: None,
}


def drafts(dice: Random, i: int):
    kind = dice.choice(list(KINDS))
    return lambda: noted(KINDS[kind]()), USUAL if "tree" in kind else dice.choice([USUAL, USUAL, BLOCK])


def check_caches_of(batch: Batch) -> None:
    """They hold what is written and nothing else."""
    cached = batch.shared.cached
    assert [cached.slots[r][: cached.lengths[r]] for r in range(len(cached.lengths))] == [
        request.text[:-1] for request, _ in batch.running
    ]
    held = [row for shared in batch.drafts.values() for row in shared.rows]
    drafting = [request.drafter for request, _ in batch.running if request.drafter and request.drafter.rows()]
    assert {id(row) for row in held} == {id(row) for drafter in drafting for row in drafter.rows()}
    assert sum(len(shared.cached.lengths) for shared in batch.drafts.values()) == len(held)


def check(dice: Random, texts: int, most: int) -> list[Trace]:
    """Each drafter was told each row of the target once, too."""
    found = check_together(dice, TARGET, drafts, texts=texts, most=most, after=check_caches_of)
    for request, trace in found:
        if request.drafter:
            text = [*trace.prompt, *trace.tokens]
            assert request.drafter.text == text
            rows = torch.stack([TARGET.logits(text[:i]) for i in range(1, len(text))])
            rows = torch.cat([rows, *(at_depth(rows, depth) for depth in request.drafter.depths)], -1)
            assert torch.equal(torch.stack(request.drafter.told), rows)
    return [trace for _, trace in found]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.randoms(use_true_random=False), st.integers(1, 6), st.integers(1, 4))
def test_each_text_writes_what_it_writes_alone(dice, texts, most):
    check(dice, texts, most)


def test_the_cases_that_matter_are_among_them():
    """Else the test above would show little: every ending, cut rounds, whole rounds, trees, and rounds without drafts."""
    traces = [trace for seed in range(6) for trace in check(Random(seed), 10, 1 + seed % 4)]
    assert {trace.stop for trace in traces} == {"eos", "limit", "context", "stop_string"}
    rounds = [r for trace in traces for r in trace.rounds]
    assert {r.emitted.kind for r in rounds if r.emitted} == {"corrected", "bonus", "plain"}
    assert sum(r.cut for r in rounds) > 10 and any(r.is_tree and r.accepted > 1 for r in rounds)
