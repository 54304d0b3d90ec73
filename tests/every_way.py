"""Everything that a program with random numbers can do, each way with its probability.

Uniform numbers are not drawn. Where the program compares one with something, both outcomes are followed, each with
its chance; where it draws a token, all tokens are. So a sum over all ways is an integral over all random numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise, product
from math import prod
from typing import TypeVar

import pytest
import torch
from torch import Tensor

from specdec_lab.drafters import drawing, instruments
from specdec_lab.engine import sampling
from specdec_lab.engine.decode import Stops, speculative
from specdec_lab.engine.rules import USUAL
from specdec_lab.engine.sampling import Sampler

Result = TypeVar("Result")
Choose = Callable[[Sequence[float]], int]  # from the chances of some outcomes to the one that is followed
Chances = Mapping[tuple[int, ...], float]  # of texts


def every_way(run: Callable[[Choose], Result]) -> Iterator[tuple[float, Result]]:
    """(probability, what `run` returns) for each way that it can take. It is run once for each."""
    todo: list[list[int]] = [[]]
    while todo:
        script = todo.pop()
        taken, probability = [], 1.0

        def choose(chances: Sequence[float], script=script, taken=taken) -> int:
            nonlocal probability
            here = len(taken)
            possible = [i for i, chance in enumerate(chances) if chance > 0]
            if here >= len(script):
                todo.extend([*taken, other] for other in possible[1:])
            taken.append(script[here] if here < len(script) else possible[0])
            probability *= chances[taken[-1]]
            return taken[-1]

        result = run(choose)
        yield probability, result


class Uniform:
    """A number in [0, 1) of which is known only between which borders it lies: each use of it tells more.

    Args:
        within: these borders. Its multiples share them.
        scale: it stands for so many times the number.
    """

    def __init__(self, choose: Choose, within: list[float] | None = None, scale: float = 1.0):
        self.choose, self.within, self.scale = choose, within or [0.0, 1.0], scale

    def __mul__(self, by: float) -> "Uniform":
        return Uniform(self.choose, self.within, self.scale * by)

    def __lt__(self, other: float) -> bool:
        border = other / self.scale if self.scale > 0 else float(other > 0)
        return self.part([0.0, border, 1.0]) == 0

    def part(self, borders: Sequence[float]) -> int:
        """The number of the part between two of these borders that it lies in. From now on it is known to lie there."""
        low, high = self.within
        parts = [(max(low, begin), min(high, end)) for begin, end in pairwise(borders)]
        shares = [(end - begin) / (high - low) for begin, end in parts]
        chosen = self.choose([share if share > 1e-14 else 0.0 for share in shares])  # less than that is rounding
        self.within[:] = parts[chosen]
        return chosen


class Unknown:
    """A table of such numbers, in place of `Uniforms`: who asks for a number again is given the same."""

    def __init__(self, choose: Choose):
        self.choose = choose
        self.table: dict[tuple[int, int, int], Uniform] = {}

    def __call__(self, position: int, purpose: int, rank: int = 0) -> Uniform:
        return self.table.setdefault((position, purpose, rank), Uniform(self.choose))

    def fresh(self) -> "Unknown":
        return New(self.choose)


class New(Unknown):
    """A new number at each call, in place of `Fresh`."""

    def __call__(self, position: int, purpose: int, rank: int = 0) -> Uniform:
        return Uniform(self.choose)


def follow_draws(monkeypatch) -> None:
    """Let everything that draws a token with a `Uniform` follow all of them."""

    def follow(probs: Tensor, u: Uniform) -> Tensor:
        return torch.tensor(u.part([0.0, *accumulate((probs / probs.sum()).tolist())]))

    for module in (sampling, drawing, instruments):
        monkeypatch.setattr(module, "pick", follow)


@cache
def row_after(target, *text: int) -> list[float]:
    """What the target says of the token after a text."""
    return target.probabilities(text).tolist()


def completed(written: Chances, target, vocab: int, length: int, prompt: Sequence[int]) -> Chances:
    """The probability of each text of `length` tokens, when the target alone goes on behind what was written."""
    texts = defaultdict(float)
    for text, chance in written.items():
        for rest in product(range(vocab), repeat=max(0, length - len(text))):
            whole = (*text, *rest)
            own = (row_after(target, *prompt, *whole[:i])[whole[i]] for i in range(len(text), len(whole)))
            texts[whole[:length]] += chance * prod(own)
    return texts


def written(
    monkeypatch,
    drafter,
    target,
    *,
    rounds=1,
    rule=USUAL,
    vocab=3,
    length=3,
    prompt=(0, 1),
    gamma=8,
    run_on=None,
    **more,
) -> Chances:
    """The probability of each text of `length` tokens, when the target goes on alone behind the rounds.

    Args:
        target: what must come out. run_on: what runs, if not the same.
        more: of what a request takes, such as processors.
    """
    follow_draws(monkeypatch)
    settings = {"sampler": Sampler(1.0), "stops": Stops(100), "verify": rule, "gamma": gamma, **more}

    def run(choose):
        stream = speculative(run_on or target, drafter(), list(prompt), uniforms=Unknown(choose), **settings)
        return [token for _ in range(rounds) for token in next(stream).tokens]

    found = defaultdict(float)
    for chance, tokens in every_way(run):
        found[tuple(tokens)] += chance
    return completed(found, target, vocab, length, prompt)


def apart(texts: Chances, target, vocab=3, length=3, prompt=(0, 1)) -> float:
    """How far that is from the target's own, for the worst text."""
    own = completed({(): 1.0}, target, vocab, length, prompt)
    assert set(texts) <= set(own)
    return max(abs(texts[text] - chance) for text, chance in own.items())


def worst_apart(target, drafter, *, gamma=8, rounds=1, length: int | None = None, prompt=(0, 1), **more) -> float:
    """The same from the target and what drafts for it; length: by default what these rounds can write."""
    texts = {"vocab": target.vocab_size, "length": length or rounds * (gamma + 1), "prompt": prompt}
    with pytest.MonkeyPatch.context() as patch:
        return apart(written(patch, drafter, target, rounds=rounds, gamma=gamma, **texts, **more), target, **texts)
