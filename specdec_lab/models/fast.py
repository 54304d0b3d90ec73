"""The fast backend: a Llama written out, with as few and as large operations as it has.

The same mathematics as the reference, in another order: each norm's weight is folded into the
matrix behind it, and so is the attention's 1/√D; q, k and v are one product, and so are gate and
up; rotary embedding is one complex multiplication (each head's dimensions are paired up by permuting rows of W);
grouped heads share their keys without copying them; keys and values have their room from the
start, and a rewind is a smaller number.

For Llama-shaped models: Llama, SmolLM2, TinyLlama, and Qwen2 with its biases.
"""

import torch
from torch import Tensor
from torch.nn.functional import embedding, rms_norm, scaled_dot_product_attention, silu
from transformers import PreTrainedModel

from specdec_lab.models.linear import Linear
from specdec_lab.models.reference import ReferenceCached, ReferenceModel

ROOM = 512  # positions that a cache holds at first; it doubles when it is full


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

    def cached(self, rows: int = 1) -> "FastCached":
        return FastCached(self, rows)


class FastCached(ReferenceCached):
    """kv: [layers, 2, R or more, kv heads, room, D]."""

    def __init__(self, model: FastModel, rows: int):
        self.model = model
        self.lengths = [0] * rows
        self.room = 0
        self.make_room(rows, ROOM)

    def make_room(self, rows: int, room: int) -> None:
        model = self.model
        shape = model.layers, 2, rows, model.kv_heads, room, model.head_size
        kv = torch.zeros(shape, dtype=model.dtype, device=model.device)
        at = torch.arange(room, device=model.device)[None]
        like = kv.new_empty(0, dtype=wide(model.dtype))
        cos, sin = (x[0, :, : model.head_size // 2].contiguous() for x in model.rotary(like, position_ids=at))
        if self.room:
            kv[:, :, : self.kv.shape[2], :, : self.room] = self.kv
        self.kv, self.turn, self.room = kv, torch.complex(cos, sin), room  # turn: [room, D/2]

    def _join(self, other: "FastCached") -> None:
        have, more = len(self.lengths), len(other.lengths)
        held, full = max(other.lengths), self.kv.shape[2] < have + more
        if full or self.room < held:  # rows, as positions, double when they are full
            self.make_room(max(have + more, 2 * have) if full else self.kv.shape[2], max(self.room, held))
        self.kv[:, :, have : have + more, :, :held] = other.kv[:, :, :more, :, :held]

    def _drop(self, row: int) -> None:
        last = len(self.lengths) - 1
        self.kv[:, :, row, :, : self.lengths[last]] = self.kv[:, :, last, :, : self.lengths[last]]

    def _run(self, inputs: Tensor, first: int, last: int, visible: int) -> Tensor:
        model = self.model
        if visible > self.room:
            self.make_room(self.kv.shape[2], max(visible, 2 * self.room))
        x = inputs if inputs.is_floating_point() else embedding(inputs, model.embeddings)
        rows, k, size = x.shape
        heads, shared, dim = model.heads, model.kv_heads, model.head_size
        group = heads // shared
        slots = self._slots(k)
        even = len(set(self.lengths)) == 1  # all rows write at the same slots: a slice will do
        at = slice(self.lengths[0], self.lengths[0] + k)
        turn = self.turn[at, None] if even else self.turn[slots][:, :, None]
        mask = None
        if not even or k > 1:  # the queries of a group, which share their keys, lie one after the other
            mask = self._mask(slots[:1] if even else slots, visible).repeat(1, 1, group, 1)
        each = torch.arange(rows, device=x.device)[:, None]
        for part, kv in zip(model.parts[first:last], self.kv[first:last, :, :rows]):
            qkv = part.qkv(rms_norm(x, (size,), eps=model.eps))
            rotated = qkv[..., : (heads + shared) * dim]
            pairs = torch.view_as_complex(rotated.to(wide(x.dtype)).view(rows, k, -1, dim // 2, 2)).mul_(turn)
            if x.dtype != wide(x.dtype):  # then .to() was a copy
                rotated.copy_(torch.view_as_real(pairs).view(rotated.shape))
            q, new = qkv.split((heads * dim, 2 * shared * dim), -1)
            if even:
                kv[:, :, :, at] = new.view(rows, k, 2, shared, dim).permute(2, 0, 3, 1, 4)
            else:
                kv[:, each, :, slots] = new.view(rows, k, 2, shared, dim)
            q = q.view(rows, k, shared, group, dim).permute(0, 2, 3, 1, 4).reshape(rows, shared, group * k, dim)
            seen = scaled_dot_product_attention(q, kv[0, :, :, :visible], kv[1, :, :, :visible], mask, scale=1.0)
            seen = seen.view(rows, shared, group, k, dim).permute(0, 3, 1, 2, 4).reshape(rows, k, heads * dim)
            x = part.out(seen).add_(x)
            gate, up = part.gate_up(rms_norm(x, (size,), eps=model.eps)).chunk(2, -1)
            x = part.down(silu(gate).mul_(up)).add_(x)
        return rms_norm(x, (size,), model.norm, model.eps) if last == model.layers else x
