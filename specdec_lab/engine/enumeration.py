"""All that a round can write, each text with its probability: nothing is drawn, all cases are added up.

For vocabularies of a few tokens. A rule takes random numbers as arguments, and its verdict changes only at a few
borders between 0 and 1. They are found by bisection, and the verdict between two borders has their distance as its
probability.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from specdec_lab.engine.verify import Verdict

Rule = Callable[..., Verdict]  # as `verify`
Next = Callable[[tuple[int, ...]], Sequence[float]]  # the distribution of the token after a text
Chances = dict[tuple[int, ...], float]  # of texts

END = 1 - 2**-53  # the largest number below 1


def outcomes(rule: Rule, target: Next, draft: Next, gamma: int, text: tuple[int, ...] = ()) -> Chances:
    """What one round after `text` can write, with its probability.

    Args:
        target, draft: the two models; both have the same vocabulary.
        gamma: the number of drafts. All V^γ drafts are tried, and for each all random numbers.
    """
    out: Chances = defaultdict(float)
    for drafts in itertools.product(range(len(target(text))), repeat=gamma):
        before = [(*text, *drafts[:i]) for i in range(gamma + 1)]
        p, q = ([list(of(place)) for place in places] for of, places in ((target, before), (draft, before[:-1])))
        chance = math.prod(row[x] for row, x in zip(q, drafts))
        if chance:
            rows = (torch.tensor(some, dtype=torch.float64) for some in (p, q))
            for (kept, token), share in _verdicts(rule, *rows, drafts=drafts).items():
                out[(*drafts[:kept], token)] += chance * share
    return dict(out)


def completed(written: Mapping[tuple[int, ...], float], target: Next, length: int) -> Chances:
    """The probability of every text of `length` tokens, if the target alone continues what was written.

    If the rule that wrote it is exact, these are the target's own: what `completed({(): 1}, target, length)` gives.
    """
    out: Chances = defaultdict(float)
    for text, chance in written.items():
        if len(text) >= length:
            out[text[:length]] += chance
            continue
        longer = {(*text, x): chance * share for x, share in enumerate(target(text))}
        for whole, share in completed(longer, target, length).items():
            out[whole] += share
    return dict(out)


def _verdicts(rule: Rule, p: Tensor, q: Tensor, drafts: Sequence[int]) -> dict[tuple[int, int], float]:
    """{(drafts kept, token after them): its probability over all random numbers}, for drafts [γ] with rows p and q."""
    gamma = len(drafts)

    def asked(accept: Sequence[float], resample: float) -> tuple[int, int]:
        verdict = rule(p, q, drafts, list(accept), [resample] * (gamma + 1))  # only one of these is drawn with
        return verdict.accepted, verdict.token

    borders = [{0.0} for _ in drafts]
    for i, others in itertools.product(range(gamma), itertools.product((0.0, 0.5, END), repeat=gamma - 1)):
        steps = _steps(lambda u, i=i, others=others: asked((*others[:i], u, *others[i:]), 0.5))
        borders[i] |= {high for _, high, _ in steps}
    out: dict[tuple[int, int], float] = defaultdict(float)
    for cell in itertools.product(*(itertools.pairwise(sorted(some)) for some in borders)):
        chance = math.prod(high - low for low, high in cell)
        accept = [(low + high) / 2 for low, high in cell]
        for low, high, verdict in _steps(lambda u, a=accept: asked(a, u)):
            out[verdict] += chance * (high - low)
    return out


def _steps(of: Callable[[float], tuple]) -> Iterator[tuple[float, float, tuple]]:
    """(low, high, value) of a function on [0, 1) that takes each of its values on one interval."""

    def within(low: float, high: float, first: tuple, last: tuple) -> Iterator[tuple[float, float, tuple]]:
        middle = (low + high) / 2
        if first == last or high - low < 2**-52:
            yield low, high, first
            return
        value = of(middle)
        yield from within(low, middle, first, value)
        yield from within(middle, high, value, last)

    found = list(within(0.0, END, of(0.0), of(END)))
    for value, parts in itertools.groupby(found, key=lambda part: part[2]):
        part = list(parts)
        yield part[0][0], 1.0 if part[-1][1] == END else part[-1][1], value
