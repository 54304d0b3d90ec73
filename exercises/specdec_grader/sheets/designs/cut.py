"""Exercise 11: alpha_with_head(p, q, kept) → α of a draft that can say only some of its tokens."""

from collections.abc import Callable, Sequence

from specdec_grader.kit import Mistake, Question, part
from specdec_lab.theory import Row, acceptance

CASES = (
    ([0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0, 1]), ([0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0, 1, 2]), ([0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [3]),
    ([0.4, 0.4, 0.1, 0.1], [0.2, 0.2, 0.5, 0.1], [0, 1, 3]), ([0.7, 0.1, 0.1, 0.1], [0.1, 0.3, 0.3, 0.3], [1, 2]), ([0.05, 0.9, 0.05], [0.3, 0.4, 0.3], [2, 1]),
)  # fmt: skip


def scaled(q: Row, kept: Sequence[int]) -> list[float]:
    """q with the tokens of the head alone."""
    total = sum(q[i] for i in kept)
    return [q[i] / total if i in kept else 0.0 for i in range(len(q))]


def both(p: Row, q: Row, kept: Sequence[int]) -> float:
    return acceptance(scaled(p, kept), scaled(q, kept))


CUT = Question(
    cases=CASES, right=lambda p, q, kept: acceptance(p, scaled(q, kept)),
    seen="For p = {0}, q = {1} and a head of the tokens {2} your function gives {found}; it should give {right}.",
    hint="Leave the tokens out of q, scale what remains up to 1, and then take Σ min(p, q).",
    mistakes=[
        Mistake("Scale what remains of q up to 1: the draft still draws one of its tokens each time.",
                lambda p, q, kept: sum(min(p[i], q[i]) for i in kept)),
        Mistake("You cut p as well. The target still says all of its tokens, and where it wants a missing one, the draft fails.", both),
        Mistake("This is α of the whole head. The tokens that are left out have q = 0 now.", lambda p, q, kept: acceptance(p, q)),
        Mistake("This is the chance that the target wants a token of the head: the most that α can be, not what it is.",
                lambda p, q, kept: sum(p[i] for i in kept)),
        Mistake("This is the chance that two samples are equal. α is the overlap, Σ min(p, q).",
                lambda p, q, kept: sum(a * b for a, b in zip(p, scaled(q, kept))), belief=3)])  # fmt: skip


@part("11.cut", points=2, asks=[CUT])
def alpha_with_head(made: Callable[[Row, Row, Sequence[int]], object]) -> None:
    CUT.judge(made)
