"""Rules beside the one of `verify`: for trees, and one that judges all drafts of a round together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_lab.engine.sampling import draw
from specdec_lab.engine.verify import Verdict, accepts, residual, verify
from specdec_lab.models.tree import TEXT, Tree


def verify_tree(
    p: Tensor, q: Tensor, drafts: Sequence[int], u_accept: Sequence[float], u_resample: Sequence[float], tree: Tree
) -> Verdict:
    """Walk from the text down the tree, as long as a draft is accepted (Miao et al. 2023, arXiv 2305.09781, algorithm 2).

    The drafts for a place are tested one after the other. After each rejection the next one is compared with the
    residual instead of p. That is exact, too, whatever each draft was drawn from, as long as whether a draft is offered
    does not depend on its token. Each draft has a q of its own: if no token is drawn twice for a place, that is the
    draft's distribution without its older siblings, normalised; if the drafts are favourites, it is one-hot.

    Args:
        p: target rows [n + 1, V]; row 0 is the distribution after the text, row i + 1 that after draft i.
        q: draft rows [n, V]; row i is the distribution that drafts[i] was drawn from.
        drafts: n token ids.
        u_accept: independent uniforms in [0, 1), one a draft.
        u_resample: the same, one for each number of drafts that may be kept, 0 … the depth of the tree.
        tree: which draft follows which. A chain is the tree without branches.
    """
    # Both numbers of every draft at once: a GPU makes us wait for each reading.
    at = torch.tensor([[parent + 1 for parent in tree.parents], drafts, range(len(drafts))], device=p.device)
    pairs = torch.stack([p[at[0], at[1]], q[at[2], at[1]]], 1).tolist()
    place, path, wanted = TEXT, [], {}
    while offered := tree.children[place]:
        rest = p[place + 1]
        for i in offered:
            wanted[i] = rest
            p_x, q_x = pairs[i]
            if i != offered[0]:
                p_x = float(rest[drafts[i]])
            if accepts(p_x, q_x, u_accept[i]):
                break
            rest = residual(rest, q[i])
        else:
            return Verdict(path, draw(rest, u_resample[len(path)]), "corrected", wanted)
        place = i
        path.append(i)
    return Verdict(path, draw(p[place + 1], u_resample[len(path)]), "bonus", wanted)


def verify_block(
    p: Tensor, q: Tensor, drafts: Sequence[int], u_accept: Sequence[float], u_resample: Sequence[float]
) -> Verdict:
    """Block verification: check γ drafts against the target's γ + 1 rows, all together (Sun et al. 2024, arXiv
    2403.10444, algorithm 2).

    `verify` discards all drafts after the first miss. Here each *beginning* of the drafts (the first i of them) is judged
    as a whole, and the longest one that survives is kept: later drafts can make up for one that the target wants less
    often than it is drafted. The output is the target's own as before (theorem 1), and on average never fewer drafts are
    kept (theorem 2); with one draft both rules are the same.

    w, the *wanted share* of the first i drafts, follows the ratios p/q along the draft, and never rises above 1:
    w(0) = 1, w(i) = min(1, w(i−1) · p(x)/q(x)). All γ drafts survive with chance w(γ). A shorter beginning survives
    with chance R / (R + 1 − w), where R = Σ max(0, w · p − q) at the place after it (equation 5); if it is the
    longest that does, the token after it comes from norm(max(0, w · p − q)) (equation 4).

    The arguments are those of `verify`, with one condition more: the random numbers must be new in every round. Here
    also drafts that are discarded have decided, so the numbers that they were drawn and tested with must not decide
    about those positions a second time. (`Uniforms` gives a position the same number in every round, which is right
    for `verify`. For this rule a request takes `Uniforms.fresh`: see `BLOCK`.)
    """
    wanted, survivor = 1.0, (0, 1.0)  # the longest beginning that survives so far, and its w
    for i, x in enumerate(drafts):
        wanted = min(1.0, wanted * float(p[i, x]) / float(q[i, x]))
        if u_accept[i] < survives(wanted, p[i + 1], q[i + 1] if i + 1 < len(drafts) else None):
            survivor = (i + 1, wanted)
    kept, wanted = survivor
    if kept == len(drafts):
        return Verdict(range(kept), draw(p[kept], u_resample[kept]), "bonus" if kept else "plain")
    return Verdict(range(kept), draw(residual(wanted * p[kept], q[kept]), u_resample[kept]), "corrected")


def survives(wanted: float, p: Tensor, q: Tensor | None) -> float:
    """The chance that a beginning survives.

    Args:
        wanted: its wanted share w.
        p, q: the rows [V] at the place after it; q is None where nothing was drafted there.
    """
    if q is None:
        return wanted
    lacking = float((wanted * p - q).clamp(min=0).sum())
    missed = lacking + 1 - wanted
    # 0/0 where w = 1 and p = q: then the next beginning has w = 1 as well, and decides.
    return lacking / missed if missed > 0 else 1.0


@dataclass(frozen=True)
class Rule:
    """A rule of verification, and what it needs.

    chain: judges drafts that follow one another; takes and returns what `verify` does.
    tree: judges drafts in a tree, as `verify_tree` does; None where the rule judges chains only.
    fresh: whether the random numbers must be new in every round (see `verify_block`).
    """

    chain: Callable[..., Verdict]
    tree: Callable[..., Verdict] | None = None
    fresh: bool = False


USUAL = Rule(verify, verify_tree)
BLOCK = Rule(verify_block, fresh=True)


def as_rule(rule: Rule | Callable[..., Verdict]) -> Rule:
    """A function is the rule above that it belongs to; another one judges chains."""
    if isinstance(rule, Rule):
        return rule
    return next((known for known in (USUAL, BLOCK) if known.chain is rule), Rule(rule))
