"""Exercise 8: an engine's counts, the time of a whole answer, and a decision from a report."""

import itertools
import operator
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from specdec_grader.coerce import listed, number, shown, word
from specdec_grader.mistakes import Wrong
from specdec_grader.part import part, part_of_one
from specdec_grader.question import ROUNDED, pretty, question, results, stored, table
from specdec_lab.measure.prompts import ENOUGH
from specdec_lab.theory import expected_tokens

# 8.survival: the learner's function gives both, α by place and tokens per pass

Cards = Sequence[tuple[int, Sequence[float]]]  # (rounds, survival by place) of each card
Alphas = list[float | None]

ENGINES = (
    ([(200, [0.8, 0.6, 0.45])],),
    ([(300, [0.9, 0.72]), (100, [0.5, 0.1])],),
    ([(100, [0.5, 0.0, 0.0])],),
    ([(60, [0.75, 0.5, 0.25, 0.25]), (20, [0.25, 0.25, 0.25, 0.0]), (120, [0.5, 0.25, 0.0, 0.0])],),
    ([(0, [0.0, 0.0]), (50, [0.6, 0.3])],),
    ([(40, [0.7])],),
    ([(10, [0.0, 0.0])],),
)


def pooled(cards: Cards) -> list[float]:
    """Survival by place over all rounds of all cards."""
    rounds = sum(n for n, _ in cards)
    return [sum(n * s[i] for n, s in cards) / rounds for i in range(len(cards[0][1]))]


def mean_survival(cards: Cards) -> list[float]:
    """The mean of the cards' survival by place, as if all of them had as many rounds."""
    return [fmean(place) for place in zip(*(s for _, s in cards))]


def mean_over_cards(cards: Cards, weight: Callable[[int], float]) -> Alphas:
    """Of the cards' own α's, place by place, over the cards that have one there; `weight` is given a card's rounds."""
    places = zip(*(alphas([(1, s)]) for _, s in cards))
    known = [[(a, weight(n)) for (n, _), a in zip(cards, place) if a is not None and weight(n)] for place in places]
    return [fmean(*zip(*pairs)) if pairs else None for pairs in known]


def known_alphas(cards: Cards) -> list[float]:
    return [alpha for alpha in alphas(cards) if alpha is not None]


def alphas(cards):
    past = pooled(cards)
    return [b / a if a else None for a, b in itertools.pairwise([1.0, *past])]


ALPHAS = question(
    alphas,
    cases=ENGINES,
    seen="For the cards {} α by place is {right}; yours is {found}.",
    hint="Of the rounds that got to a place, on all cards together, how many got past it?",
)


def by_formula(alpha: float, cards: Cards) -> float:
    """Tokens per pass, if drafts had the same chance at every place."""
    return expected_tokens(alpha, len(cards[0][1]))


def tokens_per_pass(cards):
    return 1 + sum(pooled(cards))


TOKENS = question(
    tokens_per_pass,
    cases=ENGINES,
    seen="The α's are right. For the cards {} tokens per pass are {right}; yours are {found}.",
    hint="How many drafts does a round keep on average, and what does the target add?",
)


def read_survival(value: object, places: int) -> tuple[Alphas, float]:
    """The two results of one engine: an α of each place, and tokens per pass."""
    by_place, tokens = listed(value, 2)
    by_place = listed(by_place, what="The list of α's")
    if len(by_place) != places:
        yours = f"With {places} places there should be {places} α's; yours are {shown(by_place)}."
        raise Wrong(f"{yours} A place that no round reached has None.")
    return [None if a is None else number(a, "Each α") for a in by_place], number(tokens, "Tokens per pass")


@part("8.survival", points=2, asks=[ALPHAS, TOKENS])
def judge_survival(made: Callable[[Cards], tuple[Alphas, float]]) -> None:
    found = [read_survival(value, len(cards[0][1])) for (cards,), value in zip(ENGINES, results(made, ALPHAS, TOKENS))]
    by_place, tokens = zip(*found)
    ALPHAS.compare(by_place, earned=0.5 * (TOKENS.first_wrong(tokens) is None))
    TOKENS.compare(tokens, earned=0.5)


# 8.whole


def whole_answer(first, per_token, tokens, ratio):
    writing = (tokens - 1) * per_token
    return (first + writing) / (first + writing / ratio)


WHOLE = question(
    whole_answer,
    near=ROUNDED,
    cases=(
        (0.5, 0.02, 201, 2.0),
        (3.0, 0.02, 5, 2.0),
        (0.1, 0.05, 1, 3.0),
        (0.0, 0.03, 40, 1.6),
        (2.0, 0.04, 101, 0.8),
        (1.0, 0.03, 50, 1.0),
    ),
    seen="With {} s to the first token, {} s for each further one, {} tokens and ratio {} "
    "the answer is {right} times as fast; yours is {found}.",
    hint="What is the whole time without drafts, and with?",
)
part_of_one("8.whole", points=2, asked=WHOLE)


# 8.decide: the learner's function gives three things, the decision, the drafter, and the kinds to leave it off for

