"""How a drafter with a net makes its proposal: a chain, drawn token by token, or a tree, which grows place by place.

A tree is of the most likely drafts, best first; or drawn at random, in a shape that is fixed before. Both kinds have
the same methods: see `TreeBuilder`.
"""

import heapq
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import pad

from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms, check_finite, pick
from specdec_lab.models.tree import TEXT, Tree

# A place is asked for its most likely drafts only if they may still enter the tree: if a draft with this share of the
# place's chance would be among the n best.
EXPAND_THRESHOLD = 0.3


class ChainBuilder:
    """A chain: builds a proposal token by token from logits over some or all of the target's vocabulary.

    Its tokens stay on the device until the proposal is complete: reading each would make a GPU wait.

    Args:
        width: V, the target's vocabulary.
        ids: [F], the tokens that the logits stand for; None when logit i is token i. Logits past
            V are cut off: models of one family pad the same vocabulary to different sizes.
        start: the position of the first draft, for its random number.
    """

    def __init__(self, width: int, ids: Tensor | None, sampler: Sampler, uniforms: Uniforms, start: int):
        self.width, self.ids, self.sampler, self.uniforms, self.start = width, ids, sampler, uniforms, start
        self.tokens: list[Tensor] = []  # scalars, still on the device
        self._q: list[Tensor] = []
        self._logits: list[Tensor] = []

    def add(self, logits: Tensor) -> Tensor:
        """Draw the next token, [1, 1], from logits [F]."""
        token = self.draw(logits[: self.width], self.uniforms(self.start + len(self.tokens), DRAFT))
        if self.ids is not None:  # not ids[token]: that reads the token
            token = self.ids.index_select(0, token.to(self.ids.device).view(1))[0]
        self.tokens.append(token)
        return token.view(1, 1)

    def draw(self, logits: Tensor, u: float) -> Tensor:
        """The number [] of the logit that u draws. What it was drawn from is kept for the proposal."""
        self._logits.append(logits)
        if self.sampler.greedy:
            return logits.argmax()
        self._q.append(self.sampler.shaped(logits))
        return pick(self._q[-1], u)

    def proposal(self, started: tuple[int, Tensor] | None = None) -> Proposal:
        """The tokens drawn so far, with their q. started: as in `Proposal`."""
        if not self.tokens:
            return Proposal([])
        if self._q:
            check_finite(torch.stack(self._logits))
        q = whole_rows(self._q, self.ids, self.width, 0.0) if self._q else None
        logits = partial(whole_rows, self._logits, self.ids, self.width, float("-inf"))
        return Proposal(torch.stack(self.tokens).tolist(), q, logits, started, sure=partial(favourites, self._logits))


def favourites(rows: Sequence[Tensor]) -> list[float]:
    """The chance of each row's most likely token, from logits [F]: before a sampler shapes them."""
    return torch.stack(list(rows)).float().softmax(-1).amax(-1).tolist()


def whole_rows(rows: Sequence[Tensor], ids: Tensor | None, width: int, missing: float) -> Tensor:
    """Rows of [F] as one tensor [n, V], with `missing` at the tokens that no logit stands for.

    Args:
        ids: [F], the tokens that the numbers stand for; None when number i is token i's.
        width: V.
    """
    stacked = torch.stack(list(rows))
    if ids is None:
        short = width - stacked.shape[1]
        return pad(stacked, (0, short), value=missing) if short else stacked
    whole = stacked.new_full((len(rows), width), missing)
    whole[:, ids.to(stacked.device)] = stacked
    return whole


class TreeBuilder:
    """A tree that grows: what `LikeliestTree` and `SampledTree` share.

    `behind` takes the logits at some places, `waiting` names the drafts whose logits are wanted next, and `proposal`
    makes the proposal. A place is a draft's number, or TEXT. A draft's depth is how many drafts come before it.

    Args:
        width: V, the target's vocabulary.
        ids: [F], the tokens that the logits stand for; None when logit i is token i.
    """

    parents: list[int]  # the place that each draft goes on from
    depths: list[int]

    def __init__(self, width: int, ids: Tensor | None):
        self.width, self.ids = width, ids
        self.tokens: dict[int, int] = {}
        self.rows: dict[int, Tensor] = {}  # by draft, the logits [F] that it was taken from
        self.asked: set[int] = set()  # the places whose logits are known

    def proposal_of(self, drafts: Sequence[int], q: dict[int, Tensor] | None = None) -> Proposal:
        """These drafts, each behind its parent. q: what each was drawn from, [F]; None where nothing was drawn."""
        if not drafts:
            return Proposal([])
        number = {TEXT: TEXT} | {draft: n for n, draft in enumerate(drafts)}
        tree = Tree(tuple(number[self.parents[draft]] for draft in drafts))
        whole = None if q is None else whole_rows([q[draft] for draft in drafts], self.ids, self.width, 0.0)
        logits = partial(whole_rows, [self.rows[draft] for draft in drafts], self.ids, self.width, float("-inf"))
        return Proposal([self.tokens[draft] for draft in drafts], whole, logits, tree=tree)


