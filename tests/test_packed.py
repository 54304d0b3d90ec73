"""Packed weights in a file that kernels share: made once, checked each time, and never needed."""

import errno
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from small_models import LLAMA, text
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.drafters.trained import load_drafter
from specdec_lab.models.cpu import linear, packed
from specdec_lab.models.fast import FastModel
from specdec_lab.models.load import wrapped

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not linear.can_pack(torch.zeros(8, 8)), reason="there is nothing to share here"
)


def llama(seed: int = 0) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    return LlamaForCausalLM(LlamaConfig(**LLAMA)).eval()


@pytest.fixture
def hf() -> LlamaForCausalLM:
    return llama()


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "target").mkdir()
    return tmp_path / "target"


def place(folder: Path) -> Path:
    (found,) = folder.parent.glob("target-packed-*")
    return found


def logits(model: FastModel) -> torch.Tensor:
    return model.cached().extend([text(20)]).logits


def test_a_model_on_mapped_weights_is_the_model_bit_for_bit(hf, folder):
    shared = packed.shared_products(hf, folder)
    model = wrapped(hf, "tiny", "fast", folder)
    assert torch.equal(logits(model), logits(wrapped(hf, "tiny", "fast")))
    assert len(shared) == 4 * hf.config.num_hidden_layers + 1
    assert not any(one.data.flags.writeable for one in shared)
    assert all(torch.ops.mkldnn.data_ptr(one.weight) % packed.ALIGNED == 0 for one in shared)
    inside = shared[0].data.ctypes.data + shared[0].data.nbytes
    assert all(shared[0].data.ctypes.data <= torch.ops.mkldnn.data_ptr(one.weight) < inside for one in shared)


def test_it_is_made_once_and_then_only_read(hf, folder, monkeypatch):
    said = []
    packed.shared_products(hf, folder, said.append)
    assert len(said) == 1
    assert [oct(p.stat().st_mode)[-3:] for p in (place(folder), *place(folder).iterdir())] == ["755", "644", "644"]
    monkeypatch.setattr(packed, "write", lambda *a: pytest.fail("made twice"))
    monkeypatch.setattr(packed, "FileLock", lambda *a, **k: pytest.fail("a read-only cache has no lock"))
    assert packed.shared_products(hf, folder, said.append)
    assert len(said) == 1


def test_each_processor_and_each_pytorch_has_a_file_of_its_own(hf, folder, monkeypatch):
    """One home folder may serve several machines: else each would find the other's file to be wrong, and make it anew."""
    packed.shared_products(hf, folder)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "ANOTHER")
    packed.shared_products(hf, folder)
    monkeypatch.setattr(torch, "__version__", "9.9.9")
    packed.shared_products(hf, folder)
    assert len(list(folder.parent.glob("target-packed-*"))) == 3


