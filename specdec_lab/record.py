"""Writing a round down: from the tensors that decided it to the plain numbers of a `Round`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_lab.drafters.base import Proposal
from specdec_lab.sampling import Sampler
from specdec_lab.trace import ACCEPTED, DISCARDED, REJECTED, Draft, Emitted, Round, Seconds
from specdec_lab.verify import Verdict


@dataclass(frozen=True)
class Keep:
    """What a round records beyond the numbers that decided: the `top` n of p and q, and all `rows`."""

    top: int = 0
    rows: bool = False


class Stopwatch:
    """Adds up where a round's time goes: `lap(name)` gives `name` all time since the lap before."""

    def __init__(self):
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def restart(self, **seconds: float) -> None:
        """Add time that was taken elsewhere, and leave out what has passed since the last lap."""
        for name, more in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + more
        self._since = time.perf_counter()


def record(
    start: int,
    proposal: Proposal,
    verdict: Verdict,
    kept: int,
    stop: str | None,
    *,
    p: Tensor,
    q: Tensor,
    logits: Tensor,
    u_accept: Sequence[float],
    sampler: Sampler,
    keep: Keep,
    watch: Stopwatch,
) -> Round:
    """The record of a round of γ drafts, of which `kept` tokens entered the text.

    Args:
        start: tokens in the text before the round.
        stop: why the text ends here, or None.
        p, q: the rows that decided, [γ + 1, V] and [γ, V].
        logits: the target's raw rows [γ + 1, V].
        u_accept: the γ uniforms of the accept test.
        watch: its last lap is the loop's own time, this record included.
    """
    n = len(proposal.tokens)
    p_raw = logits.to(p.device, torch.float32).softmax(-1)
    q_raw = q.float() if proposal.logits is None else proposal.logits.to(p.device, torch.float32).softmax(-1)
    # A one-hot row has no second choice worth showing; the softmax behind it has.
    p_tops, q_tops = (tops(rows, keep.top) for rows in ((p_raw, q_raw) if sampler.greedy else (p, q)))

    ids = torch.tensor(proposal.tokens, dtype=torch.long, device=p.device)[:, None]
    numbers = [rows.gather(1, ids) for rows in (p[:n], q, p_raw[:n], q_raw)]
    # Σ min(p, q); where q is one-hot, that is p of its token.
    numbers.append(numbers[0] if proposal.q is None else torch.minimum(p[:n], q).sum(-1, keepdim=True))
    decided = torch.cat(numbers, 1).tolist() if n else []  # all at once: a GPU makes us wait for each reading
    # A stop may cut the target's own token off; the rejected draft then goes with its replacement.
    whole = kept == verdict.accepted + 1
    statuses = [ACCEPTED] * min(verdict.accepted, kept)
    statuses += [REJECTED] if whole and verdict.accepted < n else []
    statuses += [DISCARDED] * (n - len(statuses))
    drafted = tuple(
        Draft(
            id=token,
            p=p_x,
            q=q_x,
            p_raw=p_raw_x,
            q_raw=q_raw_x,
            overlap=overlap,
            u=None if sampler.greedy else u,
            status=status,
            p_top=p_top,
            q_top=q_top,
        )
        for token, (p_x, q_x, p_raw_x, q_raw_x, overlap), u, status, p_top, q_top in zip(
            proposal.tokens, decided, u_accept, statuses, p_tops, q_tops
        )
    )
    emitted = None
    if whole:
        row, token = verdict.accepted, verdict.token
        p_token, p_raw_token = torch.stack([p[row, token], p_raw[row, token]]).tolist()
        emitted = Emitted(token, verdict.kind, p=p_token, p_raw=p_raw_token, p_top=p_tops[row])
    watch.lap("loop")
    return Round(
        start=start,
        drafted=drafted,
        emitted=emitted,
        stop=stop,
        seconds=Seconds(*(watch.seconds.get(part, 0.0) for part in ("draft", "verify", "loop"))),
        p_rows=p if keep.rows else None,
        q_rows=q if keep.rows else None,
        after_top=p_tops[n],
    )


def tops(rows: Tensor, n: int) -> list[tuple[tuple[int, float], ...]]:
    """For each of some rows [R, V] its n most likely (id, probability) pairs, those of probability 0 left out."""
    if n == 0 or len(rows) == 0:
        return [()] * len(rows)
    values, ids = rows.topk(min(n, rows.shape[1]))
    return [tuple((i, v) for i, v in zip(*row) if v > 0) for row in zip(ids.tolist(), values.tolist())]
