"""How a tree of drafts grows, place by place. (That what comes of it is exact: test_trees.)"""

from itertools import product
from math import inf, prod

import pytest
import torch
from tiny import SAMPLED, TinyModel

from specdec_lab.drafters import drawing
from specdec_lab.drafters.drawing import LikeliestTree, SampledTree, shape_of
from specdec_lab.engine.sampling import Uniforms
from specdec_lab.errors import LabError
from specdec_lab.models.tree import TEXT, Tree


def worth(tree, rates):
    """The chance of each place: that of each draft on its way, by which of its siblings it is."""
    rank = {i: siblings.index(i) for siblings in tree.children.values() for i in siblings}
    return [prod(rates[depth][rank[j]] for depth, j in enumerate(tree.path(i))) for i in range(len(tree.parents))]


@pytest.mark.parametrize("seed", range(6))
def test_no_shape_of_so_many_places_keeps_more_drafts(seed):
    """Against the n most probable of all places; and where there are no more, all of them."""
    generator = torch.Generator().manual_seed(seed)
    widths = [[3, 2, 1], [1, 3, 2], [2, 2, 2, 2], [4], [1, 1, 1], [2, 1, 3]][seed]
    rates = [torch.rand(w, generator=generator).mul(0.9 / w).sort(descending=True)[0].tolist() for w in widths]
    everywhere = [
        prod(rates[depth][k] for depth, k in enumerate(way))
        for n in range(1, len(rates) + 1)
        for way in product(*(range(w) for w in widths[:n]))
    ]
    for n in range(1, len(everywhere) + 3):
        found = worth(shape_of(n, rates), rates)
        assert found == pytest.approx(sorted(everywhere, reverse=True)[:n])


@pytest.mark.parametrize("ids", [None, torch.tensor([6, 1, 4, 2])], ids=["whole", "cut head"])
def test_favourites_are_the_most_probable_ways(ids, monkeypatch):
    """Against all ways of up to five tokens, each with its product. Of a whole head two more logits than tokens."""
    monkeypatch.setattr(drawing, "EXPAND_THRESHOLD", 1.0)  # ask wherever something could be added
    width, draft = (4, TinyModel(6, seed=5)) if ids is None else (7, TinyModel(4, seed=5))
    stands = list(range(4)) if ids is None else ids.tolist()

    def logits(way):
        return draft.logits([0, 1, *way])[:4]

    chances = {}
    for n in range(1, 6):
        for way in product(stands, repeat=n):
            steps = [logits(way[:i]).softmax(0)[stands.index(way[i])] for i in range(n)]
            chances[way] = float(torch.stack(steps).prod())
    grow, wait, places = LikeliestTree(width, ids, 9), [TEXT], {TEXT: ()}
    while wait:
        grow.behind(wait, torch.stack([draft.logits([0, 1, *places[place]]) for place in wait]).float())
        for i in range(len(grow.tokens)):
            places[i] = (*places[grow.parents[i]], grow.tokens[i])
        wait = grow.waiting()
    proposal = grow.proposal()
    found = [tuple(proposal.tokens[j] for j in proposal.shape.path(i)) for i in range(9)]
    assert proposal.q is None and set(found) == set(sorted(chances, key=chances.get)[-9:])
    assert found == sorted(found, key=chances.get, reverse=True)
    for way, given in zip(found, proposal.logits(), strict=True):
        raw = torch.full((width,), -inf)
        raw[stands] = logits(way[:-1]).float()
        assert torch.equal(given.float(), raw)


def test_a_tree_from_logits_that_are_not_numbers_is_refused():
    grow = SampledTree(4, None, SAMPLED, Uniforms(3), 2, Tree((-1,)))
    with pytest.raises(LabError, match="NaN"):
        grow.behind([TEXT], torch.full((1, 4), float("nan")))
