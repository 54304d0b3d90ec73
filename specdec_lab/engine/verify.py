"""The verification rule: which drafts stay, and what replaces the first miss. (`decode` shows who calls it.)

p is the target's distribution, q the draft's. The draft drew token x from q. Accept it with probability
min(1, p(x)/q(x)); at the first rejection draw a replacement from the residual norm(max(0, p − q)) and stop; if every
draft is accepted, the target's last row gives one token more. What comes out is distributed as if it had been drawn
from p alone (Leviathan et al. 2023, arXiv 2211.17192, algorithm 1 and appendix A.1; Chen et al. 2023, 2302.01318).

Greedy decoding is the same rule with one-hot p and q: it accepts the target's own choice, and else draws that choice.
The random numbers are arguments, so that a test can integrate over them. `branches` has the same rule where several
drafts stand for one place, and `rules` puts both together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from specdec_lab.engine.sampling import draw


@dataclass(frozen=True)
class Verdict:
    """What a rule decided.

    accepted: how many drafts are kept.
    token: the target's own token after them, as a column of p (like `drafts` in `verify`).
    kind: of that token: corrected (after a rejection), bonus (all were accepted), or plain (nothing was drafted).
    branch: in a tree the drafts that are kept, by number, each after the one before; None for a chain, whose first
        `accepted` are.
    wanted: in a tree, for each draft that was tested, the distribution [V] that it was compared with: p, or the residual
        that its rejected siblings left.
    """

    accepted: int
    token: int
    kind: str
    branch: Sequence[int] | None = None
    wanted: Mapping[int, Tensor] = field(default_factory=dict)

    @property
    def path(self) -> Sequence[int]:
        """The drafts that are kept, by number."""
        return range(self.accepted) if self.branch is None else self.branch


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
        drafts: for each of the γ drafts its column in p and q: its token id, where they have all V columns.
        u_accept, u_resample: independent uniforms in [0, 1), one a position (γ and γ + 1 of them).
    """
    x = torch.tensor(drafts, dtype=torch.long, device=p.device)[:, None]
    # Both numbers of every draft at once: a GPU makes us wait for each reading.
    pairs = torch.cat([p[: len(drafts)].gather(1, x), q.gather(1, x)], 1).tolist() if drafts else []
    for i, (p_x, q_x) in enumerate(pairs):
        if not accepts(p_x, q_x, u_accept[i]):
            return Verdict(i, draw(residual(p[i], q[i]), u_resample[i]), "corrected")
    last = len(drafts)
    return Verdict(last, draw(p[last], u_resample[last]), "bonus" if last else "plain")
