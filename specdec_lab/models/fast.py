"""The fast backend: a Llama written out, with as few and as large operations as it has.

The same mathematics as the reference, in another order: each norm's weight is folded into the
matrix behind it, and so is the attention's 1/√D; q, k and v are one product, and so are gate and
up; rotary embedding is one complex multiplication (each head's dimensions are paired up by permuting rows of W);
grouped heads share their keys without copying them; keys and values are written into tensors with
space for many positions, and a rewind is a smaller number. On a GPU a pass is captured and then
replayed (see `cuda_graph`).

For Llama-shaped models: Llama, SmolLM2, TinyLlama, and Qwen2 with its biases.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding, rms_norm, silu
from transformers import PreTrainedModel

from specdec_lab.clock import clock_paused
from specdec_lab.errors import LabError
from specdec_lab.models import loops
from specdec_lab.models.attention import FEW_ROWS, Fused, Looped
from specdec_lab.models.base import MOST_DRAFTS, Cached, of_real_rows, with_depths
from specdec_lab.models.cuda_graph import CapturedPass
from specdec_lab.models.linear import EightBits, FourBits, Linear, stored_product
from specdec_lab.models.reference import Loaded, ReferenceModel, changing_rotations
from specdec_lab.models.tree import TreeInCache, mask_of, positions

FIRST_SIZE = 512  # positions that a cache has space for at first; doubled when they are full
MAX_CAPTURED_ROWS = 2048  # rows of a captured pass, all texts together: wider passes keep a GPU busy as they are
# Rows of one text that loops attend for: those of a round with the most drafts. A prompt may have more, for which products
# are faster; it is read in the same passes whatever is drafted later.
MAX_LOOPED_ROWS = MOST_DRAFTS + 1
# A captured pass is known by its rows, width, first and last layer, whether there are trees, and its depths.
Key = tuple[int, int, int, int, bool, tuple[int, ...]]


def supports(hf: PreTrainedModel) -> bool:
    """Whether this file is written for models like `hf`, and for the device it is on."""
    fixed = not changing_rotations(hf.config)
    silu_gate = getattr(hf.config, "hidden_act", "") in ("silu", "swish")
    return hf.config.model_type in ("llama", "qwen2") and fixed and silu_gate and hf.device.type in ("cpu", "cuda")


def rotation_dtype(dtype: torch.dtype) -> torch.dtype:
    """The number format of rotations, at least float32: complex numbers of half precision lack most operations."""
    return torch.float32 if dtype.itemsize < 4 else dtype


def paired(x: Tensor, heads: int) -> Tensor:
    """q's or k's weight or bias with rows i and i + D/2 of each head side by side: they rotate together."""
    return x.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


class FastLayer:
    """One decoder layer: its four products, and the norms' weights [H] before qkv and gate_up, None where folded in.

    Args:
        product: makes one (see `linear`).
        fold: whether the norms' weights are multiplied into the matrices behind them.
    """

    def __init__(self, layer: Any, heads: int, kv_heads: int, product: Callable[..., Any], fold: bool):
        def behind(norm: Tensor, *parts: Tensor) -> list[Tensor]:
            return [part * norm for part in parts] if fold else [*parts]

        a, m = layer.self_attn, layer.mlp
        norms = layer.input_layernorm.weight.detach(), layer.post_attention_layernorm.weight.detach()
        qkv = paired(a.q_proj.weight, heads), paired(a.k_proj.weight, kv_heads), a.v_proj.weight
        bias = None
        if a.q_proj.bias is not None:
            bias = torch.cat([paired(a.q_proj.bias, heads), paired(a.k_proj.bias, kv_heads), a.v_proj.bias])
        self.qkv, self.out = product(*behind(norms[0], *qkv), bias=bias), product(a.o_proj.weight)
        self.gate_up = product(*behind(norms[1], m.gate_proj.weight, m.up_proj.weight))
        self.down, self.norms = product(m.down_proj.weight), (None, None) if fold else norms


class FastModel(ReferenceModel):
    """The same model, on its own copy of the weights; embeddings stay shared with `hf`.

    Args:
        product: what computes with a matrix; `linear.draft_product` for a model that only drafts.
        four_bits: the products compute with the numbers that the weights of `hf`, in float32, were made from, and all else
            is in bfloat16.
    """

    def __init__(self, hf: Loaded, name: str, product: Callable[..., Any] = Linear, four_bits: bool = False):
        heads, kv_heads = hf.config.num_attention_heads, hf.config.num_key_value_heads
        with torch.inference_mode():
            make, make_head = (FourBits, stored_product) if four_bits else (product, product)
            self.parts = [FastLayer(x, heads, kv_heads, make, fold=not four_bits) for x in hf.base_model.layers]
            head = make_head(hf.get_output_embeddings().weight)
        super().__init__(hf.to(torch.bfloat16) if four_bits else hf, name)
        config, body = self.hf.config, self.hf.base_model
        self.four_bits, self.head, self.heads, self.kv_heads = four_bits, head, heads, kv_heads
        self.head_size = getattr(config, "head_dim", None) or config.hidden_size // heads
        self.embeddings, self.rotary = body.embed_tokens.weight.detach(), body.rotary_emb
        # The number format of keys and values, and of the sums from layer to layer; and that which the products take:
        # drafts in 8 bits round it themselves.
        self.precise = rotation_dtype(self.dtype) if self.device.type == "cpu" else self.dtype
        self.takes = torch.float32 if self.parts and isinstance(self.parts[0].qkv, EightBits) else self.dtype
        for part in self.parts:
            before, behind = (None if weight is None else weight.to(self.precise) for weight in part.norms)
            part.norms = before, behind
        self.eps, self.last_norm = config.rms_norm_eps, body.norm.weight.detach().to(self.precise)
        self.capture: type[CapturedPass] | None = CapturedPass if self.device.type == "cuda" else None
        self.unused: dict[int, list[KeyValues]] = defaultdict(list)  # by size; texts that ended left them to the next

    @property
    def same_bits(self) -> bool:
        """Whether loops run, and so each row has the same bits in every pass (see `attention`)."""
        return self.device.type == "cpu" and not self.capture and loops.here(self.precise, self.takes)

    def add_normed(self, x: Tensor, y: Tensor | None, weight: Tensor | None) -> Tensor:
        """Add y to x, in place; and x normed, times `weight` [H], as the products take it."""
        if self.same_bits:
            return loops.add_normed(x, y, weight, self.eps, self.takes)
        if y is not None:
            x += y
        return rms_norm(x, x.shape[-1:], weight, self.eps).to(self.takes)

    def gated(self, gate_up: Tensor) -> Tensor:
        """silu(gate) · up, of both side by side [..., 2 I]."""
        if self.same_bits:
            return loops.gated(gate_up)
        gate, up = gate_up.chunk(2, -1)
        return silu(gate).mul_(up)

    def check(self) -> None:
        try:
            super().check()
        except LabError:
            if not self.capture:
                raise
            self.capture = None
            super().check()  # raises again where captured passes are not to blame
            self.stop_capturing("a replay is not the pass itself")

    def stop_capturing(self, why: str) -> None:
        """Warn, and run all passes from now on as they are, without capturing."""
        warnings.warn(f"Passes of {self.name} cannot be captured ({why}): they run slower.", stacklevel=3)
        self.capture = None
        self.unused.clear()

    def cached(self, rows: int = 1) -> "FastCached":
        return FastCached(self, rows)


class KeyValues:
    """The keys and values of some texts, with space for `size` positions of each, and the passes captured for them.

    A captured pass reads and writes these very tensors. So where passes are captured, a text that ends
    leaves its KeyValues to the next one, which replays what was captured for it.

    kv: [layers, 2, rows, kv heads, size, D].
    """

    def __init__(self, model: FastModel, rows: int, size: int):
        shape = model.layers, 2, rows, model.kv_heads, size, model.head_size
        self.rows, self.size = rows, size
        self.kv = torch.zeros(shape, dtype=model.precise, device=model.device)
        at = torch.arange(size, device=model.device)[None]
        like = self.kv.new_empty(0, dtype=rotation_dtype(model.dtype))
        cos, sin = (x[0, :, : model.head_size // 2].contiguous() for x in model.rotary(like, position_ids=at))
        self.turns = torch.complex(cos, sin)[:, None]  # [size, 1, D/2]: what heads are multiplied with at each position
        self.start = torch.zeros(rows, 1, dtype=torch.long, device=model.device)  # Captured passes write from here on.
        self.captured: dict[Key, CapturedPass] = {}
        self.shapes: dict[Key, tuple[Tensor, ...]] = {}  # positions and mask of the trees that a captured pass reads


class FastCached(Cached):
    """A cache in `KeyValues`, which may have space for more rows and positions than are used."""

    @torch.inference_mode()
    def __init__(self, model: FastModel, rows: int):
        self.model: FastModel = model
        self.lengths = [0] * rows
        self.held = self._key_values(rows, FIRST_SIZE)

    def __del__(self):
        if hasattr(self, "held"):  # else there was no memory for it
            self._leave(self.held)

    def _key_values(self, rows: int, size: int) -> KeyValues:
        """New ones; or those that a text has left to the next one, with the passes captured for them."""
        model = self.model
        if rows == 1 and model.unused[size]:
            left = model.unused[size].pop()
            left.kv.zero_()  # attention gives what is in it no weight, but 0 · NaN would be NaN
            return left
        try:
            return KeyValues(model, rows, size)
        except torch.OutOfMemoryError:
            model.unused.clear()
            return KeyValues(model, rows, size)

    def _leave(self, held: KeyValues) -> None:
        """Where passes are captured, leave these to the next text; else let them go."""
        if self.model.capture and held.rows == 1:
            self.model.unused[held.size].append(held)

    def _grow(self, rows: int, positions: int) -> None:
        """Move to new KeyValues, for so many rows and at least so many positions.

        A size is always doubled: with few different sizes, what one text leaves another one can often use.
        """
        old, size = self.held, self.held.size
        while size < positions:
            size *= 2
        new = self._key_values(rows, size)
        new.kv[:, :, : old.rows, :, : old.size] = old.kv
        self.held = new  # first: an interrupt in between must not give the old ones to two texts
        self._leave(old)

    def _join(self, other: "FastCached") -> None:
        have, more = len(self.lengths), len(other.lengths)
        longest, full = max(other.lengths), self.held.rows < have + more
        if full or self.held.size < longest:  # rows, as positions, double when they are full
            self._grow(max(have + more, 2 * have) if full else self.held.rows, longest)
        self.held.kv[:, :, have : have + more, :, :longest] = other.held.kv[:, :, :more, :, :longest]

    def _drop(self, row: int) -> None:
        last, kv = len(self.lengths) - 1, self.held.kv
        kv[:, :, row, :, : self.lengths[last]] = kv[:, :, last, :, : self.lengths[last]]

    def _move(self, row: int, to: int, slots: Tensor) -> None:
        kv = self.held.kv
        kv[:, :, row, :, to : to + len(slots)] = kv[:, :, row, :, slots]

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
        model, (rows, k) = self.model, inputs.shape[:2]
        if visible > self.held.size:
            self._grow(self.held.rows, visible)
        x = inputs if inputs.is_floating_point() else embedding(inputs, model.embeddings)
        if model.capture and k <= FEW_ROWS and rows * k <= MAX_CAPTURED_ROWS:
            return self._replay(x, first, last, trees, depths)
        slots = self._slots(k)
        if model.same_bits and k <= MAX_LOOPED_ROWS:
            attend = Looped(self.held.kv, self.held.turns, model.heads, slots, trees, self.lengths, real)
            return of_real_rows(lambda some: self._layers(some, first, last, attend, depths), x, real)
        same = len(set(self.lengths)) == 1
        at = slice(self.lengths[0], self.lengths[0] + k) if same else None
        alike = slots[:1] if at and not any(trees) else slots  # all see alike
        attend = self._fused(slots, at, *self._seen(alike, visible, trees))
        return self._layers(x, first, last, attend, depths)

    def _seen(self, slots: Tensor, visible: int, trees: Sequence[TreeInCache | None] = ()) -> tuple[Tensor, Tensor]:
        """The positions [R, k] of new tokens in their texts, and their mask."""
        mask = mask_of(slots, visible, trees, self.lengths, self.model.precise)
        return positions(slots, trees, self.lengths), mask

    def _fused(self, slots: Tensor, at: slice | None, places: Tensor, mask: Tensor) -> Fused:
        """places: as `_seen` gives them; else as in `Fused`."""
        held = self.held
        return Fused(held.kv[:, :, : len(slots)], held.turns[places], self.model.heads, slots, at, mask)

    def _replay(
        self, x: Tensor, first: int, last: int, trees: Sequence[TreeInCache | None], depths: Sequence[int]
    ) -> Tensor:
        """The pass as one that can be captured: what changes stands in tensors, and it sees all of `size`.

        As texts come and go their number changes all the time. So rows are filled up to a power of two, with rows that
        no text has: what is written there is overwritten when one joins.
        """
        held, model, (texts, k, _) = self.held, self.model, x.shape
        rows = min(held.rows, 1 << (texts - 1).bit_length())
        key = rows, k, first, last, any(trees), tuple(depths)

        def filled(part: Tensor) -> Tensor:
            return part if rows == texts else torch.cat([part, part.new_zeros(rows - texts, *part.shape[1:])])

        x, start = filled(x), held.start[:rows]
        if rows == 1:
            start.fill_(self.lengths[0])
        else:
            start.copy_(filled(torch.tensor(self.lengths)[:, None]))
        if any(trees):
            shape = self._seen(self._slots(k), held.size, trees)
            for kept, new in zip(held.shapes.setdefault(key, tuple(map(filled, shape))), shape):
                kept[:texts] = new

        def run(x: Tensor) -> Tensor:
            slots = start + torch.arange(k, device=x.device)
            seen = held.shapes[key] if any(trees) else self._seen(slots, held.size)
            return self._layers(x, first, last, self._fused(slots, None, *seen), depths)

        if key not in held.captured:
            model.synchronize()  # what was started before this still counts
            try:
                with clock_paused():
                    held.captured[key] = model.capture(run, x)
            except RuntimeError as e:  # the reason may be in the error before it, which broke the capture off
                said = str(e.__context__ or e).strip().splitlines() or ["no reason given"]
                model.stop_capturing(said[0])
                return run(x)[:texts]
        return held.captured[key](x)[:texts]

    def _layers(self, x: Tensor, first: int, last: int, attend: Fused | Looped, depths: Sequence[int]) -> Tensor:
        """Hidden rows [R, k, H] through the layers first ≤ i < last. depths: as in `Cached.extend`."""
        model, y, lower = self.model, None, {}
        # What it adds up is written there; loops want it without gaps.
        x = x.to(model.precise, copy=True, memory_format=torch.contiguous_format)
        for i, part in enumerate(model.parts[first:last], first):
            normed = model.add_normed(x, y, part.norms[0])
            if i in depths:  # the layer before has been added up only now
                lower[i] = x.clone()
            y = part.out(attend(i, part.qkv(normed)))
            y = part.down(model.gated(part.gate_up(model.add_normed(x, y, part.norms[1]))))
        if last == model.layers:
            x = model.add_normed(x, y, model.last_norm)
        elif y is not None:
            x.add_(y)
        return with_depths(x, [lower[depth] for depth in depths])
