"""Loading models by name or path, devices, and pairs that do not fit."""

import re
from types import SimpleNamespace

import httpx
import pytest
import torch
from huggingface_hub import errors
from models_on_disk import SENTENCE, save
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

from specdec_lab import load
from specdec_lab.drafters import LookupDrafter
from specdec_lab.engine.sampling import DRAFT, Sampler, Uniforms
from specdec_lab.errors import LabError
from specdec_lab.lab import Lab
from specdec_lab.models import load as loading


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return save(tmp_path_factory.mktemp("target"))


@pytest.fixture(scope="module")
def lab(folder):
    return load(folder, device="cpu")


def test_any_pair_by_path(folder, tmp_path):
    lab = load(folder, save(tmp_path, seed=1), device="cpu")
    trace = lab.speculative("the cat sat", "model", temperature=1.0, max_new_tokens=20)
    trace.check()
    assert {len(r.drafted) for r in trace.rounds} == {4}
    greedy = lab.speculative("the cat sat", "model", max_new_tokens=20)
    assert greedy.tokens == lab.plain("the cat sat", max_new_tokens=20).tokens


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["<end>", "the", "sat", "cat", *SENTENCE[4:]], "2 of 8 tokens .* at id 2"),  # of equal sizes
        ([*SENTENCE, "dog"], "1 of 8 tokens .* “dog” at id 8"),
    ],
)
def test_vocabularies_that_differ_are_one_sentence(folder, tmp_path, words, says):
    with pytest.raises(LabError, match=says):
        load(folder, save(tmp_path, words), device="cpu")


def test_an_unknown_name_without_network(monkeypatch):
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(LabError, match="“nobody/no-such-model” cannot be loaded"):
        load("nobody/no-such-model", device="cpu")


REFUSED = [  # an error of the hub's, its status, and whether a token was sent
    (errors.GatedRepoError, 403, ["authorization"], "ask for access on https://huggingface.co/a/b"),
    *((kind, 401, ["authorization"], "unset HF_TOKEN") for kind in (errors.HfHubHTTPError, errors.RepositoryNotFoundError)),
    (errors.RepositoryNotFoundError, 401, [], "check the name"), (errors.HfHubHTTPError, 503, [], "try again later"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "status", "sent", "told"), REFUSED)
def test_what_the_hub_refuses_is_told_or_taken_from_this_machine(folder, monkeypatch, kind, status, sent, told):
    response, read = httpx.Response(status), loading.AutoTokenizer.from_pretrained
    response.request = httpx.Request("GET", "https://x", headers=dict.fromkeys(sent, "Bearer y"))

    def refused(source, **more):
        if source != "a/b":
            return read(source, **more)
        raise OSError("as transformers does") from kind("no", response=response)

    monkeypatch.setattr(loading.AutoTokenizer, "from_pretrained", refused)
    with pytest.raises(LabError, match=told):
        load("a/b", device="cpu")
    monkeypatch.setattr(loading.hub, "hf_hub_download", lambda *a, **k: f"{folder}/config.json")
    said = []
    assert load("a/b", device="cpu", say=said.append).target.name == "a/b"
    assert told in said[-1] and "on this machine" in said[-1]


def test_auto_prefers_cuda_then_mps_then_cpu(monkeypatch):
    here = {"cuda": True, "mps": True}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: here["cuda"])
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: here["mps"])
    for kind in ("cuda", "mps"):
        assert loading.pick_device().type == kind
        here[kind] = False
        with pytest.raises(LabError, match=f"no {kind} device"):
            loading.pick_device(kind)
    assert loading.pick_device().type == "cpu"
    with pytest.raises(LabError, match="no device “tpu”"):
        loading.pick_device("tpu")


def test_the_number_format_fits_the_device(monkeypatch):
    for bf16, dtype in ((True, torch.bfloat16), (False, torch.float16)):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda here=bf16, **k: here)
        assert loading.pick_dtype("auto", torch.device("cuda")) == dtype
    assert loading.pick_dtype("auto", torch.device("cpu")) == torch.float32
    assert loading.pick_dtype("bfloat16", torch.device("cpu")) == torch.bfloat16
    with pytest.raises(LabError, match="no number format “int3”"):
        loading.pick_dtype("int3", torch.device("cpu"))


