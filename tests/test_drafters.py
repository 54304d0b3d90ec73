"""What drafters propose, and what they are told. (Those that copy: test_copying. Those with nets: test_draft_nets.)"""

import copy

import pytest
import torch
from checks import check_begins_anew
from tiny import SAMPLED, TinyCached, TinyModel

from specdec_lab.drafters import (
    DialDrafter,
    Drafter,
    HybridDrafter,
    LookupDrafter,
    LookupTreeDrafter,
    ModelDrafter,
    Proposal,
    ReplayDrafter,
)
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.models.base import Row
from specdec_lab.theory import expected_tokens


class Guesses(Drafter):
    """Drafts 9, 9, …, and notes what it was told."""

    name = "guesses"

    def start(self, target, prompt, hidden):
        self.seen = [list(prompt)]

    def drafting(self, text, gamma, sampler, uniforms):
        return Proposal([9] * gamma)

    def observe(self, text, hidden):
        self.seen.append(list(text))


MADE = {
    "lookup": LookupDrafter,
    "lookup-tree": LookupTreeDrafter,
    "dial": lambda: DialDrafter(0.7),
    "model": lambda: ModelDrafter(TinyModel(3, seed=2)),
    "hybrid": lambda: HybridDrafter(ModelDrafter(TinyModel(3, seed=2))),
}


@pytest.mark.parametrize("name", MADE)
def test_a_drafter_begins_each_text_anew(name):
    check_begins_anew(TinyModel(3, seed=1), MADE[name](), MADE[name])


def test_the_hybrid_copies_where_two_tokens_match_and_asks_the_other_elsewhere():
    drafter = HybridDrafter(Guesses())
    text = [1, 2, 3, 4, 1, 2]

    def drafts(text, gamma):
        return drafter.propose(text, gamma, SAMPLED, Uniforms()).tokens

    drafter.start(None, text, None)
    assert drafts(text, 4) == [3, 4, 1, 2]
    assert drafts([*text, 5], 4) == [9, 9]  # what costs time is short
    assert drafts([*text, 5, 3], 1) == [9]  # 3 stood there before, but alone
    drafter.observe([*text, 5, 3], None)
    twin = copy.copy(drafter)
    twin.start(None, [7, 8, 6], None)
    assert twin.propose([7, 8, 6, 1, 2, 9, 9, 9, 9, 9, 9, 1, 2], 2, SAMPLED, Uniforms()).tokens == [9, 9]
    assert drafter.other.seen == [text, [*text, 5, 3]]  # another text of a copy is not this one's
    assert drafts([*text, 5, 3, 1, 2], 2) == [5, 3]
    assert not drafter.oracle and HybridDrafter(DialDrafter(0.5)).oracle  # its time is not counted either


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_dial_reaches_its_alpha(temperature):
    """Every sampled row is on the mark where it can be; at temperature 0 the mean of hits is."""
    target = TinyModel(30, seed=3, spread=3.0)
    for alpha in (0.3, 0.6, 0.9):
        drafter = DialDrafter(alpha)
        rounds = speculative(
            target, drafter, [0], gamma=1, sampler=Sampler(temperature), stops=Stops(62), uniforms=Uniforms(1)
        )
        trace = Trace([0]).collect(rounds)
        if temperature:
            for d, floor in zip((r.drafted[0] for r in trace.rounds if r.drafted), drafter.lowest_by_row):
                assert d.overlap == pytest.approx(max(alpha, floor), abs=1e-9)
        else:
            assert trace.alpha == pytest.approx(alpha, abs=0.25)  # some 40 coin flips
        assert drafter.oracle_passes == sum(len(r.drafted) for r in trace.rounds)
        assert sum(r.seconds.draft for r in trace.rounds) == 0


def test_a_draft_that_sees_less_than_the_target_drafts_as_far_as_it_sees():
    """And nothing where the text is longer already, also from the start."""
    target, draft = TinyModel(4, seed=1), TinyModel(4, seed=2, context=8)
    for n, lengths in ((5, [0, 1, 2, 3, 3]), (6, [0, 1, 2, 2, 2]), (7, [0, 1, 1]), (8, [0, 0]), (12, [0, 0, 0])):
        for gamma, length in enumerate(lengths):
            drafter, text = ModelDrafter(draft), [i % 3 for i in range(n)]
            drafter.start(Row(target.cached()), text, None)
            proposal = drafter.propose(text, gamma, SAMPLED, Uniforms())
            assert len(proposal.tokens) == length
            for i in range(length):
                expected = draft.probabilities(text, proposal.tokens[:i])
                assert torch.equal(proposal.q[i], expected)


def test_a_target_may_say_an_id_that_the_draft_has_no_row_for():
    """Padding of a wider head: no text, but possible. The draft reads it as its own last id."""
    drafter = ModelDrafter(TinyModel(4, seed=2))
    drafter.start(TinyModel(6, seed=1).cached(), [0, 5, 1], None)
    proposal = drafter.propose([0, 5, 1], 1, SAMPLED, Uniforms())
    assert torch.equal(proposal.q[0, :4], TinyModel(4, seed=2).probabilities([0, 3, 1]))
    assert proposal.q[0, 4:].sum() == 0


def test_the_dial_spares_the_targets_choice_also_when_logits_tie():
    """Half precision gives several tokens the largest logit; the noise must not fall on the chosen one."""
    logits = torch.zeros(20)
    logits[[3, 7, 11]] = 5.0
    p = Sampler(0)(logits)
    assert float(torch.minimum(p, DialDrafter(0.0).mixed(logits, Sampler(0))).sum()) == 0


def test_a_round_is_one_target_pass_and_nothing_else(monkeypatch):
    """The count that every ratio of the course rests on, taken from outside the trace."""
    target, draft, passes = TinyModel(4, seed=1), TinyModel(4, seed=2), []
    extend = TinyCached.extend

    def counted(self, new, **more):
        passes.append((self.model.name, more.get("logits", True)))
        return extend(self, new, **more)

    monkeypatch.setattr(TinyCached, "extend", counted)
    trace = Trace([0]).collect(
        speculative(target, ModelDrafter(draft), [0, 1, 2], sampler=SAMPLED, stops=Stops(30), gamma=3)
    )
    assert passes.count((target.name, True)) == trace.target_passes
    assert passes.count((target.name, False)) == 1  # the prefill
    assert passes.count((draft.name, True)) == 0 < passes.count((draft.name, False))  # its head reads single rows


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.75, 1.0])
def test_a_replay_is_right_as_often_as_asked_for(alpha):
    """And independently, so the formula holds."""
    target, traces = TinyModel(5, seed=0, context=4000), []
    known = Trace([0]).collect(plain(target, [0], stops=Stops(1500))).tokens
    for request in range(2):
        drafter = ReplayDrafter(known, alpha)
        rounds = speculative(target, drafter, [0], gamma=3, stops=Stops(1500), uniforms=Uniforms(0, request))
        traces.append(Trace([0]).collect(rounds))
        traces[-1].check()
        assert traces[-1].tokens == known
    rounds = [r for t in traces for r in t.rounds if len(r.drafted) == 3 and not r.cut]
    together = Trace([0], rounds)
    assert together.alpha == pytest.approx(alpha, abs=0.04)
    assert together.tokens_per_pass == pytest.approx(expected_tokens(alpha, 3), rel=0.05)
