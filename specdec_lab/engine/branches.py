"""The rule of `verify` for a tree, with several drafts for one place (Miao et al. 2023, arXiv 2305.09781, algorithm 2).

The drafts for a place are tested one after the other. After each rejection the next one is compared with the residual
instead of p. That is exact, too, whatever each draft was drawn from, as long as nobody looks at a draft before deciding
to offer it. Each draft has a q of its own: if no token is drawn twice for a place, that is the draft's distribution
without its older siblings, normalised; if the drafts are not drawn but are the favourites, it is one-hot.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.engine.sampling import draw
from specdec_lab.engine.verify import Verdict, accepts, residual
from specdec_lab.models.tree import TEXT, Tree


def verify_tree(
    p: Tensor, q: Tensor, drafts: Sequence[int], u_accept: Sequence[float], u_resample: Sequence[float], tree: Tree
) -> Verdict:
    """Walk from the text down the tree, as long as a draft is accepted. A chain is the tree without branches.

    Args:
        p: target rows [n + 1, V]; row 0 is the distribution after the text, row i + 1 that after draft i.
        q: draft rows [n, V]; row i is the distribution that drafts[i] was drawn from.
        drafts: for each of the n drafts its column in p and q.
        u_accept: independent uniforms in [0, 1), one a draft.
        u_resample: the same, one for each number of drafts that may be kept, 0 … the depth of the tree.
        tree: which draft follows which.
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
            return Verdict(len(path), draw(rest, u_resample[len(path)]), "corrected", path, wanted)
        place = i
        path.append(i)
    return Verdict(len(path), draw(p[place + 1], u_resample[len(path)]), "bonus", path, wanted)
