"""The target's packed weights in one file, which all kernels of a machine map instead of each making its own copy.

Packing a matrix writes it again, in an order that depends on the processor and on PyTorch. So both are in the name of
the folder that holds the file. It is made once, by one process, beside the converted target, and from then on only
read: its pages are in memory once, however many kernels decode.

Programs that PyTorch compiled ahead of time find their packed weights in the same way. What they call for it is a part
of PyTorch's C interface, and has no name in Python.
"""

import ctypes
import json
import shutil
import sys
import zlib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from filelock import FileLock, Timeout
from torch import Tensor
from transformers import PreTrainedModel

from specdec_lab.errors import Say, silent
from specdec_lab.models.cpu.linear import Linear, can_pack
from specdec_lab.models.embedded import share
from specdec_lab.models.fast import PARTS, folded

DATA, ABOUT = "weights.npy", "about.json"
ALIGNED = 64  # bytes: where a matrix begins, for the processor's widest loads
LOCK_SECONDS = 120  # seconds that another process may take to make the file


class Mapped(Linear):
    """A product on packed weights that lie in `data`; it holds `data`, so that the file stays mapped."""

    def __init__(self, weight: Tensor, data: np.ndarray):
        super().__init__(weight)
        self.data = data


def shared_products(hf: PreTrainedModel, folder: Path, say: Say = silent) -> Sequence[Linear] | None:
    """The products of `folded(hf)` on weights that lie in a file, which is made first if it is not there.

    Args:
        hf: a model without biases.
        folder: the converted target; the packed weights are kept beside it.

    Returns:
        None where PyTorch cannot use such a file, or it is not there and cannot be made: pack for this process alone.
    """
    weight = hf.get_output_embeddings().weight
    if sys.platform != "linux" or weight.dtype != torch.float32 or not can_pack(weight):
        return None
    place = folder.with_name(f"{folder.name}-packed-{torch.__version__}-{torch.backends.cpu.get_cpu_capability()}")
    try:
        with torch.inference_mode():
            if found := read(place, hf):
                return found
            with FileLock(place.with_name(f".{place.name}.lock"), timeout=LOCK_SECONDS):
                found = read(place, hf)  # another process may have made it meanwhile
                if not found:
                    say("Packing the target's weights for this processor, once …")
                    write(place, hf)
                    found = read(place, hf)
                return found
    except (OSError, Timeout, AttributeError) as e:  # AttributeError: this PyTorch has no such function
        why, size = getattr(e, "strerror", None) or e, sum(p.nbytes for p in hf.parameters()) / 1e6
        say(
            f"The packed weights cannot be shared ({why}), so this process keeps its own, {size:.0f} MB. If "
            f"{folder.parent} is somebody else's, let them run  specdec-lab fetch."
        )
        return None


