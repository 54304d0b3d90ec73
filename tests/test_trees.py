"""Token trees: exact by enumeration, and what becomes of a text. (What passes compute: test_models.)"""

import random
from functools import partial
from itertools import product

import pytest
import torch
from branched_drafter import SHAPES, TWO_BY_TWO, Favourites, TreeOf
from every_way import worst_apart
from random_nets import TREES, make
from tiny import NO_STUTTER, Shaped, TinyModel

from specdec_lab.drafters import Drafter, LookupTreeDrafter, ModelDrafter, Proposal
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.processors import Mask, RepetitionPenalty
from specdec_lab.engine.rules import verify_block, verify_tree
from specdec_lab.engine.sampling import Sampler, Uniforms, draw
from specdec_lab.engine.trace import Trace
from specdec_lab.engine.verify import verify, verify_greedy
from specdec_lab.errors import LabError
from specdec_lab.models.tree import TEXT, Tree


def drafting(shape, vocab=3, kind=TreeOf):
    return partial(kind, TinyModel(vocab, seed=2), shape)


TARGET, TWO_TOKENS = TinyModel(3, seed=1), TinyModel(2, seed=1)
DRAFTER = drafting(TWO_BY_TWO)


@pytest.mark.parametrize("shape", SHAPES, ids=["2·2", "3·1", "deep", "3·1·1"])
def test_trees_are_exact(shape):
    """Every draw of every draft, every acceptance and every replacement; p and q differ after each text."""
    assert worst_apart(TARGET, drafting(shape), length=4) < 1e-12


def test_two_rounds_of_trees_are_exact():
    drafter = drafting(Tree((-1, -1, 0)), 2)
    assert worst_apart(TWO_TOKENS, drafter, rounds=2, length=6) < 1e-12


def test_favourites_are_exact_at_any_temperature():
    """Nothing is drawn: q is one-hot, and each refusal takes one token out of p."""
    assert worst_apart(TARGET, drafting(None, kind=Favourites), length=3) < 1e-12


@pytest.mark.parametrize("name", TREES)
def test_trees_of_a_net_are_exact(name):
    """On random weights. (Their rows, and how they fill the context: test_trained_drafters.)"""
    target, _, drafter, _ = make(name, 3, [0, 1, 2])
    assert worst_apart(target, drafter, gamma=3, prompt=(0, 1, 2)) < 1e-9


def test_lookup_with_several_copies_is_exact():
    target, prompt = TinyModel(3, seed=3), (0, 1, 2, 0, 1, 1, 0, 1)
    drafter = LookupTreeDrafter()
    drafter.start(None, prompt, None)
    assert drafter.propose(prompt, 8, Sampler(1.0), Uniforms()).tree is not None
    assert worst_apart(target, LookupTreeDrafter, length=3, prompt=prompt) < 1e-12


def test_a_chain_is_the_tree_without_branches():
    generator = torch.Generator().manual_seed(0)
    for trial in range(200):
        p, q = (torch.rand(n, 5, generator=generator, dtype=torch.float64) for n in (4, 3))
        p, q = p / p.sum(1, keepdim=True), q / q.sum(1, keepdim=True)
        u = torch.rand(7, generator=generator, dtype=torch.float64).tolist()
        drafts = [draw(row, float(torch.rand(1, generator=generator))) for row in q]
        one, two = verify(p, q, drafts, u[:3], u[3:]), verify_tree(p, q, drafts, u[:3], u[3:], Tree.chain(3))
        assert (list(one.path), one.token, one.kind) == (two.path, two.token, two.kind), trial


