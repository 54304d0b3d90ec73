"""Exercise 8: a decision from a report."""

import copy
from collections.abc import Callable
from statistics import fmean

from specdec_lab.grade.cases import Mistake, explained, named, told
from specdec_lab.grade.part import StillOpen, Wrong, begun, listed, part, shown
from specdec_lab.grade.traffic.reports import (
    DEPLOY,
    DONT,
    FEW,
    REPORTS,
    UNCLEAR,
    _off,
    _verdict,
    fastest,
    kinds,
    off,
    overall,
    verdict,
)
from specdec_lab.numbers import bare


def _arm(key: Callable[[dict, dict], float], rows: Callable[[dict], list[dict]] = overall) -> Callable[[dict], str]:
    return lambda report: max(rows(report), key=lambda row: key(row, report))["arm"]


ARM_MISTAKES = (
    Mistake(
        "You take the drafter with the most tokens per pass. What it costs counts, too: the fastest has the largest ratio_to_plain.",
        _arm(lambda row, report: row["tokens_per_pass"]),
        7,
    ),
    Mistake(
        "Plain decoding is in the report for comparison. A drafter is asked for, also when all of them lose.",
        _arm(lambda row, report: row["ratio_to_plain"], lambda report: overall(report, plain=True)),
    ),
    Mistake(
        "You take a mean of ratios over kinds, and so a kind with few prompts counts as much as one with many. Use the row “overall”.",
        _arm(lambda row, report: fmean(r["ratio_to_plain"] for r in kinds(report, row["arm"]))),
    ),
    Mistake(
        "You take the best row of all kinds. The decision is about all traffic: use the rows “overall”.",
        _arm(
            lambda row, report: row["ratio_to_plain"], lambda report: [r for r in report["rows"] if r["arm"] != "plain"]
        ),
    ),
    Mistake(
        "You take the best high end of an interval: that is hope. Use ratio_to_plain.",
        _arm(lambda row, report: (row["ratio_interval"] or [0, 0])[1]),
    ),
    Mistake(
        "You take the best low end of an interval. The fastest drafter is asked for; its interval decides afterwards.",
        _arm(lambda row, report: (row["ratio_interval"] or [0, 0])[0]),
    ),
    Mistake("You take the first drafter in the report; the fastest is asked for.", _arm(lambda row, report: 0.0)),
    Mistake(
        "You take the slowest drafter; the fastest has the largest ratio_to_plain.",
        _arm(lambda row, report: -row["ratio_to_plain"]),
    ),
    Mistake(
        "Name the drafter in any case, also where it should be left off: the decision is about it.",
        lambda report: fastest(report)["arm"] if verdict(report) == DEPLOY else None,
    ),
    Mistake(
        "Name the drafter in any case, also where it should be left off: the decision is about it.",
        lambda report: None if verdict(report) == DONT else fastest(report)["arm"],
    ),
)


def _by_tokens(report: dict) -> str:
    return DEPLOY if fastest(report)["tokens_per_pass"] > 1 else DONT


def _by_ratio(few: bool) -> Callable[[dict], str]:
    def made(report: dict) -> str:
        row = fastest(report)
        return UNCLEAR if few and row["prompts"] < FEW else DEPLOY if row["ratio_to_plain"] > 1 else DONT

    return made


def _high_end(report: dict) -> str:
    interval = fastest(report)["ratio_interval"]
    return UNCLEAR if interval is None or fastest(report)["prompts"] < FEW else DEPLOY if interval[1] > 1 else DONT


def _low_end(report: dict) -> str:
    row = fastest(report)
    interval = row["ratio_interval"]
    if interval is None or row["prompts"] < FEW:
        return UNCLEAR
    return DEPLOY if interval[0] > 1 else DONT if interval[0] < 1 else UNCLEAR


RATIO = "You decide by the ratio alone. How sure is it? Even the low end of the interval must be a gain."
VERDICT_MISTAKES = (
    Mistake(
        "You decide by the tokens per pass. More than one token in a pass is no gain if the pass takes longer still.",
        _by_tokens,
        7,
    ),
    Mistake(RATIO, _by_ratio(few=False)),
    Mistake(RATIO, _by_ratio(few=True)),
    Mistake(
        "You deploy as soon as the high end is a gain: even the low end must be one.",
        _high_end,
    ),
    Mistake(
        "An interval from fewer than 5 prompts says nothing: that is unclear, in both directions.",
        _verdict(few=lambda n: False),
    ),
    Mistake("5 prompts are enough: only fewer are unclear.", _verdict(few=lambda n: n <= FEW)),
    Mistake("Where there is no interval, it is unclear.", _verdict(few=lambda n: False, empty=DONT)),
    Mistake("Where there is no interval, it is unclear.", _verdict(few=lambda n: False, empty=DEPLOY)),
    Mistake("An end of exactly 1 is neither a gain nor a loss: unclear.", _verdict(low=lambda x: x >= 1)),
    Mistake("An end of exactly 1 is neither a gain nor a loss: unclear.", _verdict(high=lambda x: x <= 1)),
    Mistake(
        "An end of exactly 1 is neither a gain nor a loss: unclear.",
        _verdict(low=lambda x: x >= 1, high=lambda x: x <= 1),
    ),
    Mistake(
        "If the interval holds a gain and a loss, it is unclear; “don't” is for those whose high end, too, is a loss.",
        _verdict(high=lambda x: True),
    ),
    Mistake("If even the high end is a loss, it is not unclear: don't.", _verdict(high=lambda x: False)),
    Mistake("If the low end is a loss, the high end may still be a gain: that is unclear.", _low_end),
)


