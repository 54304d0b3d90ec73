"""The drafters that are trained, on random weights: what they propose with their caches is what they
would propose without, and what comes out is the target's. (Random weights make bad drafts, which is harder.)"""

from functools import partial

import pytest
import torch
from every_way import worst_apart
from random_nets import KINDS, TREES, check_q, make
from tiny import SAMPLED

from specdec_lab.drafters import Drafter, Proposal, trained
from specdec_lab.engine.decode import Keep, Stops, speculative
from specdec_lab.engine.sampling import DRAFT, GREEDY, Sampler, Uniforms, draw
from specdec_lab.engine.trace import Trace
from specdec_lab.errors import LabError
from specdec_lab.models import linear
from specdec_lab.models.linear import EightBits
from specdec_lab.models.tree import Tree

DEAR = [(2, [0, 1], 2, 2), (4, [0, 2, 3], 2, 1), (3, [0, 2], 1, 3)]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("vocab_size", "ids", "gamma", "rounds"),
    [(2, [0, 1], 1, 3), *(pytest.param(*dear, marks=pytest.mark.slow) for dear in DEAR)],
)
def test_what_they_emit_is_the_targets_distribution(name, vocab_size, ids, gamma, rounds, full):
    """By enumeration, also with a head that cannot say every token. Most ways, by far, are those of the last case."""
    if vocab_size == rounds == 3 and not full:
        rounds = 2
    target, _, drafter, _ = make(name, vocab_size, ids)
    assert worst_apart(target, drafter, gamma=gamma, rounds=rounds) < 1e-9


class Sometimes(Drafter):
    """Another drafter that does not draft in some rounds: speculation is off for a while."""

    def __init__(self, inner: Drafter, pause: int):
        self.inner, self.pause, self.name, self.depths = inner, pause, inner.name, inner.depths

    def start(self, *a):
        self.round = 0
        self.inner.start(*a)

    def drafting(self, text, gamma, sampler, uniforms):
        self.round += 1
        if self.round % (self.pause + 1):
            return Proposal([])
        return self.inner.drafting(text, gamma, sampler, uniforms)

    def observe(self, text, hidden):
        self.inner.observe(text, hidden)


@pytest.mark.parametrize("pause", [0, 2])
@pytest.mark.parametrize(
    ("name", "favourites"), [*((name, False) for name in (*KINDS, *TREES)), *((name, True) for name in TREES)]
)
def test_their_rows_are_those_of_an_uncached_pass_after_every_kind_of_round(name, favourites, pause, full):
    """q and p, row by row; also when rounds without drafts lie between."""
    target, net, drafter, q_of = make(name, 5, [0, 1, 2, 4])
    kinds, shapes, inner = set(), set(), drafter()
    if favourites:
        inner.sampled = False
    drafter = Sometimes(inner, pause)  # one for all texts: nothing may stay from the text before
    settings = {"gamma": 6 if name in TREES else 3, "sampler": SAMPLED, "stops": Stops(20), "keep": Keep(rows=True)}
    for request in range((5 if full else 3) * (pause + 1)):
        text = [0, 1, 3, 2][: 2 + request % 3]
        for r in speculative(target, drafter, text, uniforms=Uniforms(1, request), **settings):
            tokens, shape = [d.id for d in r.drafted], Tree(tuple(d.parent for d in r.drafted))
            check_q(r.q_rows, tokens, shape, partial(q_of, target, net, text), favourites)
            for i in range(-1, len(tokens)):
                expected = target.probabilities([*text, *(tokens[j] for j in shape.path(i))])
                assert torch.allclose(r.p_rows[i + 1], expected, atol=1e-9)
            kinds.add("cut" if r.cut else f"{r.emitted.kind} {r.accepted}")
            shapes.add(shape)
            text = text + r.tokens
    assert kinds >= {"corrected 0", "corrected 1"} or (name in TREES and kinds >= {"corrected 0", "bonus 1"}), kinds
    assert ("plain 0" in kinds) == (pause > 0)
    assert any(not shape.is_chain for shape in shapes) == (name in TREES)
    assert not favourites or sum(not shape.is_chain for shape in shapes) > 1  # they follow the drafter's confidence