@pytest.mark.parametrize("shape", [*SHAPES, Tree.chain(3)], ids=["2·2", "3·1", "deep", "3·1·1", "chain"])
def test_the_greedy_rule_is_the_rule_on_rows_that_are_one_hot(shape):
    """Whatever the numbers; and twice the same token among siblings, the first one counts."""
    n, kinds, eye = len(shape.parents), set(), torch.eye(3).double()
    for choices in product(range(3), repeat=3):
        choices = [choices[i % 3] for i in range(n + 1)]
        for drafts in product(range(3), repeat=3):
            drafts = [drafts[i % 3] for i in range(n)]
            one = verify_greedy(choices, drafts, shape)
            two = verify_tree(eye[choices], eye[drafts], drafts, [0.999] * n, [0.5] * (n + 1), shape)
            assert (one.path, one.token, one.kind) == (two.path, two.token, two.kind)
            kinds.add((one.kind, one.accepted))
    assert {kind for kind, _ in kinds} == {"corrected", "bonus"} and len(kinds) > 2
    assert verify_greedy([2], [], Tree.chain(0)).kind == "plain"


@pytest.mark.parametrize("sampler", [Sampler(0.7, top_k=2), Sampler(1.0, top_p=0.8), Sampler(1.0, min_p=0.3)], ids=str)
def test_trees_are_exact_where_q_is_cut(sampler):
    cut = Shaped(TARGET, (), sampler)
    assert worst_apart(cut, DRAFTER, run_on=TARGET, sampler=sampler, length=3) < 1e-12


def test_processors_see_the_way_of_each_row():
    shaped = (RepetitionPenalty(1.7), NO_STUTTER)
    assert worst_apart(Shaped(TARGET, shaped), DRAFTER, run_on=TARGET, processors=shaped, length=3) < 1e-12


def test_a_mask_need_not_know_what_follows_a_forbidden_draft():
    """Nor what follows the end: plain decoding never asks."""

    def allowed(text):
        assert 2 not in text and text[-1] != 3, "nobody asks about this text"
        return [0, 1, 3]

    target, draft = TinyModel(4, seed=1), TinyModel(4, seed=2)
    settings = {"gamma": 6, "sampler": Sampler(1.0), "stops": Stops(8, frozenset([3])), "processors": (Mask(allowed),)}
    for drafter in (ModelDrafter(draft), TreeOf(draft, TWO_BY_TWO)):
        for request in range(20):
            rounds = speculative(target, drafter, [0], uniforms=Uniforms(0, request), **settings)
            Trace([0]).collect(rounds).check()


def test_a_rule_for_chains_refuses_a_tree():
    with pytest.raises(LabError, match="this rule judges chains"):
        next(speculative(TARGET, DRAFTER(), [0, 1], verify=verify_block, sampler=Sampler(1.0), gamma=6))


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


def some_trees(number=60):
    dice = random.Random(0)
    for n in range(number):
        least = dice.choice((TEXT, n % 8))  # some are deep: most drafts follow the one before
        yield Tree(tuple(dice.randint(max(TEXT, min(least, i - 2)), i - 1) for i in range(n % 8)))


def way_of(shape, i):
    return [] if i == TEXT else [*way_of(shape, shape.parents[i]), i]


def test_what_a_tree_says_of_its_drafts_follows_from_its_parents():
    for shape in some_trees():
        n = len(shape.parents)
        ways = [way_of(shape, i) for i in range(n)]
        assert [shape.path(i) for i in range(TEXT, n)] == [[], *ways]
        assert shape.depths == [len(way) - 1 for way in ways]
        assert shape.sees.tolist() == [[j in way for j in range(n)] for way in ways]
        assert shape.children == {i: [j for j in range(n) if shape.parents[j] == i] for i in range(TEXT, n)}
        named = set(zip(shape.depths, shape.ranks))
        assert len(named) == n and all(rank == 0 or (depth, rank - 1) in named for depth, rank in named)
        assert shape.is_chain == (shape == Tree.chain(n)) == all(ways[i] == list(range(i + 1)) for i in range(n))
    for parents in [(-2,), (0,), (-1, 1), (-1, 0, 5)]:
        with pytest.raises(ValueError, match="a parent comes before"):
            Tree(parents)
