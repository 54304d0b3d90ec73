"""Exercise 8: an engine's counts, the time of a whole answer, and a decision from a report."""

import itertools
import operator
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from specdec_grader.coerce import listed, number, shown
from specdec_grader.mistake import Wrong
from specdec_grader.part import part
from specdec_grader.question import ROUNDED, pretty, question, results
from specdec_grader.stored import stored, table
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
    wrong="""
return pooled(cards)
    This is survival itself: divide it by survival one place earlier.
return [fmean(pooled(cards))] * len(cards[0][1])
    This is one rate for all places, accepted by proposed. α of a place counts only the rounds that got there. [belief 5]
None → 0.0
    Where no round arrives, α is unknown: None, and not 0.
None → 1.0
    Where no round arrives, α is unknown: None, and not 1.
if a → if b
    If rounds get to a place and none gets past it, α is 0 there; unknown is what comes after it.
return mean_over_cards(cards, lambda n: 1)
return mean_over_cards(cards, lambda n: n > 0)
pooled(cards) → mean_survival(cards)
    You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.
return mean_over_cards(cards, lambda n: n)
    You weigh the α's of the cards by all of their rounds. What counts at a place are the rounds that got there: add up survivors, then divide.
pooled(cards) → cards[0][1]
pooled(cards) → cards[-1][1]
    This is one card; the others count, too.
return list(itertools.accumulate(pooled(cards), operator.mul))
    You multiply the survivals up; they are products already. Divide each by the one before it.
b / a if a else None → a - b
    You subtract one survival from another. A rate is a quotient: of those that arrived, how many got past?
b / a if a → a / b if b
    Upside down: survivors of a place, divided by those of the place before.
b / a if a → b / past[0] if past[0]
    You divide by survival at the first place. Divide by the place right before.
""",
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
    wrong="""
1 + →
    The token that the target adds in each round is missing. [belief 6]
1 + sum(pooled(cards)) → by_formula(fmean(pooled(cards)), cards)
1 + sum(pooled(cards)) → by_formula(fmean(known_alphas(cards)), cards)
1 + sum(pooled(cards)) → by_formula(pooled(cards)[0], cards)
    You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.
pooled(cards) → known_alphas(cards)
    You add up the α's. A draft at place 3 counts only if those before it survived, too: add up the survivals.
return fmean(1 + sum(s) for _, s in cards)
return fmean(1 + sum(s) for n, s in cards if n)
    You take the mean over cards. A card with more rounds counts more: all tokens by all rounds.
pooled(cards) → sum(s) for _, s in cards
    You add up the cards; all tokens by all rounds is asked for.
pooled(cards) → cards[0][1]
pooled(cards) → cards[-1][1]
    This is one card; the others count, too.
sum → len
    Not all drafts are accepted.
sum(pooled(cards)) → pooled(cards)[-1] * len(cards[0][1])
    The last survival counts the rounds in which all drafts were kept. The others wrote something, too: add up all survivals.
""",
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
    found = [read_survival(value, len(cards[0][1])) for (cards,), value in zip(ENGINES, results(made, ENGINES))]
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
    wrong="""
return ratio
    This is the speed-up of the writing alone. The prompt must still be read, and no draft makes that shorter. [belief 15]
(first + writing / ratio) → (first / ratio + writing)
    You make the time to the first token shorter, too: reading the prompt has no drafts. [belief 15]
tokens - 1 → tokens
    The first token is there already when `first` is over: tokens − 1 remain.
(first + writing) → (first + tokens * per_token)
    In all, it is the time of tokens − 1 tokens in both cases; you count them in one of the two only.
(first + writing) / (first + writing / ratio) → (first + writing / ratio) / (first + writing)
    It is upside down: above 1 must be faster.
writing / ratio → writing * ratio
    A ratio of 2 is twice as fast, so a token takes half the time: divide by the ratio.
(first + writing) / →
    These are the seconds with drafts; how many times as fast is it?
(first + writing) / (first + writing / ratio) → writing - writing / ratio
    These are the seconds that are saved; how many times as fast is it?
(first + writing) / (first + writing / ratio) → (first + writing * ratio) / (first + writing)
    You take a mean of ratios, weighted by time. Divide one whole time by the other.
return (1 + ratio) / 2
    You take a mean of ratios. Divide one whole time by the other.
""",
)
part("8.whole", points=2, asks=[WHOLE])(WHOLE.judge)


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


