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
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, pad, rms_norm
from transformers import PreTrainedModel

from specdec_lab.clock import clock_paused
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached, of_existing_rows, with_depths
from specdec_lab.models.cpu import loops
from specdec_lab.models.cpu.attention import Fused, Looped, SameBits, rounded
from specdec_lab.models.cpu.linear import EightBits, EightBitsInTwo, FourBits, Linear, Stored, eight_bits, four_bits
from specdec_lab.models.cuda_graph import CapturedPass
from specdec_lab.models.reference import Loaded, ReferenceModel, changing_rotations
from specdec_lab.models.tree import Placed, positions

FIRST_SIZE = 512  # positions that a cache has space for at first; doubled when they are full
MAX_CAPTURED_ROWS = 2048  # rows of a captured pass, all texts together: wider passes keep a GPU busy as they are
# Rows of one text that loops attend for, where they are here: those of a round with the most drafts. A prompt may have
# more, for which products are faster; it is read in the same passes whatever is drafted later.
MAX_LOOPED_ROWS = 257
# Rows of one text in passes whose shape is kept, or captured: wider ones are prompts, each of its own length.
MAX_KEPT_ROWS = 64


def supports(hf: PreTrainedModel) -> bool:
    """Whether this file is written for models like `hf`, and for the device it is on."""
    fixed = not changing_rotations(hf.config)
    silu_gate = getattr(hf.config, "hidden_act", "") in ("silu", "swish")
    return hf.config.model_type in ("llama", "qwen2") and fixed and silu_gate and hf.device.type in ("cpu", "cuda")


def rotation_dtype(dtype: torch.dtype) -> torch.dtype:
    """The number format of rotations, at least float32: complex numbers of half precision lack most operations."""
    return torch.float32 if dtype.itemsize < 4 else dtype


Weights = tuple[Tensor, Tensor | None]  # a product's [out, in], and its bias [out]
Product = Callable[..., Any]  # makes a product of `linear`: a module that says its `min_rows`
# A captured pass is known by its rows, width, first and last layer, whether there are trees, and its depths.
Key = tuple[int, int, int, int, bool, tuple[int, ...]]


def joined(norm: Tensor, *parts: Weights) -> Weights:
    """One product in place of several, with the weight [in] of the norm before them folded in."""
    weights, biases = zip(*parts)
    return torch.cat(weights) * norm, None if biases[0] is None else torch.cat(biases)


def paired(part: Weights, heads: int, scale: float) -> Weights:
    """q's or k's product, times `scale`, with rows i and i + D/2 of each head side by side: they rotate together."""

    def turned(x: Tensor) -> Tensor:
        return x.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2) * scale

    return turned(part[0]), None if part[1] is None else turned(part[1])


PARTS = "qkv", "out", "gate_up", "down"  # the products of a layer


def folded(hf: Loaded) -> Iterator[Weights]:
    """The weights of the model's products in the order of a pass: PARTS of each layer, then the head.

    Each is made when it is asked for, so that never all of them are in memory twice.
    """
    heads, kv_heads = hf.config.num_attention_heads, hf.config.num_key_value_heads
    for layer in hf.base_model.layers:
        a, m = layer.self_attn, layer.mlp
        linears = a.q_proj, a.k_proj, a.v_proj, a.o_proj, m.gate_proj, m.up_proj, m.down_proj
        q, k, v, out, gate, up, down = ((part.weight, part.bias) for part in linears)
        size = len(q[0]) // heads
        q, k = paired(q, heads, size**-0.5), paired(k, kv_heads, 1.0)
        yield joined(layer.input_layernorm.weight, q, k, v)
        yield out
        yield joined(layer.post_attention_layernorm.weight, gate, up)
        yield down
    yield hf.get_output_embeddings().weight, None


