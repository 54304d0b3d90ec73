"""How torch's threads work together here: settings of its libraries, which count if torch is not imported yet."""

import math
import os
from pathlib import Path


def set_up() -> None:
    """Set what the environment has not set already."""
    # Threads that wait for each other keep a core busy; GNU's, on Linux, for 300,000 turns unless told otherwise.
    # Several kernels on one machine, or one beside other programs, then mostly wait. Measured on 2 cores: with 2,000
    # turns each of two kernels is 1.8 to 1.9 times as fast, and one alone as fast as before (16.9 and 16.8 ms a pass,
    # medians of six runs by turns; single runs differ by more).
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    # A container may be given the time of fewer processors than it sees. A thread for each of those would mostly wait.
    if "OMP_NUM_THREADS" not in os.environ and (most := quota()):
        os.environ["OMP_NUM_THREADS"] = str(most)


def quota(cgroup: Path = Path("/sys/fs/cgroup")) -> int | None:
    """How many processors' time this process may use, where that is fewer than it sees (containers on Linux); else None.

    Args:
        cgroup: where the system says so, in either of its two forms.
    """
    try:
        if (both := cgroup / "cpu.max").exists():
            most, period = map(int, both.read_text().split())
        else:
            most, period = (int((cgroup / "cpu" / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
        seen = len(os.sched_getaffinity(0))
        return math.ceil(most / period) if 0 < most <= period * (seen - 1) else None
    except (OSError, ValueError, ZeroDivisionError, AttributeError):  # no such file, no limit, or another system
        return None
