"""The fast backend beside the reference; that its cache is right is tested with the reference's, in test_models."""

import pytest
import torch
from small_models import HF, LLAMA
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.errors import LabError
from specdec_lab.models import linear
from specdec_lab.models.fast import FastModel
from specdec_lab.models.linear import EightBits, Linear, pack
from specdec_lab.models.load import load_model, wrapped
from specdec_lab.models.reference import ReferenceModel


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("packs", [True, False])
def test_products_are_those_of_plain_linear(monkeypatch, dtype, rows, packs):
    if not packs:
        monkeypatch.setattr(linear, "can_pack", lambda weight: False)
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(*shape, dtype=dtype) for shape in ((1, rows, 48), (80, 48), (80,)))
    close = {"atol": 1e-5, "rtol": 1e-5} if dtype.itemsize >= 4 else {"atol": 0.2, "rtol": 0.02}
    with torch.inference_mode():
        for b in (None, bias):
            ours, plain = Linear(weight, bias=b), torch.nn.functional.linear(x, weight, b)
            assert torch.allclose(ours(x), plain, **close)


@pytest.mark.parametrize("rows", [1, 5])
def test_products_in_8_bits_are_near_those_of_plain_linear(rows):
    torch.manual_seed(0)
    x, weight, bias = torch.randn(rows, 48), torch.randn(80, 48), torch.randn(80)
    for b in (None, bias):
        plain = torch.nn.functional.linear(x, weight, b)
        assert (EightBits(weight, bias=b)(x) - plain).abs().max() < 0.03 * plain.abs().max()
    assert EightBits(weight)(x[0]).shape == (80,)
    short = weight.bfloat16()
    near = EightBits(short, bias=bias.bfloat16())(x.bfloat16())
    assert (near - plain).abs().max() < 0.05 * plain.abs().max() and near.dtype == torch.float32


def test_a_packed_net_computes_what_it_has_learned(monkeypatch):
    """Each of its products, however deep, with its bias: without, drafts are only worse, and no text shows it."""
    monkeypatch.setattr(linear, "adds_up_eight_bits", lambda: False)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.Sequential(nn.SiLU(), nn.Linear(16, 16)), nn.Linear(16, 4, bias=False))
    x = torch.randn(5, 8)
    with torch.inference_mode():
        learned = net(x)
        assert torch.allclose(pack(net)(x), learned, atol=1e-5)
    assert not [part for part in net.modules() if isinstance(part, nn.Linear)]


def test_the_right_backend_for_each_model():
    assert isinstance(wrapped(HF["llama"]().eval(), "a"), FastModel)
    assert type(wrapped(HF["gpt2"]().eval(), "a")) is ReferenceModel
    assert type(wrapped(HF["qwen2"]().eval(), "a", "reference")) is ReferenceModel
    growing = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10_000.0}
    for other in ({"rope_parameters": growing}, {"hidden_act": "relu"}):
        assert type(wrapped(LlamaForCausalLM(LlamaConfig(**LLAMA, **other)).eval(), "a")) is ReferenceModel
    with pytest.raises(LabError, match="does not know gpt2 models on cpu"):
        wrapped(HF["gpt2"]().eval(), "a", "fast")
    with pytest.raises(LabError, match="no backend “quick”"):
        load_model(backend="quick")


@pytest.mark.parametrize("change", ["rotary", "norm", "head"])
def test_a_llama_that_is_not_quite_one_is_refused(monkeypatch, change):
    """What the fast walk does not know of shows in the short pass at loading."""
    torch.manual_seed(0)
    hf = HF["llama"]().eval()
    for p in hf.parameters():
        p.data.mul_(4) if p.dim() > 1 else None
    module = {"rotary": hf.model.rotary_emb, "norm": hf.model.layers[1].input_layernorm, "head": hf.lm_head}[change]
    forward = module.forward

    def other(*a, **k):
        out = forward(*a, **k)
        return (out[0] * 0.5, out[1]) if isinstance(out, tuple) else out + 0.5 * out.roll(1, -1)

    wrapped(hf, "as it should be")
    fast_walk = FastModel(hf, "odd")
    monkeypatch.setattr(module, "forward", other)
    fast_walk.rotary = lambda like, position_ids: HF["llama"]().model.rotary_emb(like, position_ids=position_ids)
    with pytest.raises(LabError, match="not written out here"):
        fast_walk.check()
