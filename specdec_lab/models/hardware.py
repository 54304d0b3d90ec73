"""What this machine is, so that no number stands without its hardware."""

import contextlib
import ctypes
import platform
import sys
from pathlib import Path

import psutil
import torch


def describe(device: torch.device) -> str:
    """The device in words, such as "NVIDIA H100 (80 GB)" or "AMD EPYC, 2 cores"."""
    if device.type == "cuda":
        card = torch.cuda.get_device_properties(device)
        return f"{card.name} ({card.total_memory / 1e9:.0f} GB)"
    n = torch.get_num_threads()
    kind = "" if device.type == "cpu" else f" ({device.type})"
    return f"{_cpu_name()}{kind}, {n} core{'s' if n > 1 else ''}"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def memory_gb(device: torch.device) -> tuple[float, float]:
    """(free, total) memory of the device, in GB."""
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info(device)
        return free / 1e9, total / 1e9
    memory = psutil.virtual_memory()
    return memory.available / 1e9, memory.total / 1e9


def give_memory_back() -> None:
    """Give back what Linux's allocator keeps after loading: about 50 MB, and 30 kernels may share a machine."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # an allocator that is not GNU's
            ctypes.CDLL(None).malloc_trim(0)
