"""Exercise 5: how many times as fast, the best γ, the least α that pays, and a draft chosen from measured tables."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from specdec_grader.coerce import listed, nothing, number, same, shown, whole
from specdec_grader.mistakes import Wrong
from specdec_grader.part import part
from specdec_grader.question import ROUNDED, at_an_edge, for_each, pretty, question, results, stored, table
from specdec_lab.theory import break_even
from specdec_lab.theory import expected_tokens as E

# 5.speedup


def times_as_fast(alpha, gamma, c, v, o):
    return E(alpha, gamma) / (gamma * c + v[gamma] + o)


SPEEDUP = question(
    times_as_fast,
    read=partial(number, what="The speed-up"),
    near=ROUNDED,
    cases=(
        (0.75, 4, 0.1, [1.0, 1.02, 1.05, 1.1, 1.2], 0.05),
        (0.75, 4, 0.5, [1.0, 1.0, 1.0, 1.0, 1.0, 1.3], 0.0),
        (0.6, 1, 0.15, [1.0, 1.25, 1.5], 0.02),
        (0.4, 4, 0.05, [1.0, 1.1, 1.3, 1.5, 1.6, 1.9, 2.4], 0.1),
        (0.9, 2, 0.0, [1.0, 1.3, 1.7, 2.0], 0.02),
        (0.0, 3, 0.2, [1.0, 1.1, 1.15, 1.3], 0.04),
        (1.0, 5, 0.02, [1.0, 1.05, 1.1, 1.2, 1.3, 1.45, 1.5], 0.03),
    ),
    seen="For α = {}, γ = {}, c = {}, v = {} and o = {} your function gives {found}.",
    hint="S = E / (γ · c + v[γ] + o): which of the four is different in your code?",
)


@part("5.speedup", points=2, asks=[SPEEDUP])
def judge_speedup(made: Callable[..., float]) -> None:
    try:
        SPEEDUP.judge(made)
    except IndexError:
        said = "v[0] is the pass over one row, so the pass over γ + 1 rows is v[γ]."
        raise Wrong(f"Your code looks beyond the end of v. {said}") from None
    except ZeroDivisionError:
        replace(SPEEDUP, cases=[case for case in SPEEDUP.cases if case[0] < 1]).judge(made)
        said = "For α = 1 the closed form of E does: there E = γ + 1. The package's expected_tokens can do it."
        raise Wrong(f"Your code divides by 0. {said}", 0.5) from None


# 5.best: d[γ] is what all γ drafts cost together

WHAT = "The best γ"
FLAT = [1.0] * 9


def last_place(values: Sequence[float]) -> int:
    """The place of the largest value, the last of several."""
    return max(range(len(values)), key=lambda n: (values[n], n))


def before_it_falls(values: Sequence[float], strictly: bool = False) -> int:
    """The last place before the values fall for the first time, or do not rise."""
    falls = (n for n, (a, b) in enumerate(pairwise(values)) if b < a or (b == a and not strictly))
    return next(falls, len(values) - 1)


def gains(alpha: float, d: list[float], v: list[float], o: float) -> list[float]:
    return [1.0] + [E(alpha, n) / (d[n] + v[n] + o) for n in range(1, len(v))]


def seen_best(case: tuple, found: int, right: int) -> str:
    reached = gains(*case)
    there = f"S is {pretty(reached[found])}" if 0 <= found < len(reached) else "there is no such γ in the lists"
    given = "For α = {}, d = {}, v = {} and o = {} your function gives γ =".format(*map(pretty, case))
    return f"{given} {found}; {there}, and the best S is {pretty(reached[right])}."


def gamma_to_use(alpha, d, v, o):
    S = [1.0]
    for gamma in range(1, len(v)):
        S.append(E(alpha, gamma) / (d[gamma] + v[gamma] + o))
    return S.index(max(S))


BEST = question(
    gamma_to_use,
    cases=(
        (0.8, [0.3 * n for n in range(9)], FLAT, 0.0),
        (0.8, [0.1 * n for n in range(9)], FLAT, 0.0),
        (0.95, [0.0] * 5, [1.0, 1.0, 1.01, 1.02, 1.03], 0.0),
        (0.9, [0.0] * 8, [1.0, 1.05, 1.9, 1.9, 1.9, 1.9, 1.9, 1.9], 0.05),
        (0.6, [0.0, 0.15, 0.15, 0.15, 0.15, 0.15], [1.0, 1.03, 1.06, 1.1, 1.3, 1.7], 0.03),
        (0.3, [0.1 * n for n in range(7)], [1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2], 0.03),
        (0.6, [0.15 * n for n in range(5)], [1.0, 1.25, 1.5, 1.85, 2.2], 0.0),
        (0.2, [0.0, 0.1], [1.0, 1.05], 0.2),
        (0.25, [0.0, 0.02, 0.04, 0.06], [1.0, 1.2, 1.3, 1.4], 0.06),
        (0.7, [0.0, 0.2, 0.2, 0.2, 0.2], [1.0, 1.1, 1.3, 1.5, 1.7], 0.25),
        (1.0, [0.0] * 3, [1.0, 1.0, 1.5], 0.0),
        (0.0, [0.0] * 4, [1.0] * 4, 0.0),
        (0.0, [0.0, 0.05, 0.1], [1.0, 1.1, 1.2], 0.02),
    ),
    seen=seen_best,
    hint="Compute S for every γ in the lists, with S = 1 for γ = 0, and compare.",
)


@part("5.best", points=2, asks=[BEST])
def judge_best(made: Callable[[float, list[float], list[float], float], int]) -> None:
    values = results(made, BEST)
    if same([number(value, WHAT) for value in values], speedups := [max(gains(*case)) for case in BEST.cases]):
        said = "this is the speed-up. Give back the γ that reaches it."
        raise Wrong(f"Your function gives {pretty(speedups[0])}: {said}", 0.5)
    BEST.compare([whole(value, WHAT) for value in values])
    try:
        alone = made(0.8, [0.0], [1.0], 0.0)
    except (ValueError, IndexError):
        alone = None
    if alone is None or whole(alone, WHAT) != 0:
        raise Wrong("Where the lists have room for γ = 0 only, the answer is 0.", 0.75)


# 5.least

NEVER = "A round writes {} tokens at most, so no α is enough: give None."
FREE_AT_0 = (
    "A round that costs no more than a plain pass never loses: it writes one token even for α = 0. The least α is 0."
)
EDGES = {
    (4, 5.01): NEVER,
    (1, 2.5): NEVER,
    (2, 30.0): NEVER,
    (3, 1.0): FREE_AT_0,
    (3, 0.6): FREE_AT_0,
    (1, 0.95): FREE_AT_0,
    (3, 4.0): "A round that writes γ + 1 tokens for a cost of γ + 1 comes out even: α = 1 is just enough.",
}


def read_alpha(value: object) -> float | None:
    return None if value is None else number(value, "The least α")


def hint_least(case: tuple, found: float | None) -> str:
    if found is None:
        return f"But α = 1 writes {case[0] + 1} tokens, which is enough."
    return f"At that α a round writes {pretty(E(found, case[0]))} tokens." if abs(found) < 1e3 else ""


def least_alpha(gamma, cost):
    return break_even(gamma, 0.0, cost)


LEAST = question(
    least_alpha,
    read=read_alpha,
    equal=partial(same, tolerance=5e-4),
    cases=((1, 1.3), (4, 2.2), (4, 1.5), (2, 2.96), (8, 1.2), (3, 1.05), (6, 4.0), (2, 1.01)),
    seen="For γ = {} and a round that costs {} your function gives {found}.",
    hint=hint_least,
)


@part("5.least", points=2, seconds=10, asks=[LEAST])
def judge_least(made: Callable[[int, float], float | None]) -> None:
    values = for_each(made, LEAST.cases)
    if all(map(nothing, values)):
        results(made, LEAST)  # None is an answer, but to none of these
    found = list(map(read_alpha, values))
    if all(same(x, LEAST.right(*case), 0.011) for case, x in zip(LEAST.cases, found)):
        coarse = "Near, but not near enough: it should be right to 0.0005. Halve the interval more often."
        replace(LEAST, mistakes=(), hint=coarse).compare(found, earned=0.75)
    LEAST.compare(found)
    for (gamma, cost), why in EDGES.items():
        edge, right = f"For γ = {gamma} and a round that costs {pretty(cost)}", LEAST.right(gamma, cost)
        with at_an_edge(f"{edge}:"):
            x = made(gamma, cost)
            if not LEAST.equal(x if x is None or right is None else read_alpha(x), right):
                raise Wrong(f"{edge} your function gives {shown(x)}. {why.format(gamma + 1)}")


# 5.pick

Table = list[dict[str, Any]]
Choice = tuple[str | None, int]
NOTHING: Choice = (None, 0)


def tables(kind: str) -> list[Table]:
    """The stored tables of a kind: those where something beats plain decoding, or the losing ones."""
    found = [table("measured_drafts", item["rows"]) for item in stored("measured_drafts")[kind]]
    return [[{**row, "texts": list(map(tuple, row["texts"]))} for row in rows] for rows in found]


def turned(table: Table) -> Table:
    """The same rows with their texts in the other order: nothing about a row depends on it."""
    return [{**row, "texts": row["texts"][::-1]} for row in table]


TABLES = [table for each in tables("winning") for table in (each, turned(each))]


def tokens(row: dict) -> float:
    """Tokens per pass of a row: the sum over the texts by the sum."""
    return sum(n for n, _ in row["texts"]) / sum(passes for _, passes in row["texts"])


def ratios(row: dict) -> float:
    """The mean of the texts' own tokens per pass."""
    return sum(n / passes for n, passes in row["texts"]) / len(row["texts"])


