"""What the decode loop asks of a model, whatever runs it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

PREFILL_CHUNK = 512  # tokens a pass: bounds the memory of the attention scores of a long prompt


@dataclass(frozen=True)
class Rows:
    """What one pass returns, for R text rows and k new positions each.

    hidden: [R, k, H]. After the last layer: normalised, as the head reads it. After an
        earlier layer: the residual stream, ready for the next layer.
    logits: [R, k, V], or None when the pass stopped before the head.

    Rows that were given fewer than k tokens hold meaningless values past their own.
    """

    hidden: Tensor
    logits: Tensor | None


class Model(ABC):
    """Weights, shared by every cache made from them."""

    name: str
    vocab_size: int  # V, the width of the logits
    ids: Tensor | None = None  # [V], the token each logit stands for; None: logit i is token i
    input_vocab: int  # token ids that it can be given: 0 … input_vocab − 1
    context: int  # the most tokens a text may have
    layers: int
    device: torch.device
    dtype: torch.dtype
    warm_up = 1  # passes of one width that take longer than all later ones

    @abstractmethod
    def cached(self, rows: int = 1) -> "Cached":
        """A fresh cache for `rows` independent texts."""

    def synchronize(self) -> None:
        """Wait until the device has finished, so that a clock can be read."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()


class Cached(ABC):
    """A model with the keys and values of the tokens it has seen, a length for each text row.

    A pass writes at `lengths[r]` and onwards, over whatever stood there. Rewinding therefore
    only lowers the length: what lies past it is never read and later overwritten.
    """

    model: Model
    lengths: list[int]  # tokens held, one number a row

    @abstractmethod
    def extend(
        self,
        new: Sequence[Sequence[int]] | Tensor,
        *,
        layers: tuple[int, int] | None = None,
        logits: bool = True,
    ) -> Rows:
        """Run one pass over new positions, attending to everything cached, and cache them.

        Args:
            new: token ids, a list a row (lists may differ in length, none empty), or a tensor [R, k]
                of them; or hidden rows [R, k, H], as they enter the first layer of the range.
            layers: (first, last), to run only the layers first ≤ i < last. The lengths advance all the
                same: to complete the positions, rewind and run the rest of the layers.
            logits: False skips the head.

        Raises:
            LabError: when a row would outgrow the model's context, or memory runs out.
        """

    def rewind(self, lengths: Sequence[int]) -> None:
        """Forget all but the first lengths[r] tokens of each row. A longer length changes nothing."""
        self.lengths = [min(have, keep) for have, keep in zip(self.lengths, lengths, strict=True)]

    @abstractmethod
    def join(self, other: "Cached") -> None:
        """Add the rows of another cache of the same model behind the own ones, as copies."""

    @abstractmethod
    def drop(self, row: int) -> None:
        """Forget a row. The last row takes its place."""

    def prefill(self, tokens: Sequence[int]) -> Tensor | None:
        """Cache a prompt (single row), in bounded chunks and without the head.

        Returns:
            The last hidden rows [len(tokens), H]; None for no tokens.
        """
        chunks = [tokens[i : i + PREFILL_CHUNK] for i in range(0, len(tokens), PREFILL_CHUNK)]
        hidden = [self.extend([chunk], logits=False).hidden[0] for chunk in chunks]
        return torch.cat(hidden) if hidden else None
