"""What shapes the target's logits by the text before them: penalties, biases, masks.

p is what the target samples from *after* all of these, so they belong to the target's rows, and every row is
shaped with the text that stands before that row: the drafts before it are part of that text, those after it
are not. Then speculation gives what plain decoding gives with the same processors. A row shaped with
another text is another p, and the output follows that one.

The draft's q needs none of it. It may be anything, as long as the drafts were drawn from it; a draft that
does not know of a mask is only refused more often.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_lab.engine.drafter import Proposal
from specdec_lab.errors import LabError

# New logits [V] from a row's logits [V] and all tokens before it, the prompt's included. Must leave the old ones alone.
Processor = Callable[[Tensor, Sequence[int]], Tensor]


@dataclass(frozen=True)
class RepetitionPenalty:
    """Makes tokens that stand in the text less likely (Keskar et al. 2019, arXiv 1909.05858, section 4.1).

    As engines do it: the logit of such a token is divided by `penalty` where it is positive, and multiplied elsewhere.
    """

    penalty: float

    def __post_init__(self):
        if not 0 < self.penalty < float("inf"):
            raise LabError(f"The repetition penalty is {self.penalty}, but must be a positive number: 1 is none.")

    def __call__(self, logits: Tensor, text: Sequence[int]) -> Tensor:
        seen = torch.tensor(sorted(set(text)), dtype=torch.long, device=logits.device)
        theirs = logits[seen]
        return logits.index_copy(0, seen, torch.where(theirs > 0, theirs / self.penalty, theirs * self.penalty))


@dataclass(frozen=True)
class LogitBias:
    """Adds a number to the logits of some tokens, at every place: {token id: number}; −∞ forbids a token."""

    bias: Mapping[int, float]

    def __call__(self, logits: Tensor, text: Sequence[int]) -> Tensor:
        ids = checked_ids(self.bias, logits)
        return logits.index_add(0, ids, logits.new_tensor(list(self.bias.values())))


@dataclass(frozen=True)
class Mask:
    """Lets pass what a grammar allows next: `allowed` gives the ids that may follow a text, at least one; None for all."""

    allowed: Callable[[Sequence[int]], Sequence[int] | None]

    def __call__(self, logits: Tensor, text: Sequence[int]) -> Tensor:
        allowed = self.allowed(text)
        if allowed is None:
            return logits
        ids = checked_ids(allowed, logits)
        if not len(ids):
            raise LabError("The mask allows no token here: a text must be able to go on, if only with its end.")
        return torch.full_like(logits, float("-inf")).index_copy(0, ids, logits[ids])


def checked_ids(tokens: Collection[int], logits: Tensor) -> Tensor:
    """Token ids as a tensor [n]. Raises LabError for what is no list of ids of the vocabulary."""
    with suppress(TypeError, ValueError):  # torch makes no tensor of it
        ids = torch.tensor(list(tokens))
        whole = ids.dim() == 1 and not ids.is_floating_point() and ids.dtype != torch.bool
        if not len(ids) or (whole and int(ids.min()) >= 0 and int(ids.max()) < len(logits)):
            return ids.to(logits.device, torch.long)
    raise LabError(f"A mask or a bias has tokens by ids from 0 to {len(logits) - 1}, and this one has {tokens!r:.60}.")


def process(
    processors: Sequence[Processor], logits: Tensor, text: Sequence[int], proposal: Proposal, ends: Collection[int] = ()
) -> Tensor:
    """The target's rows [γ + 1, V] for `text` and each draft after it, each shaped with the text before it.

    Rows that no text can reach are left as they are: those after a draft that is forbidden, or that ends the text. A
    mask need not know what may follow there.

    Args:
        logits: [γ + 1, V], the rows as the target gave them.
        text: all tokens before the drafts.
        ends: the ids that end a text.
    """
    if not processors:
        return logits
    rows, texts = [], []  # texts[i]: what stands before row i; None where no text can stand
    for i, row in enumerate(logits):
        before = text
        if i > 0:
            place, draft = proposal.shape.parents[i - 1] + 1, proposal.tokens[i - 1]
            impossible = texts[place] is None or draft in ends or float(rows[place][draft]) == float("-inf")
            before = None if impossible else [*texts[place], draft]
        texts.append(before)
        if before is None:
            rows.append(row)
            continue
        for processor in processors:
            shaped = processor(row, before)
            if not isinstance(shaped, Tensor) or shaped.shape != row.shape:
                raise LabError(
                    f"A processor must return a row of {len(row):,} numbers, and one returned something else."
                )
            row = shaped
        rows.append(row)
    return torch.stack(rows)
