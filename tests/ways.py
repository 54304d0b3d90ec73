"""Everything that a program with random numbers can do, each way with its probability.

Uniform numbers are not drawn. Where the program compares one with something, both outcomes are followed, each with
its chance; where it draws a token, all tokens are. So a sum over all ways is an integral over all random numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TypeVar

import torch
from torch import Tensor

from specdec_lab.drafters import drawing
from specdec_lab.engine import block, branches
from specdec_lab.engine import verify as rule_of_chains
from specdec_lab.engine.decode import Stops, speculative
from specdec_lab.engine.sampling import Sampler
from specdec_lab.engine.verify import verify

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

    def __call__(self, position: int, purpose: int, rank: int = 0) -> Uniform:
        return Uniform(self.choose)

    def fresh(self) -> "Unknown":
        return self


def follow_draws(monkeypatch) -> None:
    """Let everything that draws a token with a `Uniform` follow all of them."""

    def follow(probs: Tensor, u: Uniform) -> Tensor:
        return torch.tensor(u.choose((probs / probs.sum()).tolist()))

    monkeypatch.setattr(drawing, "pick", follow)
    for module in (rule_of_chains, block, branches):
        monkeypatch.setattr(module, "draw", lambda probs, u: int(follow(probs, u)))


def written(monkeypatch, drafter, target, *, rounds=1, rule=verify, vocab=3, length=3, prompt=(0, 1), gamma=8, **more):
    """The probability of each text of `length` tokens, when the target goes on alone behind the rounds."""
    follow_draws(monkeypatch)
    texts = defaultdict(float)

    settings = {"sampler": Sampler(1.0), "stops": Stops(100), "verify": rule, "gamma": gamma, **more}
    run_on = settings.pop("run_on", target)

    def run(choose):
        stream = speculative(run_on, drafter(), list(prompt), uniforms=Unknown(choose), **settings)
        return [token for _ in range(rounds) for token in next(stream).tokens]

    for chance, tokens in every_way(run):
        for rest in product(range(vocab), repeat=max(0, length - len(tokens))):
            text = [*tokens, *rest][:length]
            ahead = [float(target.probabilities([*prompt, *text[:i]])[text[i]]) for i in range(len(tokens), length)]
            texts[tuple(text)] += chance * torch.tensor(ahead, dtype=torch.float64).prod().item()
    return texts


def apart(texts, target, vocab=3, length=3, prompt=(0, 1)):
    """How far that is from the target's own, for the worst text."""
    worst = 0.0
    for text in product(range(vocab), repeat=length):
        own = [float(target.probabilities([*prompt, *text[:i]])[text[i]]) for i in range(length)]
        worst = max(worst, abs(texts[text] - torch.tensor(own, dtype=torch.float64).prod().item()))
    return worst
