"""Greedy rounds without distributions: the target's argmax tokens decide, and all of a round is read at once.

Such a round comes out as it does with one-hot p and q over the whole vocabulary. It is only cheaper.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from specdec_lab.engine.drafter import Proposal
from specdec_lab.engine.sampling import check_largest

if TYPE_CHECKING:
    from specdec_lab.engine.decode import Request


def greedy_choices(
    requests: Sequence["Request"], proposals: Sequence[Proposal], logits: Tensor, used: Sequence[int]
) -> dict[int, list[int]]:
    """By row, the target's argmax tokens for the texts where they decide, all of them read from the device at once."""
    pairs = zip(requests, proposals)
    wanted = [request.argmax_decides(proposal) and not request.processors for request, proposal in pairs]
    if not any(wanted):
        return {}
    found = argmax_tokens(logits, [n if it else 0 for n, it in zip(used, wanted)])
    return {r: found[r] for r, it in enumerate(wanted) if it}


def argmax_tokens(logits: Tensor, used: Sequence[int]) -> list[list[int]]:
    """For each text of [R, k, V], the numbers of the largest logit in its first used[r] rows. It reads the device once.

    Raises:
        LabError: as `check_finite`, for these rows.
    """
    largest, chosen = logits.max(-1)
    read = torch.stack([largest.float(), chosen.float()]).tolist()  # float32 is exact to 16 million
    largest, chosen = ([row[:n] for row, n in zip(rows, used)] for rows in read)
    check_largest([x for row in largest for x in row])
    return [list(map(int, row)) for row in chosen]


def one_hot(choices: Sequence[int], drafts: Sequence[int]) -> tuple[list[int], Tensor, Tensor]:
    """The rows that decide a greedy round: p [γ + 1, n], q [γ, n], and the token of each of their n columns.

    No others are needed than those of the γ drafts and of the target's γ + 1 own choices.
    """
    columns = list(dict.fromkeys([*choices, *drafts]))
    rows = torch.eye(len(columns), dtype=torch.float64)
    p, q = (rows[[columns.index(token) for token in tokens]] for tokens in (choices, drafts))
    return columns, p, q
