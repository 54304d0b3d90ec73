"""A GPU that is not there: its tensors say "cuda" and are computed on the CPU.

It shares with the real thing that the two sides do not mix (an operation on tensors of both raises), and that passes are
captured, as CUDA graphs on a `tape`. So whatever runs on a GPU runs here, with numbers that can be compared with
the CPU's, and every reading is counted. It cannot show a GPU's own rounding, memory, or time.
"""

import ctypes
import subprocess
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import torch
from graph_tape import STAND_INS, each, tensors
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from specdec_lab.models.cuda_graph import CapturedPass

NAME, MEMORY = "Pretended GPU", 80e9
MOVES = ("_to_copy", "copy_")  # what may see both sides
READINGS = ("_local_scalar_dense", "item", "is_nonzero", "equal", "nonzero")
INDEXED = ("index", "index_put_", "index_put")  # what copies indices of the host to the device by itself
# torch's CPU build has no guard for CUDA devices, and asks for one wherever such a tensor is used.
GUARD = """
#include <c10/core/impl/DeviceGuardImplInterface.h>
C10_REGISTER_GUARD_IMPL(CUDA, c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA>)
"""


class OnGpu(Tensor):
    """A tensor on the pretended GPU; `held` has its numbers."""

    @staticmethod
    def __new__(cls, held: Tensor):
        shape = {"strides": held.stride(), "storage_offset": held.storage_offset(), "dtype": held.dtype}
        with torch.inference_mode(False):  # which has no views of tensors that it did not make
            made = Tensor._make_wrapper_subclass(cls, held.shape, **shape, device="cuda:0", requires_grad=False)
        made.held = held
        return made

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError(f"{func} on a tensor of the pretended GPU, which is switched off")

    def tolist(self):  # torch refuses to do it for a tensor of another class
        return self.cpu().tolist()


def held(tensor: Tensor) -> Tensor:
    return tensor.held if isinstance(tensor, OnGpu) else tensor


def copies_indices(name: str, args: tuple) -> bool:
    return name in INDEXED and isinstance(args[0], OnGpu)


class PretendedGpu(TorchDispatchMode):
    """readings: how often the host has read a number, for which it waits until the GPU has caught up."""

    def __init__(self):
        super().__init__()
        self.readings = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, name = dict(kwargs or {}), func.overloadpacket.__name__
        if name == "to":  # in inference mode it comes here whole
            with self:
                return func.decompose(*args, **kwargs)
        given = tensors([args, *kwargs.values()])
        there = [x for x in given if isinstance(x, OnGpu)]
        stays = kwargs.get("device") is None
        to_gpu = bool(there) if stays else torch.device(kwargs["device"]).type == "cuda"
        if not stays and to_gpu:
            kwargs["device"] = torch.device("cpu")
        if name in MOVES:
            to_gpu = isinstance(args[0], OnGpu) if name == "copy_" else to_gpu
            here = isinstance(args[1 if name == "copy_" else 0], OnGpu)
            self.readings += here and not to_gpu
        elif there and any(x.dim() and not isinstance(x, OnGpu) for x in given) and not copies_indices(name, args):
            raise RuntimeError(f"{func}: tensors on both sides")
        if name in READINGS:
            self.readings += bool(there)
        out = func(*each(held, args), **{name: each(held, x) for name, x in kwargs.items()})
        if name == "_to_copy" and there and to_gpu and out is held(args[0]):
            return args[0]
        known = {id(x.held): x for x in there}
        return each(lambda x: known[id(x)] if id(x) in known else OnGpu(x), out) if to_gpu else out


def guard(folder: Path) -> None:
    """Give torch a guard for CUDA devices that does nothing. It stays for the life of the process."""
    source, library, package = folder / "guard.cpp", folder / "guard.so", Path(torch.__file__).parent
    source.write_text(GUARD)
    where = [f"-I{package / 'include'}", f"-L{package / 'lib'}", "-lc10"]
    subprocess.run(["g++", "-shared", "-fPIC", "-std=c++20", source, *where, "-o", library], check=True)
    ctypes.CDLL(library)


@contextmanager
def pretended_gpu(monkeypatch):
    """Within this, torch has a GPU. Yields it."""
    card = SimpleNamespace(name=NAME, total_memory=MEMORY)
    for name, stand_in in {
        "_lazy_init": lambda: None,
        "is_available": lambda: True,
        "is_bf16_supported": lambda including_emulation=True: True,
        "get_device_properties": lambda device=None: card,
        "mem_get_info": lambda device=None: (MEMORY, MEMORY),
        "synchronize": lambda device=None: None,
        **STAND_INS,
    }.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    monkeypatch.setattr(CapturedPass, "pools", {})
    # A module that moves gets new parameters: the class of one cannot change.
    monkeypatch.setattr(torch.__future__, "get_overwrite_module_params_on_conversion", lambda: True)
    before = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)  # so that torch.tensor(…, device="cuda") comes by here
    try:
        with PretendedGpu() as gpu:
            yield gpu
    finally:
        torch._C._set_only_lift_cpu_tensors(before)
