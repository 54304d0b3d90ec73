"""Distillation: a student learns the target's distribution on text that the target wrote.

The student predicts the target's last hidden row; both rows go through the same cut head, and
their two distributions are compared (p renormalised over the cut vocabulary). So the target's
p never has to be stored: its hidden rows, kept while the text was written, give it back.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from specdec_lab.models.linear import Linear

# Positions at a time: [256, F] stays in a CPU's cache; a GPU would wait for its next operation. [all, F] would not fit
# into memory.
ROWS_AT_ONCE = {"cpu": 256, "cuda": 4096}


def parts(rows: Tensor) -> Iterator[slice]:
    """As many rows at a time as suit the device."""
    n = ROWS_AT_ONCE.get(rows.device.type, ROWS_AT_ONCE["cpu"])
    return (slice(i, i + n) for i in range(0, len(rows), n))


class Head:
    """A cut head, which students and the target share: `probabilities` of rows, and `back` for gradients.

    Packed where the CPU has such products. With sums in place as well, EAGLE's unrolled training is 1.5 times as
    fast.

    Args:
        weight: [F, H].
    """

    def __init__(self, weight: Tensor):
        self.dtype = weight.dtype
        self.logits, self.back = Linear(weight), Linear(weight.T.contiguous())

    def probabilities(self, rows: Tensor) -> Tensor:
        """Rows [n, H] to probabilities [n, F], float32."""
        return self.logits(rows.to(self.dtype)).float().softmax(-1)


def kl(p: Tensor, q: Tensor) -> Tensor:
    """KL(p‖q) [n] of rows [n, F], in nats; a q that was rounded to zero counts as the least number above it."""
    log_q = q.clamp(min=torch.finfo(q.dtype).tiny).log()
    return torch.nn.functional.kl_div(log_q, p, reduction="none").sum(-1)


class _Divergence(torch.autograd.Function):
    """The loss and its gradient in one sweep: [rows, F] tensors live for one chunk only."""

    @staticmethod
    def forward(ctx, students: Tensor, teacher: Tensor, head: Head, weight: Tensor, kind: str):
        gradient = torch.empty_like(students, dtype=torch.float32)
        loss = torch.zeros((), device=students.device)
        for part in parts(teacher):
            p = head.probabilities(teacher[part])  # once for all steps
            for step, student in enumerate(students):
                q = head.probabilities(student[part])
                if kind == "kl":  # d KL(p‖q) / d z = q − p
                    loss += weight[step] * kl(p, q).sum()
                    slope = q.sub_(p)
                else:  # 1 − Σ min(p, q), which is what acceptance is; in place, since memory is what this waits for
                    loss += weight[step] * (1 - torch.minimum(p, q).sum(-1)).sum()
                    below = q * (p > q)  # q where it is below p
                    slope = q.mul_(below.sum(-1, keepdim=True)).sub_(below)
                gradient[step, part] = head.back(slope.mul_(weight[step]).to(head.dtype)).float()
        ctx.save_for_backward(gradient)
        return loss

    @staticmethod
    def backward(ctx, upstream):
        (gradient,) = ctx.saved_tensors
        return upstream * gradient, None, None, None, None


def divergence(students: Tensor, teacher: Tensor, head: Head, weight: Tensor, kind: str = "kl") -> Tensor:
    """The loss of all rows, added up, with a weight for each drafting step.

    Args:
        students: hidden rows [steps, n, H], guessed at each step. teacher: [n, H], the target's.
        weight: [steps].
        kind: "kl" (forward KL) or "tv" (total variation).
    """
    return _Divergence.apply(students, teacher, head, weight, kind)


@torch.no_grad()
def compare(student: Tensor, teacher: Tensor, head: Head) -> Tensor:
    """[4]: how many rows [n, H] there are, and the sums over them of KL(p‖q), of Σ min(p, q), and of equal favourites."""
    sums = torch.zeros(3, device=student.device)
    for part in parts(student):
        q, p = head.probabilities(student[part]), head.probabilities(teacher[part])
        agree = q.argmax(-1) == p.argmax(-1)
        sums += torch.stack([kl(p, q).sum(), torch.minimum(p, q).sum(), agree.sum()])
    return torch.tensor([len(student), *sums.tolist()], dtype=torch.float64)


def means_of(sums: Tensor) -> dict[str, float]:
    """How well q follows p over all rows of `compare`, or of several such sums added up.

    n: rows. kl: mean of KL(p‖q), in nats. overlap: mean of Σ min(p, q), which is α. agree: the share of equal favourites.
    """
    n, *others = sums.tolist()
    return {"n": int(n), **{name: x / max(n, 1) for name, x in zip(("kl", "overlap", "agree"), others)}}
