"""The fast backend: a Llama written out, with as few and as large operations as it has.

The same mathematics as the reference, in another order: each norm's weight is folded into the
matrix behind it, and so is the attention's 1/√D; q, k and v are one product, and so are gate and
up; rotary embedding is one complex multiplication (each head's dimensions are paired up by permuting rows of W);
grouped heads share their keys without copying them; keys and values have their room from the
start, and a rewind is a smaller number. On a GPU a pass is captured and then replayed (see `captured`).

For Llama-shaped models: Llama, SmolLM2, TinyLlama, and Qwen2 with its biases.
"""

import warnings
from collections import Counter, defaultdict

import torch
from torch import Tensor
from torch.nn.functional import embedding, rms_norm, scaled_dot_product_attention, silu
from transformers import PreTrainedModel

from specdec_lab.models.captured import CapturedPass
from specdec_lab.models.linear import Linear
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.models.rows import CachedRows

ROOM = 512  # positions that a cache holds at first; it doubles when it is full
WIDEST = 256  # rows of a captured pass, all texts together: wider ones keep a GPU busy as they are
AT_USE = 2  # a width is captured when it is used so often: the widths of prompts may come only once


def supports(hf: PreTrainedModel) -> bool:
    """Whether this file is written for models like `hf`, and for the device it is on."""
    rope = getattr(hf.config, "rope_parameters", None) or {}
    fixed = rope.get("rope_type", "default") not in ("dynamic", "longrope")  # those change with the text's length
    return hf.config.model_type in ("llama", "qwen2") and fixed and hf.device.type in ("cpu", "cuda")


def wide(dtype: torch.dtype) -> torch.dtype:
    """What rotations are computed in: there are no complex numbers of half precision to speak of."""
    return torch.float32 if dtype.itemsize < 4 else dtype


class FastLayer:
    """One decoder layer's weights, folded and packed."""

    def __init__(self, layer: torch.nn.Module, heads: int, kv_heads: int):
        attention, mlp = layer.self_attn, layer.mlp
        before, between = layer.input_layernorm.weight, layer.post_attention_layernorm.weight

        def paired(part: torch.nn.Linear, count: int, scale: float) -> tuple[Tensor, Tensor | None]:
            """Rows (i, i + D/2) of each head, which rotate together, side by side."""

            def pair(rows: Tensor) -> Tensor:
                return rows.unflatten(0, (count, 2, -1)).transpose(1, 2).flatten(0, 2) * scale

            return pair(part.weight), None if part.bias is None else pair(part.bias)

        size = attention.q_proj.weight.shape[0] // heads
        q, k = paired(attention.q_proj, heads, size**-0.5), paired(attention.k_proj, kv_heads, 1.0)
        v = attention.v_proj.weight, attention.v_proj.bias
        bias = None if q[1] is None else torch.cat([q[1], k[1], v[1]])
        self.qkv = Linear(torch.cat([q[0], k[0], v[0]]) * before, bias)
        self.out = Linear(attention.o_proj.weight, attention.o_proj.bias)
        self.gate_up = Linear(
            torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]) * between,
            None if mlp.gate_proj.bias is None else torch.cat([mlp.gate_proj.bias, mlp.up_proj.bias]),
        )
        self.down = Linear(mlp.down_proj.weight, mlp.down_proj.bias)


