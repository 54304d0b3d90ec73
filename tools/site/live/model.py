"""Writes the files of the model in the page: weights as they are stored, graphs, the tokenizer, and the runtime.

    write(out): plan.json, weights-N.bin, *.onnx, tokenizer.json, and of two npm packages what runs them.

What a browser fetches is about 100 MB, and 14 MB of runtime; it is asked for by a press only. It takes no file that is
not the one that plan.json names, by its length and SHA-256.
"""

import base64
import hashlib
import io
import json
import tarfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from peers.target_gguf import gguf
from safetensors import safe_open

from live.graphs import Shape, Stored, Weights, draft_graph, join_graph, target_graph, write_shards
from specdec_lab.drafters.student import EMBEDDING_SCALE, exit_of, middle_of
from specdec_lab.drafters.trained import WEIGHTS
from specdec_lab.errors import LabError
from specdec_lab.measure.results import recorded
from specdec_lab.models.embedded import target_dir

PACKAGES = {  # what runs the graphs and cuts text into tokens: address, checksum, the files that the page needs
    "https://registry.npmjs.org/onnxruntime-web/-/onnxruntime-web-1.30.0.tgz": (
        "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
        ("dist/ort.wasm.min.mjs", "dist/ort-wasm-simd-threaded.mjs", "dist/ort-wasm-simd-threaded.wasm"),
    ),
    "https://registry.npmjs.org/@huggingface/tokenizers/-/tokenizers-0.2.0.tgz": (
        "LidMHe1FpcSYH4vcSjXooda34pC0M8m1gmDOv7SQi6Iv+ib1zX7J3sHBCC9/3FPCkn2k1b55FneVqMRxrr99pg==",
        ("dist/tokenizers.min.mjs", "LICENSE"),
    ),
}
MATRICES = {  # of a layer: the name in transformers, in the GGUF file
    "q": ("self_attn.q_proj", "attn_q"), "k": ("self_attn.k_proj", "attn_k"), "v": ("self_attn.v_proj", "attn_v"),
    "o": ("self_attn.o_proj", "attn_output"), "gate": ("mlp.gate_proj", "ffn_gate"), "up": ("mlp.up_proj", "ffn_up"),
    "down": ("mlp.down_proj", "ffn_down"),
}  # fmt: skip
KINDS = {"Q4_1": "q4_1", "Q8_0": "q8_0"}
FORM = 2  # of plan.json: live/worker.js reads this one alone
FETCHED = (".bin", ".json", ".onnx", ".wasm")  # the kinds of files that the worker asks for by the plan
MARK = "\N{SNOWMAN}"  # where the prompt stands in the chat template


def shape_of(config) -> Shape:
    """Of a Llama whose rotations are the plain ones."""
    rope = config.rope_parameters
    if config.model_type != "llama" or rope.get("rope_type") != "default" or not config.tie_word_embeddings:
        raise LabError(f"The page cannot run {config.model_type}: it takes Llamas that share embeddings and head.")
    return Shape(
        config.hidden_size,
        config.intermediate_size,
        config.num_attention_heads,
        config.num_key_value_heads,
        config.hidden_size // config.num_attention_heads,
        rope["rope_theta"],
        config.rms_norm_eps,
    )


def write_model(out: Path, hf, tokenizer, gguf: Path | None, drafters: Path = WEIGHTS) -> dict:
    """The target `hf` and its drafters, into the folder `out`. Returns the plan, for `write_plan`.

    Args:
        gguf: the file that the target was made from, for its 4 bits; None: float32.
        drafters: the folder of their weights.
    """
    shape, state = shape_of(hf.config), {name: value.float().numpy() for name, value in hf.state_dict().items()}
    layers = hf.config.num_hidden_layers
    depths = exit_of(layers), middle_of(layers)
    weights, norms = Weights(), []
    stored = from_gguf(gguf, shape) if gguf else {}
    for i in range(layers):
        for name, (theirs, in_file) in MATRICES.items():
            whole = state[f"model.layers.{i}.{theirs}.weight"]
            weights.add(f"layer{i}.{name}", stored.get(f"blk.{i}.{in_file}.weight") or as_floats(whole))
        norms.append(norms_of(state, f"model.layers.{i}."))
    weights.add("embedding", stored.get("token_embd.weight") or as_floats(state["model.embed_tokens.weight"]))
    vocabulary = hf.config.vocab_size
    plan = {"size": shape.size, "shared": shape.shared, "head": shape.head, "depths": len(depths)}
    plan["scale"] = EMBEDDING_SCALE
    plan["target"] = target_graph(out / "target.onnx", norms, state["model.norm.weight"], depths, vocabulary, shape)
    for name in ("eagle", "model"):
        found = read(drafters / f"{name}.safetensors")
        mine = sorted({key.split(".")[3] for key in found if key.startswith("llama.model.layers.")})
        for i in mine:
            for part, (theirs, _) in MATRICES.items():
                weights.add(f"{name}.{i}.{part}", eight_bits(found, f"llama.model.layers.{i}.{theirs}.weight"))
        if name == "eagle":
            for part in ("fuse", "join"):
                weights.add(f"eagle.{part}", eight_bits(found, f"{part}.weight"))
            plan["join"] = join_graph(out / "join.onnx", shape.size, 1 + len(depths), JOIN_EPSILON)
        norms = [norms_of(found, f"llama.model.layers.{i}.") for i in mine]
        final, ids = found["llama.model.norm.weight"], found["ids"].tolist()
        plan[name] = draft_graph(
            out / f"{name}.onnx", name, norms, final, shape, len(ids), name == "eagle", EMBEDDING_SCALE
        ) | {"ids": ids}
    before, after = tokenizer.apply_chat_template(
        [{"role": "user", "content": MARK}], add_generation_prompt=True, tokenize=False
    ).split(MARK)
    write_shards(weights, out)
    return plan | {"before": before, "after": after, "ends": ends_of(hf), "tensors": weights.plan}


