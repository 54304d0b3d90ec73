"""The drafters that draft trees, on random weights: each draft is drawn from what its own way, written out, would give."""

import pytest
import torch
from checks import SAMPLED
from test_trained_drafters import Sometimes, make
from tiny import TinyModel
from ways import apart, written

from specdec_lab.drafters import EagleTreeDrafter, MedusaTreeDrafter
from specdec_lab.engine.decode import Keep, Stops, plain, speculative
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.sampling import GREEDY, Sampler, Uniforms
from specdec_lab.engine.trace import Trace
from specdec_lab.models.tree import Tree

TREES = {"eagle-tree": ("eagle", EagleTreeDrafter), "medusa-tree": ("medusa", MedusaTreeDrafter)}


def make_tree(name: str, vocab_size: int, ids: list[int]):
    chain, kind = TREES[name]
    target, net, drafter, q_of = make(chain, vocab_size, ids)
    return target, net, lambda: kind(drafter()), q_of


@pytest.mark.parametrize("pause", [0, 1])
@pytest.mark.parametrize("sampled", [True, False], ids=["drawn", "favourites"])
@pytest.mark.parametrize("name", TREES)
def test_each_draft_comes_from_its_own_way(name, sampled, pause):
    """q and p, row by row, after every kind of round; also when rounds without drafts lie between."""
    target, net, drafter, q_of = make_tree(name, 5, [0, 1, 2, 4])
    kinds, shapes, inner = set(), set(), drafter()
    inner.sampled = sampled
    drafter = Sometimes(inner, pause)
    for request in range(4 * (pause + 1)):
        text = [0, 1, 3, 2][: 2 + request % 3]
        settings = {"sampler": SAMPLED, "stops": Stops(16), "uniforms": Uniforms(1, request), "keep": Keep(rows=True)}
        for r in speculative(target, drafter, text, gamma=6, **settings):
            tokens = [d.id for d in r.drafted]
            tree = Tree(tuple(d.parent for d in r.drafted))
            shapes.add(tree.parents)
            for i in range(len(tokens)):
                way = [tokens[j] for j in tree.path(tree.parents[i])]
                siblings = tree.children[tree.parents[i]]
                older = [tokens[j] for j in siblings[: siblings.index(i)]]
                expected = q_of(target, net, text, way).clone()
                if sampled:
                    expected[older] = 0
                    expected /= expected.sum()
                else:
                    best = expected.argsort(descending=True)[len(older)]
                    assert int(best) == tokens[i]
                    expected = torch.eye(5, dtype=torch.float64)[tokens[i]]
                assert torch.allclose(r.q_rows[i], expected, atol=1e-9), f"draft {i}"
            for i in range(-1, len(tokens)):
                expected = target.probabilities([*text, *(tokens[j] for j in tree.path(i))])
                assert torch.allclose(r.p_rows[i + 1], expected, atol=1e-9)
            kinds.add("cut" if r.cut else f"{r.emitted.kind} {r.accepted}")
            text = text + r.tokens
    assert kinds >= {"corrected 0", "corrected 1"} or kinds >= {"corrected 0", "bonus 1"}, kinds
    assert any(not Tree(shape).is_chain for shape in shapes)
    assert (len(shapes - {()}) > 1) >= (not sampled)  # favourites follow the drafter's confidence


@pytest.mark.parametrize("name", TREES)
def test_what_they_emit_is_the_targets_distribution(name, monkeypatch):
    """One round with every draw followed, to rounding: the first two tokens."""
    target, _, drafter, _ = make_tree(name, 3, [0, 1, 2])
    begin = {"prompt": (0, 1, 2), "length": 2}
    texts = written(monkeypatch, drafter, target, gamma=3, stops=Stops(9), **begin)
    assert apart(texts, target, **begin) < 1e-9


@pytest.mark.parametrize("sampler", [GREEDY, SAMPLED, Sampler(1.0, top_k=1)], ids=["greedy", "sampled", "top-k 1"])
@pytest.mark.parametrize("name", TREES)
def test_the_context_is_filled(name, sampler):
    """Also from a single token, which leaves no row to go on from; and where q has a single token."""
    target, _, drafter, _ = make_tree(name, 5, [0, 1, 2, 4])
    for prompt in ([0], [0, 1]):
        trace = Trace(prompt).collect(
            speculative(target, drafter(), prompt, gamma=7, sampler=sampler, stops=Stops(1000))
        )
        trace.check()
        assert (trace.stop, len(trace.tokens)) == ("context", target.context - len(prompt))
        if sampler.greedy:
            text = list(prompt)
            for token in trace.tokens:
                assert token == int(target.probabilities(text).argmax())
                text.append(token)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_drafter_may_call_a_chain_a_tree(n):
    """One that is cut to no drafts at all makes a tree without any."""

    class Chain(Drafter):
        name = "chain"

        def drafting(self, text, gamma, sampler, uniforms):
            return Proposal([0] * min(n, gamma), tree=Tree.chain(min(n, gamma)))

    target = TinyModel(5, seed=1)
    found = [t for r in speculative(target, Chain(), [1, 2], gamma=3, stops=Stops(6)) for t in r.tokens]
    assert found == [t for r in plain(target, [1, 2], stops=Stops(6)) for t in r.tokens]
