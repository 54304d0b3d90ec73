"""How a drafter grows a token tree: its favourites, best first; or drawn at random, in a shape that is settled before.

Both are asked alike: `behind` takes the logits at some places, `waiting` names the drafts whose logits are wanted
next, and `proposal` ends it. A place is a draft's number, or TEXT.
"""

import heapq
from collections.abc import Sequence
from functools import partial

from torch import Tensor

from specdec_lab.drafters.drawing import whole_rows
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms, check_finite, pick
from specdec_lab.models.tree import TEXT, Tree

# A place is asked for its own favourites where they may still enter the tree: with this share of its chance.
HOPE = 0.3


class Favourites:
    """The n most probable ways to go on from the text, all in all (EAGLE-2, Li et al. 2024, arXiv 2406.16858).

    As far as it looks: with a HOPE below 1, places that can hardly add a draft are not asked. Nothing is drawn, so q is
    one-hot, at any temperature.

    Args:
        width: V, the target's vocabulary.
        ids: [F], the tokens that the logits stand for; None when logit i is token i.
    """

    def __init__(self, width: int, ids: Tensor | None, n: int):
        self.width, self.ids, self.n = width, ids, n
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.chances: list[float] = []  # of the whole way from the text to here, by the draft's own word
        self.rows: list[Tensor] = []  # the logits that each was taken from
        self.asked: set[int] = set()

    def behind(self, places: Sequence[int], logits: Tensor) -> None:
        """The logits [len(places), F] at some places."""
        logits = logits[:, : self.width]
        chances, tokens = logits.float().softmax(-1).topk(min(self.n, logits.shape[1]))
        tokens = tokens if self.ids is None else self.ids[tokens]
        for place, row, *some in zip(places, logits, chances.tolist(), tokens.tolist()):
            before = 1.0 if place == TEXT else self.chances[place]
            for chance, token in zip(*some):
                self.add(place, token, before * chance, row)
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
        """The n best so far. No child is better than its parent, and a parent comes first."""
        return heapq.nsmallest(self.n, range(len(self.tokens)), key=lambda i: (-self.chances[i], i))

    def waiting(self) -> list[int]:
        best = self.best()
        beaten = self.chances[best[-1]] if len(best) == self.n else 0.0
        return [i for i in best if i not in self.asked and HOPE * self.chances[i] > beaten]

    def proposal(self) -> Proposal:
        best = self.best()
        if not best:
            return Proposal([])
        number = {TEXT: TEXT} | {i: n for n, i in enumerate(best)}
        tree = Tree(tuple(number[self.parents[i]] for i in best))
        logits = partial(whole_rows, [self.rows[i] for i in best], self.ids, self.width, float("-inf"))
        return Proposal([self.tokens[i] for i in best], None, logits, tree=None if tree.is_chain else tree)


class Drawn:
    """Drawn from q, at each place without those already drawn there.

    The shape is settled before anything is drawn: whoever draws first and then drops what looks improbable
    offers the target something else than q (see `verify`).

    Args:
        start: the position of the first drafts, for their random numbers.
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
                chosen = pick(q, self.uniforms(self.start + self.shape.depths[i], DRAFT, self.shape.twins[i]))
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
) -> Favourites | Drawn:
    """A tree of n drafts that is still to grow: the favourites; or, where the text is sampled and drafts shall be, too, drawn ones."""
    if sampler.greedy or not sampled:
        return Favourites(width, ids, n)
    return Drawn(width, ids, sampler, uniforms, start, shape_of(n, rates))


def shape_of(n: int, rates: Sequence[Sequence[float]]) -> Tree:
    """The tree of n places that keeps most drafts on average, where a place is reached or not by chance alone.

    Where drafts are drawn the shape must not follow what was drawn, so one shape serves every round (Chen et al. 2024,
    Sequoia, arXiv 2402.12374).

    Args:
        rates: rates[depth][k], the chance that of the drafts at one place, once it is reached, the k-th is accepted.
            The tree is not deeper than there are rates.
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
