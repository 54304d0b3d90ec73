"""The drafters that draft trees, on random weights. (Their rows, and how they fill the context: test_trained_drafters.)"""

import pytest
from every_way import worst_apart
from random_nets import TREES
from random_nets import make as make_tree
from tiny import TinyModel

from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.models.tree import Tree


@pytest.mark.parametrize("name", TREES)
def test_what_they_emit_is_the_targets_distribution(name):
    """One round with every draw followed, to rounding."""
    target, _, drafter, _ = make_tree(name, 3, [0, 1, 2])
    assert worst_apart(target, drafter, gamma=3, prompt=(0, 1, 2)) < 1e-9


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