class LikeliestTree(TreeBuilder):
    """The n drafts with the largest chances in the whole tree (EAGLE-2, Li et al. 2024, arXiv 2406.16858).

    Nearly so: with an EXPAND_THRESHOLD below 1, places that can hardly add a draft are not asked. Nothing is drawn, so
    q is one-hot, at any temperature.

    Args:
        width, ids: as in `TreeBuilder`.
        n: drafts in the tree.
    """

    def __init__(self, width: int, ids: Tensor | None, n: int):
        super().__init__(width, ids)
        self.n = n
        self.parents, self.depths = [], []
        self.chances: list[float] = []  # q of all drafts on the way from the text to this one, multiplied

    def behind(self, places: Sequence[int], logits: Tensor) -> None:
        """Take the logits [len(places), F] at some places, and add the most likely drafts there."""
        logits = logits[:, : self.width]
        chances, tokens = logits.float().softmax(-1).topk(min(self.n, logits.shape[1]))
        tokens = tokens if self.ids is None else self.ids[tokens]
        both = torch.stack([chances, tokens.float()], -1).tolist()  # in one reading of the device
        for place, row, found in zip(places, logits, both):
            before, depth = (1.0, 0) if place == TEXT else (self.chances[place], self.depths[place] + 1)
            for chance, token in found:
                draft = len(self.parents)
                self.parents.append(place)
                self.depths.append(depth)
                self.chances.append(before * chance)
                self.tokens[draft], self.rows[draft] = int(token), row
        self.asked.update(places)

    def best(self) -> list[int]:
        """The n best so far. No child is better than its parent, and of equals the older comes first: so a parent is
        among them if its child is, and before it.
        """
        return heapq.nsmallest(self.n, range(len(self.parents)), key=lambda i: (-self.chances[i], i))

    def waiting(self) -> list[int]:
        best = self.best()
        beaten = self.chances[best[-1]] if len(best) == self.n else 0.0
        return [i for i in best if i not in self.asked and EXPAND_THRESHOLD * self.chances[i] > beaten]

    def proposal(self) -> Proposal:
        return self.proposal_of(self.best())


class SampledTree(TreeBuilder):
    """SampledTree from q, at each place without the tokens already drawn there.

    The shape is fixed before anything is drawn: if improbable drafts were dropped after drawing, those that stay would
    not be distributed as q says, and verification would not be exact.

    Args:
        width, ids: as in `TreeBuilder`.
        start: the position of the first drafts, for their random numbers.
        shape: the tree to fill; smaller where fewer tokens are possible.
    """

    def __init__(self, width: int, ids: Tensor | None, sampler: Sampler, uniforms: Uniforms, start: int, shape: Tree):
        super().__init__(width, ids)
        self.sampler, self.uniforms, self.start, self.shape = sampler, uniforms, start, shape
        self.parents, self.depths = list(shape.parents), list(shape.depths)
        self.q: dict[int, Tensor] = {}  # by draft, what it was drawn from, [F]

    def behind(self, places: Sequence[int], logits: Tensor) -> None:
        """Take the logits [len(places), F] at some places, and draw what the shape has there."""
        logits = logits[:, : self.width]
        check_finite(logits)
        for place, row, q in zip(places, logits, self.sampler.shaped(logits)):
            for i in self.shape.children[place]:
                chosen = pick(q, self.uniforms(self.start + self.depths[i], DRAFT, self.shape.ranks[i]))
                self.tokens[i] = int(chosen if self.ids is None else self.ids[chosen])
                self.q[i], self.rows[i] = q, row
                rest = q.index_fill(0, chosen, 0.0)
                total = float(rest.sum())
                if not total > 0:  # all that is possible here has been drawn
                    break
                q = rest / total
        self.asked.update(places)

    def waiting(self) -> list[int]:
        return [i for i in self.tokens if i not in self.asked and self.shape.children[i]]

    def proposal(self) -> Proposal:
        return self.proposal_of(sorted(self.tokens), self.q)


def tree_of(
    n: int,
    width: int,
    ids: Tensor | None,
    sampler: Sampler,
    uniforms: Uniforms,
    start: int,
    rates: Sequence[Sequence[float]],
    sampled: bool,
) -> LikeliestTree | SampledTree:
    """An empty tree for n drafts: `SampledTree` where both the text and the drafts are `sampled`, else `LikeliestTree`.

    Args:
        width, ids, start: as in `SampledTree`.
        rates: as in `shape_of`; only for `SampledTree`.
    """
    if sampler.greedy or not sampled:
        return LikeliestTree(width, ids, n)
    return SampledTree(width, ids, sampler, uniforms, start, shape_of(n, rates))


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
