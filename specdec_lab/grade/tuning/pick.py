"""Exercise 5: a choice from measured tables."""

from collections.abc import Callable
from typing import Any

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import Wrong, listed, part, shown, whole
from specdec_lab.theory import expected_tokens as E

Table = list[dict[str, Any]]
Pick = tuple[str | None, int]


def rows_of(draft: str, weights: int, alpha: float, sweep: dict[int, tuple]) -> Table:
    """sweep: {γ: ([(tokens, passes) of each text], d, v, o)}."""
    return [
        {"draft": draft, "weights": weights, "alpha": alpha, "gamma": n, "texts": texts, "d": d, "v": v, "o": o}
        for n, (texts, d, v, o) in sweep.items()
    ]


TABLES: tuple[Table, ...] = (
    [  # the wide one wins, neither the best guesser nor the smallest one; one short text flatters γ = 6
        *rows_of(
            "deep",
            70,
            0.88,
            {
                2: ([(265, 100), (132, 50)], 0.5, 1.08, 0.03),
                4: ([(197, 50), (394, 100)], 1.0, 1.15, 0.03),
                6: ([(493, 100), (246, 50)], 1.5, 1.4, 0.03),
            },
        ),
        *rows_of(
            "wide",
            40,
            0.75,
            {
                1: ([(175, 100), (88, 50)], 0.06, 1.05, 0.03),
                2: ([(231, 100), (116, 50)], 0.12, 1.08, 0.03),
                4: ([(305, 100), (152, 50)], 0.24, 1.15, 0.03),
                6: ([(21, 3), (319, 97)], 0.36, 1.4, 0.03),
            },
        ),
        *rows_of(
            "thin",
            10,
            0.72,
            {
                1: ([(172, 100), (86, 50)], 0.22, 1.05, 0.03),
                2: ([(224, 100), (112, 50)], 0.44, 1.08, 0.03),
                4: ([(288, 100), (144, 50)], 0.88, 1.15, 0.03),
            },
        ),
    ],
    [  # the loop decides: heads are cheap to draft with and dear to handle
        *rows_of(
            "heads", 12, 0.66, {3: ([(240, 100), (118, 50)], 0.05, 1.1, 0.4), 2: ([(205, 100)], 0.05, 1.06, 0.38)}
        ),
        *rows_of("model", 9, 0.7, {3: ([(245, 100), (121, 50)], 0.27, 1.1, 0.02), 2: ([(214, 100)], 0.18, 1.06, 0.02)}),
    ],
    [  # here the best guesser is also the fastest, with the smallest γ, and the pass is dear
        *rows_of("good", 30, 0.9, {1: ([(190, 100), (95, 50)], 0.1, 1.2, 0.02), 3: ([(340, 100)], 0.3, 2.1, 0.02)}),
        *rows_of("poor", 50, 0.4, {1: ([(140, 100), (70, 50)], 0.02, 1.2, 0.02), 3: ([(162, 100)], 0.06, 2.1, 0.02)}),
    ],
    [  # accepted drafts come in runs, so the measured tokens are not those of the formula
        *rows_of("steady", 20, 0.6, {4: ([(300, 100), (150, 50)], 0.2, 1.15, 0.02)}),
        *rows_of("lucky", 20, 0.75, {4: ([(240, 100), (120, 50)], 0.2, 1.15, 0.02)}),
    ],
    [  # copying: wonderful on two short texts, of little use on the long one
        *rows_of("copy", 0, 0.5, {4: ([(40, 10), (45, 10), (260, 220)], 0.01, 1.15, 0.02)}),
        *rows_of("model", 25, 0.7, {4: ([(28, 10), (27, 10), (640, 230)], 0.28, 1.15, 0.02)}),
    ],
    [  # the fewest weights are the fastest here
        *rows_of("big", 90, 0.8, {2: ([(244, 100)], 0.6, 1.05, 0.03), 5: ([(369, 100)], 1.5, 1.2, 0.03)}),
        *rows_of("small", 5, 0.7, {2: ([(219, 100)], 0.06, 1.05, 0.03), 5: ([(294, 100)], 0.15, 1.2, 0.03)}),
    ],
    [  # a later γ would be better if the pass cost nothing, and an earlier one on the first text
        *rows_of(
            "heads",
            12,
            0.66,
            {
                2: ([(270, 100), (60, 60)], 0.08, 1.1, 0.05),
                3: ([(236, 100), (50, 20)], 0.08, 1.15, 0.05),
                5: ([(100, 40), (190, 80)], 0.08, 1.6, 0.05),
            },
        ),
    ],
    [  # hardly worth it: the only gain is 3 %
        *rows_of("only", 30, 0.3, {1: ([(130, 100), (65, 50)], 0.05, 1.18, 0.03), 4: ([(142, 100)], 0.2, 1.6, 0.03)}),
    ],
)
LOSING: tuple[Table, ...] = (
    [
        *rows_of("random", 30, 0.02, {1: ([(102, 100)], 0.06, 1.05, 0.03), 4: ([(102, 100)], 0.24, 1.2, 0.03)}),
        *rows_of("half", 70, 0.75, {2: ([(231, 100)], 1.2, 1.08, 0.05), 4: ([(305, 100)], 2.4, 1.15, 0.05)}),
    ],
    [*rows_of("copy", 0, 0.2, {4: ([(30, 10), (105, 100)], 0.01, 1.25, 0.02)})],
)