def text(row: dict, at: int) -> float:
    """Tokens per pass of one text."""
    return row["texts"][at][0] / row["texts"][at][1]


def cost(row: dict) -> float:
    return row["d"] + row["v"] + row["o"]


def gain(row: dict) -> float:
    return tokens(row) / cost(row)


choice = operator.itemgetter("draft", "gamma")


def seen_pick(case: tuple[Table], found: Choice, right: Choice) -> str:
    reached = {choice(row): pretty(gain(row)) for row in case[0]} | {NOTHING: pretty(1.0)}
    before = f"On a table where {right[0]!r} with γ = {right[1]} reaches {reached[right]},"
    return f"{before} your function takes {shown(found)}, which reaches {reached[found]}."


def hint_pick(case: tuple[Table], found: Choice) -> str:
    if found == NOTHING:
        return "Whatever is above 1 beats plain decoding."
    row = max(case[0], key=gain)
    costs = ", ".join(f"{name} = {pretty(row[name])}" for name in "dvo")
    return f"Its texts are {row['texts']}, with {costs}. What is its speed-up by your code?"


def fastest(rows):
    if max(map(gain, rows)) <= 1:
        return NOTHING
    best = max(rows, key=gain)
    return best["draft"], best["gamma"]


PICK = question(fastest, cases=[(table,) for table in TABLES], seen=seen_pick, hint=hint_pick)


