"""The verification rule: which drafts stay, and what replaces the first miss. (`decode` shows who calls it.)

p is the target's distribution, q the draft's. The draft drew token x from q. Accept it with probability
min(1, p(x)/q(x)); at the first rejection draw a replacement from the residual norm(max(0, p − q)) and stop; if every
draft is accepted, the target's last row gives one token more. What comes out is distributed as if it had been drawn
from p alone (Leviathan et al. 2023, arXiv 2211.17192, algorithm 1 and appendix A.1; Chen et al. 2023, 2302.01318).

The random numbers are arguments, so that a test can integrate over them. `rules` has the same rule where several drafts
stand for one place, and another one that is exact, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specdec_lab.engine.sampling import draw
from specdec_lab.models.tree import TEXT, Tree


@dataclass(frozen=True)
class Verdict:
    """What a rule decided.

    path: the drafts that are kept, by number, each after the one before: of a chain the first ones.
    token: the target's own token after them.
    kind: of that token: corrected (after a rejection), bonus (all were accepted), or plain (nothing was drafted).
    wanted: in a tree, for each draft that was tested, the distribution [V] that it was compared with: p, or the residual
        that its rejected siblings left.
    """

    path: Sequence[int]
    token: int
    kind: str
    wanted: Mapping[int, Tensor] = field(default_factory=dict)

    @property
    def accepted(self) -> int:
        """How many drafts are kept."""
        return len(self.path)


def accepts(p_x: float, q_x: float, u: float) -> bool:
    """Whether a draft x survives: true with probability min(1, p(x)/q(x)) over u uniform in [0, 1).

    The comparison is strict: a token with p(x) = 0 is refused even when u = 0.
    """
    return u * q_x < p_x


def residual(p: Tensor, q: Tensor) -> Tensor:
    """What p has and q lacks, norm(max(0, p − q)): the distribution after a rejection. Shapes [V]."""
    lacking = (p - q).clamp(min=0)
    total = lacking.sum()
    # p equal to q up to rounding: a rejection has probability zero, and p itself is the limit.
    return torch.where(total > 0, lacking / total, p)


def verify(
    p: Tensor, q: Tensor, drafts: Sequence[int], u_accept: Sequence[float], u_resample: Sequence[float]
) -> Verdict:
    """Check γ drafts against the target's γ + 1 rows.

    Args:
        p: target rows [γ + 1, V]; row i is the distribution of the token at draft position i.
        q: draft rows [γ, V]; row i is the distribution that drafts[i] was drawn from.
        drafts: γ token ids.
        u_accept, u_resample: independent uniforms in [0, 1), one a position (γ and γ + 1 of them).
    """
    x = torch.tensor(drafts, dtype=torch.long, device=p.device)[:, None]
    # Both numbers of every draft at once: a GPU makes us wait for each reading.
    pairs = torch.cat([p[: len(drafts)].gather(1, x), q.gather(1, x)], 1).tolist() if drafts else []
    for i, (p_x, q_x) in enumerate(pairs):
        if not accepts(p_x, q_x, u_accept[i]):
            return Verdict(range(i), draw(residual(p[i], q[i]), u_resample[i]), "corrected")
    last = len(drafts)
    return Verdict(range(last), draw(p[last], u_resample[last]), "bonus" if last else "plain")


def verify_greedy(choices: Sequence[int], drafts: Sequence[int], tree: Tree) -> Verdict:
    """The same rule at temperature 0, where p and q are one-hot: a draft stays if it is the target's own choice.

    Args:
        choices: γ + 1 tokens, the largest logit of each row: choices[0] after the text, choices[i + 1] after draft i.
        drafts: γ token ids.
        tree: which draft follows which.
    """
    place, path = TEXT, []
    while right := [i for i in tree.children[place] if drafts[i] == choices[place + 1]]:
        place = right[0]
        path.append(place)
    kind = "corrected" if tree.children[place] else "bonus" if path else "plain"
    return Verdict(path, choices[place + 1], kind)