@pytest.mark.parametrize("sampler", [GREEDY, SAMPLED, Sampler(1.0, top_k=1)], ids=["greedy", "sampled", "top-k 1"])
@pytest.mark.parametrize("name", [*KINDS, *TREES])
def test_the_context_is_filled_and_greedy_text_is_the_targets(name, sampler):
    """More drafts than heads can be asked for; a single token leaves no row to go on from; and q may have one token."""
    target, _, drafter, _ = make(name, 5, [0, 1, 2, 4])
    for prompt in ([0], [1, 2], [3, 3, 3]):
        rounds = speculative(target, drafter(), prompt, gamma=7, sampler=sampler, stops=Stops(1000))
        trace = Trace(prompt).collect(rounds)
        trace.check()
        assert (trace.stop, len(trace.tokens)) == ("context", target.context - len(prompt))
        if sampler.top_k is None:
            assert max(len(r.drafted) for r in trace.rounds) == (4 if name == "medusa" else 7)
        if sampler != SAMPLED:
            text = [*prompt, *trace.tokens]
            own = [int(target.probabilities(text[:i]).argmax()) for i in range(len(prompt), len(text))]
            assert trace.tokens == own


@pytest.fixture
def eagle(tmp_path):
    """(net, a function that saves and loads it)"""
    target, net, _, _ = make("eagle", 5, [0, 1, 2, 4])

    def stored():
        about = {"target": "random"} | dict(zip(("hidden_size", "layers", "vocab_size"), trained.shape(target)))
        trained.save_net(net, tmp_path / "eagle.safetensors", about)
        return trained.load_net("eagle", target, tmp_path)

    return net, stored


def test_weights_of_different_sizes_side_by_side_are_all_kept(eagle, monkeypatch):
    """In 8 bits with a scale for each block: one for a whole row would round the small ones away."""
    monkeypatch.setattr(trained, "BLOCK", 32)
    net, stored = eagle
    net.fuse.weight[:, :32] *= 1000
    for ours, theirs in zip(stored().fuse.weight.split(32, 1), net.fuse.weight.split(32, 1), strict=True):
        assert (ours - theirs).norm() < 0.05 * theirs.norm()


@pytest.mark.parametrize("part", [{"join": None}, {"further": torch.nn.Linear(2, 2)}], ids=["a part less", "more"])
def test_weights_of_another_design_are_refused_and_it_says_how_to_train_again(eagle, part):
    """Such as those of the EAGLE before, which read the last row alone."""
    net, stored = eagle
    for name, module in part.items():
        setattr(net, name, module)
    with pytest.raises(LabError, match="another design .*`specdec-lab train eagle`"):
        stored()


@pytest.mark.parametrize("name", ["model", "medusa", "eagle", "early-exit"])
def test_q_in_8_bits_is_what_was_drawn_from(name, monkeypatch):
    """The q that a draft is compared with comes from the coarse logits, not from what float32 would have said."""
    said, product, ids = [], EightBits.__call__, [0, 1, 2, 4, 5, 6, 7]
    monkeypatch.setattr(linear, "adds_up_eight_bits", lambda: True)
    target, net, drafter, q_of = make(name, 9, ids, torch.float32)

    def heard(self, x):
        out = product(self, x)
        if out.shape[-1] == len(ids):  # a head's
            said.extend(out if name == "medusa" else out.reshape(-1, len(ids))[-1:])  # behind the newest token
        return out

    monkeypatch.setattr(EightBits, "__call__", heard)
    drafter, text, uniforms, apart = drafter(), [0, 1, 3, 2], Uniforms(7), 0
    settings = {"gamma": 3, "sampler": SAMPLED, "stops": Stops(40), "uniforms": uniforms, "keep": Keep(rows=True)}
    for r in speculative(target, drafter, text, **settings):
        for i, draft in enumerate(r.drafted):
            q = r.q_rows[i]
            assert torch.equal(q[ids], SAMPLED(said[i]))
            assert draft.id == draw(q, uniforms(len(text) + i, DRAFT))
            apart += not torch.equal(q, q_of(target, net, text, [d.id for d in r.drafted[:i]]))
        text = text + r.tokens
        said.clear()
    assert apart > 10  # in float32 it would be another q