def stored_products(hf: Loaded, name: str) -> list[nn.Module]:
    """The products of a Llama in the order of a pass, as in `folded`, but with nothing folded in.

    Args:
        hf: the model in float32, on the CPU.

    Raises:
        LabError: when its matrices are not numbers of 4 bits.
    """
    heads, kv_heads = hf.config.num_attention_heads, hf.config.num_key_value_heads

    def stored(weight: Tensor) -> Stored:
        if found := four_bits(weight.detach()):
            return found
        raise LabError(
            f"{name} is not stored in 4 bits (as a model made from a GGUF file of the kind Q4_1 is, such as the "
            "course's own target), so its weights cannot be read as such: use --dtype float32 or bfloat16."
        )

    def products() -> Iterator[nn.Module]:
        for layer in hf.base_model.layers:
            a, m = layer.self_attn, layer.mlp
            q, k = (paired((x.weight, x.bias), n, 1.0) for x, n in ((a.q_proj, heads), (a.k_proj, kv_heads)))
            scaled = (len(q[0]) // heads) ** -0.5  # on the scales: the numbers are whole
            numbers, *rest = stored(q[0])
            biases = None if k[1] is None else torch.cat([q[1] * scaled, k[1], a.v_proj.bias]).detach().bfloat16()
            yield FourBits((numbers, *(x * scaled for x in rest)), stored(k[0]), stored(a.v_proj.weight), bias=biases)
            yield FourBits(stored(a.o_proj.weight))
            yield FourBits(stored(m.gate_proj.weight), stored(m.up_proj.weight))
            yield FourBits(stored(m.down_proj.weight))

    head = hf.get_output_embeddings().weight.detach()
    whole = eight_bits(head)
    with torch.inference_mode():
        return list(chain(products(), [EightBitsInTwo(*whole) if whole else FourBits(stored(head))]))


class FastLayer:
    """One decoder layer's products, in the order of PARTS; and the norms' weights before qkv and gate_up.

    norms: two tensors [H]; None where they are folded into the products.
    """

    def __init__(
        self,
        qkv: Any,
        out: nn.Module,
        gate_up: nn.Module,
        down: nn.Module,
        *,
        norms: Sequence[Tensor | None] = (None, None),
    ):
        self.qkv, self.out, self.gate_up, self.down, self.norms = qkv, out, gate_up, down, norms


class FastModel(ReferenceModel):
    """The same model, on its own copy of the weights; embeddings stay shared with `hf`.

    Args:
        product: what computes with a matrix and its bias; `linear.draft_product` for a model that only drafts.
        made: the products where there are some already: those of `folded(hf)` (see `packed`), or with the norms'
            weights still beside them (see `stored_products`).
        norms: whether they are.
    """

    def __init__(
        self,
        hf: Loaded,
        name: str,
        product: Product = Linear,
        made: Sequence[nn.Module] | None = None,
        norms: bool = False,
    ):
        super().__init__(hf, name)
        config, body = hf.config, hf.base_model
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_size = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.embeddings, self.rotary = body.embed_tokens.weight.detach(), body.rotary_emb
        self.eps = config.rms_norm_eps
        self.capture: type[CapturedPass] | None = CapturedPass if self.device.type == "cuda" else None
        with torch.inference_mode():
            *products, self.head = made or [product(*weights) for weights in folded(hf)]
        self.parts = [FastLayer(*products[i : i + len(PARTS)]) for i in range(0, len(products), len(PARTS))]
        for part, layer in zip(self.parts, body.layers if norms else []):
            both = layer.input_layernorm.weight, layer.post_attention_layernorm.weight
            part.norms = tuple(weight.detach().to(self.precise) for weight in both)
        self.min_rows = max((part.qkv.min_rows for part in self.parts), default=1)  # rows of a pass
        self.last_norm = body.norm.weight.detach().to(self.precise)
        # The number format that the products take: drafts in 8 bits round it themselves.
        self.takes = torch.float32 if self.parts and isinstance(self.parts[0].qkv, EightBits) else self.dtype
        self.unused: dict[int, list[KeyValues]] = defaultdict(list)  # by size; texts that ended left them to the next

    @property
    def same_bits(self) -> bool:
        """Whether each row has the same bits in every pass (see `attention`)."""
        return self.device.type == "cpu" and not self.capture

    @property
    def precise(self) -> torch.dtype:
        """The number format of keys and values, and of the sums from layer to layer."""
        return rotation_dtype(self.dtype) if self.same_bits else self.dtype

    def add_normed(self, x: Tensor, y: Tensor | None, weight: Tensor | None) -> Tensor:
        """Add y to x, in place; and x normed, times `weight` [H], as the products take it."""
        if self.same_bits:
            return loops.add_normed(x, y, weight, self.eps, self.takes)
        if y is not None:
            x += y
        return rms_norm(x, x.shape[-1:], weight, self.eps)

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
        rotations = torch.complex(cos, sin)
        # [size, 2, 1, D/2]: what keys and values are multiplied with at each position. Values do not turn.
        self.turns = torch.stack([rotations, torch.ones_like(rotations)], 1)[:, :, None]
        self.visible, self.shaped = 0, {}  # what attended in passes that saw so many slots
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
        trees: Sequence[Placed | None],
        there: Tensor | None,
        depths: Sequence[int],
    ) -> Tensor:
        model, (rows, k) = self.model, inputs.shape[:2]
        if model.same_bits:
            visible = rounded(visible)
        if visible > self.held.size:
            self._grow(self.held.rows, visible)
        x = inputs if inputs.is_floating_point() else embedding(inputs, model.embeddings)
        if there is not None and self._looped(k):
            kv = self.held.kv[first:last, :, :rows]
            attend = Looped(kv, self.held.turns, k, model.heads, len(there), model.takes, there)
            attend.scattered(self._slots(k), trees, self.lengths)
            return of_existing_rows(lambda some: self._layers(some, first, last, attend, depths), x, there)
        if model.same_bits:
            width = max(k, -(-model.min_rows // rows))
            attend = self._same_bits(first, last, k, visible, width, trees)
            return self._layers(pad(x, (0, 0, 0, width - k)), first, last, attend, depths)[:, :k]
        if model.capture and k <= MAX_KEPT_ROWS and rows * k <= MAX_CAPTURED_ROWS:
            return self._replay(x, first, last, trees, depths)
        same = len(set(self.lengths)) == 1
        at = slice(self.lengths[0], self.lengths[0] + k) if same else None
        slots = self._slots(k)
        if at and not any(trees):  # all see alike
            mask = self._mask(slots[:1], visible) if k > 1 else None
            return self._layers(x, first, last, self._fused(first, last, slots, at, None, mask, visible), depths)
        mask, places = self._mask(slots, visible, trees), positions(slots, trees, self.lengths)
        return self._layers(x, first, last, self._fused(first, last, slots, at, places, mask, visible), depths)

    def _same_bits(
        self, first: int, last: int, k: int, visible: int, width: int, trees: Sequence[Placed | None]
    ) -> Looped | SameBits:
        """What attends in a pass of this shape. Its parts are kept for the next, as long as it sees as many slots."""
        held, model, rows = self.held, self.model, len(self.lengths)
        if held.visible != visible:
            held.visible, held.shaped = visible, {}
        key = first, last, rows, k
        if not (attend := held.shaped.get(key)):
            pass_ = held.kv[first:last, :, :rows], held.turns, k, model.heads, width, model.takes
            attend = Looped(*pass_) if self._looped(k) else SameBits(*pass_, visible)
            if k <= MAX_KEPT_ROWS:
                held.shaped[key] = attend
        if len(set(self.lengths)) == 1 and not any(trees):
            return attend.behind(self.lengths[0])
        return attend.scattered(self._slots(k), trees, self.lengths)

    def _looped(self, k: int) -> bool:
        """Whether loops attend in passes of so many new tokens a text, where rows have the same bits in every pass."""
        return loops.here(self.model.precise, self.model.takes) and k <= MAX_LOOPED_ROWS

    def _replay(
        self, x: Tensor, first: int, last: int, trees: Sequence[Placed | None], depths: Sequence[int]
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
            slots = self._slots(k)
            shape = positions(slots, trees, self.lengths), self._mask(slots, held.size, trees)
            for kept, new in zip(held.shapes.setdefault(key, tuple(map(filled, shape))), shape):
                kept[:texts] = new

        def run(x: Tensor) -> Tensor:
            slots = start + torch.arange(k, device=x.device)
            places, mask = held.shapes[key] if any(trees) else (slots, self._mask(slots, held.size))
            return self._layers(x, first, last, self._fused(first, last, slots, None, places, mask, held.size), depths)

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

    def _fused(
        self,
        first: int,
        last: int,
        slots: Tensor,
        at: slice | None,
        places: Tensor | None,
        mask: Tensor | None,
        visible: int,
    ) -> Fused:
        """What attends on a GPU. Its arguments are those of `Fused`, but places: [R, k], the positions that these
        tokens have in their texts; None where they are `at`.
        """
        held = self.held
        kv = held.kv[first:last, :, : len(slots)]
        rotations = held.turns[at, 0] if places is None else held.turns[places][:, :, 0]
        return Fused(kv, rotations, slots, at, mask, visible, self.model.heads)

    def _layers(
        self, x: Tensor, first: int, last: int, attend: Fused | Looped | SameBits, depths: Sequence[int]
    ) -> Tensor:
        """Hidden rows [R, k, H] through the layers first ≤ i < last. depths: as in `Cached.extend`."""
        model, y, lower = self.model, None, {}
        x = x.to(model.precise, copy=True)  # what it adds up is written there
        for i, part in enumerate(model.parts[first:last]):
            normed = model.add_normed(x, y, part.norms[0])
            if first + i in depths:  # the layer before has been added up only now
                lower[first + i] = x.clone()
            y = part.out(attend(i, part.qkv(normed)))
            y = part.down(loops.gated(part.gate_up(model.add_normed(x, y, part.norms[1])), model.same_bits))
        if last == model.layers:
            x = model.add_normed(x, y, model.last_norm)
        elif y is not None:
            x.add_(y)
        return with_depths(x, [lower[depth] for depth in depths])
