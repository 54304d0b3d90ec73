"""Machines and drafters of exercise 7: what a pass over n rows costs."""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """name: T for the target's, D for a drafter's."""

    formula: str
    cost: Callable[[int], float]
    name: str = "T"

    def __call__(self, n: int) -> float:
        return self.cost(n)

    def __repr__(self) -> str:
        return f"{self.name}(n) = {self.formula}"


BEND = Pass("max(1, n/40)", lambda n: max(1.0, n / 40))
LINE = Pass("2 + n/16", lambda n: 2 + n / 16)
STAIRS = Pass("3 · ⌈n/24⌉", lambda n: 3.0 * math.ceil(n / 24))
FLAT = Pass("1", lambda n: 1.0)
ROWS = Pass("n", lambda n: float(n))
POWER = Pass("n^.43", lambda n: n ** (math.log(2) / math.log(5)))  # five times the rows cost twice as much, at any size

# Drafters: what a pass of theirs over n rows costs
FREE = Pass("0", lambda n: 0.0, "D")
EVEN = Pass(".1", lambda n: 0.1, "D")
SMALL = Pass("max(.1, n/300)", lambda n: max(0.1, n / 300), "D")