def tokens(row: dict) -> float:
    """Tokens per pass of a row: the sum over the texts by the sum."""
    return sum(n for n, _ in row["texts"]) / sum(passes for _, passes in row["texts"])


def ratios(row: dict) -> float:
    return sum(n / passes for n, passes in row["texts"]) / len(row["texts"])


def gain(row: dict) -> float:
    return tokens(row) / (row["d"] + row["v"] + row["o"])


def _by(key: Callable[[dict], Any]) -> Callable[[Table], Pick]:
    def pick(table: Table) -> Pick:
        best = max(table, key=key)
        return best["draft"], best["gamma"]

    return pick


def _largest_gamma(table: Table) -> Pick:
    draft = _by(gain)(table)[0]
    return draft, max(row["gamma"] for row in table if row["draft"] == draft)


ALPHA = "You choose the draft by its α. What it costs, and what the target's pass costs, count as much."
PICKS = (
    Mistake("You take the most tokens per pass. A round also costs time: divide by d + v + o.", _by(tokens), 7),
    Mistake("You take the most tokens per pass. A round also costs time: divide by d + v + o.", _by(ratios), 7),
    Mistake(ALPHA, _by(lambda row: row["alpha"])),
    Mistake(ALPHA, _by(lambda row: (row["alpha"], gain(row)))),
    Mistake(ALPHA, _by(lambda row: (row["alpha"], row["gamma"]))),
    Mistake(
        "You choose the draft with the fewest weights. What it costs is d, which was measured.",
        _by(lambda row: (-row["weights"], gain(row))),
        14,
    ),
    Mistake(
        "You choose the draft with the fewest weights. What it costs is d, which was measured.",
        _by(lambda row: -row["weights"]),
        14,
    ),
    Mistake("You choose the cheapest drafts. What do they bring?", _by(lambda row: -row["d"])),
    Mistake(
        "You choose the cheapest round. How many tokens does it write?",
        _by(lambda row: -row["d"] - row["v"] - row["o"]),
    ),
    Mistake(
        "You take the mean of the texts' own tokens per pass, so a short text weighs as much as a long one: "
        "divide all tokens by all passes.",
        _by(lambda row: ratios(row) / (row["d"] + row["v"] + row["o"])),
        earned=0.5,
    ),
    Mistake("The draft is right, but you take its largest γ.", _largest_gamma, 8, 0.25),
    Mistake("You take the largest γ.", _by(lambda row: row["gamma"]), 8),
    Mistake(
        "d is what all drafts of a round cost together; do not multiply it by γ.",
        _by(lambda row: tokens(row) / (row["gamma"] * row["d"] + row["v"] + row["o"])),
        earned=0.5,
    ),
    Mistake(
        "The rest of the loop, o, is missing in the cost.",
        _by(lambda row: tokens(row) / (row["d"] + row["v"])),
        earned=0.5,
    ),
    Mistake("The target's pass, v, is missing in the cost.", _by(lambda row: tokens(row) / (row["d"] + row["o"]))),
    Mistake("The target's pass costs v, not 1.", _by(lambda row: tokens(row) / (row["d"] + 1 + row["o"]))),
    Mistake("The drafts, d, are missing in the cost.", _by(lambda row: tokens(row) / (row["v"] + row["o"]))),
    Mistake(
        "You compute the tokens from α. They were measured; the formula is only right if drafts survive independently.",
        _by(lambda row: E(row["alpha"], row["gamma"]) / (row["d"] + row["v"] + row["o"])),
        earned=0.5,
    ),
    Mistake(
        "You look at the first text only.",
        _by(lambda row: row["texts"][0][0] / row["texts"][0][1] / (row["d"] + row["v"] + row["o"])),
    ),
    Mistake("You take the slowest row, not the fastest.", _by(lambda row: -gain(row))),
    Mistake("You take the first row.", lambda table: (table[0]["draft"], table[0]["gamma"])),
    Mistake("You take the last row.", lambda table: (table[-1]["draft"], table[-1]["gamma"])),
)


