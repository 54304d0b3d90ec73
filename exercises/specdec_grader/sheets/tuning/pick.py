"""Exercise 5: fastest(rows) → (draft, γ) with the largest measured S; (None, 0) where nothing beats plain decoding."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specdec_grader.kit import Mistake, Question, Wrong, listed, nothing, part, pretty, results, shown, whole
from specdec_grader.stored import stored, table
from specdec_lab.theory import expected_tokens as E

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


def cost(row: dict) -> float:
    return row["d"] + row["v"] + row["o"]


def gain(row: dict) -> float:
    return tokens(row) / cost(row)


choice = operator.itemgetter("draft", "gamma")


def most(key: Callable[[dict], Any]) -> Callable[[Table], Choice]:
    return lambda table: choice(max(table, key=key))


def best(table: Table) -> Choice:
    return most(gain)(table) if max(map(gain, table)) > 1 else NOTHING


def its_largest_gamma(table: Table) -> Choice:
    draft, _ = best(table)
    return draft, max(row["gamma"] for row in table if row["draft"] == draft)


def seen(case: tuple[Table], found: Choice, right: Choice) -> str:
    reached = {choice(row): pretty(gain(row)) for row in case[0]} | {NOTHING: pretty(1.0)}
    before = f"On a table where {right[0]!r} with γ = {right[1]} reaches {reached[right]},"
    return f"{before} your function takes {shown(found)}, which reaches {reached[found]}."


def hint(case: tuple[Table], found: Choice) -> str:
    if found == NOTHING:
        return "Whatever is above 1 beats plain decoding."
    row = max(case[0], key=gain)
    costs = ", ".join(f"{name} = {pretty(row[name])}" for name in "dvo")
    return f"Its texts are {row['texts']}, with {costs}. What is its speed-up by your code?"


PICK = Question(
    right=best, cases=[(table,) for table in TABLES], seen=seen, hint=hint,
    mistakes=[
        Mistake("You take the most tokens per pass. A round also costs time: divide by d + v + o.", most(tokens), most(ratios), belief=7),
        Mistake("You choose the draft by its α. What it costs, and what the target's pass costs, count as much.",
                most(lambda row: row["alpha"]), most(lambda row: (row["alpha"], gain(row))), most(lambda row: (row["alpha"], row["gamma"]))),
        Mistake("You choose the draft with the fewest weights. What it costs is d, which was measured.",
                most(lambda row: (-row["weights"], gain(row))), most(lambda row: -row["weights"]), belief=14),
        Mistake("You choose the cheapest drafts. What do they bring?", most(lambda row: -row["d"])),
        Mistake("You choose the cheapest round. How many tokens does it write?", most(lambda row: -cost(row))),
        Mistake("You take the mean of the texts' own tokens per pass, so a short text weighs as much as a long one: divide all tokens by all passes.",
                most(lambda row: ratios(row) / cost(row)), earned=0.5),
        Mistake("The draft is right, but you take its largest γ.", its_largest_gamma, belief=8, earned=0.25),
        Mistake("You take the largest γ.", most(lambda row: row["gamma"]), belief=8),
        Mistake("d is what all drafts of a round cost together; do not multiply it by γ.",
                most(lambda row: tokens(row) / (row["gamma"] * row["d"] + row["v"] + row["o"])), earned=0.5),
        Mistake("The rest of the loop, o, is missing in the cost.", most(lambda row: tokens(row) / (row["d"] + row["v"])), earned=0.5),
        Mistake("The target's pass, v, is missing in the cost.", most(lambda row: tokens(row) / (row["d"] + row["o"]))),
        Mistake("The target's pass costs v, not 1.", most(lambda row: tokens(row) / (row["d"] + 1 + row["o"]))),
        Mistake("The drafts, d, are missing in the cost.", most(lambda row: tokens(row) / (row["v"] + row["o"]))),
        Mistake("You compute the tokens from α. They were measured; the formula is only right if drafts survive independently.",
                most(lambda row: E(row["alpha"], row["gamma"]) / cost(row)), earned=0.5),
        Mistake("You look at one text only; all of them count.", *(most(lambda row, at=at: row["texts"][at][0] / row["texts"][at][1] / cost(row)) for at in (0, -1))),
        Mistake("You take the slowest row, not the fastest.", most(lambda row: -gain(row))),
        Mistake("You take the first row.", lambda table: choice(table[0])),
        Mistake("You take the last row.", lambda table: choice(table[-1]))])  # fmt: skip


@part("5.pick", points=3, asks=[PICK])
def fastest(made: Callable[[Table], Choice]) -> None:
    found = [chosen(value, table) for value, table in zip(results(made, PICK.cases), TABLES)]
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
            asked = " (Or do you take the mean of ratios there?)" if flattered else ""
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
