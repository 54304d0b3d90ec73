"""Rounds on a device that the host cannot look into: torch's "meta" device, which has shapes but no numbers.

A round runs through there only if nothing stands on the wrong side, and if nothing is read from the
device but by name (`tolist` and its like). On a GPU each reading waits until the device has caught up.
(Copies to the device are not counted.)
"""

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.drafters import HybridDrafter, LookupDrafter, drawing, trained
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Request, Stops, plain, speculative
from specdec_lab.engine.sampling import Sampler
from specdec_lab.models.fast import FastModel
from specdec_lab.models.reference import ReferenceModel

PROMPT = [1, 2, 3, 1, 2]
NAMES = ("lookup", "model", "medusa", "eagle", "early-exit", "hybrid")


class Again:
    """In the place of `CapturedPass`: runs the pass anew."""

    def __init__(self, do, x):
        self.do = do

    def __call__(self, x):
        return self.do(x)


@pytest.fixture(scope="module")
def hf():
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 5}
    config = LlamaConfig(
        vocab_size=97, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64, **sizes
    )
    return LlamaForCausalLM(config).bfloat16().to("meta").eval()


@pytest.fixture
def readings(monkeypatch) -> list[str]:
    """What was read so far. A number that is not there reads as 0, or as one half."""
    seen = []

    def reading(method, ours):
        theirs = getattr(Tensor, method)

        def read(tensor, *a):
            if tensor.device.type != "meta":
                return theirs(tensor, *a)
            seen.append(method)
            return ours(tensor)

        monkeypatch.setattr(Tensor, method, read)

    def made_up(tensor):
        return [made_up(row) for row in tensor] if tensor.dim() else 0.5 if tensor.is_floating_point() else 0

    reading("tolist", made_up)
    for method, value in {"__int__": 0, "__index__": 0, "__float__": 0.5, "__bool__": True}.items():
        reading(method, lambda tensor, value=value: value)
    return seen


def drafter(name, hf):
    if name == "lookup":
        return LookupDrafter()
    if name == "hybrid":
        return HybridDrafter(drafter("eagle", hf))
    kind = trained.KINDS[name]
    made = kind.drafter(kind.net(hf, torch.arange(60, device="meta")).requires_grad_(False))
    if hasattr(made, "model"):
        made.model.capture = Again
    return made


def target(hf, backend):
    model = (ReferenceModel if backend == "reference" else FastModel)(hf, backend)
    if backend == "captured":
        model.capture = Again
    return model


def most_readings(hf, backend, name, gamma, temperature, readings) -> int:
    sampler = Sampler(temperature, top_k=9, top_p=0.9) if temperature else Sampler(0)
    on = target(hf, backend)
    rounds = speculative(on, drafter(name, hf), PROMPT, gamma=gamma, sampler=sampler, stops=Stops(1000))
    counts = []
    while len(counts) < 3:  # further rounds are like these
        before = len(readings)
        if len(next(rounds).drafted) == gamma:
            counts.append(len(readings) - before)
    return max(counts)


@pytest.mark.parametrize("backend", ["captured", "fast", "reference"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_a_round_reads_the_device_a_few_times_whatever_gamma(hf, readings, name, temperature, backend):
    few, many = (most_readings(hf, backend, name, gamma, temperature, readings) for gamma in (2, 4))
    assert 0 < many <= few <= (8 if temperature else 7)  # of a hybrid, rounds of copies alone have four


@pytest.mark.parametrize("backend", ["captured", "fast", "reference"])
def test_a_plain_step_reads_three_times(hf, readings, backend):
    steps = plain(target(hf, backend), PROMPT, sampler=Sampler(1.0), stops=Stops(100))
    next(steps)
    before = len(readings)
    next(steps)
    assert 0 < len(readings) - before <= 3


def test_a_batch_stays_on_its_device(hf, readings):
    batch = Batch(target(hf, "captured"), 3)
    for i in range(4):
        batch.submit(Request(batch.target, PROMPT[i:], drafter("eagle", hf), stops=Stops(8)))
    while len(batch):
        batch.step(3)


@pytest.mark.parametrize("bug", ["a reading a draft", "a hidden reading", "the wrong side"])
def test_what_would_slow_a_gpu_down_is_caught(hf, readings, monkeypatch, bug):
    draw = drawing.Drawing.draw

    def wrong(self, logits, u):
        token = draw(self, logits, u)
        if bug == "a reading a draft":
            int(token)
        elif bug == "a hidden reading":
            self._logits[-1][token]
        else:
            token = token + torch.zeros(1, dtype=torch.long)
        return token

    monkeypatch.setattr(drawing.Drawing, "draw", wrong)
    few, many = 0, 0
    try:
        few, many = (most_readings(hf, "captured", "model", gamma, 0.0, readings) for gamma in (2, 4))
    except RuntimeError as e:
        assert bug != "a reading a draft", e
    else:
        assert bug == "a reading a draft"
        assert many == few + 2
