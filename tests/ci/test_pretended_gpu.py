"""What runs on a GPU, run on a `pretended` one: nothing mixes the two sides, and the texts are the CPU's.

And the host seldom waits: each number that it reads from a GPU takes until the GPU has caught up.
"""

import shutil
from itertools import islice, pairwise
from statistics import median
from types import SimpleNamespace

import pytest
import torch
from models_on_disk import SMALL, train_on
from pretended_gpu import NAME, OnGpu, guard, pretended_gpu
from training_text.conversations import write_conversations

import specdec_lab as sd
from specdec_lab.choices import DRAFTERS, TRAINED
from specdec_lab.drafters import trained
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.sampling import Sampler
from specdec_lab.models import linear
from specdec_lab.models.cuda_graph import CapturedPass
from specdec_lab.train import loop

pytestmark = [
    pytest.mark.skipif(torch.cuda.is_available(), reason="there is a real GPU: tests/ci/test_gpu.py"),
    pytest.mark.skipif(not shutil.which("g++"), reason="the pretended GPU needs a C++ compiler, g++"),
]
PROMPT = "a b c d e f g a b c d"


@pytest.fixture(scope="module", autouse=True)
def a_guard(tmp_path_factory):
    guard(tmp_path_factory.mktemp("guard"))


@pytest.fixture
def gpu(monkeypatch):
    with pretended_gpu(monkeypatch) as gpu:
        yield gpu


@pytest.fixture(scope="module")
def weights(writer, tmp_path_factory):
    """Of nets that have learned nothing; they are the same on both sides."""
    folder, target = tmp_path_factory.mktemp("weights"), sd.load(writer, device="cpu").target
    for name in TRAINED:
        torch.manual_seed(1)
        net = trained.KINDS[name].net(target.hf, torch.arange(target.vocab_size - 1))
        card = {"drafter": name, "target": target.name, "held_out": [{"overlap": 0.5}] * 4}
        card |= dict(zip(("hidden_size", "layers", "vocab_size"), trained.shape(target)))
        trained.save_net(net, folder / f"{name}.safetensors", card)
    return folder


def lab_on(device, writer, weights, dtype="float32"):
    return sd.load(writer, device=device, dtype=dtype, weights=weights, say=lambda line: None)


def texts(lab, name, prompt=PROMPT, **settings):
    return lab.speculative(prompt, lab.drafter(name), gamma=3, max_new_tokens=14, **settings).tokens


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("name", [*DRAFTERS])
def test_every_drafter_writes_the_cpus_text(monkeypatch, writer, weights, name, temperature):
    monkeypatch.setattr(linear, "adds_up_eight_bits", lambda: False)  # drafts there are not made of 8 bits
    cpu = lab_on("cpu", writer, weights)
    expected = texts(cpu, name, temperature=temperature, keep=sd.Keep(top=3))
    with pretended_gpu(monkeypatch) as gpu:
        lab = lab_on("cuda", writer, weights)
        assert lab.target.device.type == "cuda" and lab.hardware.startswith(NAME)
        for _ in range(2):  # the second one takes over what the first one has captured
            assert texts(lab, name, temperature=temperature, keep=sd.Keep(top=3)) == expected
        assert lab.target.capture is CapturedPass  # and not given up
        assert gpu.readings


def readings(gpu, rounds) -> float:
    """How often the host waits for the GPU in a usual round: in some, a pass is captured, too."""
    read = [gpu.readings, *(gpu.readings for _ in islice(rounds, 9))]
    return median(after - before for before, after in pairwise(read))


def rounds_of(lab, name, gamma, sampler=Sampler(0)):
    return speculative(lab.target, lab.drafter(name), lab.encode(PROMPT), gamma=gamma, sampler=sampler, stops=Stops(99))


@pytest.mark.parametrize("backend", ["fast", "reference"])
@pytest.mark.parametrize(("sampler", "few"), [(Sampler(0), 3), (Sampler(1.0, top_k=9, top_p=0.9), 8)])
def test_a_round_reads_the_device_a_few_times(gpu, writer, weights, sampler, few, backend):
    """As often whatever γ. But for trees, whose shape depends on what was drawn, and the dial, which looks at p."""
    lab = sd.load(writer, device="cuda", dtype="float32", weights=weights, backend=backend, say=lambda line: None)
    for name in [name for name in DRAFTERS if name != "dial" and not name.endswith("-tree")]:
        two, four = (readings(gpu, rounds_of(lab, name, gamma, sampler)) for gamma in (2, 4))
        assert 0 < four <= two <= few, (name, two, four)
    assert 0 < readings(gpu, plain(lab.target, lab.encode(PROMPT), sampler=sampler, stops=Stops(99))) <= 3


def test_a_drafter_learns_there(gpu, monkeypatch, writer, tmp_path):
    """In float32, though the target is in half precision. All but the gradients themselves: torch computes them in
    threads of the device's own.
    """

    def step(self, loss, lr, take=loop.Optimizer.step):
        assert loss.device.type == "cuda" and loss.requires_grad
        for p in self.parameters:
            p.grad = torch.full_like(p, 1e-3)
        take(self, SimpleNamespace(backward=lambda: None), lr)

    monkeypatch.setattr(loop.Optimizer, "step", step)
    lab = sd.load(writer, device="cuda", say=lambda line: None)
    text = tmp_path / "text"
    write_conversations(lab.target, lab.tokenizer, {0}, text, tokens=400, longest=SMALL, say=lambda line: None)
    assert lab.target.capture is CapturedPass
    for name in TRAINED:
        trainer = train_on(name, lab.target, lab.tokenizer, text, 600)
        assert all(p.device.type == "cuda" and p.dtype == torch.float32 for p in trainer.net.parameters())


def test_the_two_sides_do_not_mix(gpu):
    here, there = torch.ones(3), torch.ones(3, device="cuda")
    assert isinstance(there, OnGpu)
    with pytest.raises(RuntimeError, match="both sides"):
        there + here
    before = gpu.readings
    assert (there + here.to("cuda")).tolist() == [2.0] * 3
    assert int(there[0] + 1) == 2  # a number of the host may take part
    assert gpu.readings - before == 2
