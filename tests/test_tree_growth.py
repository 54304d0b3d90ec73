"""How a tree of drafts grows, place by place. (That what comes of it is exact: test_trees.)"""

from itertools import product
from math import inf, prod

import pytest
import torch
from tiny import TinyModel

from specdec_lab.drafters import drawing
from specdec_lab.drafters.drawing import Drawn, MostLikely, shape_of, tree_of
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms, draw
from specdec_lab.errors import LabError
from specdec_lab.models.tree import TEXT, Tree

SAMPLED = Sampler(1.0)


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


def logits_of(*rows):
    return torch.tensor(rows, dtype=torch.float64).log()


def test_a_place_is_asked_where_what_follows_it_may_still_be_among_the_best(monkeypatch):
    """A child has at most its parent's chance: behind the last of the best there is never room."""

    def waiting(n, *row):
        grow = MostLikely(len(row), None, n)
        grow.behind([TEXT], logits_of(row))
        return grow.waiting()

    monkeypatch.setattr(drawing, "EXPAND_THRESHOLD", 1.0)
    assert waiting(3, 0.5, 0.3, 0.15, 0.05) == [0, 1]
    assert waiting(2, 0.4, 0.4, 0.2) == []
    assert waiting(4, 0.5, 0.3, 0.2) == [0, 1, 2], "there is room for one more"
    assert waiting(4, 0.6, 0.4, 0.0) == [0, 1], "nothing comes behind what cannot be"
    monkeypatch.undo()
    assert waiting(3, 0.8, 0.1, 0.06, 0.04) == [0]  # 0.1 could add something, but hardly
    assert waiting(3, 0.4, 0.3, 0.25, 0.05) == []


@pytest.mark.parametrize("ids", [None, torch.tensor([6, 1, 4, 2])], ids=["whole", "cut head"])
def test_favourites_remember_where_each_came_from(ids):
    """Chances, depths and logits, whatever was asked in one go. Two logits more than tokens, where families pad."""
    width, draft = (4, TinyModel(6, seed=5)) if ids is None else (7, TinyModel(4, seed=5))
    stands = list(range(4)) if ids is None else ids.tolist()
    grow = MostLikely(width, ids, 9)

    def logits(place):
        return draft.logits([0, 1, *way(place)])

    def way(place):
        return [] if place == TEXT else [*way(grow.parents[place]), grow.tokens[place]]

    wait = [TEXT]
    while wait:
        grow.behind(wait, torch.stack([logits(place) for place in wait]))
        wait = grow.waiting()
    proposal = grow.proposal()
    assert proposal.q is None and len(proposal.tokens) == 9 and max(proposal.shape.depths) > 0
    assert [grow.depths[i] for i in grow.best()] == proposal.shape.depths
    for n, i in enumerate(grow.best()):
        parent = grow.parents[i]
        row = logits(parent)[: len(stands)]
        before = 1.0 if parent == TEXT else grow.chances[parent]
        own = float(row.softmax(0)[stands.index(grow.tokens[i])])
        assert grow.chances[i] == pytest.approx(before * own, rel=1e-5)
        raw = torch.full((width,), -inf, dtype=torch.float64)
        raw[stands] = row
        assert torch.equal(proposal.logits()[n], raw)


@pytest.mark.parametrize("sampler", [SAMPLED, Sampler(0.8, top_k=2)], ids=str)
def test_drafts_of_a_cut_head_are_drawn_in_the_targets_vocabulary(sampler):
    """q of each is that of its place without its older siblings; zero for tokens that the head cannot say."""
    ids, shape, draft = torch.tensor([6, 1, 4, 2]), Tree((-1, -1, 0, 0, 2)), TinyModel(4, seed=5)
    grow, wait = Drawn(7, ids, sampler, Uniforms(3), 2, shape), [TEXT]
    while wait:
        grow.behind(wait, torch.stack([draft.logits([place]) for place in wait]))
        wait = grow.waiting()
    proposal = grow.proposal()
    assert proposal.tree == shape
    for i, parent in enumerate(shape.parents):
        older = [proposal.tokens[j] for j in shape.children[parent] if j < i]
        q, raw = torch.zeros(7, dtype=torch.float64), torch.full((7,), -inf, dtype=torch.float64)
        q[ids], raw[ids] = sampler(draft.logits([parent])), draft.logits([parent])
        q[older] = 0
        assert torch.allclose(proposal.q[i], q / q.sum(), atol=1e-12)
        u = Uniforms(3)(2 + shape.depths[i], DRAFT, shape.ranks[i])  # of its own position in the text
        assert proposal.tokens[i] == ids[draw(proposal.q[i][ids], u)]
        assert torch.equal(proposal.logits()[i], raw)


def test_where_nothing_is_left_to_draw_a_place_has_fewer_drafts():
    """Three of a place with two possible tokens: two; and nothing behind the third. Others are drawn as ever."""
    shape = Tree((-1, -1, -1, 0, 2, 0))
    grow = Drawn(4, None, SAMPLED, Uniforms(3), 2, shape)
    grow.behind([TEXT], logits_of([0.6, 0.0, 0.4, 0.0]))
    assert grow.waiting() == [0]
    grow.behind([0], logits_of([0.1, 0.2, 0.3, 0.4]))
    proposal = grow.proposal()
    assert grow.waiting() == [] and set(proposal.tokens[:2]) == {0, 2}
    assert proposal.tree.parents == (-1, -1, 0, 0) and proposal.tokens[2] != proposal.tokens[3]
    assert proposal.q.sum(1).tolist() == pytest.approx([1] * 4)


@pytest.mark.parametrize("sampled", [True, False])
@pytest.mark.parametrize("sampler", [Sampler(0.0), SAMPLED], ids=["greedy", "sampled"])
def test_trees_are_drawn_where_text_and_drafts_are_both_to_be(sampler, sampled):
    """A chain where there is no room for more; nothing before anything is known; and no drafts from NaN."""

    def grown(n):
        return tree_of(n, 4, None, sampler, Uniforms(3), 2, [[0.5, 0.2], [0.4, 0.1]], sampled)

    drawn = sampled and not sampler.greedy
    assert isinstance(grown(3), Drawn if drawn else MostLikely)
    assert grown(3).proposal().tokens == []
    grow = grown(1)
    grow.behind([TEXT], logits_of([0.1, 0.2, 0.3, 0.4]))
    proposal = grow.proposal()
    assert len(proposal.tokens) == 1 and proposal.tree is None
    assert (proposal.q is not None) == drawn
    if drawn:
        with pytest.raises(LabError, match="NaN"):
            grown(1).behind([TEXT], torch.full((1, 4), float("nan")))
