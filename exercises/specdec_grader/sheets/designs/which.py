"""Exercise 11: which_rule(p, q, counts, rules) → the name of the rule that wrote these tokens."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from specdec_grader.kit import Mistake, Question, Wrong, part, shown
from specdec_lab.theory import Row, emitted, residual

Rule = Callable[[Row, Row], tuple[Row, Row]]

RULES: dict[str, Rule] = {  # p, q → the chance to keep each token, and what the token is drawn from if it is refused
    "exact": lambda p, q: ([min(1.0, a / b) if b else 1.0 for a, b in zip(p, q)], residual(p, q)),
    "likely enough": lambda p, q: ([float(a >= 0.15) for a in p], p),
    "one of the best two": lambda p, q: ([float(sorted(p)[-2] <= a) for a in p], residual(p, q)),
    "p again": lambda p, q: ([min(1.0, a / b) if b else 1.0 for a, b in zip(p, q)], p),
}
PAIRS = (
    ((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)), ((0.45, 0.35, 0.1, 0.1), (0.1, 0.3, 0.5, 0.1)), ((0.6, 0.2, 0.1, 0.1), (0.15, 0.5, 0.3, 0.05)),
    ((0.39, 0.32, 0.29), (0.08, 0.58, 0.34)), ((0.67, 0.11, 0.11, 0.11), (0.2, 0.08, 0.36, 0.36)), ((0.44, 0.12, 0.06, 0.38), (0.5, 0.14, 0.21, 0.15)),
)  # fmt: skip
DRAWN = 20_000  # tokens of each case: the nearest two outputs are a tenth apart and more


def drawn(name: str, pair: int) -> list[int]:
    """How often each token came out, in DRAWN draws of a rule."""
    p, q = PAIRS[pair]
    dice = random.Random(f"{name} {pair}")
    came = Counter(dice.choices(range(len(p)), emitted(p, q, *RULES[name](p, q)), k=DRAWN))
    return [came[x] for x in range(len(p))]


IN_ORDER = tuple((list(p), list(q), drawn(name, i), RULES) for i, (p, q) in enumerate(PAIRS) for name in RULES)
CASES = tuple(random.Random(7).sample(IN_ORDER, len(IN_ORDER)))  # so that no order of answers is right
# The same rules under other names: it is the dict that says what they are called.
OTHER_NAMES = tuple(
    (p, q, counts, {f"rule {name}": rule for name, rule in RULES.items()}) for p, q, counts, _ in CASES[:4]
)


def nearest(expected: Callable[[Row, Row, Rule], Row]) -> Callable[..., str]:
    """Names the rule whose expected shares lie nearest to what was counted."""

    def named(p: Row, q: Row, counts: Sequence[int], rules: Mapping[str, Rule]) -> str:
        def apart(name: str) -> float:
            shares = (n / sum(counts) for n in counts)
            return sum(abs(a - b) for a, b in zip(shares, expected(p, q, rules[name])))

        return min(rules, key=apart)

    return named


def read(value: object) -> str:
    if value not in list(RULES):
        raise Wrong(f"Your function should return the name of a rule; it returned {shown(value)}.")
    return value


WHICH = Question(
    cases=CASES, right=nearest(lambda p, q, rule: emitted(p, q, *rule(p, q))), read=read,
    seen=lambda case, found, right: f"With p = {case[0]}, q = {case[1]} and the counts {case[2]} your function says {found!r}; it was {right!r}.",
    hint="Work out what comes out by each rule: q(x) · kept(x), and for all that is refused what replaces it. Then take the rule that is nearest.",
    mistakes=[
        Mistake("You leave out what replaces a refused draft.", nearest(lambda p, q, rule: [b * a for b, a in zip(q, rule(p, q)[0])])),
        Mistake("You add the replacement as a whole. It comes only where a draft was refused: multiply by the chance of that.",
                nearest(lambda p, q, rule: [b * a + r for b, a, r in zip(q, *rule(p, q))])),
        Mistake("You forget that the draft comes from q: a token is kept with q(x) · kept(x).",
                nearest(lambda p, q, rule: [a + max(0.0, 1 - sum(rule(p, q)[0])) * r for a, r in zip(*rule(p, q))])),
        Mistake("You replace each token's own refusals. A refusal of any token brings in the replacement: add up the chances of all refusals first.",
                nearest(lambda p, q, rule: [b * a + b * (1 - a) * r for b, a, r in zip(q, *rule(p, q))])),
        Mistake("You take what is left of p in all cases. Each rule says itself what replaces a refused draft.",
                nearest(lambda p, q, rule: emitted(p, q, rule(p, q)[0], residual(p, q)))),
        Mistake("Take the rule that is nearest to the counts, not the one that is furthest from them.",
                lambda p, q, counts, rules: max(rules, key=lambda name: sum(abs(n / sum(counts) - x) for n, x in zip(counts, emitted(p, q, *rules[name](p, q)))))),
        *(Mistake("You name the same rule each time.", name) for name in RULES)])  # fmt: skip


@part("11.which", points=4, asks=[WHICH])
def which_rule(made: Callable[[Row, Row, Sequence[int], Mapping[str, Rule]], object]) -> None:
    WHICH.judge(made)
    for p, q, counts, rules in OTHER_NAMES:
        if (found := made(list(p), list(q), list(counts), dict(rules))) != WHICH.right(p, q, counts, rules):
            raise Wrong(
                f"With other names for the same rules your function says {shown(found)}: take the names from `rules`.",
                0.75,
            )
