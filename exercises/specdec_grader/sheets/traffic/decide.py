"""Exercise 8: decide(report) → (decision, drafter, kinds of prompts to leave it off for)."""

import operator
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from specdec_grader.kit import Mistake, Question, Wrong, listed, part, pretty, results, shown
from specdec_grader.stored import stored, table
from specdec_lab.formats import drop_leading_zeros
from specdec_lab.measure.prompts import FEW

REPORTS = {name: {"rows": table("reports", rows)} for name, rows in stored("reports")["reports"].items()}
CASES = [(report,) for report in REPORTS.values()]
DEPLOY, DONT, UNCLEAR = "deploy", "don't", "unclear"
ratio = operator.itemgetter("ratio_to_plain")


def overall(report: dict) -> list[dict]:
    return [row for row in report["rows"] if row["kind"] == "overall" and row["arm"] != "plain"]


def kinds(report: dict, arm: str) -> list[dict]:
    return [row for row in report["rows"] if row["kind"] != "overall" and row["arm"] == arm]


def fastest(report: dict) -> dict:
    return max(overall(report), key=ratio)


def question(what: str, **about: Any) -> Question:
    """A question about every report; what was wrong is told beside the rows that decide."""

    def seen(case: tuple, found: Any, right: Any) -> str:
        name = next(name for name, report in REPORTS.items() if report == case[0])
        rows = []
        for row in overall(case[0]):
            ends = row["ratio_interval"]
            interval = " from {:.2f} to {:.2f}".format(*ends) if ends else ", no interval"
            rows.append(f"{row['arm']} {ratio(row):.2f}{interval}")
        decides = drop_leading_zeros(f"{'; '.join(rows)}; {fastest(case[0])['prompts']} prompts")
        return f"In a report like “{name}” ({decides}) {what} should be {pretty(right)}; yours is {pretty(found)}."

    return Question(cases=CASES, seen=seen, **about)


def drafter(
    key: Callable[[dict], float] = ratio, rows: Callable[[dict], list[dict]] = overall
) -> Callable[[dict], str]:
    """The drafter of the row, among `rows`, with the largest `key`. Without arguments this is right, with others a mistake."""
    return lambda report: max(rows(report), key=key)["arm"]


DRAFTER = question(
    "the drafter", right=drafter(),
    hint="Which drafter has the largest ratio_to_plain over all?",
    mistakes=[
        Mistake("You take the drafter with the most tokens per pass. What it costs counts, too: the fastest has the largest ratio_to_plain.",
                drafter(lambda row: row["tokens_per_pass"]), belief=7),
        Mistake("Plain decoding is in the report for comparison. A drafter is asked for, also when all of them lose.",
                drafter(rows=lambda report: [row for row in report["rows"] if row["kind"] == "overall"])),
        Mistake("You take a mean of ratios over kinds, and so a kind with few prompts counts as much as one with many. Use the row “overall”.",
                lambda report: drafter(lambda row: fmean(map(ratio, kinds(report, row["arm"]))))(report)),
        Mistake("You take the best row of all kinds. The decision is about all traffic: use the rows “overall”.",
                drafter(rows=lambda report: [row for row in report["rows"] if row["arm"] != "plain"])),
        Mistake("You take the best high end of an interval: that is hope. Use ratio_to_plain.", drafter(lambda row: (row["ratio_interval"] or [0, 0])[1])),
        Mistake("You take the best low end of an interval. The fastest drafter is asked for; its interval decides afterwards.",
                drafter(lambda row: (row["ratio_interval"] or [0, 0])[0])),
        Mistake("You take the first drafter in the report; the fastest is asked for.", drafter(lambda row: 0)),
        Mistake("You take the slowest drafter; the fastest has the largest ratio_to_plain.", drafter(lambda row: -ratio(row))),
        Mistake("Name the drafter in any case, also where it should be left off: the decision is about it.",
                lambda report: drafter()(report) if decision()(report) == DEPLOY else None,
                lambda report: None if decision()(report) == DONT else drafter()(report))])  # fmt: skip


def decision(
    gains: Callable[[float, float], bool] = lambda low, high: low > 1,
    loses: Callable[[float, float], bool] = lambda low, high: high < 1,
    few: int = FEW,
    without: str = UNCLEAR,
    ends: Callable[[dict], Sequence[float] | None] = operator.itemgetter("ratio_interval"),
) -> Callable[[dict], str]:
    """The decision by the ends of the fastest drafter's interval; each argument can be one that a mistake puts there.

    Args:
        few: with fewer prompts it is unclear.
        without: the decision where there is no interval.
    """

    def made(report: dict) -> str:
        row = fastest(report)
        if row["prompts"] < few:
            return UNCLEAR
        interval = ends(row)
        if interval is None:
            return without
        return DEPLOY if gains(*interval) else DONT if loses(*interval) else UNCLEAR

    return made


