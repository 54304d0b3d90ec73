"""How a drafter grows a token tree: its favourites, best first; or drawn at random, in a shape that is fixed before.

Both have the same methods: `behind` takes the logits at some places, `waiting` names the drafts whose logits are wanted
next, and `proposal` makes the proposal. A place is a draft's number, or TEXT. A draft's `depth` is how many drafts come
before it.
"""

import heapq
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from specdec_lab.drafters.drawing import whole_rows
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms, check_finite, pick
from specdec_lab.models.tree import TEXT, Tree

# A place is asked for its favourites only if they may still enter the tree: if a draft with this share of the place's
# chance would be among the n best.
EXPAND_THRESHOLD = 0.3


class MostLikely:
    """The n drafts with the largest chances in the whole tree (EAGLE-2, Li et al. 2024, arXiv 2406.16858).

    Nearly so: with a EXPAND_THRESHOLD below 1, places that can hardly add a draft are not asked. Nothing is drawn, so q is one-hot,
    at any temperature.

    Args:
        width: V, the target's vocabulary.
        ids: [F], the tokens that the logits stand for; None when logit i is token i.
        n: drafts in the tree.
    """

    def __init__(self, width: int, ids: Tensor | None, n: int):
        self.width, self.ids, self.n = width, ids, n
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.chances: list[float] = []  # q of all drafts on the way from the text to this one, multiplied
        self.rows: list[Tensor] = []  # the logits that each was taken from
        self.asked: set[int] = set()

    def behind(self, places: Sequence[int], logits: Tensor) -> None:
        """Take the logits [len(places), F] at some places, and add the favourites there."""
        logits = logits[:, : self.width]
        chances, tokens = logits.float().softmax(-1).topk(min(self.n, logits.shape[1]))
        tokens = tokens if self.ids is None else self.ids[tokens]
        some = torch.stack([chances, tokens.float()], -1).tolist()  # both in one reading
        for place, row, found in zip(places, logits, some):
            before = 1.0 if place == TEXT else self.chances[place]
            for chance, token in found:
                self.add(place, int(token), before * chance, row)
        self.asked.update(places)

    def parent(self, i: int) -> int:
        return self.parents[i]

    def depth(self, i: int) -> int:
        return 0 if self.parents[i] == TEXT else self.depth(self.parents[i]) + 1

    def add(self, place: int, token: int, chance: float, row: Tensor) -> None:
        self.parents.append(place)
        self.tokens.append(token)
        self.chances.append(chance)
        self.rows.append(row)

    def best(self) -> list[int]:
        """The n best so far. No child is better than its parent, and of equals the older comes first: so a parent is
        among them if its child is, and before it.
        """
        return heapq.nsmallest(self.n, range(len(self.tokens)), key=lambda i: (-self.chances[i], i))

    def waiting(self) -> list[int]:
        best = self.best()
        beaten = self.chances[best[-1]] if len(best) == self.n else 0.0
        return [i for i in best if i not in self.asked and EXPAND_THRESHOLD * self.chances[i] > beaten]

    def proposal(self) -> Proposal:
        best = self.best()
        if not best:
            return Proposal([])
        number = {TEXT: TEXT} | {i: n for n, i in enumerate(best)}
        tree = Tree(tuple(number[self.parents[i]] for i in best))
        logits = partial(whole_rows, [self.rows[i] for i in best], self.ids, self.width, float("-inf"))
        return Proposal([self.tokens[i] for i in best], None, logits, tree=None if tree.is_chain else tree)