class FastModel(ReferenceModel):
    """The same model, on its own copy of the weights; embeddings stay shared with `hf`."""

    def __init__(self, hf: PreTrainedModel, name: str):
        super().__init__(hf, name)
        config, body = hf.config, hf.base_model
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.head_size = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.embeddings, self.rotary = body.embed_tokens.weight.detach(), body.rotary_emb
        self.norm, self.eps = body.norm.weight.detach(), config.rms_norm_eps
        with torch.inference_mode():
            self.parts = [FastLayer(layer, self.heads, self.kv_heads) for layer in body.layers]
            self.head = Linear(self.head.weight)
        self.capture: type[CapturedPass] | None = CapturedPass if self.device.type == "cuda" else None
        self.capture_at = AT_USE
        self.spare: dict[int, list[Room]] = defaultdict(list)  # of texts that have ended, by size

    @property
    def warm_up(self) -> int:
        return self.capture_at if self.capture else 1

    def check(self) -> None:
        if self.capture and not self.agrees(self.cached()) and self.agrees(FastCached(self, 1, capturing=False)):
            self.stop_capturing("a replay is not the pass itself")
        super().check()

    def stop_capturing(self, why: str) -> None:
        warnings.warn(f"Passes of {self.name} cannot be captured ({why}): they run slower.", stacklevel=3)
        self.capture = None
        self.spare.clear()

    def cached(self, rows: int = 1) -> "FastCached":
        return FastCached(self, rows)


