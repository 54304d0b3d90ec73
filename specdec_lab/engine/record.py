"""A round in plain numbers, from what decided it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from specdec_lab.engine.branches import TreeVerdict
from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.trace import ACCEPTED, DISCARDED, REJECTED, Draft, Emitted, Round, Seconds
from specdec_lab.models.tree import TEXT, Tree

if TYPE_CHECKING:
    from specdec_lab.engine.decode import Request


def record(
    request: "Request",
    proposal: Proposal,
    verdict: TreeVerdict,
    kept: int,
    columns: Sequence[int],
    p: Tensor,
    q: Tensor,
    logits: Tensor,
    u_accept: Sequence[float],
) -> Round:
    """The round in plain numbers, still without its times.

    Args:
        kept: tokens of the round that entered the text.
        columns: the token of each of the C columns of p and q.
        p: [γ + 1, C], the target's rows that decided. q: [γ, C], the draft's.
        logits: the target's raw rows [γ + 1, V].
        u_accept: the γ uniforms that the accept test compared with.
    """
    n, greedy, tree = len(proposal.tokens), request.sampler.greedy, proposal.shape
    at = torch.tensor([columns.index(token) for token in proposal.tokens], dtype=torch.long, device=p.device)[:, None]
    # What each draft was compared with; for drafts that were not tested, the target's row at their place.
    wanted = (
        p[:n] if not proposal.tree else torch.stack([verdict.wanted.get(i, p[tree.parents[i] + 1]) for i in range(n)])
    )
    p_drafts, q_drafts = wanted.gather(1, at), q.gather(1, at)
    # Σ min(p, q); where q is one-hot, that is p of its token.
    overlaps = p_drafts if proposal.q is None else torch.minimum(wanted, q).sum(-1, keepdim=True)
    # All at once: a GPU makes us wait for each reading.
    decided = torch.cat([p_drafts, q_drafts, overlaps], 1).tolist() if n else []
    raw, p_tops, q_tops, p_raw = [(None, None)] * n, [()] * (n + 1), [()] * n, None
    if request.keep.top:
        p_raw = logits.float().softmax(-1)
        q_raw = proposal.raw(request.target.vocab_size, p_raw.device)
        ids = torch.tensor(proposal.tokens, dtype=torch.long, device=p_raw.device)[:, None]
        at_place = p_raw[[parent + 1 for parent in tree.parents]]
        raw = torch.cat([at_place.gather(1, ids), q_raw.gather(1, ids)], 1).tolist()
        # A one-hot row has no second choice worth showing; the softmax behind it has.
        p_tops, q_tops = (tops(rows, request.keep.top) for rows in ((p_raw, q_raw) if greedy else (p, q)))
    drafted = tuple(
        Draft(token, p_x, q_x, *both, overlap, None if greedy else u, status, p_tops[parent + 1], q_top, parent, after)
        for token, (p_x, q_x, overlap), both, u, status, parent, q_top, after in zip(
            proposal.tokens, decided, raw, u_accept, statuses(tree, verdict.way, kept), tree.parents, q_tops, p_tops[1:]
        )
    )
    emitted = None
    if kept == verdict.accepted + 1:  # no stop has cut the target's own token off
        row, token = ([TEXT, *verdict.way][-1] + 1), verdict.token
        p_token = float(p[row, columns.index(token)])
        p_raw_token = None if p_raw is None else float(p_raw[row, token])
        emitted = Emitted(token, verdict.kind, p=p_token, p_raw=p_raw_token, p_top=p_tops[row])
    rows = (p, q) if request.keep.rows else (None, None)
    return Round(len(request.text) - kept, drafted, emitted, request.stop, Seconds(), *rows, after_top=p_tops[n])


def statuses(tree: Tree, way: Sequence[int], kept: int) -> list[str]:
    """What became of each draft: accepted, rejected or discarded.

    Args:
        way: the drafts that the rule kept.
        kept: tokens that entered the text. Where that is no more than the drafts of `way`, a stop has cut off the
            target's own token, and the drafts that it would replace count as discarded.
    """
    found = [DISCARDED] * len(tree.parents)
    for place, accepted in zip([TEXT, *way], [*way[:kept], None]):
        for i in tree.children[place]:
            if i == accepted:
                found[i] = ACCEPTED
                break
            if accepted is not None or kept > len(way):
                found[i] = REJECTED
    return found


def tops(rows: Tensor, n: int) -> list[tuple[tuple[int, float], ...]]:
    """For each row of [R, V] its n most likely (id, probability) pairs, without those of probability 0."""
    values, ids = rows.topk(min(n, rows.shape[1]))
    return [tuple((i, v) for i, v in zip(*row) if v > 0) for row in zip(ids.tolist(), values.tolist())]
