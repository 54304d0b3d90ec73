"""Distillation: a student learns the target's distribution on text that the target wrote.

The student predicts the target's last hidden row; both rows go through the same cut head, and
their two distributions are compared (p renormalised over the cut vocabulary). So the target's
p never has to be stored: its hidden rows, kept while the text was written, give it back.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

ROWS = 512  # positions at a time, so that memory holds [512, F] and not [all, F]


@dataclass(frozen=True)
class Fit:
    """How well q follows p over n positions: means of KL(p‖q), of Σ min(p, q), and of equal favourites."""

    n: int
    kl: float
    overlap: float
    agree: float


class _Divergence(torch.autograd.Function):
    """The loss and its gradient in one sweep: [rows, F] tensors live for one chunk only."""

    @staticmethod
    def forward(ctx, student: Tensor, teacher: Tensor, head: Tensor, weight: Tensor, kind: str):
        gradient = torch.empty_like(student, dtype=torch.float32)
        totals = torch.zeros(3)
        loss = 0.0
        for i in range(0, len(student), ROWS):
            part = slice(i, i + ROWS)
            z = torch.nn.functional.linear(student[part].to(head.dtype), head).float()
            y = torch.nn.functional.linear(teacher[part].to(head.dtype), head).float()
            log_q, log_p = z.log_softmax(-1), y.log_softmax(-1)
            agree = (z.argmax(-1) == y.argmax(-1)).float()
            q, p = log_q.exp(), log_p.exp()
            w = weight[part]
            kl = (p * (log_p - log_q)).sum(-1)
            overlap = torch.minimum(p, q).sum(-1)
            if kind == "kl":  # d KL(p‖q) / d z = q − p
                loss += float((w * kl).sum())
                slope = q - p
            else:  # 1 − Σ min(p, q), which is what acceptance is
                below = (q < p).float() * q
                loss += float((w * (1 - overlap)).sum())
                slope = q * below.sum(-1, keepdim=True) - below
            gradient[part] = torch.nn.functional.linear((slope * w[:, None]).to(head.dtype), head.T).float()
            totals += torch.stack([(w * x).sum() for x in (kl, overlap, agree)]).cpu()
        ctx.save_for_backward(gradient)
        ctx.mark_non_differentiable(totals)
        return torch.tensor(loss, device=student.device), totals

    @staticmethod
    def backward(ctx, upstream, _):
        (gradient,) = ctx.saved_tensors
        return upstream * gradient, None, None, None, None


def divergence(student: Tensor, teacher: Tensor, head: Tensor, weight: Tensor, kind: str = "kl") -> tuple[Tensor, Fit]:
    """Sum over rows of weight · loss, and the fit.

    Args:
        student, teacher: hidden rows [n, H], the target's and what was predicted for it.
        head: [F, H], shared by both.
        weight: [n], 0 for rows that do not count.
        kind: "kl" (forward KL) or "tv" (total variation).
    """
    loss, totals = _Divergence.apply(student, teacher, head, weight, kind)
    n = float(weight.sum())
    return loss, Fit(int(n), *(totals / max(n, 1e-9)).tolist())


@torch.no_grad()
def overlaps(student: Tensor, teacher: Tensor, head: Tensor) -> Tensor:
    """[n]: Σ min(p, q) of each row; arguments as of `divergence`."""
    found = []
    for i in range(0, len(student), ROWS):
        q, p = (
            torch.nn.functional.linear(x[i : i + ROWS].to(head.dtype), head).float().softmax(-1)
            for x in (student, teacher)
        )
        found.append(torch.minimum(p, q).sum(-1))
    return torch.cat(found)