def write(place: Path, hf: PreTrainedModel) -> None:
    """Pack all weights of `hf` into a file in the folder `place`, which appears when it is complete.

    Raises:
        OSError: where it cannot be written.
    """
    unfinished = place.with_name(f".{place.name}.unfinished")
    for old in unfinished, place:  # what a killed process left, and what is corrupt
        shutil.rmtree(old, ignore_errors=True)
        if old.exists():  # a plain file
            old.unlink()
    unfinished.mkdir()
    try:
        products = [Linear(*weights).weight for weights in folded(hf)]
        matrices = [(part_of(i, products), *w.shape, torch.ops.mkldnn._nbytes(w)) for i, w in enumerate(products)]
        total, crc = sum(padded(size) for *_, size in matrices), 0
        with (unfinished / DATA).open("wb") as f:  # not through a map: a full disk would kill the process there
            about = {"descr": "|u1", "fortran_order": False, "shape": (total,)}
            np.lib.format.write_array_header_1_0(f, about)  # ALIGNED, too
            for weight, (*_, size) in zip(products, matrices):
                for piece in memory(weight).data, bytes(padded(size) - size):
                    f.write(piece)
                    crc = zlib.crc32(piece, crc)
        layouts = {part: layout(weight).hex() for (part, *_), weight in zip(matrices, products)}
        about = {"crc32": zlib.crc32(described(layouts, matrices), crc), "layouts": layouts, "matrices": matrices}
        (unfinished / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        share(unfinished)
        unfinished.rename(place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def read(place: Path, hf: PreTrainedModel) -> list[Mapped] | None:
    """The products on the file's weights; None if there is no such file, or it is not what this process would write.

    That is: its sum is right, and the first layer packed here is the same, byte for byte. A wrong size or layout would
    end the process, so nothing is read by them before the sum, in which they are.
    """
    try:
        about = json.loads((place / ABOUT).read_text(encoding="utf-8"))
        data = np.lib.format.open_memmap(place / DATA, mode="r")
        sum_of_all = zlib.crc32(described(about["layouts"], about["matrices"]), zlib.crc32(data.data))
        if data.dtype != np.uint8 or data.ndim != 1 or sum_of_all != about["crc32"]:
            return None
        made, start = [], data.ctypes.data
        for part, rows, columns, size in about["matrices"]:
            made.append(Mapped(from_memory(start, (rows, columns), bytes.fromhex(about["layouts"][part])), data))
            start += padded(size)
    except (AttributeError, MemoryError):
        raise
    except OSError as e:
        if isinstance(e, FileNotFoundError | IsADirectoryError) or place.is_file():
            return None
        raise
    except Exception:  # whatever damage makes of other libraries
        return None
    here = [Linear(*weights).weight for weights in islice(folded(hf), len(PARTS))]
    same = len(made) == hf.config.num_hidden_layers * len(PARTS) + 1 and all(
        layout(one.weight) == layout(two) and np.array_equal(memory(one.weight), memory(two))
        for one, two in zip(made, here)
    )
    return made if same else None


def described(layouts: dict[str, str], matrices: Sequence) -> bytes:
    """What stands beside the weights, as it goes into the sum."""
    return json.dumps([layouts, matrices], sort_keys=True).encode()


def padded(size: int) -> int:
    """Bytes that a matrix of so many bytes takes in the file: the next multiple of ALIGNED."""
    return size + -size % ALIGNED


def part_of(i: int, products: Sequence) -> str:
    """The name of product i: "head", or one of PARTS. Those of the same name have the same shape and layout."""
    return "head" if i == len(products) - 1 else PARTS[i % len(PARTS)]


def layout(packed: Tensor) -> bytes:
    """oneDNN's description of how a packed weight lies in memory."""
    return bytes(torch.ops.mkldnn._get_mkldnn_serialized_md(packed).numpy())


def memory(packed: Tensor) -> np.ndarray:
    """The bytes of a packed weight, where they are."""
    size, at = torch.ops.mkldnn._nbytes(packed), torch.ops.mkldnn.data_ptr(packed)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(at))


def from_memory(at: int, shape: tuple[int, int], layout: bytes) -> Tensor:
    """A packed weight in float32 whose bytes lie at the address `at`. Nothing is copied, and nobody may write there.

    Raises:
        AttributeError: if this PyTorch has no such function.
        ValueError: if it does not take the layout.
    """
    c = ctypes.CDLL(str(Path(torch.__file__).with_name("lib") / "libtorch_cpu.so"))
    sizes, strides = (ctypes.c_int64 * 2)(*shape), (ctypes.c_int64 * 2)(shape[1], 1)
    found, number, address = ctypes.c_void_p(), ctypes.c_int64, ctypes.c_void_p(at)
    kind = c.aoti_torch_dtype_float32(), c.aoti_torch_device_type_cpu(), 0
    how = c.aoti_torch_layout__mkldnn(), layout, number(len(layout))
    failed = c.aoti_torch_create_tensor_from_blob_v2(
        address, number(2), sizes, strides, number(0), *kind, ctypes.byref(found), *how
    )
    if failed:
        raise ValueError("PyTorch does not take this layout.")
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return torch._C._aoti.alloc_tensor_by_stealing_from_void_ptr(capsule(found, None, None))  # pyright: ignore[reportAttributeAccessIssue] - in no stub