class Room:
    """Keys and values of some texts, kv [layers, 2, rows, kv heads, size, D], and the passes captured for them."""

    def __init__(self, model: FastModel, rows: int, size: int):
        shape = model.layers, 2, rows, model.kv_heads, size, model.head_size
        self.size, self.kv = size, torch.zeros(shape, dtype=model.dtype, device=model.device)
        at = torch.arange(size, device=model.device)[None]
        like = self.kv.new_empty(0, dtype=wide(model.dtype))
        cos, sin = (x[0, :, : model.head_size // 2].contiguous() for x in model.rotary(like, position_ids=at))
        self.rotations = torch.complex(cos, sin)  # [size, D/2]
        self.start = torch.zeros(rows, 1, dtype=torch.long, device=model.device)  # where captured passes write
        self.captured: dict[tuple[int, int, int, int], CapturedPass] = {}  # by rows, width, first and last layer
        self.uses: Counter[tuple[int, int, int, int]] = Counter()

    @property
    def rows(self) -> int:
        return self.kv.shape[2]


class FastCached(CachedRows):
    @torch.inference_mode()
    def __init__(self, model: FastModel, rows: int, capturing: bool = True):
        self.model, self.capturing = model, capturing
        self.lengths = [0] * rows
        self.room = self._room(rows, ROOM)

    def __del__(self):
        if hasattr(self, "room"):  # else there was no memory for it
            self._leave(self.room)

    def _room(self, rows: int, size: int) -> Room:
        """A new room; or one that a text has left, with what was captured for it."""
        model = self.model
        if rows == 1 and model.spare[size]:
            room = model.spare[size].pop()
            room.kv.zero_()  # nothing in it is read, but NaN would count even where it has no weight
            return room
        try:
            return Room(model, rows, size)
        except torch.OutOfMemoryError:
            model.spare.clear()
            return Room(model, rows, size)

    def _leave(self, room: Room) -> None:
        """Where passes are captured, the next text takes over the room."""
        if self.model.capture and room.rows == 1:
            self.model.spare[room.size].append(room)

    def _move(self, rows: int, held: int) -> None:
        """To a larger room, of at least `held` positions. Sizes are few, so that rooms can be taken over."""
        old, size = self.room, self.room.size
        while size < held:
            size *= 2
        new = self._room(rows, size)
        new.kv[:, :, : old.rows, :, : old.size] = old.kv
        self.room = new  # first: an interrupt in between must not hand the room to two texts
        self._leave(old)

    def _join(self, other: "FastCached") -> None:
        have, more = len(self.lengths), len(other.lengths)
        held, full = max(other.lengths), self.room.rows < have + more
        if full or self.room.size < held:  # rows, as positions, double when they are full
            self._move(max(have + more, 2 * have) if full else self.room.rows, held)
        self.room.kv[:, :, have : have + more, :, :held] = other.room.kv[:, :, :more, :, :held]

    def _drop(self, row: int) -> None:
        last, kv = len(self.lengths) - 1, self.room.kv
        kv[:, :, row, :, : self.lengths[last]] = kv[:, :, last, :, : self.lengths[last]]

    def _run(self, inputs: Tensor, first: int, last: int, visible: int) -> Tensor:
        if visible > self.room.size:
            self._move(self.room.rows, visible)
        x = inputs if inputs.is_floating_point() else embedding(inputs, self.model.embeddings)
        rows, k, _ = x.shape
        key = rows, k, first, last
        if self.capturing and self.model.capture and rows * k <= WIDEST:
            self.room.uses[key] += 1
            if self.room.uses[key] >= self.model.capture_at:
                return self._replay(x, key)
        same = len(set(self.lengths)) == 1
        at = slice(self.lengths[0], self.lengths[0] + k) if same else None
        return self._walk(x, first, last, self._slots(k), at, visible)

    def _replay(self, x: Tensor, key: tuple[int, int, int, int]) -> Tensor:
        """A pass that reads its positions from `room.start` and sees the whole room, so that it is always the same one."""
        room, model, (rows, k, first, last) = self.room, self.model, key
        start = room.start[:rows]
        if rows == 1:
            start.fill_(self.lengths[0])
        else:
            start.copy_(torch.tensor(self.lengths)[:, None])

        def walk(x: Tensor) -> Tensor:
            return self._walk(x, first, last, start + torch.arange(k, device=x.device), None, room.size)

        if key not in room.captured:
            try:
                room.captured[key] = model.capture(walk, x)
            except RuntimeError as e:  # the end of a capture that broke off may hide why it did
                said = str(e.__context__ or e).strip().splitlines() or ["no reason given"]
                model.stop_capturing(said[0])
                return walk(x)
        return room.captured[key](x)

    def _walk(self, x: Tensor, first: int, last: int, slots: Tensor, at: slice | None, visible: int) -> Tensor:
        """Hidden rows [R, k, H] through the layers first ≤ i < last.

        Args:
            slots: [R, k], where each row writes.
            at: the same as a slice, which is faster, if all rows write at the same slots; only then.
            visible: positions handed to attention; the mask hides what a row must not see.
        """
        model, room = self.model, self.room
        rows, k, size = x.shape
        heads, shared, dim = model.heads, model.kv_heads, model.head_size
        group = heads // shared
        rotations = room.rotations[at, None] if at else room.rotations[slots][:, :, None]
        mask = None
        if not at or k > 1:  # the queries of a group, which share their keys, lie one after the other
            mask = self._mask(slots[:1] if at else slots, visible).repeat(1, 1, group, 1)
        row_numbers = torch.arange(rows, device=x.device)[:, None]
        for part, kv in zip(model.parts[first:last], room.kv[first:last, :, :rows]):
            qkv = part.qkv(rms_norm(x, (size,), eps=model.eps))
            rotated = qkv[..., : (heads + shared) * dim]
            pairs = torch.view_as_complex(rotated.to(wide(x.dtype)).view(rows, k, -1, dim // 2, 2)).mul_(rotations)
            if x.dtype != wide(x.dtype):  # then .to() was a copy
                rotated.copy_(torch.view_as_real(pairs).view(rotated.shape))
            q, new = qkv.split((heads * dim, 2 * shared * dim), -1)
            if at:
                kv[:, :, :, at] = new.view(rows, k, 2, shared, dim).permute(2, 0, 3, 1, 4)
            else:
                kv[:, row_numbers, :, slots] = new.view(rows, k, 2, shared, dim)
            q = q.view(rows, k, shared, group, dim).permute(0, 2, 3, 1, 4).reshape(rows, shared, group * k, dim)
            seen = scaled_dot_product_attention(q, kv[0, :, :, :visible], kv[1, :, :, :visible], mask, scale=1.0)
            seen = seen.view(rows, shared, group, k, dim).permute(0, 3, 1, 2, 4).reshape(rows, k, heads * dim)
            x = part.out(seen).add_(x)
            gate, up = part.gate_up(rms_norm(x, (size,), eps=model.eps)).chunk(2, -1)
            x = part.down(silu(gate).mul_(up)).add_(x)
        return rms_norm(x, (size,), model.norm, model.eps) if last == model.layers else x