@part("5.pick", points=3)
def fastest(made: Callable[[Table], Pick]) -> None:
    """fastest(rows) → (draft, γ) with the largest measured S; (None, 0) where nothing beats plain decoding."""
    cases = [(table,) for table in TABLES]
    found = [_picked(value, table) for value, table in zip(answers(made, cases), TABLES)]
    right = [_by(gain)(table) for table in TABLES]
    if found != right:
        table, x, best = next((t, x, r) for t, x, r in zip(TABLES, found, right) if x != r)
        reached = {(row["draft"], row["gamma"]): gain(row) for row in table} | {(None, 0): 1.0}
        before = (
            f"On a table where {best[0]!r} with γ = {best[1]} reaches {told(reached[best])}, "
            f"your function takes {shown(x)}, which reaches {told(reached[x])}."
        )
        if any(x != (None, 0) for x in found):  # a wrong choice may also be found not to pay
            mistake = explained(PICKS, cases, found, lambda a, b: b in (a, (None, 0)))
            if mistake:
                raise named(mistake, before, "")
        if x == (None, 0):
            raise Wrong(f"{before} Whatever is above 1 beats plain decoding.")
        row = next(row for row in table if (row["draft"], row["gamma"]) == best)
        raise Wrong(
            f"{before} Its texts are {row['texts']}, with d = {told(row['d'])}, v = {told(row['v'])}, "
            f"o = {told(row['o'])}. What is its speed-up by your code?"
        )
    for table in LOSING:
        value = made([dict(row) for row in table])
        if value is None or value is Ellipsis:
            raise Wrong("On a table where no row reaches 1, your function returns nothing; give (None, 0).", 2 / 3)
        x = _picked(value, table)
        if x != (None, 0):
            flattered = max(map(gain, table)) < 1 < max(ratios(r) / (r["d"] + r["v"] + r["o"]) for r in table)
            raise Wrong(
                f"On a table where no row reaches 1, your function takes {shown(x)}. "
                "Where nothing beats plain decoding, give (None, 0)."
                + (" (Or do you take the mean of ratios there?)" if flattered else ""),
                2 / 3,
            )


def _picked(value: object, table: Table) -> Pick:
    """What was picked, as (draft, γ) that stands in the table, or (None, 0)."""
    names = {row["draft"] for row in table}
    if isinstance(value, str):
        raise Wrong(f"Your function gives only {shown(value)}; give both, the draft and its γ.", 0.25)
    draft, gamma = listed(value, 2, "What your function returns, (draft, γ),")
    if isinstance(gamma, str) and gamma in names:
        raise Wrong("The two results are swapped: first the draft, then its γ.", 0.5)
    if draft is not None and draft not in names:
        raise Wrong(f"{shown(draft)} is no draft of the table.")
    gamma = 0 if gamma is None else whole(gamma, "γ")
    if (draft, gamma) != (None, 0) and (draft, gamma) not in {(row["draft"], row["gamma"]) for row in table}:
        raise Wrong(f"There is no row with {shown(draft)} and γ = {gamma} in the table.")
    return draft, gamma