def test_processes_that_start_at_once_make_one_file_and_share_it(folder):
    script = """if True:
        import sys, time, zlib
        from pathlib import Path
        from test_packed import llama, logits
        from specdec_lab.models.cpu import packed
        from specdec_lab.models.load import wrapped
        write = packed.write
        packed.write = lambda *what: (time.sleep(1), write(*what))  # so that the other one is sure to come meanwhile
        print("ready", flush=True)
        input()
        model = wrapped(llama(), "tiny", "fast", Path(sys.argv[1]), lambda line: print("made"))
        mapped = [line for line in open("/proc/self/maps") if "weights.npy" in line]
        print("inode", mapped[0].split()[4], "sum", zlib.crc32(logits(model).numpy().tobytes()))
    """
    command = [sys.executable, "-c", script, str(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": Path(__file__).parent}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    assert [process.stdout.readline() for process in both] == ["ready\n"] * 2
    for process in both:
        process.stdin.write("\n")
        process.stdin.flush()
    printed = [process.communicate(timeout=120)[0].splitlines() for process in both]
    assert sorted(len(lines) for lines in printed) == [1, 2], printed  # one of them made it
    assert printed[0][-1] == printed[1][-1]


def flipped(at: Path) -> None:
    content = bytearray((at / packed.DATA).read_bytes())
    content[len(content) // 2] ^= 1
    (at / packed.DATA).write_bytes(content)


def about(change):
    def changed(at: Path) -> None:
        held = json.loads((at / packed.ABOUT).read_text())
        change(held)
        (at / packed.ABOUT).write_text(json.dumps(held))

    return changed


SPOILS = {
    "a bit is wrong": flipped,
    "cut off": lambda at: (at / packed.DATA).write_bytes((at / packed.DATA).read_bytes()[:-64]),
    "weights gone": lambda at: (at / packed.DATA).unlink(),
    "description gone": lambda at: (at / packed.ABOUT).unlink(),
    "description torn": lambda at: (at / packed.ABOUT).write_text('{"crc32": 1'),
    "weights empty": lambda at: (at / packed.DATA).write_bytes(b""),
    "an archive": lambda at: (at / packed.DATA).write_bytes(b"PK\3\4" + b"x" * 200),
    "weights are a folder": lambda at: ((at / packed.DATA).unlink(), (at / packed.DATA).mkdir()),
    "other numbers": lambda at: np.save(at / packed.DATA, np.zeros(9)),
    "a file in place of the folder": lambda at: (shutil.rmtree(at), at.write_bytes(b"")),
    "a size is wrong": about(lambda x: x["matrices"][0].__setitem__(1, 10**6)),
    "a layout is wrong": about(lambda x: x["layouts"].__setitem__("head", "00" * (len(x["layouts"]["head"]) // 2))),
    "no sum": lambda at: (at / packed.ABOUT).write_text("{}"),
    "another model": lambda at: packed.write(at, llama(seed=1)),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_a_spoilt_file_is_made_anew(hf, folder, spoil):
    before = logits(FastModel(hf, "tiny", made=packed.shared_products(hf, folder)))
    spoil(place(folder))
    said = []
    model = FastModel(hf, "tiny", made=packed.shared_products(hf, folder, said.append))
    assert len(said) == 1
    assert torch.equal(logits(model), before)
    assert packed.read(place(folder), hf)


def test_what_a_killed_process_left_is_swept_up(hf, folder):
    packed.shared_products(hf, folder)
    left = place(folder).rename(folder.with_name(f".{place(folder).name}.unfinished"))
    assert packed.shared_products(hf, folder)
    assert not left.exists()


def test_without_a_place_a_process_packs_for_itself(hf, tmp_path):
    (tmp_path / "file").touch()
    nowhere = tmp_path / "file" / "target"
    said = []
    assert packed.shared_products(hf, nowhere, said.append) is None
    assert len(said) == 1 and "(Not a directory)" in said[0]
    assert torch.equal(logits(wrapped(hf, "tiny", "fast", nowhere)), logits(wrapped(hf, "tiny", "fast")))


def test_a_full_disk_leaves_nothing(hf, folder, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(packed.np.lib.format, "write_array_header_1_0", full)
    assert packed.shared_products(hf, folder) is None
    assert [p.name for p in folder.parent.iterdir() if p.is_dir()] == ["target"]


def test_a_pytorch_without_that_function_packs_for_itself(hf, folder, monkeypatch):
    def no_such_function(*args):
        raise AttributeError("aoti_torch_create_tensor_from_blob_v2")

    monkeypatch.setattr(packed, "from_memory", no_such_function)
    assert packed.shared_products(hf, folder) is None
    assert wrapped(hf, "tiny", "fast", folder)


def test_half_precision_is_not_shared(hf, folder):
    assert packed.shared_products(hf.to(torch.bfloat16), folder) is None
    assert list(folder.parent.iterdir()) == [folder]


def test_the_embedded_target_is_on_shared_weights(lab):
    assert isinstance(lab.target.head, packed.Mapped)


@pytest.mark.parametrize("name", ["eagle", "model", "untrained", "medusa", "early-exit"])
def test_a_drafter_that_is_loaded_holds_its_matrices_once(lab, name):
    """In the form that it computes with. A kernel's memory decides how many learners fit on a machine."""
    drafter = load_drafter(name, lab.target)
    net = drafter.net if hasattr(drafter, "net") else drafter.model.hf
    assert sum(p.nbytes for p in net.parameters()) < 100_000  # norms and biases
    assert lab.speculative("Once", drafter, max_new_tokens=4).tokens
