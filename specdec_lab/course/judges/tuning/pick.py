"""Exercise 5: fastest(rows) → (draft, γ) with the largest measured S; (None, 0) where nothing beats plain decoding."""

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from specdec_lab.course.judges.part import part
from specdec_lab.course.judges.question import Mistake, Question, answers, pretty
from specdec_lab.course.judges.reading import listed, shown, whole
from specdec_lab.course.judges.wrong import Wrong
from specdec_lab.theory import expected_tokens as E

Table = list[dict[str, Any]]
Choice = tuple[str | None, int]

FIELDS = ("draft", "weights", "alpha", "gamma", "texts", "d", "v", "o")  # texts: (tokens, passes) of each
NOTHING: Choice = (None, 0)


def measured(*rows: tuple) -> Table:
    return [dict(zip(FIELDS, row)) for row in rows]


TABLES: tuple[Table, ...] = (
    measured(  # the wide one wins, neither the best guesser nor the smallest one; one short text flatters γ = 6
        ("deep", 70, 0.88, 2, [(265, 100), (132, 50)], 0.5, 1.08, 0.03), ("deep", 70, 0.88, 4, [(197, 50), (394, 100)], 1.0, 1.15, 0.03),
        ("deep", 70, 0.88, 6, [(493, 100), (246, 50)], 1.5, 1.4, 0.03),
        ("wide", 40, 0.75, 1, [(175, 100), (88, 50)], 0.06, 1.05, 0.03), ("wide", 40, 0.75, 2, [(231, 100), (116, 50)], 0.12, 1.08, 0.03),
        ("wide", 40, 0.75, 4, [(305, 100), (152, 50)], 0.24, 1.15, 0.03), ("wide", 40, 0.75, 6, [(21, 3), (319, 97)], 0.36, 1.4, 0.03),
        ("thin", 10, 0.72, 1, [(172, 100), (86, 50)], 0.22, 1.05, 0.03), ("thin", 10, 0.72, 2, [(224, 100), (112, 50)], 0.44, 1.08, 0.03),
        ("thin", 10, 0.72, 4, [(288, 100), (144, 50)], 0.88, 1.15, 0.03)),
    measured(  # the loop decides: heads are cheap to draft with and dear to handle
        ("heads", 12, 0.66, 3, [(240, 100), (118, 50)], 0.05, 1.1, 0.4), ("heads", 12, 0.66, 2, [(205, 100)], 0.05, 1.06, 0.38),
        ("model", 9, 0.7, 3, [(245, 100), (121, 50)], 0.27, 1.1, 0.02), ("model", 9, 0.7, 2, [(214, 100)], 0.18, 1.06, 0.02)),
    measured(  # here the best guesser is also the fastest, with the smallest γ, and the pass is dear
        ("good", 30, 0.9, 1, [(190, 100), (95, 50)], 0.1, 1.2, 0.02), ("good", 30, 0.9, 3, [(340, 100)], 0.3, 2.1, 0.02),
        ("poor", 50, 0.4, 1, [(140, 100), (70, 50)], 0.02, 1.2, 0.02), ("poor", 50, 0.4, 3, [(162, 100)], 0.06, 2.1, 0.02)),
    measured(  # accepted drafts come in runs, so the measured tokens are not those of the formula
        ("steady", 20, 0.6, 4, [(300, 100), (150, 50)], 0.2, 1.15, 0.02), ("lucky", 20, 0.75, 4, [(240, 100), (120, 50)], 0.2, 1.15, 0.02)),
    measured(  # copying: wonderful on two short texts, of little use on the long one
        ("copy", 0, 0.5, 4, [(40, 10), (45, 10), (260, 220)], 0.01, 1.15, 0.02), ("model", 25, 0.7, 4, [(28, 10), (27, 10), (640, 230)], 0.28, 1.15, 0.02)),
    measured(  # the fewest weights are the fastest here
        ("big", 90, 0.8, 2, [(244, 100)], 0.6, 1.05, 0.03), ("big", 90, 0.8, 5, [(369, 100)], 1.5, 1.2, 0.03),
        ("small", 5, 0.7, 2, [(219, 100)], 0.06, 1.05, 0.03), ("small", 5, 0.7, 5, [(294, 100)], 0.15, 1.2, 0.03)),
    measured(  # a later γ would be better if the pass cost nothing, and an earlier one on the first text
        ("heads", 12, 0.66, 2, [(270, 100), (60, 60)], 0.08, 1.1, 0.05), ("heads", 12, 0.66, 3, [(236, 100), (50, 20)], 0.08, 1.15, 0.05),
        ("heads", 12, 0.66, 5, [(100, 40), (190, 80)], 0.08, 1.6, 0.05)),
    measured(  # hardly worth it: the only gain is 3 %
        ("only", 30, 0.3, 1, [(130, 100), (65, 50)], 0.05, 1.18, 0.03), ("only", 30, 0.3, 4, [(142, 100)], 0.2, 1.6, 0.03)),
)  # fmt: skip
LOSING: tuple[Table, ...] = (
    measured(
        ("random", 30, 0.02, 1, [(102, 100)], 0.06, 1.05, 0.03), ("random", 30, 0.02, 4, [(102, 100)], 0.24, 1.2, 0.03),
        ("half", 70, 0.75, 2, [(231, 100)], 1.2, 1.08, 0.05), ("half", 70, 0.75, 4, [(305, 100)], 2.4, 1.15, 0.05)),
    measured(("copy", 0, 0.2, 4, [(30, 10), (105, 100)], 0.01, 1.25, 0.02)),  # a mean of ratios would be above 1
)  # fmt: skip


