"""Folders for --target that are damaged in one place: a sentence, never a traceback, and nothing that takes long."""

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    DogeConfig,
    GPTNeoConfig,
    LlamaConfig,
    MptConfig,
    Qwen2Config,
    WhisperConfig,
)
from writer import save

from specdec_lab.errors import LabError
from specdec_lab.lab import load
from specdec_lab.models.fast import FastModel, supports
from specdec_lab.models.load import wrapped
from specdec_lab.models.reference import longest_text


def config(**changes):
    def change(folder: Path):
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}), encoding="utf-8")

    return change


def holds(name: str, content: str | bytes):
    return lambda folder: (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def without(name: str):
    return lambda folder: (folder / name).unlink()


def as_fifo(folder: Path):
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")


def cut(folder: Path):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])


def no_numbers(folder: Path):
    tensors = {name: x * float("nan") for name, x in load_file(folder / "model.safetensors").items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def weights(change):
    """change: makes of the weights by name those that the file is to hold."""

    def changed(folder: Path):
        kept = change(load_file(folder / "model.safetensors"))
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})

    return changed


def without_any(*names: str):
    return weights(lambda all_of_them: {k: x for k, x in all_of_them.items() if not any(n in k for n in names)})


def prefixed(prefix: str):
    return weights(lambda all_of_them: {prefix + k: x for k, x in all_of_them.items()})


def with_bias(all_of_them):
    return all_of_them | {"model.layers.1.mlp.up_proj.bias": all_of_them["model.norm.weight"].repeat(2)}


def own_code(folder: Path):
    (folder / "own.py").write_text("raise SystemExit('it was run')")
    config(model_type="own", auto_map={"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"})(folder)


def own_tokenizer(folder: Path):
    (folder / "own.py").write_text("raise SystemExit('it was run')")
    about = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.T", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))


def nobodys(folder: Path):
    config(model_type="nope")(folder)
    (folder / "tokenizer.json").unlink()


def only_gguf(folder: Path):
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "model.Q4.gguf").write_bytes(b"GGUF" + b"\0" * 100)


