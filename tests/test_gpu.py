"""What only a GPU can show: passes captured as CUDA graphs give what the same passes give one operation at a time."""

import pytest
import torch
from test_exact_pair import check_same

from specdec_lab import load
from specdec_lab.models.captured import CapturedPass
from specdec_lab.models.fast import FastModel

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
NAMES = ("model", "medusa", "eagle", "early-exit", "lookup", "hybrid")


@pytest.fixture(scope="module")
def on_gpu():
    return load(device="cuda", dtype="float32")


def test_captured_passes_are_those_of_the_reference(on_gpu):
    reference = load(device="cuda", dtype="float32", backend="reference").target
    assert isinstance(on_gpu.target, FastModel)
    tokens = on_gpu.encode("A river rises in the mountains, and a city grows where it meets the sea. " * 4)
    ours, theirs = on_gpu.target.cached(), reference.cached()
    ours.prefill(tokens[:40])
    theirs.prefill(tokens[:40])
    begin = 40
    for k in (1, 5, 1, 5, 5, 1, 16, 16, 2, 2):
        a, b = (cached.extend([tokens[begin : begin + k]]).logits for cached in (ours, theirs))
        assert torch.allclose(a, b, atol=1e-3, rtol=1e-3), k
        begin += k // 2  # some of them are forgotten
        for cached in (ours, theirs):
            cached.rewind([begin])
    assert on_gpu.target.capture is CapturedPass  # and not given up
    assert {key[1] for key in ours.held.captured} >= {1, 2, 5, 16}


@pytest.mark.parametrize("name", NAMES)
def test_greedy_output_is_plain_output(on_gpu, name):
    for prompt in ("Write one sentence about rivers.", "one two three four one two three four one"):
        plain = on_gpu.plain(prompt, max_new_tokens=48)
        drafter = on_gpu.drafter(name)
        tokens = on_gpu.speculative(prompt, drafter, max_new_tokens=48).tokens
        check_same(on_gpu.target, on_gpu.encode(prompt), tokens, plain.tokens, name)
    for model in (on_gpu.target, getattr(getattr(drafter, "other", drafter), "model", None)):
        assert model is None or model.capture is CapturedPass


def test_sampled_rounds_run_in_half_precision():
    lab = load(device="cuda")
    trace = lab.speculative("Tell me about the sea.", "model", temperature=1.0, max_new_tokens=64)
    trace.check()
    assert trace.alpha > 0.1
