"""Loading in the background. This file imports nothing slow: what a notebook shows first must not wait for PyTorch."""

from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module


def load_soon(**settings) -> Future:
    """`load` in the background, its imports too: carry on, and call `.result()` when you need the Lab."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="specdec-lab-load")
    future = pool.submit(lambda: import_module("specdec_lab.lab").load(**settings))
    pool.shutdown(wait=False)
    return future