OFF_MISTAKES = (
    Mistake("You leave it off where it gains; leave it off where it loses.", _off(lambda r: r["ratio_to_plain"] >= 1)),
    Mistake("You leave it off where it gains; leave it off where it loses.", _off(lambda r: r["ratio_to_plain"] > 1)),
    Mistake("There are kinds where it loses, though it gains overall: name them.", lambda report: []),
    Mistake("A kind with a ratio of exactly 1 loses nothing.", _off(lambda r: r["ratio_to_plain"] <= 1)),
    Mistake(
        "Where nothing is deployed, no kind needs to be named: the list is empty.", _off(when=lambda decision: True)
    ),
    Mistake(
        "Where nothing is deployed, no kind needs to be named: the list is empty.",
        _off(when=lambda decision: decision != DONT),
    ),
    Mistake(
        "Look at the rows of your drafter only; another one may lose elsewhere.",
        lambda report: [
            r["kind"]
            for r in report["rows"]
            if r["kind"] != "overall" and r["ratio_to_plain"] < 1 and verdict(report) == DEPLOY
        ],
    ),
    Mistake(
        "Use ratio_to_plain of each kind here: the intervals of single kinds rest on few prompts, or are missing.",
        _off(lambda r: r["ratio_interval"] is None or r["ratio_interval"][0] <= 1),
    ),
    Mistake(
        "Use ratio_to_plain of each kind here: the intervals of single kinds rest on few prompts, or are missing.",
        _off(lambda r: r["ratio_interval"] is not None and r["ratio_interval"][1] < 1),
    ),
    Mistake(
        "Tokens per pass do not tell where it loses; ratio_to_plain does.",
        _off(lambda r: r["tokens_per_pass"] <= 1),
        7,
    ),
    Mistake(
        "You compare a kind with the mean. A kind below the mean may still gain: the border is 1.",
        lambda report: [
            r["kind"]
            for r in kinds(report, fastest(report)["arm"])
            if verdict(report) == DEPLOY and r["ratio_to_plain"] < fastest(report)["ratio_to_plain"]
        ],
    ),
)


def decided(value: object) -> tuple[str, str | None, list]:
    """The three things that the learner's function gives, in a form that can be compared."""
    decision, arm, leave = listed(value, 3, "What your function returns")
    if not isinstance(decision, str) or decision not in (DEPLOY, DONT, UNCLEAR):
        raise Wrong(f'The decision should be "deploy", "don\'t" or "unclear"; yours is {shown(decision)}.')
    if arm is not None and not isinstance(arm, str):
        raise Wrong(f"The drafter should be a name, such as “lookup”; yours is {shown(arm)}.")
    leave = listed(sorted(leave) if isinstance(leave, set | frozenset) else leave, None, "The list of kinds")
    if not all(isinstance(kind, str) for kind in leave):
        raise Wrong(f"The list of kinds should hold their names; yours is {shown(leave)}.")
    if "overall" in leave:
        raise Wrong("“overall” is no kind of prompt: it is the row that holds all of them.")
    return decision, arm, leave


@part("8.decide", points=3)
def decide(made: Callable[[dict], tuple[str, str, list[str]]]) -> None:
    """decide(report) → (decision, drafter, kinds to leave it off for)."""
    begun(made)
    values = [made(copy.deepcopy(r)) for r in REPORTS.values()]
    empty = [name for name, value in zip(REPORTS, values) if value is None or value is Ellipsis]
    if len(empty) == len(REPORTS):
        raise StillOpen
    if empty:
        raise Wrong(
            f"For the report “{empty[0]}” your function returns nothing: is there a way through it without a return?"
        )
    found = [decided(value) for value in values]
    cases = [(r,) for r in REPORTS.values()]
    looks = (
        (
            1,
            "the drafter",
            lambda r: fastest(r)["arm"],
            ARM_MISTAKES,
            "Which drafter has the largest ratio_to_plain over all?",
        ),
        (0, "the decision", verdict, VERDICT_MISTAKES, "Are there enough prompts, and where does the interval lie?"),
        (2, "the list of kinds", off, OFF_MISTAKES, "For which kinds is the ratio of this drafter below 1?"),
    )
    for right_so_far, (place, what, right, mistakes, otherwise) in enumerate(looks):
        given = [sorted(f[place]) if place == 2 else f[place] for f in found]

        def equal(a: object, b: object) -> bool:
            return (sorted(a) if isinstance(a, list) else a) == b

        for (name, r), value in zip(REPORTS.items(), given):
            if not equal(right(r), value):
                before = (
                    f"In a report like “{name}”{seen(r)} {what} should be {told(right(r))}; yours is {told(value)}."
                )
                wrong = named(explained(mistakes, cases, given, equal), before, otherwise)
                raise Wrong(str(wrong), right_so_far / 3, wrong.misconception)


def seen(report: dict) -> str:
    """The rows that decide, in short."""
    rows = [
        f"{r['arm']} {r['ratio_to_plain']:.2f}"
        + (
            f" from {r['ratio_interval'][0]:.2f} to {r['ratio_interval'][1]:.2f}"
            if r["ratio_interval"]
            else ", no interval"
        )
        for r in overall(report)
    ]
    return bare(f" ({'; '.join(rows)}; {fastest(report)['prompts']} prompts)")