@part("5.pick", points=3, asks=[PICK])
def judge_pick(made: Callable[[Table], Choice]) -> None:
    found = [chosen(value, table) for value, table in zip(results(made, PICK), TABLES)]
    paying = [n for n, x in enumerate(found) if x != NOTHING]  # a wrong choice may also be found not to pay
    replace(PICK, cases=[PICK.cases[n] for n in paying]).compare([found[n] for n in paying])
    PICK.compare(found)
    for losing in tables("losing"):
        value = made([dict(row) for row in losing])
        if nothing(value):
            raise Wrong("On a table where no row reaches 1, your function returns nothing; give (None, 0).", 2 / 3)
        if (found := chosen(value, losing)) != NOTHING:
            said = f"On a table where no row reaches 1, your function takes {shown(found)}."
            flattered = any(ratios(row) > cost(row) for row in losing)
            asked = " Or do you take the mean of ratios there?" if flattered else ""
            raise Wrong(f"{said} Where nothing beats plain decoding, give (None, 0).{asked}", 2 / 3)


def chosen(value: object, table: Table) -> Choice:
    """What was chosen, as (draft, γ) that stands in the table, or (None, 0)."""
    names = {row["draft"] for row in table}
    if isinstance(value, str):
        raise Wrong(f"Your function gives only {shown(value)}; give both, the draft and its γ.")
    draft, gamma = listed(value, 2, "What your function returns, (draft, γ),")
    if isinstance(gamma, str) and gamma in names:
        raise Wrong("The two results are swapped: first the draft, then its γ.")
    if draft is not None and draft not in names:
        raise Wrong(f"{shown(draft)} is no draft of the table.")
    gamma = 0 if gamma is None else whole(gamma, "γ")
    if (draft, gamma) != NOTHING and (draft, gamma) not in map(choice, table):
        raise Wrong(f"There is no row with {shown(draft)} and γ = {gamma} in the table.")
    return draft, gamma