DECISION = question(
    "the decision", right=decision(),
    hint="Are there enough prompts, and where does the interval lie?",
    mistakes=[
        Mistake("You decide by the tokens per pass. More than one token in a pass is no gain if the pass takes longer still.",
                decision(ends=lambda row: [row["tokens_per_pass"]] * 2, few=0), belief=7),
        Mistake("You decide by the ratio alone. How sure is it? Even the low end of the interval must be a gain.",
                decision(ends=lambda row: [ratio(row)] * 2, few=0), decision(ends=lambda row: [ratio(row)] * 2)),
        Mistake("You deploy as soon as the high end is a gain: even the low end must be one.",
                decision(gains=lambda low, high: high > 1, loses=lambda low, high: True)),
        Mistake("An interval from fewer than 5 prompts says nothing: that is unclear, in both directions.", decision(few=0)),
        Mistake("5 prompts are enough: only fewer are unclear.", decision(few=FEW + 1)),
        Mistake("Where there is no interval, it is unclear.", decision(few=0, without=DONT), decision(few=0, without=DEPLOY)),
        Mistake("An end of exactly 1 is neither a gain nor a loss: unclear.",
                decision(gains=lambda low, high: low >= 1),
                decision(loses=lambda low, high: high <= 1),
                decision(gains=lambda low, high: low >= 1, loses=lambda low, high: high <= 1)),
        Mistake("If the interval holds a gain and a loss, it is unclear; “don't” is for those whose high end, too, is a loss.",
                decision(loses=lambda low, high: True)),
        Mistake("If even the high end is a loss, it is not unclear: don't.", decision(loses=lambda low, high: False)),
        Mistake("If the low end is a loss, the high end may still be a gain: that is unclear.", decision(loses=lambda low, high: low < 1))])  # fmt: skip


def left_off(
    loses: Callable[[dict], bool] = lambda row: ratio(row) < 1,
    when: tuple[str, ...] = (DEPLOY,),
    rows: Callable[[dict], list[dict]] = lambda report: kinds(report, fastest(report)["arm"]),
) -> Callable[[dict], list[str]]:
    """The kinds among `rows` that lose, where the decision is one of `when`."""
    return lambda report: [row["kind"] for row in rows(report) if loses(row)] if decision()(report) in when else []


KINDS = question(
    "the list of kinds", right=left_off(), equal=lambda a, b: sorted(a) == sorted(b),
    hint="For which kinds is the ratio of this drafter below 1?",
    mistakes=[
        Mistake("You leave it off where it gains; leave it off where it loses.", left_off(lambda row: ratio(row) >= 1), left_off(lambda row: ratio(row) > 1)),
        Mistake("There are kinds where it loses, though it gains overall: name them.", []),
        Mistake("A kind with a ratio of exactly 1 loses nothing.", left_off(lambda row: ratio(row) <= 1)),
        Mistake("Where nothing is deployed, no kind needs to be named: the list is empty.",
                left_off(when=(DEPLOY, DONT, UNCLEAR)), left_off(when=(DEPLOY, UNCLEAR))),
        Mistake("Look at the rows of your drafter only; another one may lose elsewhere.",
                left_off(rows=lambda report: [row for row in report["rows"] if row["kind"] != "overall"])),
        Mistake("Use ratio_to_plain of each kind here: the intervals of single kinds rest on few prompts, or are missing.",
                left_off(lambda row: row["ratio_interval"] is None or row["ratio_interval"][0] <= 1),
                left_off(lambda row: row["ratio_interval"] is not None and row["ratio_interval"][1] < 1)),
        Mistake("Tokens per pass do not tell where it loses; ratio_to_plain does.", left_off(lambda row: row["tokens_per_pass"] <= 1), belief=7),
        Mistake("You compare a kind with the mean. A kind below the mean may still gain: the border is 1.",
                lambda report: left_off(lambda row: ratio(row) < ratio(fastest(report)))(report))])  # fmt: skip


def read(value: object) -> tuple[str, str | None, list[str]]:
    """The three things that the learner's function gives, in a form that can be compared."""
    decision, arm, leave = listed(value, 3)
    if decision not in (DEPLOY, DONT, UNCLEAR):
        raise Wrong(f'The decision should be "deploy", "don\'t" or "unclear"; yours is {shown(decision)}.')
    if not isinstance(arm, str | None):
        raise Wrong(f"The drafter should be a name, such as “lookup”; yours is {shown(arm)}.")
    leave = listed(sorted(leave) if isinstance(leave, set | frozenset) else leave, what="The list of kinds")
    if not all(isinstance(kind, str) for kind in leave):
        raise Wrong(f"The list of kinds should hold their names; yours is {shown(leave)}.")
    if "overall" in leave:
        raise Wrong("“overall” is no kind of prompt: it is the row that holds all of them.")
    return decision, arm, sorted(leave)


@part("8.decide", points=3, asks=[DECISION, DRAFTER, KINDS])
def decide(made: Callable[[dict], tuple[str, str, list[str]]]) -> None:
    values = results(made, CASES, [f"the report “{name}”" for name in REPORTS])
    decisions, drafters, leave = zip(*map(read, values))
    DRAFTER.compare(drafters)
    DECISION.compare(decisions, earned=1 / 3)
    KINDS.compare(leave, earned=2 / 3)
