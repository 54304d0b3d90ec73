"""Folders for --target that are damaged in one place: a sentence, never a traceback, and nothing that takes long."""

import json
import shutil
from pathlib import Path

import pytest
from models_on_disk import save
from safetensors.torch import load_file, save_file
from small_models import LLAMA
from transformers import AutoModelForCausalLM, DogeConfig, GPTNeoConfig, LlamaConfig, MptConfig, Qwen2Config

from specdec_lab.errors import LabError
from specdec_lab.lab import Lab, load
from specdec_lab.models.fast import FastModel
from specdec_lab.models.load import wrapped
from specdec_lab.models.reference import longest_text

pytestmark = pytest.mark.slow


def config(**changes):
    def change(folder: Path):
        path = folder / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}), encoding="utf-8")

    return change


def holds(name: str, content: str | bytes):
    return lambda folder: (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def without(name: str):
    return lambda folder: (folder / name).unlink()


def cut(folder: Path):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])


def weights(change):
    """change: makes of the weights by name those that the file is to hold."""

    def changed(folder: Path):
        kept = change(load_file(folder / "model.safetensors"))
        save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})

    return changed


def no_numbers(held):
    return {name: x * float("nan") for name, x in held.items()}


def own_code(folder: Path, family: str = "own"):
    (folder / "own.py").write_text("raise SystemExit('it was run')")
    config(model_type=family, auto_map={"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"})(folder)


def own_tokenizer(folder: Path):
    (folder / "own.py").write_text("raise SystemExit('it was run')")
    about = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.T", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))


def only_gguf(folder: Path):
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "model.Q4.gguf").write_bytes(b"GGUF" + b"\0" * 100)


READ = "No causal language model can be read from the folder"  # and what transformers says
DAMAGED = {
    "hidden size a list": (config(hidden_size=[32]), READ),
    "a family that nobody knows": (config(model_type="nope"), "nope"),
    "a config without end": (holds("config.json", "[" * 100_000), READ),
    "no config": (without("config.json"), "There is no config.json"),
    "a pointer of Git LFS": (holds("model.safetensors", "version https://git-lfs\noid x\n"), "git lfs pull"),
    "weights that are cut": (cut, READ),
    "weights that are no numbers": (weights(no_numbers), "NaN or infinity"),
    "weights that are all 0": (weights(lambda held: {name: x * 0 for name, x in held.items()}), "or only zeros"),
    "embeddings of another size": (config(vocab_size=99), "of another size than its config.json says"),
    "a GGUF alone": (only_gguf, "A GGUF file is converted once"),
    "a layer more in the config": (config(num_hidden_layers=3), "has no weight “model.layers.2."),
    "a layer less in the config": (config(num_hidden_layers=1), "has a weight “model.layers.1."),
    "code of its own": (own_code, "comes with code of its own"),
    "a tokenizer with code of its own": (own_tokenizer, "comes with code of its own"),
    "packed for MLX": (config(quantization_config={"group_size": 64, "bits": 4}), "quant_method"),
}
TEMPLATES = {
    "does not parse": ("{% for %}", "does not take this prompt"),
    "refuses": ("{{ raise_exception('Conversation roles must alternate') }}", "Conversation roles must alternate"),
    "says nothing": ("", "makes nothing of this prompt"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return Path(save(tmp_path_factory.mktemp("sound") / "model", seed=1))


@pytest.fixture
def folder(sound, tmp_path) -> Path:
    """A copy that may be damaged."""
    return shutil.copytree(sound, tmp_path / "m")


def loaded(folder: Path) -> tuple[Lab, str]:
    """A lab, and all that was said meanwhile."""
    said = []
    return load(str(folder), device="cpu", say=said.append), "\n".join(said)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_one_sentence(folder, name, capfd, monkeypatch):
    """Nothing else is told, and nothing is asked: transformers would print a table, and would wait for an answer."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("it asked"))
    change, said = DAMAGED[name]
    change(folder)
    with pytest.raises(LabError) as e:
        loaded(folder)
    assert capfd.readouterr() == ("", "")
    assert said in str(e.value) and "\n" not in str(e.value) and len(str(e.value)) < 600


def test_weights_that_belong_to_nothing_are_left_out(folder):
    weights(lambda held: held | {"vision.weight": held["lm_head.weight"].clone()})(folder)
    assert loaded(folder)[1].count("“vision.weight”") == 1


def test_code_of_others_that_is_not_needed_is_not_run(folder):
    own_code(folder, "llama")
    assert loaded(folder)[1].count("code of its own") == 1


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_a_program_that_may_fail(folder, name):
    text, said = TEMPLATES[name]
    holds("chat_template.jinja", text)(folder)
    lab, _ = loaded(folder)
    with pytest.raises(LabError, match=said):
        lab.encode("hello")


def test_what_the_fast_backend_gets_wrong_falls_back(monkeypatch):
    hf = AutoModelForCausalLM.from_config(LlamaConfig(**LLAMA))

    def wrong(model):
        raise LabError("it differs")

    monkeypatch.setattr(FastModel, "check", wrong)
    said = []
    assert not isinstance(wrapped(hf, "m", say=said.append), FastModel)
    assert len(said) == 1
    with pytest.raises(LabError, match="it differs"):
        wrapped(hf, "m", backend="fast")


def rope(kind: str, name: str = "rope_type") -> dict:
    return {name: kind, "original_max_position_embeddings": 32}


def llama(rope: dict | None, window: int | None = None) -> LlamaConfig:
    about = LlamaConfig(max_position_embeddings=8192)
    about.rope_parameters, about.sliding_window = rope, window
    return about


@pytest.mark.parametrize(
    ("about", "most"),
    [
        (llama(None), 8192),
        (llama(rope("longrope")), 32),  # takes other rotations behind the length of the first training
        (llama({"full": rope("default"), "sliding": rope("dynamic", "type")}), 32),
        (llama(rope("default"), 1024), 1024),
        (MptConfig(max_seq_len=32), 32),
        (GPTNeoConfig(num_layers=2, attention_types=[[["global", "local"], 1]], window_size=16), 16),
        (DogeConfig(keep_window_size=20), 20),
        (Qwen2Config(max_position_embeddings=64, sliding_window=16, max_window_layers=3), 64),
    ],
)
def test_a_context_ends_where_passes_would_begin_to_differ(about, most):
    assert longest_text(about) == most