DAMAGED = {
    "hidden size a list": (config(hidden_size=[32]), "hidden_size"),
    "hidden size 0": (config(hidden_size=0), "“hidden_size” is 0"),
    "hidden size 10⁹": (config(hidden_size=10**9), "“hidden_size”"),
    "heads that do not divide": (
        config(num_attention_heads=3, num_key_value_heads=3),
        "multiple of the number of attention heads",
    ),
    "groups that do not divide": (config(num_key_value_heads=3), "no multiple of that of key-value heads"),
    "layers in words": (config(num_hidden_layers="two"), "“num_hidden_layers” is 'two'"),
    "ten million layers": (config(num_hidden_layers=10**7), "“num_hidden_layers”"),
    "a context below 0": (config(max_position_embeddings=-5), "“max_position_embeddings” is -5"),
    "an activation that nobody knows": (config(hidden_act="wobble"), "wobble"),
    "an epsilon in words": (config(rms_norm_eps="x"), "rms_norm_eps"),
    "a family that nobody knows": (config(model_type="nope"), "nope"),
    "a family that nobody knows, and no tokenizer": (nobodys, "“model_type” is “nope”"),
    "no family": (config(model_type=None), "“model_type” is “"),
    "a config in UTF-16": (holds("config.json", "{}".encode("utf-16-le")), "save it as UTF-8"),
    "a rotation that nobody knows": (config(rope_parameters={"rope_type": "wobble", "rope_theta": 1}), "wobble"),
    "a config that is a list": (holds("config.json", "[1]"), "holds no object"),
    "a config that is text": (holds("config.json", "hello"), "is no JSON"),
    "a config without end": (holds("config.json", "[" * 100_000), "nested too deeply"),
    "a config in Latin-1": (holds("config.json", b'{"a": "\xe9"}'), "not UTF-8"),
    "no config": (without("config.json"), "There is no config.json"),
    "a tokenizer that is a list": (holds("tokenizer.json", "[]"), "holds no object"),
    "settings of a tokenizer that are a list": (holds("tokenizer_config.json", "[1]"), "holds no object"),
    "settings of writing that are a list": (holds("generation_config.json", "[1]"), "holds no object"),
    "weights that are text": (holds("model.safetensors", "hello"), "No causal language model"),
    "a pointer of Git LFS": (
        holds("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid x\n"),
        "git lfs pull",
    ),
    "weights that are a pipe": (as_fifo, "is no plain file"),
    "weights that are cut": (cut, "No causal language model"),
    "weights that are no numbers": (no_numbers, "NaN or infinity in place of logits"),
    "a GGUF alone": (only_gguf, "Convert it once"),
    "no head": (without_any("lm_head"), "has no weight “lm_head.weight”"),
    "no embeddings": (without_any("embed_tokens"), "has no weight “model.embed_tokens.weight”"),
    "a layer is missing": (without_any("layers.1."), "has no weight “model.layers.1.input_layernorm.weight”"),
    "a layer more in the config": (config(num_hidden_layers=3), "has no weight “model.layers.2."),
    "a layer less in the config": (config(num_hidden_layers=1), "has a weight “model.layers.1."),
    "names of torch.compile": (prefixed("_orig_mod."), "there is “_orig_mod.lm_head.weight”"),
    "names of many GPUs": (prefixed("module."), "has no weight “lm_head.weight”"),
    "names of a trainer": (prefixed("base_model.model."), "has no weight"),
    "a bias that the config does not name": (weights(with_bias), "has a weight “model.layers.1.mlp.up_proj.bias”"),
    "code of its own, and no tokenizer": (lambda f: (own_code(f), (f / "tokenizer.json").unlink()), "code of its own"),
    "code of its own": (own_code, "comes with code of its own"),
    "a tokenizer with code of its own": (own_tokenizer, "comes with code of its own"),
    "packed for MLX": (config(quantization_config={"group_size": 64, "bits": 4}), "quant_method"),
    "a rotation without a type": (
        config(rope_scaling={"type": None}, rope_parameters=None),
        "“rope_scaling” has no type",
    ),
}
TEMPLATES = {
    "does not parse": ("{% for %}", "does not take this prompt"),
    "refuses": ("{{ raise_exception('Conversation roles must alternate') }}", "Conversation roles must alternate"),
    "asks for what is not there": ("{{ messages.foo.bar }}", "does not take this prompt"),
    "divides by 0": ("{{ 1 / 0 }}", "division by zero"),
    "never ends": ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "it does not end"),
    "says nothing": ("", "makes nothing of this prompt"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return Path(save(tmp_path_factory.mktemp("sound") / "model", seed=1))


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_one_sentence(sound, tmp_path, name):
    change, said = DAMAGED[name]
    shutil.copytree(sound, tmp_path / "m")
    change(tmp_path / "m")
    with pytest.raises(LabError) as e:
        load(str(tmp_path / "m"), device="cpu", say=lambda line: None)
    assert said in str(e.value) and "\n" not in str(e.value) and len(str(e.value)) < 600


@pytest.mark.parametrize("name", ["no head", "code of its own", "a tokenizer with code of its own"])
def test_nothing_else_is_told_and_nothing_is_asked(sound, tmp_path, name, capfd, monkeypatch):
    """transformers would print a table, and would wait for an answer."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("it asked"))
    shutil.copytree(sound, tmp_path / "m")
    DAMAGED[name][0](tmp_path / "m")
    with pytest.raises(LabError):
        load(str(tmp_path / "m"), device="cpu", say=lambda line: None)
    assert capfd.readouterr() == ("", "")


def test_weights_that_belong_to_nothing_are_left_out_and_that_is_said(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "m")
    weights(lambda held: held | {"vision.weight": held["lm_head.weight"].clone()})(tmp_path / "m")
    said = []
    load(str(tmp_path / "m"), device="cpu", say=said.append)
    assert len([line for line in said if "such as “vision.weight”" in line]) == 1


def test_code_of_others_that_is_not_needed_is_not_run_and_that_is_said_once(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "m")
    own_code(tmp_path / "m")
    config(model_type="llama")(tmp_path / "m")
    said = []
    load(str(tmp_path / "m"), device="cpu", say=said.append)
    assert len([line for line in said if "code of its own, which is not run" in line]) == 1


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_a_program_that_may_fail(sound, tmp_path, monkeypatch, name):
    monkeypatch.setattr("specdec_lab.lab.TEMPLATE_SECONDS", 0.5)
    text, said = TEMPLATES[name]
    shutil.copytree(sound, tmp_path / "m")
    holds("chat_template.jinja", text)(tmp_path / "m")
    lab = load(str(tmp_path / "m"), device="cpu", say=lambda line: None)
    with pytest.raises(LabError, match=said):
        lab.encode("hello")


def test_what_the_fast_backend_gets_wrong_falls_back_with_a_sentence(monkeypatch):
    hf = AutoModelForCausalLM.from_config(
        LlamaConfig(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, vocab_size=64)
    )

    def wrong(model):
        raise LabError("it differs")

    monkeypatch.setattr(FastModel, "check", wrong)
    said = []
    assert not isinstance(wrapped(hf, "m", say=said.append), FastModel)
    assert "transformers' own pass is used" in said[0]
    with pytest.raises(LabError, match="it differs"):
        wrapped(hf, "m", backend="fast")


@pytest.mark.parametrize(
    ("rope", "window", "most"),
    [
        ({"rope_type": "default"}, None, 8192),
        (
            {
                "full": {"rope_type": "longrope", "original_max_position_embeddings": 32},
                "sliding": {"rope_type": "default"},
            },
            None,
            32,
        ),
        (
            {"full": {"rope_type": "default"}, "sliding": {"type": "dynamic", "original_max_position_embeddings": 64}},
            None,
            64,
        ),
        ({"full": {"rope_type": "yarn", "original_max_position_embeddings": 32}, "sliding": None}, None, 8192),
        (None, None, 8192),
        ({"rope_type": "longrope", "original_max_position_embeddings": 4096}, None, 4096),
        ({"rope_type": "dynamic", "original_max_position_embeddings": 2048}, None, 2048),
        ({"rope_type": "llama3", "original_max_position_embeddings": 2048}, None, 8192),
        ({"rope_type": "default"}, 1024, 1024),
    ],
)
def test_a_context_ends_where_rows_begin_to_depend_on_the_pass(rope, window, most):
    """Longrope takes other rotations once the longest position of a pass is behind the first training's length."""
    about = LlamaConfig(max_position_embeddings=8192)
    about.rope_parameters, about.sliding_window = rope, window
    assert longest_text(about) == most


def test_a_fast_backend_knows_no_rotation_that_changes_wherever_it_stands():
    nested = LlamaConfig(rope_parameters={"rope_type": "default", "rope_theta": 1.0})
    hf = SimpleNamespace(config=nested, device=SimpleNamespace(type="cpu"))
    assert supports(hf)
    nested.rope_parameters = {"full_attention": {"rope_type": "longrope"}}
    assert not supports(hf)


@pytest.mark.parametrize(
    ("about", "most"),
    [
        (MptConfig(max_seq_len=32), 32),
        (GPTNeoConfig(num_layers=2, attention_types=[[["global", "local"], 1]], window_size=16), 16),
        (WhisperConfig(max_target_positions=48), 48),
        (DogeConfig(keep_window_size=20), 20),
        (Qwen2Config(max_position_embeddings=64, sliding_window=16, max_window_layers=3), 64),
    ],
    ids=lambda about: getattr(about, "model_type", ""),
)
def test_a_context_is_found_by_whatever_name_its_makers_gave_it(about, most):
    assert longest_text(about) == most