def tokens(row: dict) -> float:
    """Tokens per pass of a row: the sum over the texts by the sum."""
    return sum(n for n, _ in row["texts"]) / sum(passes for _, passes in row["texts"])


def ratios(row: dict) -> float:
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
    right=best,
    cases=[(table,) for table in TABLES],
    equal=operator.eq,
    seen=seen,
    hint=hint,
    mistakes=(
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
        Mistake("You look at the first text only.", most(lambda row: row["texts"][0][0] / row["texts"][0][1] / cost(row))),
        Mistake("You take the slowest row, not the fastest.", most(lambda row: -gain(row))),
        Mistake("You take the first row.", lambda table: choice(table[0])),
        Mistake("You take the last row.", lambda table: choice(table[-1])),
    ),
)  # fmt: skip


@part("5.pick", points=3, asks=[PICK])
def fastest(made: Callable[[Table], Choice]) -> None:
    found = [chosen(value, table) for value, table in zip(answers(made, PICK.cases), TABLES)]
    paying = [n for n, x in enumerate(found) if x != NOTHING]  # a wrong choice may also be found not to pay
    replace(PICK, cases=[PICK.cases[n] for n in paying]).compare([found[n] for n in paying])
    PICK.compare(found)
    for table in LOSING:
        value = made([dict(row) for row in table])
        if value is None or value is Ellipsis:
            raise Wrong("On a table where no row reaches 1, your function returns nothing; give (None, 0).", 2 / 3)
        if (found := chosen(value, table)) != NOTHING:
            said = f"On a table where no row reaches 1, your function takes {shown(found)}."
            flattered = any(ratios(row) > cost(row) for row in table)
            asked = " (Or do you take the mean of ratios there?)" if flattered else ""
            raise Wrong(f"{said} Where nothing beats plain decoding, give (None, 0).{asked}", 2 / 3)


def chosen(value: object, table: Table) -> Choice:
    """What was chosen, as (draft, γ) that stands in the table, or (None, 0)."""
    names = {row["draft"] for row in table}
    if isinstance(value, str):
        raise Wrong(f"Your function gives only {shown(value)}; give both, the draft and its γ.", 0.25)
    draft, gamma = listed(value, 2, "What your function returns, (draft, γ),")
    if isinstance(gamma, str) and gamma in names:
        raise Wrong("The two results are swapped: first the draft, then its γ.", 0.5)
    if draft is not None and draft not in names:
        raise Wrong(f"{shown(draft)} is no draft of the table.")
    gamma = 0 if gamma is None else whole(gamma, "γ")
    if (draft, gamma) != NOTHING and (draft, gamma) not in map(choice, table):
        raise Wrong(f"There is no row with {shown(draft)} and γ = {gamma} in the table.")
    return draft, gamma
