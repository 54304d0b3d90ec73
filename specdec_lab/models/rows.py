"""Many texts in one cache, each a row with its own length: what both backends share.

A backend keeps the keys and values in its own way, and runs a pass over them (`_run`); which
positions a row writes and sees follows from the lengths alone, and is written once, here.
"""

from abc import abstractmethod

import torch
from torch import Tensor

from specdec_lab.errors import LabError, explain_memory
from specdec_lab.models.base import Cached, Rows


class CachedRows(Cached):
    """A cache with a length for each row; `_run`, `_join` and `_drop` are the backend's own."""

    @torch.inference_mode()
    def extend(self, new, *, layers=None, logits=True) -> Rows:
        model = self.model
        first, last = layers or (0, model.layers)
        after = [have + len(row) for have, row in zip(self.lengths, new, strict=True)]
        if isinstance(new, Tensor):
            inputs = new.to(model.device)
        else:
            width = max(map(len, new))
            inputs = torch.tensor([[*row, *[0] * (width - len(row))] for row in new], device=model.device)
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
        """[R, 1, k, visible], to be added to attention scores: a row at slot s sees its slots 0…s, and no later one."""
        unseen = torch.arange(visible, device=slots.device) > slots[:, None, :, None]
        mask = torch.zeros(unseen.shape, dtype=self.model.dtype, device=slots.device)
        return mask.masked_fill_(unseen, torch.finfo(self.model.dtype).min)

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
