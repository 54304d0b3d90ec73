"""The verification rule: the page that the rest of the package feeds. (`decode` shows who calls it.)

p is the target's distribution, q the draft's. The draft drew token x from q. Accept it with
probability min(1, p(x)/q(x)); at the first rejection draw a replacement from the residual
norm(max(0, p − q)) and stop; if every draft is accepted, the target's last row gives one
token more. What comes out is distributed as if it had been drawn from p alone
(Leviathan et al. 2023, arXiv 2211.17192, algorithm 1 and appendix A.1;
Chen et al. 2023, arXiv 2302.01318).

Greedy decoding is the same rule with one-hot p and q: a draft is accepted when it is the
target's own choice, and the residual is that choice.

Drafts may also be a tree, several for one place. They are offered one after the other, and each refusal leaves less to
be wanted: the next one is compared with the residual instead of p. That is exact, too, whatever each was drawn from
(q is its own: with the older ones left out, where it was drawn without replacement), as long as nobody looks at a
draft before deciding to offer it (Miao et al. 2023, SpecInfer, arXiv 2305.09781, algorithm 2). A chain is the tree
without branches.

The random numbers come in as arguments, so that a test can integrate over them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specdec_lab.engine.sampling import draw
from specdec_lab.models.tree import TEXT, Tree


@dataclass(frozen=True)
class Verdict:
    """`accepted` drafts kept, then `token` (a column, too), of `kind` corrected, bonus or plain (nothing was drafted).

    way: which drafts are kept; None for the first `accepted` of a chain.
    wanted: for each draft that was tested what it was compared with [V]: p, or what refused ones left of it.
    """

    accepted: int
    token: int
    kind: str
    way: Sequence[int] | None = None
    wanted: Mapping[int, Tensor] = field(default_factory=dict)


def accepts(p_x: float, q_x: float, u: float) -> bool:
    """Whether a draft x survives: true with probability min(1, p(x)/q(x)) over u uniform in [0, 1).

    Strictly less: a token with p(x) = 0 is refused even when u = 0.
    """
    return u * q_x < p_x


def residual(p: Tensor, q: Tensor) -> Tensor:
    """What p has and q lacks, norm(max(0, p − q)): the distribution after a rejection. Shapes [V]."""
    lacking = (p - q).clamp(min=0)
    total = lacking.sum()
    # p equal to q up to rounding: a rejection has probability zero, and p itself is the limit.
    return torch.where(total > 0, lacking / total, p)


def verify(
    p: Tensor,
    q: Tensor,
    drafts: Sequence[int],
    u_accept: Sequence[float],
    u_resample: Sequence[float],
    tree: Tree | None = None,
) -> Verdict:
    """Check γ drafts against the target's γ + 1 rows.

    Args:
        p: target rows [γ + 1, V]; row 0 is the distribution behind the text, row i + 1 that behind draft i.
        q: draft rows [γ, V]; row i is the distribution that drafts[i] was drawn from.
        drafts: for each of the γ drafts its column in p and q: its token id, where they have all V columns.
        u_accept: independent uniforms in [0, 1), one a draft.
        u_resample: the same, one for each number of drafts that may be kept.
        tree: how the drafts hang together; None for a chain.
    """
    tree = tree or Tree.chain(len(drafts))
    at, way, wanted = TEXT, [], {}
    while offered := tree.children[at]:
        rest = p[at + 1]
        for i in offered:  # in a chain a single one
            wanted[i] = rest
            # Both numbers at once: a GPU makes us wait for each reading.
            p_x, q_x = torch.stack([rest[drafts[i]], q[i, drafts[i]]]).tolist()
            if accepts(p_x, q_x, u_accept[i]):
                break
            rest = residual(rest, q[i])
        else:
            return Verdict(len(way), draw(rest, u_resample[len(way)]), "corrected", way, wanted)
        at = i
        way.append(i)
    return Verdict(len(way), draw(p[at + 1], u_resample[len(way)]), "bonus" if way else "plain", way, wanted)
