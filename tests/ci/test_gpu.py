"""What only a GPU can show: passes captured as CUDA graphs give what the same passes give one operation at a time.

All else that runs there is in test_pretended_gpu. With SPECDEC_LAB_TEST_DEVICE=cuda, tests/test_exact_pair.py runs there, too:
greedy texts of all drafters are those of plain decoding.
"""

import pytest
import torch

from specdec_lab import load
from specdec_lab.choices import DRAFTERS
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request
from specdec_lab.models.cuda_graph import CapturedPass
from specdec_lab.models.fast import FastModel

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
    pytest.mark.filterwarnings("error:Passes of"),  # … cannot be captured
]
PROMPTS = "Write one sentence about rivers.", "one two three four one two three four one"

NEAR_TIE = 1e-3  # in logits: on a GPU a pass over γ + 1 rows rounds differently from a pass over one


def check_same(target, ids, tokens, expected, what) -> None:
    """Two greedy texts are equal; or the target's two best logits must be nearly tied where they part."""
    if tokens == expected:
        return
    at = next(i for i, (a, b) in enumerate(zip(tokens, expected)) if a != b)
    first, second = target.cached().extend([ids + expected[:at]]).logits[0, -1].topk(2).values.tolist()
    assert first - second < NEAR_TIE, f"{what} differs at {at}, margin {first - second:.4f}"


@pytest.fixture(scope="module")
def on_gpu():
    return load(device="cuda", dtype="float32")


@pytest.fixture(scope="module")
def half():
    return load(device="cuda")


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


@pytest.mark.parametrize("name", DRAFTERS)
def test_sampled_rounds_run_in_half_precision(half, name):
    trace = half.speculative("Tell me about the sea.", name, temperature=1.0, max_new_tokens=64)
    trace.check()
    assert trace.alpha is None or name in ("untrained", "lookup", "suffix", "lookup-tree") or trace.alpha > 0.1


def test_texts_of_a_batch_are_those_written_alone(on_gpu):
    batch, asked = Batch(on_gpu.target, 3), [PROMPTS[i % 2] + " Please." * i for i in range(7)]
    traces = [
        batch.submit(Request(on_gpu.target, on_gpu.encode(p), on_gpu.drafter("eagle"), stops=on_gpu.stops(16 + 5 * i)))
        for i, p in enumerate(asked)
    ]
    while len(batch):
        batch.step(3)
    for i, (prompt, trace) in enumerate(zip(asked, traces)):
        alone = on_gpu.plain(prompt, max_new_tokens=16 + 5 * i)
        check_same(on_gpu.target, on_gpu.encode(prompt), trace.tokens, alone.tokens, prompt)


def test_a_model_after_another_is_captured_too():
    for _ in range(2):
        lab = load(device="cuda", dtype="float32")
        assert lab.plain(PROMPTS[0], max_new_tokens=8).tokens
        assert lab.target.capture is CapturedPass
        del lab
