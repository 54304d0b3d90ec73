"""Many texts in one cache, each row of its own length: what both backends share.

A backend keeps the keys and values in its own way, and runs a pass over them (`_run`); which
positions a row writes and sees follows from the lengths alone, and is written once, here.
"""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_lab.errors import LabError, explain_memory
from specdec_lab.models.base import Cached, Rows


class CachedRows(Cached):
    """A cache with a length for each row; `_run`, `_join` and `_drop` are the backend's own."""

    @torch.inference_mode()
    def extend(
        self,
        new: Sequence[Sequence[int]] | Tensor,
        *,
        layers: tuple[int, int] | None = None,
        logits: bool = True,
        counts: Sequence[int] | None = None,
    ) -> Rows:
        model = self.model
        first, last = layers or (0, model.layers)
        if isinstance(new, Tensor):
            counts, inputs = counts or [new.shape[1]] * new.shape[0], new.to(model.device)
        else:
            counts = [len(row) for row in new]
            width = max(counts)
            inputs = torch.tensor([[*row, *[0] * (width - len(row))] for row in new], device=model.device)
        after = [have + n for have, n in zip(self.lengths, counts, strict=True)]
        if max(after) > model.context:
            raise LabError(f"The text would reach {max(after)} tokens, but {model.name} can see only {model.context}.")
        with explain_memory(f"extend {model.name} to {max(after)} tokens", "use a shorter text or a smaller model"):
            hidden = self._run(inputs, first, last, max(self.lengths) + inputs.shape[1])
            out = model.head(hidden) if logits and last == model.layers else None
        self.lengths = after  # last: an interrupted pass leaves the cache as it was
        return Rows(hidden, out)

    @torch.inference_mode()
    def join(self, other: "CachedRows") -> None:
        self._join(other)
        self.lengths = [*self.lengths, *other.lengths]

    @torch.inference_mode()
    def drop(self, row: int) -> None:
        self._drop(row)
        self.lengths[row] = self.lengths[-1]
        self.lengths.pop()

    def _slots(self, k: int) -> Tensor:
        """[R, k]: where each row writes its next k positions."""
        at = torch.arange(k, device=self.model.device)
        return torch.tensor(self.lengths, device=self.model.device)[:, None] + at

    def _mask(self, slots: Tensor, visible: int) -> Tensor:
        """[R, 1, k, visible], to be added: row r at slot s sees slots 0…s, each of them kept or written by this pass."""
        hidden_from = torch.arange(visible, device=slots.device) > slots[:, None, :, None]
        mask = torch.zeros(hidden_from.shape, dtype=self.model.dtype, device=slots.device)
        return mask.masked_fill_(hidden_from, torch.finfo(self.model.dtype).min)

    @abstractmethod
    def _run(self, inputs: Tensor, first: int, last: int, visible: int) -> Tensor:
        """Token ids [R, k] or hidden rows [R, k, H] through the layers first ≤ i < last, at each row's own slots.

        Args:
            visible: positions that the longest row holds after this.

        Returns:
            Hidden rows [R, k, H].
        """

    @abstractmethod
    def _join(self, other: "CachedRows") -> None:
        """Copy the keys and values of another cache's rows behind the own ones; the lengths are still the old ones."""

    @abstractmethod
    def _drop(self, row: int) -> None:
        """Put the last row's keys and values in the place of `row`; the lengths are still the old ones."""
