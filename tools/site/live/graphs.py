"""The model in the page: the target and its drafters as ONNX graphs, and their weights in the bits in which they are stored.

A browser fetches the 4 and 8 bits, spreads them out to float32, and gives them to onnxruntime-web as external data: its own
product of 4-bit matrices would spread them out at every pass, eight times as slow. Attention is written out, since the
library's fused one is slow for several rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

PLACES = 2048  # of a text, the prompt included: so many rotations are stored
SHARD = 22_000_000  # bytes of a file at most: what a reader stops or a network drops loses no more than this
FLOAT = TensorProto.FLOAT
BLOCK = 32  # weights that share a scale in a GGUF file


@dataclass
class Stored:
    """A matrix [out, in] as bytes. kind: f32; q4_1 and q8_0, blocks as in a GGUF file; int8, codes with half scales behind."""

    kind: str
    shape: tuple[int, int]
    data: bytes
    block: int = BLOCK


@dataclass
class Weights:
    """All stored tensors, one behind the other."""

    parts: list[bytes] = field(default_factory=list)
    plan: dict[str, dict] = field(default_factory=dict)
    size: int = 0

    def add(self, name: str, stored: Stored) -> None:
        if name in self.plan:
            return
        self.plan[name] = {"kind": stored.kind, "shape": stored.shape, "at": self.size, "block": stored.block}
        self.parts.append(stored.data + bytes(-len(stored.data) % 4))
        self.size += len(self.parts[-1])


class Graph:
    """A graph whose large matrices come from outside: `spread` lists them in the order in which they are spread out."""

    def __init__(self, name: str):
        self.name, self.nodes, self.inside, self.outside, self.spread, self.at, self.used = name, [], [], [], [], 0, 0

    def op(self, kind: str, *inputs: str, n: int = 1, own: bool = False, **attributes) -> str | list[str]:
        """A node with n new outputs. own: an operation of onnxruntime's, beside the standard."""
        names = [f"{kind}.{self.used + i}" for i in range(n)]
        self.used += n
        self.nodes.append(helper.make_node(kind, inputs, names, domain="com.microsoft" if own else "", **attributes))
        return names[0] if n == 1 else names

    def constant(self, values: np.ndarray) -> str:
        name = f"constant.{len(self.inside)}"
        self.inside.append(onnx.numpy_helper.from_array(values, name))
        return name

    def shape(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64))

    def matrix(self, name: str, size: tuple[int, int]) -> str:
        """A matrix from outside, [in, out]: the stored one is turned round when it is spread out."""
        tensor = TensorProto(name=name, data_type=FLOAT, dims=size[::-1], data_location=TensorProto.EXTERNAL)
        length = 4 * math.prod(size)
        for key, value in (("location", f"{self.name}.bin"), ("offset", self.at), ("length", length)):
            tensor.external_data.add(key=key, value=str(value))
        self.outside.append(tensor)
        self.spread.append(name)
        self.at += length
        return name

    def save(
        self, path: Path, inputs: dict[str, Sequence], outputs: Sequence[str], integers: Sequence[str] = ()
    ) -> dict:
        """Write the graph; returns what the page must know of it."""
        takes = [
            helper.make_tensor_value_info(name, TensorProto.INT64 if name in integers else FLOAT, shape)
            for name, shape in inputs.items()
        ]
        gives = [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, self.name, takes, gives, [*self.inside, *self.outside])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        path.write_bytes(model.SerializeToString())
        return {"file": path.name, "spread": self.spread, "bytes": self.at}


@dataclass(frozen=True)
class Shape:
    """Of the target and its drafters' layers."""

    size: int
    inner: int
    heads: int
    shared: int  # heads of keys and values
    head: int
    theta: float
    epsilon: float


