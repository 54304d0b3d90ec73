"""What the decode loop asks of a model, whatever runs it: to extend a cache by a few tokens, and to rewind it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from specdec_lab.errors import LabError, explain_memory
from specdec_lab.models.tree import TreeInCache

MOST_DRAFTS = 256  # a round; with more of them a single round would take minutes, and nearly all are thrown away
PREFILL_CHUNK = 512  # tokens a pass: bounds the memory of the attention scores of a long prompt


@dataclass(frozen=True)
class Rows:
    """What one pass returns, for R text rows and k new positions each.

    hidden: [R, k, H]. After the last layer: normalised, as the head reads it. After an
        earlier layer: the residual stream, ready for the next layer. Where depths were asked for, [R, k, (1 + n) · H]:
        the residual stream at each of the n depths stands behind it.
    logits: [R, k, V], or None when the pass stopped before the head.

    Rows that were given fewer than k tokens hold meaningless values past their own.
    """

    hidden: Tensor
    logits: Tensor | None


def with_depths(hidden: Tensor, lower: Sequence[Tensor]) -> Tensor:
    """Hidden rows [..., H] with those of the depths that were asked for behind each, as in `Rows`."""
    return torch.cat([hidden, *(x.to(hidden.dtype) for x in lower)], -1) if lower else hidden


def pick_depths(hidden: Tensor, asked: Sequence[int], wanted: Sequence[int]) -> Tensor:
    """Of hidden rows [..., (1 + len(asked)) · H], the last ones and those of the depths wanted, which are among these."""
    if list(wanted) == list(asked):
        return hidden
    last, *lower = hidden.unflatten(-1, (1 + len(asked), -1)).unbind(-2)
    return torch.cat([last, *(lower[asked.index(depth)] for depth in wanted)], -1)


class Model(ABC):
    """Weights, shared by every cache made from them."""

    name: str
    vocab_size: int  # V, the width of the logits
    ids: Tensor | None = None  # [V], the token each logit stands for; None: logit i is token i
    input_vocab: int  # token ids that it can be given: 0 … input_vocab − 1
    context: int  # the most tokens a text may have
    head: Callable[[Tensor], Tensor]  # hidden rows to logits
    layers: int
    device: torch.device
    dtype: torch.dtype
    four_bits = False  # whether the weights are numbers of 4 bits (see `linear`)
    same_bits = False  # whether each row has the same bits in every pass, whatever stands beside it (see `attention`)

    @property
    def precision(self) -> str:
        """The number format of the weights, in words."""
        return "int4" if self.four_bits else str(self.dtype).removeprefix("torch.")

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
    """A model with the keys and values of the tokens that it has seen: some texts, each a row with its own length.

    A pass writes at `lengths[r]` and onwards, over whatever stood there. Rewinding therefore
    only lowers the length: what lies past it is never read and later overwritten.

    Where the keys and values are, and how a pass runs over them, is the backend's: `_run`, `_join`, `_drop`.
    """

    model: Model
    lengths: list[int]  # tokens held, one number a row

    @torch.inference_mode()
    def extend(
        self,
        new: Sequence[Sequence[int] | Tensor] | Tensor,
        *,
        layers: tuple[int, int] | None = None,
        logits: bool = True,
        trees: Sequence[TreeInCache | None] = (),
        depths: Sequence[int] = (),
    ) -> Rows:
        """Run one pass over new positions, attending to everything cached, and cache them.

        Args:
            new: token ids, or hidden rows as they enter the first layer of the range: a tensor [R, k] or
                [R, k, H], or for each row a list of ids or a tensor [k] or [k, H]. Those may differ in length, and be
                empty for all rows but one.
            layers: (first, last), to run only the layers first ≤ i < last. The lengths advance all the
                same: to complete the positions, rewind and run the rest of the layers.
            logits: False skips the head.
            trees: for each row the token tree that its last slots hold, these new ones included, if there is one; a
                tree may grow in several passes. `keep` makes a text of it again.
            depths: after how many layers the residual stream is wanted besides; each is one of the range first …
                last − 1. It has the same bits there in every pass, as the last rows do.
        """
        model = self.model
        first, last = layers or (0, model.layers)
        after = [have + len(row) for have, row in zip(self.lengths, new, strict=True)]
        if max(after) > model.context:
            raise LabError(f"The text would reach {max(after)} tokens, but {model.name} can see only {model.context}.")
        if isinstance(new, Tensor):
            inputs = new.to(model.device)
        elif isinstance(new[0], Tensor) and len(new) == 1:
            inputs = new[0][None].to(model.device)
        elif isinstance(new[0], Tensor):
            inputs = pad_sequence([torch.as_tensor(row) for row in new], batch_first=True).to(model.device)
        else:
            width = max(map(len, new))
            inputs = torch.tensor([[*row, *[0] * (width - len(row))] for row in new], device=model.device)
        real = real_rows([len(row) for row in new]) if model.same_bits else None
        with explain_memory(f"extend {model.name} to {max(after)} tokens", "use a shorter text or a smaller model"):
            hidden = self._run(inputs, first, last, max(self.lengths) + inputs.shape[1], trees, real, depths)
            read = pick_depths(hidden, depths, ())
            out = of_real_rows(model.head, read, real) if logits and last == model.layers else None
        self.lengths = after  # last: an interrupted pass leaves the cache as it was
        return Rows(hidden, out)

    def prefill(self, tokens: Sequence[int], depths: Sequence[int] = ()) -> Tensor | None:
        """Cache a prompt (single row), in bounded chunks and without the head.

        Returns:
            The hidden rows [len(tokens), (1 + len(depths)) · H], as in `Rows`; None for no tokens.
        """
        chunks = [tokens[i : i + PREFILL_CHUNK] for i in range(0, len(tokens), PREFILL_CHUNK)]
        hidden = [self.extend([chunk], logits=False, depths=depths).hidden[0] for chunk in chunks]
        return torch.cat(hidden) if hidden else None

    def rewind(self, lengths: Sequence[int]) -> None:
        """Forget all but the first lengths[r] tokens of each row. A longer length changes nothing."""
        self.lengths = [min(have, keep) for have, keep in zip(self.lengths, lengths, strict=True)]

    @torch.inference_mode()
    def keep(self, row: int, start: int, path: Sequence[int]) -> None:
        """Of a row's tree in the slots from `start` on, keep those on `path` (see `Tree.path`), and forget the rest.

        Their keys and values were made at the positions of their depths, so they only have to be moved.
        """
        if list(path) != list(range(len(path))):
            self._move(row, start, torch.tensor(path, device=self.model.device) + start)
        self.rewind([*self.lengths[:row], start + len(path), *self.lengths[row + 1 :]])

    @torch.inference_mode()
    def join(self, other: "Cached") -> None:
        """Add copies of the rows of another cache of the same model, behind the rows of this one."""
        self._join(other)
        self.lengths = [*self.lengths, *other.lengths]

    @torch.inference_mode()
    def drop(self, row: int) -> None:
        """Forget a row. The last row takes its place."""
        self._drop(row)
        self.lengths[row] = self.lengths[-1]
        self.lengths.pop()

    def _slots(self, k: int) -> Tensor:
        """[R, k]: where each row writes its next k positions."""
        at = torch.arange(k, device=self.model.device)
        return torch.tensor(self.lengths, device=self.model.device)[:, None] + at

    @abstractmethod
    def _run(
        self,
        inputs: Tensor,
        first: int,
        last: int,
        visible: int,
        trees: Sequence[TreeInCache | None],
        real: Tensor | None,
        depths: Sequence[int],
    ) -> Tensor:
        """Token ids [R, k] or hidden rows [R, k, H] through the layers first ≤ i < last, at each row's own slots.

        Args:
            visible: positions that the longest row holds after this.
            trees, depths: as in `extend`.
            real: which of the R · k rows exist, if not all do (see `real_rows`). The others need not be computed.

        Returns:
            Hidden rows [R, k, (1 + len(depths)) · H], as in `Rows`.
        """

    @abstractmethod
    def _move(self, row: int, to: int, slots: Tensor) -> None:
        """Copy a row's keys and values in `slots` [n] to the n slots from `to` on."""

    @abstractmethod
    def _join(self, other: "Cached") -> None:
        """Copy the keys and values of another cache's rows behind those of this one. `lengths` changes after this."""

    @abstractmethod
    def _drop(self, row: int) -> None:
        """Put the last row's keys and values in the place of `row`. `lengths` changes after this."""


