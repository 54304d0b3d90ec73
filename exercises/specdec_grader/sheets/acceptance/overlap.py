"""Exercise 4: chance_to_survive(p, q) → α of one place; p and q are dicts from token to probability."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from statistics import fmean

from specdec_grader.kit import ROUNDED, Mistake, Question, Wrong, number, part

Row = dict[str, float]  # only the tokens with a chance above 0


def overlap(p: Row, q: Row) -> float:
    return sum(min(share, q.get(token, 0.0)) for token, share in p.items())


def favourite(row: Row) -> str:
    return max(row, key=row.__getitem__)


def kept(p: Row, q: Row) -> Row:
    """The chance of each draft to be kept by the rule, where both can say the same tokens."""
    return {token: min(1.0, p[token] / share) for token, share in q.items()}


def hint_for_a_chance(hint: str) -> Callable[[tuple, float], str]:
    return lambda case, found: hint if 0 <= found <= 1 else "This is no chance: it must lie between 0 and 1."


OVERLAP = Question(
    right=overlap, read=partial(number, what="The chance"), near=ROUNDED,
    cases=(
        ({"on": 0.5, "in": 0.3, "at": 0.2}, {"on": 0.7, "in": 0.1, "at": 0.2}),
        ({"red": 0.42, "blue": 0.36, "green": 0.22}, {"red": 0.86, "blue": 0.08, "green": 0.06}),
        ({"red": 0.42, "blue": 0.36, "green": 0.22}, {"red": 0.36, "blue": 0.42, "green": 0.22}),
        ({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, {"a": 0.4, "b": 0.3, "c": 0.25, "d": 0.05})),
    seen="With p = {} and q = {} your function gives {found}.",
    hint=hint_for_a_chance("Go token by token: how often is it drafted, and how often is it kept then? Add this up."),
    mistakes=[
        Mistake("This is the chance that a token drawn from p and one drawn from q happen to be the same. "
                "A draft needs no such luck: drawn from q, it is kept with chance min(1, p/q).",
                lambda p, q: sum(share * q[token] for token, share in p.items()), belief=3),
        Mistake("You ask whether both have the same favourite. This decides in greedy decoding; sampled, all tokens count.",
                lambda p, q: float(favourite(p) == favourite(q)), belief=4),
        Mistake("This is how much p and q differ; α is what is left.", lambda p, q: 1 - overlap(p, q)),
        Mistake("You take away each difference twice: what p has more in one place, it has less in another.",
                lambda p, q: 2 * overlap(p, q) - 1, earned=0.5),
        Mistake("This is the chance of one draft only, the drafter's favourite. The draft is drawn: weigh every token with q.",
                lambda p, q: kept(p, q)[favourite(q)], belief=4),
        Mistake("You look at one token only, a favourite. The draft may be any token that q can draw.",
                lambda p, q: min(p[favourite(p)], q[favourite(p)]),
                lambda p, q: p[favourite(q)]),
        Mistake("You take the mean of min(1, p/q) as if every token were drafted equally often; it is drafted with chance q.",
                lambda p, q: fmean(kept(p, q).values()), earned=0.25),
        Mistake("You add up min(1, p/q) without weights; a token is drafted with chance q.", lambda p, q: sum(kept(p, q).values()), earned=0.25),
        Mistake("You weigh min(1, p/q) with p, but the draft is drawn from q.",
                lambda p, q: sum(p[token] * chance for token, chance in kept(p, q).items()), earned=0.25),
        Mistake("A draft is kept with chance p/q, not q/p.",
                lambda p, q: sum(q[token] * chance for token, chance in kept(q, p).items()), earned=0.25),
        Mistake("Take the smaller of the two shares, not the larger.", lambda p, q: 2 - overlap(p, q))])  # fmt: skip
UNORDERED = replace(OVERLAP, mistakes=(), near=None,
    cases=(({"a": 0.6, "b": 0.3, "c": 0.1}, {"c": 0.2, "b": 0.3, "a": 0.5}), ({"one": 0.55, "two": 0.45}, {"two": 0.15, "one": 0.85})),
    seen="With p = {} and q = {} the result is wrong:",
    hint="the tokens stand in another order there. Find a token's share by its name, not by its place in the dict.")  # fmt: skip
LACKING = replace(UNORDERED,
    cases=(({"a": 0.6, "b": 0.4}, {"b": 0.3, "c": 0.7}), ({"yes": 1.0}, {"no": 0.35, "yes": 0.65}), ({"no": 0.35, "yes": 0.65}, {"yes": 1.0}),
           ({"left": 1.0}, {"right": 1.0}), ({"." * n: 1 / 8 for n in range(8)}, {"." * n: 1 / 4 for n in range(6, 10)})),
    seen="With p = {} and q = {} your function gives {found}.",
    hint="A token that is missing in one of them has chance 0 there.")  # fmt: skip


@part("4.overlap", points=2, asks=[OVERLAP])
def chance_to_survive(made: Callable[[Row, Row], float]) -> None:
    OVERLAP.judge(made)
    UNORDERED.judge(made, earned=0.5)
    for p, q in LACKING.cases:
        try:
            replace(LACKING, cases=[(p, q)]).judge(made, earned=0.5)
        except KeyError:
            said = "raised KeyError. A token that is missing in a dict has chance 0 there: q.get(token, 0)."
            raise Wrong(f"With p = {p} and q = {q} your function {said}", 0.5) from None
