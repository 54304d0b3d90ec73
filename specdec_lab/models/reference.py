"""The reference backend: any causal language model of `transformers`, cached per row.

Slow and obviously right. `transformers`' own caches cannot rewind each row to its own length,
and their `crop` changed meaning between releases, so the keys and values live in plain
buffers here and the causal mask is written out.
"""

import torch
from torch import Tensor
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, CacheLayerMixin

from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached, Model
from specdec_lab.models.rows import CachedRows


class RowLayer(CacheLayerMixin):
    """One layer's keys and values, [R, heads, room, head_dim], written at each row's own slots."""

    slots: Tensor  # [R, k] where the next update writes; set before each pass
    visible: int  # positions handed to attention; the mask hides what a row must not see

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.keys = key_states.new_zeros(*key_states.shape[:2], 0, key_states.shape[3])
        self.values = value_states.new_zeros(*value_states.shape[:2], 0, value_states.shape[3])
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        short = self.visible - self.keys.shape[2]
        if short > 0:  # grow by half, so that a long text copies its cache only a few times
            more = max(short, self.keys.shape[2] // 2, 64)
            longer = [torch.nn.functional.pad(old, (0, 0, 0, more)) for old in (self.keys, self.values)]
            self.keys, self.values = longer  # both or, when memory runs out, none
        self.keys.scatter_(2, self.slots[:, None, :, None].expand_as(key_states), key_states)
        self.values.scatter_(2, self.slots[:, None, :, None].expand_as(value_states), value_states)
        return self.keys[:, :, : self.visible], self.values[:, :, : self.visible]

    def join(self, other: "RowLayer", rows: tuple[int, int]) -> None:
        """Append the rows of `other`; rows: how many each has, for a layer that nothing has gone through."""
        both = self, other
        like = next((layer.keys for layer in both if layer.is_initialized), None)
        if like is None:
            return
        for layer, n in zip(both, rows):
            if not layer.is_initialized:
                layer.lazy_initialization(*[like.new_zeros(n, like.shape[1], 0, like.shape[3])] * 2)
        room = max(layer.keys.shape[2] for layer in both)

        def joined(*parts: Tensor) -> Tensor:
            return torch.cat([torch.nn.functional.pad(part, (0, 0, 0, room - part.shape[2])) for part in parts])

        self.keys, self.values = joined(self.keys, other.keys), joined(self.values, other.values)

    def drop(self, row: int) -> None:
        if self.is_initialized:
            for part in (self.keys, self.values):
                part[row] = part[-1]
            self.keys, self.values = self.keys[:-1], self.values[:-1]

    def get_seq_length(self) -> int:
        return 0 if not self.is_initialized else self.keys.shape[2]

    def get_max_length(self) -> int:
        return -1

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.visible, 0


class ReferenceModel(Model):
    """Wraps a loaded `transformers` causal language model.

    Raises:
        LabError: for an architecture with layers other than causal attention.
    """

    def __init__(self, hf: PreTrainedModel, name: str):
        config = hf.config.get_text_config()
        kinds = set(getattr(config, "layer_types", None) or []) - {"full_attention", "sliding_attention"}
        if kinds:
            raise LabError(
                f"{name} uses {', '.join(sorted(kinds))} layers, which cannot be rewound here: "
                "choose a model with ordinary attention, such as Llama, Qwen2 or SmolLM2."
            )
        self.hf = hf.eval()
        self.name = name
        self.head = hf.get_output_embeddings()  # hidden rows to logits
        self.vocab_size = self.head.weight.shape[0]
        self.ids = getattr(self.head, "ids", None)
        self.input_vocab = hf.get_input_embeddings().weight.shape[0]
        # Within its window, sliding attention is full attention.
        self.context = min(config.max_position_embeddings, getattr(config, "sliding_window", None) or 10**9)
        self.layers = config.num_hidden_layers
        self.device, self.dtype = hf.device, hf.dtype

    def cached(self, rows: int = 1) -> "ReferenceCached":
        return ReferenceCached(self, rows)

    def check(self) -> None:
        """Some families scale or cap their logits after the head; and what `models.fast` writes out must be this model.

        Raises:
            LabError: when one short text shows a difference.
        """
        if not self.agrees(self.cached()):
            raise LabError(
                f"{self.name} computes something that is not written out here (Granite, Cohere and Gemma 2, for instance, "
                "change their logits after the head): choose a model such as Llama, Qwen2 or SmolLM2."
            )

    @torch.inference_mode()
    def agrees(self, cached: Cached) -> bool:
        """Whether one short text, in several passes through this empty cache, gives what the model itself gives at once."""
        ids = [i % self.input_vocab for i in range(min(32, self.context))]
        ours = torch.cat([cached.extend([ids[i : i + 4]]).logits[0] for i in range(0, len(ids), 4)]).float()
        theirs = self.hf(torch.tensor([ids], device=self.device), use_cache=False).logits[0].float()
        apart = (ours.softmax(-1) - theirs.softmax(-1)).abs().sum(-1).median() / 2
        return bool(apart <= (1e-3 if self.dtype.itemsize >= 4 else 0.2))


class ReferenceCached(CachedRows):
    def __init__(self, model: ReferenceModel, rows: int):
        self.model = model
        self.lengths = [0] * rows
        self._kv = Cache(layers=[RowLayer() for _ in range(model.layers)])

    def _join(self, other: "ReferenceCached") -> None:
        rows = len(self.lengths), len(other.lengths)
        for mine, theirs in zip(self._kv.layers, other._kv.layers):
            mine.join(theirs, rows)

    def _drop(self, row: int) -> None:
        for layer in self._kv.layers:
            layer.drop(row)

    def _run(self, inputs: Tensor, first: int, last: int, visible: int) -> Tensor:
        model = self.model
        slots = self._slots(inputs.shape[1])
        for layer in self._kv.layers:
            layer.slots, layer.visible = slots, visible
        mask = self._mask(slots, visible)
        positions = slots.clamp(max=model.context - 1)  # padding may point past the last position
        if (first, last) == (0, model.layers) and not inputs.is_floating_point():
            return model.hf.base_model(
                input_ids=inputs,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=self._kv,
                use_cache=True,
            ).last_hidden_state
        return self._some_layers(inputs, first, last, mask, positions)

    def _some_layers(self, x: Tensor, first: int, last: int, mask: Tensor, positions: Tensor) -> Tensor:
        """Walk the layers one by one, as Llama-shaped models allow."""
        body = self.model.hf.base_model
        if not all(hasattr(body, part) for part in ("embed_tokens", "layers", "norm", "rotary_emb")):
            raise LabError(f"{self.model.name} cannot run a part of its layers: this needs a Llama-shaped model.")
        if not x.is_floating_point():
            x = body.embed_tokens(x)
        rope = body.rotary_emb(x, position_ids=positions)
        for layer in body.layers[first:last]:
            x = layer(
                x,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=self._kv,
                use_cache=True,
                position_embeddings=rope,
            )
        return body.norm(x) if last == self.model.layers else x