def real_rows(widths: Sequence[int]) -> Tensor | None:
    """Of texts with so many new tokens each, filled up to the widest: the numbers [n] of the rows that are no filling.

    None where there is no filling: then a pass is spared the picking out.
    """
    k = max(widths)
    rows = [r * k + i for r, width in enumerate(widths) for i in range(width)]
    return None if len(rows) == k * len(widths) else torch.tensor(rows)


def of_real_rows(function: Callable[[Tensor], Tensor], x: Tensor, real: Tensor | None) -> Tensor:
    """A function of rows, called for the real rows of x [R, k, H] alone; zeros for the others.

    Args:
        function: [1, n, H] to [1, n, any].
        real: as `real_rows` says.
    """
    if real is None:
        return function(x)
    found = function(x.flatten(0, 1)[real][None])[0]
    whole = found.new_zeros(x.shape[0] * x.shape[1], found.shape[1])
    whole[real] = found
    return whole.view(*x.shape[:2], -1)


class Row:
    """One text's place in a cache: in one of its own, until it joins others in a `Shared` one."""

    def __init__(self, cached: Cached):
        self.cached, self.at = cached, 0

    @property
    def model(self) -> Model:
        return self.cached.model

    @property
    def length(self) -> int:
        """Tokens held."""
        return self.cached.lengths[self.at]

    def keep(self, start: int, path: Sequence[int]) -> None:
        """Of the tree in the slots from `start` on, keep the drafts on `path` (see `Tree.path`), and forget the rest."""
        self.cached.keep(self.at, start, path)

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` tokens. A longer length changes nothing."""
        lengths = self.cached.lengths
        self.cached.rewind([*lengths[: self.at], length, *lengths[self.at + 1 :]])


class Shared:
    """A cache that many texts share; `rows[r]` is row r of it."""

    def __init__(self, model: Model):
        self.cached, self.rows = model.cached(0), []

    def join(self, row: Row) -> None:
        """Copy a text's cache into this one, and let the text go on here."""
        self.cached.join(row.cached)
        row.cached, row.at = self.cached, len(self.rows)
        self.rows.append(row)

    def drop(self, row: Row) -> None:
        """Forget a text. The last row takes its place, as in the cache."""
        self.cached.drop(row.at)
        last = self.rows.pop()
        if last is not row:
            self.rows[row.at], last.at = last, row.at
