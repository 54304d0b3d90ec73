"""The reference backend: any causal language model of `transformers`, cached per row.

Slow and obviously right. `transformers`' own caches cannot rewind each row to its own length,
and their `crop` changed meaning between releases, so the keys and values live in plain
buffers here and the causal mask is written out.
"""

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import PreTrainedConfig
from transformers.cache_utils import Cache, DynamicLayer

from specdec_lab.errors import LabError
from specdec_lab.formats import first_line
from specdec_lab.models.base import Cached, Model, with_depths
from specdec_lab.models.tree import Tree, TreeInCache, mask_of, positions

Loaded = Any  # a PreTrainedModel: torch does not say what a module holds, and each architecture has its own parts


class RowLayer(DynamicLayer):
    """One layer's keys and values, [R, heads, size, head_dim], written at each row's own slots."""

    keys: Tensor
    values: Tensor
    slots: Tensor  # [R, k] where the next update writes; set before each pass
    visible: int  # positions handed to attention; the mask hides what a row must not see

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.keys, self.values = key_states[:0, :, :0], value_states[:0, :, :0]
        self.is_initialized = True

    def grow(self, rows: int, size: int) -> None:
        """Zeros behind what it holds: so many rows, and so many positions (never fewer than before)."""
        more = 0, 0, 0, max(0, size - self.keys.shape[2]), 0, 0, 0, rows - self.keys.shape[0]
        self.keys, self.values = pad(self.keys, more), pad(self.values, more)  # both or, when memory runs out, none

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        size = self.keys.shape[2]
        if size < self.visible:  # It grows by half at least, so that a long text copies its cache seldom.
            self.grow(len(key_states), max(self.visible, size + size // 2, size + 64))
        self.keys.scatter_(2, self.slots[:, None, :, None].expand_as(key_states), key_states)
        self.values.scatter_(2, self.slots[:, None, :, None].expand_as(value_states), value_states)
        return self.keys[:, :, : self.visible], self.values[:, :, : self.visible]

    def join(self, other: "RowLayer", rows: int, more: int) -> None:
        """Append the `more` rows of `other` to its own `rows`. A layer that nothing has gone through holds none yet."""
        if not self.is_initialized and not other.is_initialized:
            return
        for one, two in ((self, other), (other, self)):
            if not one.is_initialized:
                one.lazy_initialization(two.keys, two.values)
        self.grow(rows, other.keys.shape[2])
        other.grow(more, self.keys.shape[2])
        self.keys, self.values = torch.cat([self.keys, other.keys]), torch.cat([self.values, other.values])

    def drop(self, row: int) -> None:
        if self.is_initialized:
            for part in (self.keys, self.values):
                part[row] = part[-1]
            self.keys, self.values = self.keys[:-1], self.values[:-1]


# What makers call the most tokens of a text, and the most that a token sees.
LONGEST = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "max_target_positions",
    "max_sequence_length",
    "n_ctx",
)
WINDOW = re.compile(r"(\w+_)?window(_size)?|attention_chunk_size")


def changing_rotations(config: PreTrainedConfig) -> list[dict]:
    """The rotations (longrope, dynamic) that the longest position of a pass chooses; kinds of layers may have their own."""
    rope = getattr(config, "rope_parameters", None)
    all_of_them = [x for x in (rope, *rope.values()) if isinstance(x, dict)] if isinstance(rope, dict) else []
    return [x for x in all_of_them if x.get("rope_type", x.get("type")) in ("longrope", "dynamic")]


def longest_text(config: PreTrainedConfig) -> int:
    """The most tokens of a text whose rows do not depend on how many tokens its passes have.

    Within its window, sliding attention is full attention. Rotations that change are one up to the length that the
    model was first trained for.
    """
    own = "original_max_position_embeddings"
    firsts = [rope.get(own) or getattr(config, own, None) for rope in changing_rotations(config)]
    windows = [value for name, value in vars(config).items() if WINDOW.fullmatch(name)]
    most = next((getattr(config, name) for name in LONGEST if getattr(config, name, None)), 2048)
    return min(x for x in (most, *windows, *firsts) if isinstance(x, int) and not isinstance(x, bool) and x > 0)


class ReferenceModel(Model):
    """Wraps a loaded `transformers` causal language model.

    Raises:
        LabError: for an architecture with layers other than causal attention.
    """

    def __init__(self, hf: Loaded, name: str):
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
        self.vocab_size = hf.get_output_embeddings().weight.shape[0]
        self.ids = getattr(self.head, "ids", None)
        self.input_vocab = hf.get_input_embeddings().weight.shape[0]
        self.context = longest_text(config)
        self.layers = config.num_hidden_layers
        self.device, self.dtype = hf.device, hf.dtype

    def cached(self, rows: int = 1) -> "ReferenceCached":
        return ReferenceCached(self, rows)

    def check(self) -> None:
        """Check on two short texts that this backend computes what the model itself does.

        Some families scale or cap their logits after the head, some count the slots of their cache, and `models.fast` writes
        the whole model out.

        Raises:
            LabError: when the two differ, or the model's code does not take such a cache.
        """
        choose = "choose a model such as Llama, Qwen2 or SmolLM2."
        try:
            agrees = self.agrees()
        except LabError:
            raise
        except Exception as e:  # The model's code meets a cache and a mask that it may not know.
            raise LabError(
                f"{self.name} ({self.hf.config.model_type}) does not run with a cache that can be rewound for each "
                f"text ({type(e).__name__}: {first_line(e)}): {choose}"
            ) from e
        if not agrees:
            raise LabError(
                f"{self.name} ({self.hf.config.model_type}) computes something that is not written out here (Granite and "
                f"Gemma 2, for instance, change their logits after the head, and MPT counts positions itself): {choose}"
            )

    @torch.inference_mode()
    def agrees(self) -> bool:
        """Whether two texts in one cache get the rows that the model gives them without one, and drafts in a tree the rows
        that they get without it.

        The cache is extended in several passes and rewound; the second text ends with a tree, behind drafts that it does
        not see.
        """
        n = min(32, self.context)
        few, one = n // 8, [i % self.input_vocab for i in range(n)]
        two, cached = one[few:], self.cached(2)
        cached.extend([one[: 2 * few], one[:few]])
        cached.rewind([few, 0])
        steps = range(0, n - few, few)
        ours = torch.cat(
            [cached.extend([one[i + few : i + 2 * few], two[i : i + few]]).logits[:, :few] for i in steps], 1
        )
        cached.rewind([n - few, len(two) - few])
        tree = cached.lengths[1], Tree((-1,) * (few + 1) + tuple(range(few, 2 * few - 1)))  # others, and the text's own
        last = cached.extend([one[-few:], [*one[:few], *two[-few:]]], trees=[None, tree]).logits
        alone = [self.hf(torch.tensor([x], device=self.device), use_cache=False).logits[0] for x in (one, two)]
        theirs = torch.stack([alone[0][few:], alone[1]])
        if not theirs.isfinite().all() or not theirs.any():
            raise LabError(
                f"{self.name} gives NaN or infinity in place of logits, or only zeros: its weights are damaged, or its "
                "numbers need --dtype float32."
            )
        return self.near(ours, theirs) and self.near(last[1, few:], ours[1, -few:])

    def near(self, ours: Tensor, theirs: Tensor) -> bool:
        """Whether logits [.., V] are the same but for rounding: the median of TV(p, q), half the sum of |p − q|."""
        apart = (ours.float().softmax(-1) - theirs.float().softmax(-1)).abs().sum(-1).median() / 2
        return bool(apart <= (1e-3 if self.dtype.itemsize >= 4 else 0.2))


class ReferenceCached(Cached):
    """A cache in one RowLayer for each layer of the model."""

    def __init__(self, model: ReferenceModel, rows: int):
        self.model: ReferenceModel = model
        self.lengths = [0] * rows
        self._layers = [RowLayer() for _ in range(model.layers)]
        self._kv = Cache(layers=[*self._layers])

    def _join(self, other: "ReferenceCached") -> None:
        rows = len(self.lengths), len(other.lengths)
        for mine, theirs in zip(self._layers, other._layers):
            mine.join(theirs, *rows)

    def _drop(self, row: int) -> None:
        for layer in self._layers:
            layer.drop(row)

    def _move(self, row: int, to: int, slots: Tensor) -> None:
        for layer in self._layers:
            for part in (layer.keys, layer.values):
                part[row, :, to : to + len(slots)] = part[row, :, slots]

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
        model = self.model
        slots = self._slots(inputs.shape[1])
        for layer in self._layers:
            layer.slots, layer.visible = slots, visible
        # Padding may point past the last position.
        places = positions(slots, trees, self.lengths).clamp(max=model.context - 1)
        how = {"attention_mask": mask_of(slots, visible, trees, self.lengths, model.dtype), "position_ids": places}
        how |= {"past_key_values": self._kv, "use_cache": True}
        if (first, last) == (0, model.layers) and not inputs.is_floating_point():
            out = model.hf.base_model(input_ids=inputs, output_hidden_states=bool(depths), **how)
            return with_depths(out.last_hidden_state, [out.hidden_states[depth] for depth in depths])
        # A part of the layers: one by one, as Llama-shaped models allow.
        body = model.hf.base_model
        if not all(hasattr(body, part) for part in ("embed_tokens", "layers", "norm", "rotary_emb")):
            raise LabError(f"{model.name} cannot run a part of its layers: this needs a Llama-shaped model.")
        x = inputs if inputs.is_floating_point() else body.embed_tokens(inputs)
        rope, at = body.rotary_emb(x, position_ids=places), {}
        for number, layer in enumerate(body.layers[first:last], first):
            if number in depths:
                at[number] = x
            x = layer(x, position_embeddings=rope, **how)
        return with_depths(body.norm(x) if last == model.layers else x, [at[depth] for depth in depths])
