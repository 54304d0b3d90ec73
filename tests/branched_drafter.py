"""A drafter whose trees have the shape that a test asks for, and drafts from a tiny model."""

import torch
from tiny import TinyModel

from specdec_lab.drafters import Drafter
from specdec_lab.drafters.drawing import LikeliestTree, SampledTree
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import Sampler
from specdec_lab.models.tree import TEXT, Tree

TWO_BY_TWO = Tree((-1, -1, 0, 0, 1, 1))
THREE_THEN_ONE = Tree((-1, -1, -1, 0, 1, 2))
DEEP = Tree((-1, -1, 0, 0, 2, 2))  # three deep, two at each place of one way
WIDE_AND_DEEP = Tree((-1, -1, -1, 0, 3))
SHAPES = (TWO_BY_TWO, THREE_THEN_ONE, DEEP, WIDE_AND_DEEP)


class TreeOf(Drafter):
    """Drafts a tree of one shape from a tiny model."""

    name = "tree"

    def __init__(self, draft: TinyModel, shape: Tree):
        self.draft, self.shape = draft, shape

    def drafting(self, text, gamma, sampler, uniforms):
        width, wait = self.draft.vocab_size, [TEXT]
        if gamma < 1:
            return Proposal([])
        if sampler.greedy:
            grow = LikeliestTree(width, None, min(gamma, 6))
        else:
            shape = Tree(self.shape.parents[:gamma])
            grow = SampledTree(width, None, sampler, uniforms, len(text), shape)
        while wait:
            ways = [self.path(grow, place) for place in wait]
            grow.behind(wait, torch.stack([self.draft.logits([*text, *way]) for way in ways]))
            wait = grow.waiting()
        return grow.proposal()

    def path(self, grow, place):
        return [] if place == TEXT else [*self.path(grow, grow.parents[place]), grow.tokens[place]]


class Favourites(TreeOf):
    """Draws nothing, at any temperature."""

    def drafting(self, text, gamma, sampler, uniforms):
        return super().drafting(text, gamma, Sampler(0.0), uniforms)