DRAFTER = question(
    drafter,
    cases=CASES,
    seen=seen_report("the drafter"),
    hint=hint_drafter,
    wrong="""
low if tied else ratio → ratio
    You take the larger number, but the interval of their ratio begins at 1.02 or below: nobody can tell the two apart. Take the one with the larger low end.
low if tied else ratio → low
    You order the two by their own intervals. These may overlap, and the order still be sure: look at the interval of their ratio first.
<= 1.02 → <= 1
<= 1.02 → < 1
    The interval begins above 1, but not above 1.02: times that lie so near are not put in an order.
low if tied → (lambda row: -ratio(row)) if tied
    Where the two cannot be told apart, you take the one with the smaller number. The safer one has the larger low end, whichever this is.
low if tied → (lambda row: low(row) - high(row)) if tied
    You take the narrowest interval. The safer one has the larger low end.
low if tied → high if tied
low if tied else ratio → high
    You take the larger high end of an interval: that is hope. The safer one has the larger low end.
low if tied else ratio → lambda row: row["tokens_per_pass"]
    You take the drafter with the most tokens per pass. What it costs counts, too: compare the times. [belief 7]
overall(report) → [row for row in report["rows"] if row["kind"] == "overall"]
    Plain decoding is in the report for comparison. A drafter is asked for, also when all of them lose.
else ratio → else lambda row: fmean(map(ratio, kinds(report, row["arm"])))
    You take a mean of ratios over kinds, and so a kind with few prompts counts as much as one with many. Use the row “overall”.
overall(report) → [row for row in report["rows"] if row["arm"] != "plain"]
    You take the best row of all kinds. The decision is about all traffic: use the rows “overall”.
max(rows, key=low if tied else ratio) → rows[0]
    You take the first drafter in the report. Compare the drafters.
max → min
    You take the slower drafter, and the smaller low end.
return None → return fastest(report)["arm"]
    Fewer than 20 prompts decide nothing: then no drafter is named, but None.
["arm"] → ["arm"] if decision(report) == DEPLOY else None
["arm"] → ["arm"] if decision(report) != DONT else None
    With 20 prompts or more, name the drafter in any case, also where it should be left off: the decision is about it.
""",
)


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
    wrong="""
named(report) → fastest(report)
    Your decision is about the drafter with the larger number. It should be about the one that you name.
ends(row) → [row["tokens_per_pass"]] * 2
    You decide by the tokens per pass. More than one token in a pass is no gain if the pass takes longer still. [belief 7]
ends(row) → [ratio(row)] * 2
    You decide by the ratio alone. How sure is it? Even the low end of the interval must be a gain.
low > 1 → high > 1; DONT if high < 1 else UNCLEAR → DONT
    You deploy as soon as the high end is a gain: even the low end must be one.
row["prompts"] < ENOUGH → False
row["prompts"] < ENOUGH → row["ratio_interval"] is None
row["prompts"] < ENOUGH → row["prompts"] < 5
    An interval from fewer than 20 prompts is too narrow to decide by, in both directions.
< ENOUGH → <= ENOUGH
    20 prompts are enough: only fewer are too few.
return TOO_FEW → return UNCLEAR
    Fewer than 20 prompts have a decision of their own: “too few prompts”. “unclear” is for an interval that holds a gain and a loss.
return TOO_FEW → return DONT
return TOO_FEW → return DEPLOY
    With fewer than 20 prompts nothing is decided.
low > 1 → low >= 1
high < 1 → high <= 1
low > 1 → low >= 1; high < 1 → high <= 1
    An end of exactly 1 is neither a gain nor a loss: unclear.
DONT if high < 1 else UNCLEAR → DONT
    If the interval holds a gain and a loss, it is unclear; “don't” is for those whose high end, too, is a loss.
DONT if high < 1 else UNCLEAR → UNCLEAR
    If even the high end is a loss, it is not unclear: don't.
high < 1 → low < 1
    If the low end is a loss, the high end may still be a gain: that is unclear.
""",
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
    wrong="""
ratio(row) < 1 → ratio(row) >= 1
ratio(row) < 1 → ratio(row) > 1
    You leave it off where it gains; leave it off where it loses.
return []
    There are kinds where it loses, though it gains overall: name them.
ratio(row) < 1 → ratio(row) <= 1
    A kind with a ratio of exactly 1 loses nothing.
decision(report) != DEPLOY → False
decision(report) != DEPLOY → decision(report) == DONT
    Where nothing is deployed, no kind needs to be named: the list is empty.
drafter(report)) → fastest(report)["arm"])
kinds(report, drafter(report)) → [row for row in report["rows"] if row["kind"] != "overall"]
    Look at the rows of the drafter that you name; another one may lose elsewhere.
ratio(row) < 1 → row["ratio_interval"] is None or row["ratio_interval"][0] <= 1
ratio(row) < 1 → row["ratio_interval"] is not None and row["ratio_interval"][1] < 1
    Use ratio_to_plain of each kind here: the intervals of single kinds rest on few prompts, or are missing.
ratio(row) < 1 → row["tokens_per_pass"] <= 1
    Tokens per pass do not tell where it loses; ratio_to_plain does. [belief 7]
ratio(row) < 1 → ratio(row) < ratio(named(report))
    You compare a kind with the mean. A kind below the mean may still gain: the border is 1.
""",
)


def read_decision(value: object) -> tuple[str, str | None, list[str]]:
    """The three things that the learner's function gives, in a form that can be compared."""
    decision, arm, leave = listed(value, 3)
    if decision not in (DEPLOY, DONT, UNCLEAR, TOO_FEW):
        raise Wrong(
            f'The decision should be "deploy", "don\'t", "unclear" or "too few prompts"; yours is {shown(decision)}.'
        )
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
    values = results(made, CASES, [f"the report “{name}”" for name in REPORTS])
    decisions, drafters, leave = zip(*map(read_decision, values))
    DRAFTER.compare(drafters)
    DECISION.compare(decisions, earned=1 / 3)
    KINDS.compare(leave, earned=2 / 3)
