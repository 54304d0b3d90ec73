"""Exercise 8: an engine's counts, the time of a whole answer, and a decision from a report."""

import copy
from collections.abc import Callable, Sequence
from statistics import fmean

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import StillOpen, Wrong, begun, listed, number, part, same, shown
from specdec_lab.numbers import bare
from specdec_lab.theory import expected_tokens

# Part 1: what an engine counts

Cards = Sequence[tuple[int, Sequence[float]]]  # (rounds, survival by place) of each card
Alphas = list[float | None]

ENGINES: tuple[tuple[Cards], ...] = (
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


def divided(survival: Sequence[float], unknown: float | None = None) -> Alphas:
    before = [1.0, *survival]
    return [b / a if a else unknown for a, b in zip(before, survival)]


def mean_of(rows: Sequence[Alphas], weights: Sequence[float]) -> Alphas:
    """Place by place, over the rows that have a number there."""
    out: Alphas = []
    for place in zip(*rows):
        known = [(w, a) for w, a in zip(weights, place) if a is not None and w]
        out.append(sum(w * a for w, a in known) / sum(w for w, _ in known) if known else None)
    return out


def _running(survival: Sequence[float]) -> Alphas:
    out, product = [], 1.0
    for s in survival:
        product *= s
        out.append(product)
    return out


ALPHA_MISTAKES = (
    Mistake("This is survival itself: divide it by survival one place earlier.", pooled),
    Mistake(
        "This is one rate for all places, accepted by proposed. α of a place counts only the rounds that got there.",
        lambda cards: [fmean(pooled(cards))] * len(cards[0][1]),
        5,
    ),
    Mistake(
        "Where no round arrives, α is unknown: None, and not 0.",
        lambda cards: divided(pooled(cards), 0.0),
    ),
    Mistake("Where no round arrives, α is unknown: None, and not 1.", lambda cards: divided(pooled(cards), 1.0)),
    Mistake(
        "If rounds get to a place and none gets past it, α is 0 there; unknown is what comes after it.",
        lambda cards: [a or None for a in divided(pooled(cards))],
    ),
    Mistake(
        "You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.",
        lambda cards: mean_of([divided(s) for _, s in cards], [1] * len(cards)),
    ),
    Mistake(
        "You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.",
        lambda cards: mean_of([divided(s) for n, s in cards if n], [1] * len(cards)),
    ),
    Mistake(
        "You take the mean over cards. Cards differ in their rounds: put all rounds together first, then divide.",
        lambda cards: divided(mean_of([list(s) for _, s in cards], [1] * len(cards))),
    ),
    Mistake(
        "You weigh the α's of the cards by all of their rounds. What counts at a place are the rounds that got there: add up survivors, then divide.",
        lambda cards: mean_of([divided(s) for _, s in cards], [n for n, _ in cards]),
    ),
    Mistake("This is one card; the others count, too.", lambda cards: divided(cards[0][1])),
    Mistake("This is one card; the others count, too.", lambda cards: divided(cards[-1][1])),
    Mistake(
        "You multiply the survivals up; they are products already. Divide each by the one before it.",
        lambda cards: _running(pooled(cards)),
    ),
    Mistake(
        "You subtract one survival from another. A rate is a quotient: of those that arrived, how many got past?",
        lambda cards: [a - b for a, b in zip([1.0, *pooled(cards)], pooled(cards))],
    ),
    Mistake(
        "Upside down: survivors of a place, divided by those of the place before.",
        lambda cards: [a / b if b else None for a, b in zip([1.0, *pooled(cards)], pooled(cards))],
    ),
    Mistake(
        "You divide by survival at the first place. Divide by the place right before.",
        lambda cards: [s / p[0] if p[0] else None for p in [pooled(cards)] for s in p],
    ),
)


def _one_rate(cards: Cards) -> float:
    return expected_tokens(fmean(pooled(cards)), len(cards[0][1]))


PASS_MISTAKES = (
    Mistake(
        "The token that the target adds in each round is missing.",
        lambda cards: sum(pooled(cards)),
        6,
    ),
    Mistake(
        "You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.",
        _one_rate,
    ),
    Mistake(
        "You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.",
        lambda cards: expected_tokens(fmean(a for a in divided(pooled(cards)) if a is not None), len(cards[0][1])),
    ),
    Mistake(
        "You put one rate into the formula. It needs the same chance at every place; you have the counts, so add up the survivals.",
        lambda cards: expected_tokens(pooled(cards)[0], len(cards[0][1])),
    ),
    Mistake(
        "You add up the α's. A draft at place 3 counts only if those before it survived, too: add up the survivals.",
        lambda cards: 1 + sum(a or 0.0 for a in divided(pooled(cards))),
    ),
    Mistake(
        "You take the mean over cards. A card with more rounds counts more: all tokens by all rounds.",
        lambda cards: fmean(1 + sum(s) for _, s in cards),
    ),
    Mistake(
        "You take the mean over cards. A card with more rounds counts more: all tokens by all rounds.",
        lambda cards: fmean(1 + sum(s) for n, s in cards if n),
    ),
    Mistake(
        "You add up the cards; all tokens by all rounds is asked for.", lambda cards: 1 + sum(sum(s) for _, s in cards)
    ),
    Mistake("This is one card; the others count, too.", lambda cards: 1 + sum(cards[0][1])),
    Mistake("This is one card; the others count, too.", lambda cards: 1 + sum(cards[-1][1])),
    Mistake("Not all drafts are accepted.", lambda cards: 1.0 + len(cards[0][1])),
    Mistake(
        "The last survival counts the rounds in which all drafts were kept. The others wrote something, too: add up all survivals.",
        lambda cards: 1 + pooled(cards)[-1] * len(cards[0][1]),
    ),
)


def equal_lists(a: Alphas, b: Alphas) -> bool:
    return len(a) == len(b) and all(x is y is None or (None not in (x, y) and same(x, y)) for x, y in zip(a, b))


def rates(value: object, places: int) -> Alphas:
    found = listed(value, None, "The list of α's")
    if len(found) != places:
        raise Wrong(
            f"With {places} places there should be {places} α's; yours are {shown(found)}. A place that no round reached has None."
        )
    return [None if a is None else number(a, "Each α") for a in found]


@part("8.survival", points=2)
def survival(made: Callable[[Cards], tuple[Alphas, float]]) -> None:
    """from_engine(cards) → (α by place, tokens per pass)."""
    alphas, tokens = [], []
    for (cards,), value in zip(ENGINES, answers(made, ENGINES)):
        pair = listed(value, 2, "What your function returns")
        alphas.append(rates(pair[0], len(cards[0][1])))
        tokens.append(number(pair[1], "Tokens per pass"))
    right_alphas = all(equal_lists(a, divided(pooled(cards))) for (cards,), a in zip(ENGINES, alphas))
    right_tokens = all(same(t, 1 + sum(pooled(cards))) for (cards,), t in zip(ENGINES, tokens))
    for (cards,), a, t in zip(ENGINES, alphas, tokens):
        if not right_alphas and not equal_lists(a, right := divided(pooled(cards))):
            before = f"For the cards {told(list(cards))} α by place is {told(right)}; yours is {told(a)}."
            mistake = explained(ALPHA_MISTAKES, ENGINES, alphas, equal_lists)
            wrong = named(
                mistake, before, "Of the rounds that got to a place, on all cards together, how many got past it?"
            )
            raise Wrong(str(wrong), 0.5 * right_tokens, wrong.misconception)
        if right_alphas and not same(t, right := 1 + sum(pooled(cards))):
            before = f"The α's are right. For the cards {told(list(cards))} tokens per pass are {told(right)}; yours are {told(t)}."
            mistake = explained(PASS_MISTAKES, ENGINES, tokens)
            wrong = named(
                mistake, before, "How many drafts does a round keep on average, and what does the target add?"
            )
            raise Wrong(str(wrong), 0.5, wrong.misconception)


# Part 2: the whole answer


def whole(first: float, per_token: float, tokens: int, ratio: float) -> float:
    rest = (tokens - 1) * per_token
    return (first + rest) / (first + rest / ratio)


ANSWERS = (
    (0.5, 0.02, 201, 2.0),
    (3.0, 0.02, 5, 2.0),
    (0.1, 0.05, 1, 3.0),
    (0.0, 0.03, 40, 1.6),
    (2.0, 0.04, 101, 0.8),
    (1.0, 0.03, 50, 1.0),
)
WHOLE_MISTAKES = (
    Mistake(
        "This is the speed-up of the writing alone. The prompt must still be read, and no draft makes that shorter.",
        lambda first, per_token, tokens, ratio: ratio,
        15,
    ),
    Mistake(
        "You make the time to the first token shorter, too: reading the prompt has no drafts.",
        lambda first, per_token, tokens, ratio: (
            (first + (tokens - 1) * per_token) / (first / ratio + (tokens - 1) * per_token)
        ),
        15,
    ),
    Mistake(
        "The first token is there already when `first` is over: tokens − 1 remain.",
        lambda first, per_token, tokens, ratio: (first + tokens * per_token) / (first + tokens * per_token / ratio),
    ),
    Mistake(
        "In all, it is the time of tokens − 1 tokens in both cases; you count them in one of the two only.",
        lambda first, per_token, tokens, ratio: (
            (first + tokens * per_token) / (first + (tokens - 1) * per_token / ratio)
        ),
    ),
    Mistake("It is upside down: above 1 must be faster.", lambda *case: 1 / whole(*case)),
    Mistake(
        "A ratio of 2 is twice as fast, so a token takes half the time: divide by the ratio.",
        lambda first, per_token, tokens, ratio: (
            (first + (tokens - 1) * per_token) / (first + (tokens - 1) * per_token * ratio)
        ),
    ),
    Mistake(
        "These are the seconds with drafts; how many times as fast is it?",
        lambda first, per_token, tokens, ratio: first + (tokens - 1) * per_token / ratio,
    ),
    Mistake(
        "These are the seconds that are saved; how many times as fast is it?",
        lambda first, per_token, tokens, ratio: (tokens - 1) * per_token * (1 - 1 / ratio),
    ),
    Mistake(
        "You take a mean of ratios, weighted by time. Divide one whole time by the other.",
        lambda first, per_token, tokens, ratio: (
            (first + (tokens - 1) * per_token * ratio) / (first + (tokens - 1) * per_token)
        ),
    ),
    Mistake("You take a mean of ratios. Divide one whole time by the other.", lambda *case: (1 + case[3]) / 2),
)


@part("8.whole", points=2)
def whole_answers(made: Callable[[float, float, int, float], float]) -> None:
    """whole_answer(first, per_token, tokens, ratio) → how many times as fast."""
    found = [number(value, "What your function returns") for value in answers(made, ANSWERS)]
    for case, value in zip(ANSWERS, found):
        if not same(value, right := whole(*case)):
            first, per_token, tokens, ratio = case
            before = bare(
                f"With {first:g} s to the first token, {per_token:g} s for each further one, {tokens} tokens and ratio {ratio:g} "
                f"the answer is {told(right)} times as fast; yours is {told(value)}."
            )
            raise named(
                explained(WHOLE_MISTAKES, ANSWERS, found), before, "What is the whole time without drafts, and with?"
            )


# Part 3: a decision

FIELDS = ("arm", "kind", "prompts", "tokens_per_pass", "ratio_to_plain", "ratio_interval")
DEPLOY, DONT, UNCLEAR = "deploy", "don't", "unclear"
FEW = 5


def report(*rows: tuple) -> dict:
    """A report in the form of `specdec-lab traffic --json`, with the fields that decide."""
    return {"rows": [dict(zip(FIELDS, row)) for row in rows]}


REPORTS: dict[str, dict] = {
    "editing": report(
        ("plain", "overall", 30, 1.0, 1.0, None),
        ("plain", "editing", 20, 1.0, 1.0, None),
        ("plain", "chat", 10, 1.0, 1.0, None),
        ("eagle", "overall", 30, 2.6, 1.4, [1.25, 1.55]),
        ("eagle", "editing", 20, 2.8, 1.5, [1.3, 1.7]),
        ("eagle", "chat", 10, 2.3, 1.22, [1.05, 1.4]),
        ("lookup", "overall", 30, 2.2, 1.61, [1.33, 1.9]),
        ("lookup", "editing", 20, 2.9, 2.05, [1.7, 2.4]),
        ("lookup", "chat", 10, 1.2, 0.93, [0.88, 0.99]),
    ),
    "stories": report(
        ("plain", "overall", 24, 1.0, 1.0, None),
        ("lookup", "overall", 24, 1.1, 0.94, [0.91, 0.97]),
        ("lookup", "story", 24, 1.1, 0.94, [0.91, 0.97]),
        ("eagle", "overall", 24, 1.7, 0.88, [0.83, 0.93]),
        ("eagle", "story", 24, 1.7, 0.88, [0.83, 0.93]),
    ),
    "questions": report(
        ("eagle", "question", 12, 2.0, 1.2, [1.02, 1.4]),
        ("eagle", "overall", 16, 1.9, 1.12, [0.96, 1.31]),
        ("eagle", "riddle", 4, 1.5, 0.9, None),
        ("plain", "overall", 16, 1.0, 1.0, None),
        ("lookup", "question", 12, 1.3, 1.01, [0.95, 1.08]),
        ("lookup", "overall", 16, 1.3, 1.0, [0.95, 1.06]),
        ("lookup", "riddle", 4, 1.1, 0.95, None),
    ),
    "four prompts": report(
        ("plain", "overall", 4, 1.0, 1.0, None),
        ("model", "overall", 4, 2.9, 1.9, None),
        ("model", "code", 4, 2.9, 1.9, None),
    ),
    "three prompts, with an interval": report(
        ("plain", "overall", 3, 1.0, 1.0, None),
        ("model", "overall", 3, 2.4, 1.35, [1.2, 1.5]),
        ("model", "code", 3, 2.4, 1.35, [1.2, 1.5]),
    ),
    "three prompts, all slower": report(
        ("plain", "overall", 3, 1.0, 1.0, None),
        ("model", "overall", 3, 1.3, 0.7, [0.6, 0.8]),
        ("model", "prose", 3, 1.3, 0.7, [0.6, 0.8]),
    ),
    "exactly 1 below": report(
        ("plain", "overall", 40, 1.0, 1.0, None),
        ("medusa", "overall", 40, 1.8, 1.15, [1.0, 1.3]),
        ("medusa", "chat", 40, 1.8, 1.15, [1.0, 1.3]),
    ),
    "exactly 1 above": report(
        ("plain", "overall", 40, 1.0, 1.0, None),
        ("medusa", "overall", 40, 1.5, 0.95, [0.9, 1.0]),
        ("medusa", "chat", 40, 1.5, 0.95, [0.9, 1.0]),
        ("lookup", "overall", 40, 1.2, 0.93, [0.8, 1.06]),
        ("lookup", "chat", 40, 1.2, 0.93, [0.8, 1.06]),
    ),
    "a little slower": report(
        ("plain", "overall", 20, 1.0, 1.0, None),
        ("model", "overall", 20, 1.6, 0.97, [0.9, 1.05]),
        ("model", "letter", 20, 1.6, 0.97, [0.9, 1.05]),
    ),
    "five prompts": report(
        ("plain", "overall", 5, 1.0, 1.0, None),
        ("eagle", "overall", 5, 2.0, 1.15, [1.06, 1.25]),
        ("eagle", "list", 2, 2.0, 1.25, None),
        ("eagle", "chat", 3, 1.9, 1.1, None),
        ("lookup", "overall", 5, 1.8, 1.2, [1.05, 1.4]),
        ("lookup", "list", 2, 2.2, 1.6, None),
        ("lookup", "chat", 2, 1.4, 1.0, None),
        ("lookup", "poem", 1, 1.1, 0.9, None),
    ),
    "one kind stands out": report(
        ("plain", "overall", 60, 1.0, 1.0, None),
        ("model", "overall", 60, 2.3, 1.3, [1.2, 1.4]),
        ("model", "chat", 55, 2.3, 1.32, [1.2, 1.4]),
        ("model", "table", 5, 2.0, 1.1, [0.9, 1.3]),
        ("lookup", "overall", 60, 1.5, 1.12, [1.02, 1.45]),
        ("lookup", "chat", 55, 1.2, 0.98, [0.9, 1.05]),
        ("lookup", "table", 5, 4.5, 3.0, [2.0, 4.0]),
    ),
}


def overall(report: dict, plain: bool = False) -> list[dict]:
    return [r for r in report["rows"] if r["kind"] == "overall" and (plain or r["arm"] != "plain")]


def kinds(report: dict, arm: str) -> list[dict]:
    return [r for r in report["rows"] if r["kind"] != "overall" and r["arm"] == arm]


def fastest(report: dict) -> dict:
    return max(overall(report), key=lambda r: r["ratio_to_plain"])


def verdict(report: dict) -> str:
    return _verdict()(report)


def off(report: dict) -> list[str]:
    return _off()(report)


def _verdict(low=lambda x: x > 1, high=lambda x: x < 1, few=lambda n: n < FEW, empty=UNCLEAR) -> Callable[[dict], str]:
    def made(report: dict) -> str:
        row = fastest(report)
        if few(row["prompts"]):
            return UNCLEAR
        if row["ratio_interval"] is None:
            return empty
        return DEPLOY if low(row["ratio_interval"][0]) else DONT if high(row["ratio_interval"][1]) else UNCLEAR

    return made


def _off(
    below=lambda r: r["ratio_to_plain"] < 1, when=lambda decision: decision == DEPLOY
) -> Callable[[dict], list[str]]:
    def made(report: dict) -> list[str]:
        arm = fastest(report)["arm"]
        return [r["kind"] for r in kinds(report, arm) if below(r)] if when(verdict(report)) else []

    return made


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