JOIN_EPSILON = float(np.finfo(np.float32).eps)  # what torch's rms_norm adds where nothing is said


def ends_of(hf) -> list[int]:
    found = hf.generation_config.eos_token_id
    return found if isinstance(found, list) else [found]


def norms_of(state: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    names = {"input": "input_layernorm", "after": "post_attention_layernorm"}
    return {ours: state[f"{prefix}{theirs}.weight"] for ours, theirs in names.items()}


def as_floats(values: np.ndarray) -> Stored:
    return Stored("f32", values.shape, np.ascontiguousarray(values, np.float32).tobytes())


def from_gguf(path: Path, shape: Shape) -> dict[str, Stored]:
    """The quantised matrices of a GGUF file as they are, but for the rows of q and k, which llama.cpp has in another order."""
    from gguf import GGUFReader

    found = {}
    for tensor in GGUFReader(path).tensors:
        if tensor.tensor_type.name not in KINDS:
            continue
        data = np.asarray(tensor.data)
        for part, heads in (("attn_q", shape.heads), ("attn_k", shape.shared)):
            if part in tensor.name:
                data = data.reshape(heads, -1, 2, data.shape[1]).swapaxes(1, 2).reshape(data.shape)
        found[tensor.name] = Stored(KINDS[tensor.tensor_type.name], (len(data), int(tensor.shape[0])), data.tobytes())
    return found


def read(path: Path) -> dict[str, np.ndarray]:
    with safe_open(path, "np") as f:
        return {key: f.get_tensor(key) for key in f.keys()}  # noqa: SIM118


def eight_bits(found: Mapping[str, np.ndarray], name: str) -> Stored:
    """A drafter's matrix: all codes, then all scales in half precision (`trained.save_net`)."""
    codes, scales = found[name], found[f"{name}.scale"]
    rows, blocks, width = codes.shape
    return Stored("int8", (rows, blocks * width), codes.tobytes() + scales.tobytes(), width)


def write(out: Path) -> dict:
    """All files of the course's own target, and what runs them. Returns what the page says of them.

    Raises:
        LabError: where a package cannot be fetched, or is another one.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    out.mkdir(parents=True, exist_ok=True)
    folder = target_dir(print)
    hf = AutoModelForCausalLM.from_pretrained(folder)
    plan = write_model(out, hf, AutoTokenizer.from_pretrained(folder), gguf(print))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (out / name).write_bytes((folder / name).read_bytes())
    runtime(out)
    scripts(out)
    files = write_plan(out, plan)
    megabytes = round(sum(file["bytes"] for file in files) / 1e6)
    return {"megabytes": megabytes, "files": len(files), "hardware": "your browser", "large": large()}


def write_plan(out: Path, plan: dict) -> list[dict]:
    """Writes plan.json, behind all other files of the folder. Returns those that it names: {name, bytes, sha256 in base64}."""
    files = []
    for path in sorted(out.iterdir()):
        if path.suffix in FETCHED and path.name != "plan.json":
            digest = hashlib.sha256(path.read_bytes()).digest()
            named = {"name": path.name, "bytes": path.stat().st_size, "sha256": base64.b64encode(digest).decode()}
            files.append(named)
    name = hashlib.sha256(json.dumps(files).encode()).hexdigest()[:16]  # of the browser's cache
    whole = {"form": FORM, "name": name, **plan, "files": files}
    (out / "plan.json").write_text(json.dumps(whole, separators=(",", ":")), encoding="utf-8")
    return files


def scripts(out: Path) -> None:
    """What this project wrote itself."""
    for name in ("worker.js", "rounds.js", "licences.txt"):
        (out / name).write_bytes((Path(__file__).parent / name).read_bytes())


def runtime(out: Path) -> None:
    """What runs the graphs, out of its npm packages."""
    for address, (checksum, names) in PACKAGES.items():
        try:
            with urllib.request.urlopen(address, timeout=60) as found:
                packed = found.read()
        except OSError as e:
            raise LabError(f"{address} could not be fetched ({e}): check the network.") from e
        if base64.b64encode(hashlib.sha512(packed).digest()).decode() != checksum:
            raise LabError(f"{address} is not the file that was expected.")
        with tarfile.open(fileobj=io.BytesIO(packed)) as package:
            for name in names:
                data = package.extractfile(f"package/{name}").read()
                kept = f"{address.split('/')[-1].removesuffix('.tgz')}-{name}" if name == "LICENSE" else Path(name).name
                (out / kept).write_bytes(data)


def large() -> dict:
    """A large GPU: its name, billions of weights, and what a pass over 1, 2 … tokens takes there, in passes over one."""
    gpu = recorded("gpu")
    name = next(name for name in gpu["passes"] if name.startswith("32 layers"))
    T, millions = gpu["passes"][name], float(name.split(", ", 1)[1].split(" million")[0].replace(",", ""))
    card = gpu["hardware"].split()[1]
    return {
        "card": card,
        "billions": f"{millions / 1e3:.1f}",
        "costs": {k: round(T[k] / T[1], 3) for k in T if k <= 12},
    }