def test_a_draft_model_has_to_be_named(lab):
    with pytest.raises(LabError, match="name a draft model with --draft"):
        lab.speculative("the cat", "model")


def test_a_notebook_shows_the_sentence_alone():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shown = []
    shell._showtraceback = lambda kind, value, lines: shown.append("\n".join(lines))
    shell.run_cell("from specdec_lab.engine.sampling import Sampler\nSampler(-1.0)")
    assert len(shown) == 1 and re.fullmatch(r"specdec_lab: .*-1\.0.*", shown[0])


@pytest.mark.parametrize(
    ("tokenizers", "makers", "ends"), [(2, 5, {2, 5}), (2, [5, 6], {2, 5, 6}), (None, None, set())]
)
def test_a_text_ends_as_tokenizer_and_makers_say(tokenizers, makers, ends):
    for settings in (SimpleNamespace(eos_token_id=makers), *([None] if makers is None else [])):
        model = SimpleNamespace(hf=SimpleNamespace(generation_config=settings))
        assert loading.eos_of(model, SimpleNamespace(eos_token_id=tokenizers)) == ends


def test_plain_settings_become_a_sampler_stops_and_numbers(lab):
    """None is lost on the way: a request that is lost gives the same text again."""
    given = {"temperature": 0.7, "top_k": 3, "top_p": 0.8, "min_p": 0.1}
    settings = lab.settings(**given, max_new_tokens=9, stop_strings=["dog", "cat sat"], seed=4, request=5)
    assert settings["sampler"] == Sampler(**given)
    numbers, expected = settings["uniforms"], Uniforms(4, 5)
    assert [numbers(i, DRAFT) for i in range(5)] == [expected(i, DRAFT) for i in range(5)]
    stops = settings["stops"]
    assert (stops.max_new_tokens, stops.eos) == (9, lab.eos)
    assert stops.cut([], lab.encode("the cat sat on"), 99) == (3, "stop_string")  # where one of them is complete
    with pytest.raises(LabError, match="none of them empty"):
        lab.settings(stop_strings=["dog", ""])


def test_each_drafter_has_a_text_of_its_own(lab, monkeypatch):
    """Though the weights of a trained one are loaded once: a batch asks for one for each text."""
    monkeypatch.setitem(lab._trained, "eagle", LookupDrafter())
    for name in ("eagle", "hybrid", "lookup"):
        one, two = lab.drafter(name), lab.drafter(name)
        for drafter, text in ((one, [1, 2, 3, 1, 2]), (two, [5, 6, 7, 5, 6])):
            drafter.start(None, text, None)
        assert one.propose([1, 2, 3, 1, 2], 1, Sampler(), Uniforms()).tokens == [3]
        assert two.propose([5, 6, 7, 5, 6], 1, Sampler(), Uniforms()).tokens == [7]


def metaspace() -> PreTrainedTokenizerFast:
    """As Llama 2, TinyLlama and Mistral 7B v0.1 are published: the decoder takes off the blank that a text begins with."""
    pieces = ["<s>", "</s>", "<0x0A>", "▁", "▁a", "▁the", "the", "▁cat", "at", "s", "."]
    core = Tokenizer(BPE({piece: i for i, piece in enumerate(pieces)}, [], byte_fallback=True, unk_token="<s>"))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    core.decoder = decoders.Sequence(steps)
    core.add_special_tokens(["<s>", "</s>"])
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token="</s>", unk_token="<s>")


def test_a_token_is_written_with_its_blanks(lab):
    target = SimpleNamespace(vocab_size=11, name="m")
    pieces = Lab(target, metaspace(), frozenset({1}))
    assert [pieces.text([i]) for i in range(2, 11)] == ["\n", " ", " a", " the", "the", " cat", "at", "s", "."]
    assert pieces.text([5, 8, 9]) == "theats"
    assert set(pieces.only("[a-z]*").allowed([])) == {6, 8, 9, 1}
    assert set(pieces.only(" [a-z]+").allowed([])) == {4, 5, 7, 1}
    assert [lab.text([i]) for i in (1, 2)] == [" the", " cat"] and lab.text([1, 2]) == "the cat"
