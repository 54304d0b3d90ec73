"""A target from the numbers of 4 bits that its weights were made from."""

import pytest
import torch
from small_models import LLAMA
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.errors import LabError
from specdec_lab.lab import load
from specdec_lab.measure.roofline import work
from specdec_lab.models import load as loading
from specdec_lab.models.linear import GROUP, EightBitsInTwo, FourBits, eight_bits, four_bits


def lattice(out: int, columns: int, most: int, least: int = 0, seed: int = 0) -> torch.Tensor:
    """Random weights [out, columns] as a file stores them: whole numbers, a scale for each GROUP, an offset if least is 0."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randint(least, most + 1, (out, columns // GROUP, GROUP), generator=generator).float()
    numbers[..., 0], numbers[..., 1] = least, most
    scales, offsets = (0.02 + torch.rand(2, out, columns // GROUP, 1, generator=generator)).half().float()
    return (numbers * scales / 16 - (offsets if least == 0 else 0)).flatten(1)


def test_the_numbers_are_found_and_rebuild_the_weights():
    weight = lattice(48, 96, 15)
    numbers, scales, offsets = four_bits(weight)
    assert numbers.min() == 0 and numbers.max() == 15
    assert torch.equal(numbers * scales.repeat_interleave(GROUP, 1) + offsets.repeat_interleave(GROUP, 1), weight)
    head = lattice(48, 96, 127, -127)
    numbers, scales, _ = eight_bits(head)
    assert torch.equal(numbers * scales.repeat_interleave(GROUP, 1), head)


@pytest.mark.parametrize("rows", [1, 2, 5, 17])
def test_products_are_those_of_the_weights(rows):
    """Up to bfloat16, in which scales, offsets and results are."""
    x = torch.randn(1, rows, 96, generator=torch.Generator().manual_seed(1)).bfloat16()
    two = torch.cat([lattice(48, 96, 15), lattice(16, 96, 15, seed=2)])
    head = lattice(64, 96, 127, -127)
    joined = FourBits(two[:48], two[48:])
    for product, weight in ((joined, two), (EightBitsInTwo(*eight_bits(head)), head)):
        wanted = x.float() @ weight.T
        assert (product(x).float() - wanted).abs().max() < 0.02 * wanted.abs().max()
    bias = torch.arange(64.0).bfloat16()
    both = FourBits(lattice(64, 96, 15), bias=bias)(x), FourBits(lattice(64, 96, 15))(x) + bias
    assert torch.equal(*both)


@pytest.fixture
def folder(tmp_path, lab) -> str:
    """A small Llama whose layers are numbers of 4 bits, and whose head, of its own, of 8."""
    sizes = LLAMA | {"vocab_size": lab.target.vocab_size, "hidden_size": 64, "num_hidden_layers": 2}
    hf = LlamaForCausalLM(LlamaConfig(**sizes, tie_word_embeddings=False))
    for i, (name, p) in enumerate(hf.named_parameters()):
        if p.dim() == 2 and "embed" not in name:
            p.data = lattice(*p.shape, *((127, -127) if "head" in name else (15,)), seed=i)
    hf.save_pretrained(tmp_path / "stored")
    lab.tokenizer.save_pretrained(tmp_path / "stored")
    return str(tmp_path / "stored")


def test_a_model_runs_from_its_numbers(folder):
    """It is checked against transformers' own pass in bfloat16 when it is loaded; and it says how many bytes it reads."""
    target = load(folder, device="cpu", dtype="int4", say=lambda line: None).target
    assert target.precision == "int4" and target.dtype == torch.bfloat16 and isinstance(target.head, EightBitsInTwo)
    layers = sum(p.numel() for p in target.hf.model.layers.parameters() if p.dim() == 2)
    assert work(target).weight_bytes == (5 * layers + 10 * target.hf.lm_head.weight.numel()) // 8


def test_what_cannot_be_read_in_4_bits_is_said(folder, tmp_path, lab):
    with pytest.raises(LabError, match="need the fast backend"):
        load(folder, device="cpu", dtype="int4", backend="reference", say=lambda line: None)
    hf = LlamaForCausalLM.from_pretrained(folder)
    hf.model.layers[1].mlp.up_proj.weight.data[0, 0] += 0.01
    hf.save_pretrained(tmp_path / "other")
    lab.tokenizer.save_pretrained(tmp_path / "other")
    with pytest.raises(LabError, match="not stored in 4 bits"):
        load(str(tmp_path / "other"), device="cpu", dtype="int4", say=lambda line: None)
    with pytest.raises(LabError, match="not for cuda"):
        loading.pick_dtype("int4", torch.device("cuda"))