class Drawn:
    """Drawn from q, at each place without the tokens already drawn there.

    The shape is fixed before anything is drawn: if improbable drafts were dropped after drawing, those that stay would
    not be distributed as q says, and verification would not be exact.

    Args:
        width, ids: as in `MostLikely`.
        start: the position of the first drafts, for their random numbers.
        shape: the tree to fill; smaller where fewer tokens are possible.
    """

    def __init__(self, width: int, ids: Tensor | None, sampler: Sampler, uniforms: Uniforms, start: int, shape: Tree):
        self.width, self.ids, self.sampler, self.uniforms, self.start = width, ids, sampler, uniforms, start
        self.shape, self.asked = shape, set()
        self.drawn: dict[int, tuple[int, Tensor, Tensor]] = {}  # number in the shape: token, q [F], logits [F]

    @property
    def tokens(self) -> dict[int, int]:
        return {i: token for i, (token, _, _) in self.drawn.items()}

    def parent(self, i: int) -> int:
        return self.shape.parents[i]

    def depth(self, i: int) -> int:
        return self.shape.depths[i]

    def behind(self, places: Sequence[int], logits: Tensor) -> None:
        logits = logits[:, : self.width]
        check_finite(logits)
        for place, row, q in zip(places, logits, self.sampler.shaped(logits)):
            for i in self.shape.children[place]:
                chosen = pick(q, self.uniforms(self.start + self.shape.depths[i], DRAFT, self.shape.ranks[i]))
                token = int(chosen if self.ids is None else self.ids[chosen])
                self.drawn[i] = token, q, row
                rest = q.index_fill(0, chosen, 0.0)
                total = float(rest.sum())
                if not total > 0:  # all that is possible here has been drawn
                    break
                q = rest / total
        self.asked.update(places)

    def waiting(self) -> list[int]:
        return [i for i in self.drawn if i not in self.asked and self.shape.children[i]]

    def proposal(self) -> Proposal:
        if not self.drawn:
            return Proposal([])
        number = {TEXT: TEXT} | {i: n for n, i in enumerate(sorted(self.drawn))}
        tokens, q, rows = zip(*(self.drawn[i] for i in sorted(self.drawn)))
        tree = Tree(tuple(number[self.shape.parents[i]] for i in sorted(self.drawn)))
        whole = whole_rows(q, self.ids, self.width, 0.0)
        logits = partial(whole_rows, rows, self.ids, self.width, float("-inf"))
        return Proposal(list(tokens), whole, logits, tree=None if tree.is_chain else tree)


def tree_of(
    n: int,
    width: int,
    ids: Tensor | None,
    sampler: Sampler,
    uniforms: Uniforms,
    start: int,
    rates: Sequence[Sequence[float]],
    sampled: bool,
) -> MostLikely | Drawn:
    """An empty tree for n drafts: `Drawn` where both the text and the drafts are `sampled`, else `MostLikely`.

    Args:
        width, ids, start: as in `MostLikely` and `Drawn`.
        rates: as in `shape_of`; only for `Drawn`.
    """
    if sampler.greedy or not sampled:
        return MostLikely(width, ids, n)
    return Drawn(width, ids, sampler, uniforms, start, shape_of(n, rates))


def shape_of(n: int, rates: Sequence[Sequence[float]]) -> Tree:
    """The tree of n drafts of which most are kept on average, if the chances depend on the place in the tree alone.

    Where drafts are drawn, the shape must not depend on what was drawn, so one shape serves every round (Chen et al.
    2024, Sequoia, arXiv 2402.12374).

    Args:
        rates: rates[depth][k] is the chance that draft k of a place at this depth is the one accepted, if the place is
            reached. The tree has at most len(rates) levels.
    """
    open_, parents = [(-rates[0][0], TEXT, 0, 0)], []  # (−chance, parent, depth, which of the siblings)
    while open_ and len(parents) < n:
        chance, parent, depth, k = heapq.heappop(open_)
        parents.append(parent)
        if k + 1 < len(rates[depth]):
            heapq.heappush(open_, (chance / rates[depth][k] * rates[depth][k + 1], parent, depth, k + 1))
        if depth + 1 < len(rates):
            heapq.heappush(open_, (chance * rates[depth + 1][0], len(parents) - 1, depth + 1, 0))
    return Tree(tuple(parents))
