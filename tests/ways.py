"""Everything that a program with random numbers can do, each way with its probability.

Uniform numbers are not drawn. Where the program compares one with something, both outcomes are followed, each with
its chance; where it draws a token, all tokens are. So a sum over all ways is an integral over all random numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from specdec_lab.drafters import drawing, growing
from specdec_lab.engine import block, branches, verify

Result = TypeVar("Result")
Choose = Callable[[Sequence[float]], int]  # from the chances of some outcomes to the one that is followed


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
    """A number in [0, 1) that is not known yet: it can be scaled, and compared once."""

    def __init__(self, choose: Choose, scale: float = 1.0):
        self.choose, self.scale = choose, scale

    def __mul__(self, by: float) -> "Uniform":
        return Uniform(self.choose, self.scale * by)

    def __lt__(self, other: float) -> bool:
        chance = min(1.0, max(0.0, other / self.scale)) if self.scale > 0 else float(other > 0)
        return self.choose([chance, 1 - chance]) == 0


class Unknown:
    """A table of such numbers, in place of `Uniforms`."""

    def __init__(self, choose: Choose):
        self.choose = choose

    def __call__(self, position: int, purpose: int, twin: int = 0) -> Uniform:
        return Uniform(self.choose)

    def fresh(self) -> "Unknown":
        return self


def follow_draws(monkeypatch) -> None:
    """Let everything that draws a token with a `Uniform` follow all of them."""

    def follow(probs: Tensor, u: Uniform) -> Tensor:
        return torch.tensor(u.choose((probs / probs.sum()).tolist()))

    for module in (drawing, growing):
        monkeypatch.setattr(module, "pick", follow)
    for module in (verify, block, branches):
        monkeypatch.setattr(module, "draw", lambda probs, u: int(follow(probs, u)))