REPORTS = {
    name: {"rows": table("reports", found["rows"]), "compared": found["compared"]}
    for name, found in stored("reports")["reports"].items()
}
CASES = [(report,) for report in REPORTS.values()]
DEPLOY, DONT, UNCLEAR, TOO_FEW = "deploy", "don't", "unclear", "too few prompts"
ratio = operator.itemgetter("ratio_to_plain")


def overall(report: dict) -> list[dict]:
    return [row for row in report["rows"] if row["kind"] == "overall" and row["arm"] != "plain"]


def kinds(report: dict, arm: str | None) -> list[dict]:
    return [row for row in report["rows"] if row["kind"] != "overall" and row["arm"] == arm]


def fastest(report: dict) -> dict:
    return max(overall(report), key=ratio)


def named(report: dict) -> dict:
    """The row of the drafter that is named; with too few prompts, of the fastest."""
    return next((row for row in overall(report) if row["arm"] == drafter(report)), fastest(report))


def ends(row: dict) -> list[float]:
    """Of the interval against plain decoding; without one, anything may be."""
    return row["ratio_interval"] or [0.0, 2.0]


def low(row: dict) -> float:
    return ends(row)[0]


def high(row: dict) -> float:
    return ends(row)[1]


def seen_report(what: str) -> Callable[[tuple, Any, Any], str]:
    """The first half of a sentence about one of the three things."""

    def seen(case: tuple, found: Any, right: Any) -> str:
        name = next(name for name, report in REPORTS.items() if report == case[0])
        rows = []
        for row in overall(case[0]):
            between = row["ratio_interval"]
            interval = " from {:.2f} to {:.2f}".format(*between) if between else ", no interval"
            rows.append(f"{row['arm']} {ratio(row):.2f}{interval}")
        rows += [
            "{first} / {second} from {interval[0]:.2f} to {interval[1]:.2f}".format(**c) for c in case[0]["compared"]
        ]
        decides = f"{'; '.join(rows)}; {fastest(case[0])['prompts']} prompts"
        return f"In a report like “{name}” ({decides}) {what} should be {pretty(right)}; yours is {pretty(found)}."

    return seen


def drafter(report):
    rows = overall(report)
    if rows[0]["prompts"] < ENOUGH:
        return None
    tied = any(two["interval"][0] <= 1.02 for two in report["compared"])
    return max(rows, key=low if tied else ratio)["arm"]


def hint_drafter(case: tuple, found: object) -> str:
    known = [row["arm"] for row in overall(case[0])]
    if found == "plain":
        return "Plain decoding is what drafters are compared with. Name a drafter, also where all of them lose: that is what “don't” says."
    if found is not None and found not in known:
        return f"The drafters of this report are {' and '.join(known)}."
    return "Can the two be told apart? If so, which is the fastest; if not, which has the larger low end?"


DRAFTER = question(drafter, cases=CASES, seen=seen_report("the drafter"), hint=hint_drafter)


def decision(report):
    row = named(report)
    if row["prompts"] < ENOUGH:
        return TOO_FEW
    low, high = ends(row)
    return DEPLOY if low > 1 else DONT if high < 1 else UNCLEAR


DECISION = question(
    decision,
    cases=CASES,
    seen=seen_report("the decision"),
    hint="Are there enough prompts, and where does the interval lie?",
)


def left_off(report):
    if decision(report) != DEPLOY:
        return []
    rows = kinds(report, drafter(report))
    return [row["kind"] for row in rows if ratio(row) < 1]


KINDS = question(
    left_off,
    equal=lambda a, b: sorted(a) == sorted(b),
    cases=CASES,
    seen=seen_report("the list of kinds"),
    hint="For which kinds is the ratio of this drafter below 1?",
)


def read_decision(value: object) -> tuple[str, str | None, list[str]]:
    """The three things that the learner's function gives, in a form that can be compared."""
    decision, arm, leave = listed(value, 3)
    decision = word(decision, (DEPLOY, DONT, UNCLEAR, TOO_FEW), "The decision")
    if not isinstance(arm, str | None):
        raise Wrong(f"The drafter should be a name, such as “lookup”; yours is {shown(arm)}.")
    leave = listed(sorted(leave) if isinstance(leave, set | frozenset) else leave, what="The list of kinds")
    if not all(isinstance(kind, str) for kind in leave):
        raise Wrong(f"The list of kinds should hold their names; yours is {shown(leave)}.")
    if "overall" in leave:
        raise Wrong("“overall” is no kind of prompt: it is the row that holds all of them.")
    return decision, arm, sorted(leave)


@part("8.decide", points=3, asks=[DECISION, DRAFTER, KINDS])
def judge_decide(made: Callable[[dict], tuple[str, str, list[str]]]) -> None:
    none = f", which has fewer than {ENOUGH} prompts and no interval"
    names = [f"the report “{name}”{none * (not fastest(r)['ratio_interval'])}" for name, r in REPORTS.items()]
    values = results(made, DECISION, DRAFTER, KINDS, names=names)
    decisions, drafters, leave = zip(*map(read_decision, values))
    DRAFTER.compare(drafters)
    DECISION.compare(decisions, earned=1 / 3)
    KINDS.compare(leave, earned=2 / 3)
