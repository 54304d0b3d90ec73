"""The quick setting: every lesson runs through in a fraction of its time, and its numbers mean nothing.

`start` makes smaller what writes texts, takes times or goes through a long list. `make test` calls it in the kernels
of notebooks before their first cell (conftest.py), and nothing else does: the package does not know of it.
"""

import functools
import inspect
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

TEXTS = 4  # in a batch at once
SAMPLES = 3  # of a time: one slow moment does not decide which of two is longer
LEARNED = 100  # tokens that a draft learns from
PROMPTS = 48  # whose caches are kept


def start() -> None:
    """Make everything small in this process, for good."""
    from specdec_lab.engine.batch import Batch
    from specdec_lab.engine.decode import Stops
    from specdec_lab.measure import bench, costs, prompts, roofline, serving, traffic
    from specdec_lab.models.base import Cached
    from specdec_lab.show import progress_line
    from specdec_lab.train import own

    Cached.prefill = remembering(Cached.prefill)
    Stops.__init__ = at_most(Stops.__init__, max_new_tokens=tokens)
    Batch.__init__ = at_most(Batch.__init__, most=TEXTS)
    for function in (
        costs.pass_times,
        costs.join_cost,
        costs.batch_costs,
        costs.catch_up_cost,
        costs.step_costs,
        roofline.block_times,
    ):
        replace(function, at_most(function, samples=SAMPLES))
    replace(costs.batch_costs, with_sizes_once(costs.batch_costs))
    for function in (costs.race, bench.decode_all):
        replace(function, at_most(function, repeats=1))
    replace(prompts.first_of_each_kind, two_shortest(prompts.first_of_each_kind))
    replace(traffic.compare_drafters, at_most(traffic.compare_drafters, prompts=first_six))
    replace(serving.serve, at_most(serving.serve, arrivals=first_arrivals))
    replace(progress_line.each, at_most(progress_line.each, items=turns))
    replace(own.own_draft, at_most(own.own_draft, write=LEARNED, tokens=LEARNED))
    replace(own.folder_of, lambda name: Path(tempfile.mkdtemp()) / name)
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


def replace(old: Callable, new: Callable) -> None:
    """Put `new` wherever a module of the package holds `old`."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "specdec_lab":
            for attribute in [key for key, value in vars(module).items() if value is old]:
                setattr(module, attribute, new)


def tokens(asked: int) -> int:
    """New tokens of a text. One of 16 stays whole: lessons look at its third round."""
    return 8 if asked > 16 else asked


def turns(items: Iterable) -> list:
    """Of a long loop: at most 24 turns, and nothing a second time."""
    items = list(items)
    return [item for i, item in enumerate(items) if item not in items[:i]][:24]


def first_six(prompts: Sequence) -> list:
    """Of what users asked: as many as a decision needs to be made at all."""
    return list(prompts)[:6]


def first_arrivals(arrivals: Sequence) -> list:
    """Of the requests that come to a real server, which waits for them by the clock: the first few."""
    return sorted(arrivals, key=lambda arrival: arrival.at)[:8]


def remembering(prefill: Callable) -> Callable:
    """A prompt that was read before is copied from the cache that held it: reading takes longer than the few tokens."""
    known: dict[
        tuple, tuple
    ] = {}  # model, prompt and depths → a cache that holds it, and its hidden rows; the newest last

    @functools.wraps(prefill)
    def remembered(self, tokens, depths=()):
        key = id(self.model), tuple(tokens), tuple(depths)
        if self.lengths != [0] or not tokens:
            return prefill(self, tokens, depths)
        if key in known:
            source, hidden = known[key]
            self.drop(0)
            self.join(source)
        else:
            source, hidden = self.model.cached(0), prefill(self, tokens, depths)
            source.join(self)
        known.pop(key, None)
        known[key] = source, hidden
        if len(known) > PROMPTS:
            del known[next(iter(known))]
        return hidden

    return remembered


def two_shortest(function: Callable) -> Callable:
    """Of all prompts the two shortest, in their order: to read a long one takes longer than its few new tokens."""

    @functools.wraps(function)
    def fewer(*args, **named):
        found = function(*args, **named)
        kept = sorted(found, key=lambda p: sum(len(m["content"]) for m in p.messages))[:2]
        return [p for p in found if p in kept]

    return fewer


def with_sizes_once(batch_costs: Callable) -> Callable:
    """Batches that are equally large here are timed once, and each size that was asked for has that time."""

    @functools.wraps(batch_costs)
    def once(target, prompt, sizes=(1, 2, 4, 8, 16), *args, **named):
        found = batch_costs(target, prompt, list(dict.fromkeys(min(size, TEXTS) for size in sizes)), *args, **named)
        gammas = dict.fromkeys(gamma for _, gamma in found)
        return {(size, gamma): found[min(size, TEXTS), gamma] for size in sizes for gamma in gammas}

    return once
