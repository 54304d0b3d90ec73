"""The formulas of the course, each as one function: what is expected before anything is measured.

α is the acceptance rate, γ the drafts a round. Costs are in units of one plain target pass. p is the target's
distribution and q the draft's, at one place: lists of V probabilities.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Row = Sequence[float]  # a distribution over a small vocabulary


def expected_tokens(alpha: float, gamma: int) -> float:
    """E: tokens a target pass, when every draft survives with chance α, independently of the others.

    1 + α + α² + … + α^γ = (1 − α^(γ+1)) / (1 − α) (Leviathan et al. 2023, equation 1); the
    corrected or bonus token is the 1.
    """
    return sum(alpha**i for i in range(gamma + 1))


def speedup(alpha: float, gamma: int, c: float, v: float = 1.0, o: float = 0.0) -> float:
    """S = E / (γ·c + v + o): how many times as fast as plain decoding. (With v = 1 and o = 0 this is theorem 3.8 of
    Leviathan et al. 2023.)

    Args:
        c: cost of one draft.
        v: cost of the pass that verifies γ + 1 rows.
        o: cost of the loop, once a round.
    """
    return expected_tokens(alpha, gamma) / (gamma * c + v + o)


def best_gamma(alpha: float, c: float, v: Sequence[float], o: float = 0.0) -> int:
    """The γ with the largest speed-up; 0 when none is worth it.

    Args:
        v: v[γ] is the cost of a pass over γ + 1 rows, for γ = 0, 1, …; v[0] = 1.
    """
    gains = [1.0] + [speedup(alpha, gamma, c, v[gamma], o) for gamma in range(1, len(v))]
    return max(range(len(v)), key=gains.__getitem__)


def break_even(gamma: int, c: float, v: float = 1.0, o: float = 0.0) -> float | None:
    """The α at which S = 1; None when even α = 1 loses."""
    low, high = 0.0, 1.0
    if speedup(high, gamma, c, v, o) < 1:
        return None
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if speedup(middle, gamma, c, v, o) >= 1 else (middle, high)
    return high


def experts_woken(experts: int, active: int, k: int) -> float:
    """How many of a layer's experts k tokens wake together, on average, when each picks `active` of them at random.

    n·(1 − (1 − a/n)^k), for n experts of which each token picks a.
    """
    return experts * (1 - (1 - active / experts) ** k)


def acceptance(p: Row, q: Row) -> float:
    """α = Σ min(p, q) = 1 − TV(p, q): the chance that a draft from q survives (Leviathan et al. 2023, theorem 3.5)."""
    return sum(map(min, p, q))


def residual(p: Row, q: Row) -> list[float]:
    """norm(max(0, p − q)): what the token after a rejection is drawn from; p itself where q lacks nothing."""
    rest = lacking(p, q)
    total = sum(rest)
    return [x / total for x in rest] if total > 1e-12 else list(p)


def lacking(p: Row, q: Row) -> list[float]:
    """max(0, p − q): what q gives too little of each token, not divided by its sum."""
    return [max(0.0, a - b) for a, b in zip(p, q)]


def favourite(p: Row) -> list[float]:
    """All of the chance on the likeliest token, the first of several."""
    best = max(range(len(p)), key=p.__getitem__)
    return [float(i == best) for i in range(len(p))]


def emitted(q: Row, accepts: Row, replacement: Row) -> list[float]:
    """The distribution of the token that a rule writes: q(x)·accepts(x), and the replacement for all that was rejected.

    Args:
        accepts: for each token x the chance that a draft x is accepted.
        replacement: the distribution of the token that replaces a rejected draft.
    """
    rejected = 1 - sum(b * a for b, a in zip(q, accepts))
    return [b * a + rejected * r for b, a, r in zip(q, accepts, replacement)]


@dataclass(frozen=True)
class Siblings:
    """kept: the chance that one of several drafts for a place is kept. output: the distribution of its token."""

    kept: float
    output: list[float]


def siblings(p: Row, q: Row, n: int, again: bool = False, left: Callable[[Row, Row], Row] = residual) -> Siblings:
    """n drafts for one place, offered one after the other (Miao et al. 2023, algorithm 2). Nothing is drawn at random:
    the chances of all possible draws are added up.

    Args:
        again: each is drawn from the whole of q; else from q without those before it.
        left: what a refused draft that was drawn from q leaves of p.
    """
    if n == 0 or not any(q):
        return Siblings(0.0, list(p))
    kept, output, rest = 0.0, [0.0] * len(p), left(p, q)
    for x, share in enumerate(q):
        if share == 0:
            continue
        accepted = share * min(1.0, p[x] / share)
        others = [0.0 if y == x else other for y, other in enumerate(q)]
        total = sum(others)
        following = q if again else [other / total if total else 0.0 for other in others]
        later = siblings(rest, following, n - 1, again, left)
        kept += accepted + (share - accepted) * later.kept
        output = [out + (share - accepted) * more for out, more in zip(output, later.output)]
        output[x] += accepted
    return Siblings(kept, output)


RULES = {
    "the rule: accept with min(1, p/q), replace from the residual": lambda p, q: (_ratio(p, q), residual(p, q)),
    "bug: after a rejection, draw from p": lambda p, q: (_ratio(p, q), p),
    "bug: after a rejection, draw from the draft's q": lambda p, q: (_ratio(p, q), q),
    "bug: after a rejection, take the target's favourite": lambda p, q: (_ratio(p, q), favourite(p)),
    "bug: accept every draft": lambda p, q: ([1.0] * len(p), p),
    "bug: accept only the target's favourite": lambda p, q: (favourite(p), residual(p, q)),
    "relaxed: accept what is at least half as likely as p's favourite": lambda p, q: (
        [float(a >= max(p) / 2) for a in p],
        p,
    ),
    "another exact way: sample the target, accept a match": lambda p, q: (list(p), _unmatched(p, q)),
}  # name → (chance to accept each token, distribution of the replacement)


def _ratio(p: Row, q: Row) -> list[float]:
    return [min(1.0, a / b) if b > 0 else 1.0 for a, b in zip(p, q)]


def _unmatched(p: Row, q: Row) -> list[float]:
    """The target's own sample, given that it was not the draft: p(y)·(1 − q(y)), normalised."""
    weights = [a * (1 - b) for a, b in zip(p, q)]
    total = sum(weights)
    return [x / total for x in weights] if total > 1e-12 else list(p)
