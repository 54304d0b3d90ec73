"""The quick setting: every lesson runs through in a fraction of its time, and its numbers mean nothing.

`start` makes smaller what writes texts, takes times or goes through a long list. `make test` calls it in the kernels
of notebooks before their first cell (conftest.py), and nothing else does: the package does not know of it.
"""

import functools
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

TEXTS = 4  # in a batch at once
SAMPLES = 3  # of a time: one slow moment does not decide which of two is longer
LEARNED = 100  # tokens that a draft learns from


def start() -> None:
    """Make everything small in this process, for good."""
    from specdec_lab.engine.batch import Batch
    from specdec_lab.engine.decode import Stops
    from specdec_lab.measure import bench, costs, prompts, roofline, serving, traffic
    from specdec_lab.show import progress_line
    from specdec_lab.train import own

    Stops.__init__ = at_most(Stops.__init__, max_new_tokens=tokens)
    Batch.__init__ = at_most(Batch.__init__, most=TEXTS)
    for timed in ("pass_times", "join_cost", "batch_costs", "catch_up_cost", "step_costs"):
        replace(getattr(costs, timed), samples=SAMPLES)
    swap(costs.batch_costs, with_sizes_once(costs.batch_costs))
    replace(roofline.block_times, samples=SAMPLES)
    few = prompts.first_of_each_kind  # the two shortest: to read a long one takes longer than its few new tokens
    swap(few, lambda *given: sorted(few(*given), key=lambda prompt: len(str(prompt.content)))[:2])
    replace(costs.race, repeats=1)
    replace(bench.decode_all, repeats=1)
    replace(traffic.compare_drafters, prompts=first(6))  # as many as a decision needs to be made at all
    replace(serving.serve, arrivals=lambda some: sorted(some, key=lambda a: a.at)[:8])  # it waits by the clock
    replace(progress_line.each, items=first(24))
    replace(own.own_draft, write=LEARNED, tokens=LEARNED)
    own.folder_of = lambda name: Path(tempfile.mkdtemp()) / name
    own.ANSWER = tokens(own.ANSWER)


def at_most(function: Callable, **limits: int | Callable) -> Callable:
    """The function with smaller arguments: no number above its limit, or what a limit makes of the argument."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def smaller(*args, **named):
        bound = signature.bind(*args, **named)
        bound.apply_defaults()
        for name, limit in limits.items():
            asked = bound.arguments[name]
            bound.arguments[name] = limit(asked) if callable(limit) else min(asked, limit)
        return function(*bound.args, **bound.kwargs)

    return smaller


def replace(function: Callable, **limits: int | Callable) -> None:
    swap(function, at_most(function, **limits))


def swap(old: Callable, new: Callable) -> None:
    """Put `new` wherever a module of the package holds `old`."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "specdec_lab":
            for attribute in [key for key, value in vars(module).items() if value is old]:
                setattr(module, attribute, new)


def with_sizes_once(batch_costs: Callable) -> Callable:
    """Batches that are equally large here are timed once, and each size that was asked for has that time."""

    @functools.wraps(batch_costs)
    def once(target, prompt, sizes=(1, 2, 4, 8, 16), *args, **named):
        found = batch_costs(target, prompt, list(dict.fromkeys(min(size, TEXTS) for size in sizes)), *args, **named)
        gammas = dict.fromkeys(gamma for _, gamma in found)
        return {(size, gamma): found[min(size, TEXTS), gamma] for size in sizes for gamma in gammas}

    return once


def tokens(asked: int) -> int:
    """New tokens of a text. One of 16 stays whole: lessons look at its third round."""
    return 8 if asked > 16 else asked


def first(number: int) -> Callable[[Iterable], list]:
    """So many of what there is, and nothing a second time."""

    def some(items: Iterable) -> list:
        items = list(items)
        return [item for i, item in enumerate(items) if item not in items[:i]][:number]

    return some