def rotations(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines [PLACES, head / 2], as transformers computes them: float32."""
    speeds = 1.0 / (shape.theta ** (np.arange(0, shape.head, 2, dtype=np.float32) / shape.head))
    angles = np.arange(PLACES, dtype=np.float32)[:, None] * speeds[None].astype(np.float32)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def decoder(g: Graph, x: str, layers: Sequence[dict], shape: Shape, prefix: str) -> tuple[list[str], list[str]]:
    """Llama layers on rows x [1, k, size], with inputs `positions` [1, k], `mask` [k, n] and past_0 … [1, shared, n − k, head].

    Args:
        layers: of each its norms, as arrays, "input" and "after".

    Returns:
        The rows before the first layer and after each; the outputs that hold keys and values, two for each layer.
    """
    cos, sin = map(g.constant, rotations(shape))
    group, s = shape.heads // shape.shared, shape
    apart, together = g.shape(0, 0, -1, s.head), g.shape(0, 0, s.heads * s.head)
    grouped, one_by_one = g.shape(0, s.shared, -1, s.head), g.shape(0, s.heads, -1, s.head)
    # [1, shared, group · k, n] ↔ [1, shared, group, k, n], so that the mask falls on each head of a group
    sides = g.op("Shape", "mask")
    to_mask = g.op("Concat", g.shape(1, s.shared, group), sides, axis=0)
    flat = g.op("Concat", g.shape(1, s.shared, -1), g.op("Gather", sides, g.shape(1), axis=0), axis=0)
    rows, kept = [x], []

    def norm(rows: str, weight: np.ndarray) -> str:
        return g.op("SimplifiedLayerNormalization", rows, g.constant(weight), axis=-1, epsilon=s.epsilon, stash_type=1)

    def product(rows: str, layer: int, name: str, to: int, out_of: int) -> str:
        return g.op("MatMul", rows, g.matrix(f"{prefix}{layer}.{name}", (to, out_of)))

    def heads_of(rows: str, turned: bool, heads: int) -> str:
        if turned:
            rows = g.op(
                "RotaryEmbedding", rows, "positions", cos, sin, own=True, num_heads=heads, rotary_embedding_dim=0
            )
        return g.op("Transpose", g.op("Reshape", rows, apart), perm=[0, 2, 1, 3])

    for i, norms in enumerate(layers):
        read = norm(rows[-1], norms["input"])
        q = heads_of(product(read, i, "q", s.heads * s.head, s.size), True, s.heads)
        k = heads_of(product(read, i, "k", s.shared * s.head, s.size), True, s.shared)
        v = heads_of(product(read, i, "v", s.shared * s.head, s.size), False, s.shared)
        k, v = (g.op("Concat", f"past_{2 * i + j}", new, axis=2) for j, new in enumerate((k, v)))
        kept += [k, v]
        scores = g.op("FusedMatMul", g.op("Reshape", q, grouped), k, own=True, transB=1, alpha=s.head**-0.5)
        chances = g.op("Softmax", g.op("Add", g.op("Reshape", scores, to_mask), "mask"), axis=-1)
        read = g.op("Reshape", g.op("MatMul", g.op("Reshape", chances, flat), v), one_by_one)
        read = g.op("Reshape", g.op("Transpose", read, perm=[0, 2, 1, 3]), together)
        middle = g.op("Add", rows[-1], product(read, i, "o", s.size, s.heads * s.head))
        read = norm(middle, norms["after"])
        gate, up = (product(read, i, name, s.inner, s.size) for name in ("gate", "up"))
        wide = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        rows.append(g.op("Add", middle, product(wide, i, "down", s.size, s.inner)))
    return rows, kept


def inputs_of(layers: int, shape: Shape, more: dict[str, Sequence]) -> dict[str, Sequence]:
    past = {f"past_{i}": [1, shape.shared, "held", shape.head] for i in range(2 * layers)}
    return more | {"positions": [1, "k"], "mask": ["k", "n"]} | past


def target_graph(
    path: Path, layers: Sequence[dict], final: np.ndarray, depths: Sequence[int], vocabulary: int, shape: Shape
) -> dict:
    """x [1, k, size], the embeddings → logits of the rows from `first` on; rows [1, k, (1 + depths) · size]; keys and values."""
    g = Graph("target")
    rows, kept = decoder(g, "x", layers, shape, "layer")
    last = g.op(
        "SimplifiedLayerNormalization", rows[-1], g.constant(final), axis=-1, epsilon=shape.epsilon, stash_type=1
    )
    wide = g.op("Concat", last, *(rows[depth] for depth in depths), axis=2)
    asked = g.op("Slice", last, "first", g.shape(PLACES), g.shape(1))
    logits = g.op("MatMul", asked, g.matrix("embedding", (vocabulary, shape.size)))
    names = [logits, wide, *kept]
    takes = inputs_of(len(layers), shape, {"x": [1, "k", shape.size], "first": [1]})
    about = g.save(path, takes, names, integers=("first", "positions"))
    return about | {"layers": len(layers), "outputs": names}


def draft_graph(
    path: Path,
    name: str,
    layers: Sequence[dict],
    final: np.ndarray,
    shape: Shape,
    kept_ids: int,
    fuse: bool,
    scale: float,
) -> dict:
    """A drafter's layers on x [1, k, size] → logits of its head at the last row; rows; keys and values.

    Args:
        fuse: x is joined with the rows `before` [1, k, size] that it goes on from (EAGLE).
    """
    g = Graph(name)
    x = "x"
    if fuse:
        both = g.op("Concat", "before", g.op("Mul", "x", g.constant(np.array(scale, np.float32))), axis=2)
        x = g.op("MatMul", both, g.matrix(f"{name}.fuse", (shape.size, 2 * shape.size)))
    rows, kept = decoder(g, x, layers, shape, f"{name}.")
    guess = g.op(
        "SimplifiedLayerNormalization", rows[-1], g.constant(final), axis=-1, epsilon=shape.epsilon, stash_type=1
    )
    last = g.op("Slice", guess, g.shape(-1), g.shape(PLACES), g.shape(1))
    logits = g.op("MatMul", last, g.matrix(f"{name}.head", (kept_ids, shape.size)))
    names = [logits, guess, *kept]
    more = {"x": [1, "k", shape.size]} | ({"before": [1, "k", shape.size]} if fuse else {})
    about = g.save(path, inputs_of(len(layers), shape, more), names, integers=("positions",))
    return about | {"layers": len(layers), "outputs": names}


def join_graph(path: Path, size: int, parts: int, epsilon: float) -> dict:
    """The target's wide rows [1, k, parts · size] → the rows that EAGLE reads (`EagleNet.joined`)."""
    g = Graph("join")
    last, *lower = g.op("Split", "rows", n=parts, axis=2) if parts > 1 else ["rows"]
    ones = g.constant(np.ones(size, np.float32))
    lower = [g.op("SimplifiedLayerNormalization", x, ones, axis=-1, epsilon=epsilon, stash_type=1) for x in lower]
    joined = g.op("MatMul", g.op("Concat", last, *lower, axis=2), g.matrix("eagle.join", (size, parts * size)))
    return g.save(path, {"rows": [1, "k", parts * size]}, [joined]) | {"outputs": [joined]}


def write_shards(weights: Weights, out: Path) -> None:
    """The stored bytes in files of at most SHARD."""
    whole = b"".join(weights.parts)
    for number, i in enumerate(range(0, len(whole), SHARD)):
        (out / f"weights-{number:02}.bin").write_bytes(whole[i : i + SHARD])
