"""Exercise 11: places that are filled at once, a smaller head, when to stop, and a rule that is known by its output."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from specdec_grader.coerce import shown, whole, word
from specdec_grader.mistakes import Wrong
from specdec_grader.part import part, part_of_one
from specdec_grader.question import question
from specdec_lab import theory
from specdec_lab.theory import Row, emitted, residual

# 11.at-once: joint[i][j] is the chance that the target writes token i and then token j


def alpha_at_once(joint):
    q = [sum(column) for column in zip(*joint)]
    return sum(sum(row) * sum(min(x / sum(row), y) for x, y in zip(row, q)) for row in joint)


AT_ONCE = question(
    alpha_at_once,
    cases=(
        ([[0.5, 0.0], [0.0, 0.5]],),
        ([[0.3, 0.1], [0.2, 0.4]],),
        ([[0.24, 0.16], [0.36, 0.24]],),
        ([[0.6, 0.1, 0.0], [0.0, 0.1, 0.2]],),
        ([[0.2, 0.0, 0.0], [0.1, 0.3, 0.0], [0.0, 0.1, 0.3]],),
        ([[0.1, 0.2], [0.0, 0.3], [0.25, 0.15]],),
    ),
    seen="For {0} your function gives {found}; α of the second place is {right}.",
    hint="For each first token: its chance, times Σ min(p(second | first), q(second)).",
)
part_of_one("11.at-once", points=2, asked=AT_ONCE)


# 11.cut


def alpha_with_head(p, q, kept):
    total = sum(q[i] for i in kept)
    return sum(min(p[i], q[i] / total) for i in kept)


CUT = question(
    alpha_with_head,
    cases=(
        ([0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0, 1]),
        ([0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0, 1, 2]),
        ([0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25], [3]),
        ([0.4, 0.4, 0.1, 0.1], [0.2, 0.2, 0.5, 0.1], [0, 1, 3]),
        ([0.7, 0.1, 0.1, 0.1], [0.1, 0.3, 0.3, 0.3], [1, 2]),
        ([0.05, 0.9, 0.05], [0.3, 0.4, 0.3], [2, 1]),
    ),
    seen="For p = {0}, q = {1} and a head of the tokens {2} your function gives {found}; it should give {right}.",
    hint="Leave the tokens out of q, scale what remains up to 1, and then take Σ min(p, q).",
)
part_of_one("11.cut", points=2, asked=CUT)


# 11.stop


def offered(chances, limit):
    product = 1.0
    for number, chance in enumerate(chances, 1):
        product *= chance
        if product < limit:
            return number
    return len(chances)


STOP = question(
    offered,
    read=whole,
    cases=(
        ([0.9, 0.8, 0.5, 0.9], 0.4),
        ([0.9, 0.9, 0.9, 0.9], 0.4),
        ([0.2, 0.9, 0.9], 0.5),
        ([0.6, 0.6, 0.6, 0.6], 0.3),
        ([0.95], 0.5),
        ([0.8, 0.3, 0.9, 0.9], 0.1),
        ([0.5, 0.5, 0.5], 0.25),
        ([0.7, 0.9, 0.2, 0.8, 0.9], 0.15),
    ),
    seen="For the chances {0} and the limit {1} your function offers {found}; it should offer {right}.",
    hint="Multiply the chances one after the other. "
    "Behind the first draft whose product is below the limit, stop; that draft is offered.",
)
part_of_one("11.stop", points=2, asked=STOP)


# 11.which

Rule = Callable[[Row, Row], tuple[Row, Row]]  # p, q → the chance to keep each token, and what replaces a refused one


RULES: dict[str, Rule] = {
    "exact": theory.RULES["the rule: accept with min(1, p/q), replace from the residual"],
    "likely enough": lambda p, q: ([float(a >= 0.15) for a in p], p),
    "one of the best two": lambda p, q: ([float(sorted(p)[-2] <= a) for a in p], residual(p, q)),
    "p again": theory.RULES["bug: after a rejection, draw from p"],
}
PAIRS = (
    ((0.5, 0.3, 0.2), (0.2, 0.2, 0.6)),
    ((0.45, 0.35, 0.1, 0.1), (0.1, 0.3, 0.5, 0.1)),
    ((0.6, 0.2, 0.1, 0.1), (0.15, 0.5, 0.3, 0.05)),
    ((0.39, 0.32, 0.29), (0.08, 0.58, 0.34)),
    ((0.67, 0.11, 0.11, 0.11), (0.2, 0.08, 0.36, 0.36)),
    ((0.44, 0.12, 0.06, 0.38), (0.5, 0.14, 0.21, 0.15)),
)
DRAWN = 20_000  # tokens of each case: the nearest two outputs are a tenth apart and more


def drawn(name: str, pair: int) -> list[int]:
    """How often each token came out, in DRAWN draws of a rule."""
    p, q = PAIRS[pair]
    dice = random.Random(f"{name} {pair}")
    came = Counter(dice.choices(range(len(p)), emitted(q, *RULES[name](p, q)), k=DRAWN))
    return [came[x] for x in range(len(p))]


IN_ORDER = [(list(p), list(q), drawn(name, i), RULES) for i, (p, q) in enumerate(PAIRS) for name in RULES]
SHUFFLED = random.Random(7).sample(IN_ORDER, len(IN_ORDER))  # so that no order of answers is right
# The same rules under other names: it is the dict that says what they are called.
RENAMED = {f"rule {name}": rule for name, rule in RULES.items()}
OTHER_NAMES = [(p, q, counts, RENAMED) for p, q, counts, _ in SHUFFLED[:4]]


def seen_which(case: tuple, found: str, right: str) -> str:
    p, q, counts, _ = case
    return f"With p = {p}, q = {q} and the counts {counts} your function says {found!r}; it was {right!r}."


def which_rule(p, q, counts, rules):
    def distance(name):
        keep, instead = rules[name](p, q)
        kept = [b * k for b, k in zip(q, keep)]
        refused = 1 - sum(kept)
        out = [k + refused * i for k, i in zip(kept, instead)]
        return sum(abs(n / sum(counts) - o) for n, o in zip(counts, out))

    return min(rules, key=distance)


WHICH = question(
    which_rule,
    cases=SHUFFLED,
    read=partial(word, known=RULES),
    seen=seen_which,
    hint="Work out what comes out by each rule: q(x) · kept(x), and for all that is refused what replaces it. "
    "Then take the rule that is nearest.",
)


@part("11.which", points=4, asks=[WHICH])
def judge_which(made: Callable[[Row, Row, Sequence[int], Mapping[str, Rule]], str]) -> None:
    WHICH.judge(made)
    for p, q, counts, rules in OTHER_NAMES:
        if (found := made(list(p), list(q), list(counts), dict(rules))) != WHICH.right(p, q, counts, rules):
            said = (
                f"With other names for the same rules your function says {shown(found)}: take the names from `rules`."
            )
            raise Wrong(said, 0.75)
