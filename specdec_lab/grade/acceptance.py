"""Exercise 4: the overlap of two distributions, tokens per pass, and α of a trace with its interval."""

import functools
import math
import random
from collections.abc import Callable, Sequence

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import StillOpen, Wrong, begun, listed, number, part, same, shown
from specdec_lab.theory import expected_tokens

Row = dict[str, float]  # only the tokens with a chance above 0
Text = list[list[str]]  # rounds of marks

PLACES: tuple[tuple[Row, Row], ...] = (
    ({"on": 0.5, "in": 0.3, "at": 0.2}, {"on": 0.7, "in": 0.1, "at": 0.2}),
    ({"red": 0.4, "blue": 0.35, "green": 0.25}, {"red": 0.9, "blue": 0.05, "green": 0.05}),
    ({"red": 0.35, "blue": 0.4, "green": 0.25}, {"red": 0.4, "blue": 0.35, "green": 0.25}),
    ({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, {"a": 0.4, "b": 0.3, "c": 0.25, "d": 0.05}),
)
UNORDERED: tuple[tuple[Row, Row], ...] = (
    ({"a": 0.6, "b": 0.3, "c": 0.1}, {"c": 0.2, "b": 0.3, "a": 0.5}),
    ({"one": 0.55, "two": 0.45}, {"two": 0.15, "one": 0.85}),
)
LACKING: tuple[tuple[Row, Row], ...] = (
    ({"a": 0.6, "b": 0.4}, {"b": 0.3, "c": 0.7}),
    ({"yes": 1.0}, {"no": 0.35, "yes": 0.65}),
    ({"no": 0.35, "yes": 0.65}, {"yes": 1.0}),
    ({"left": 1.0}, {"right": 1.0}),
    ({"." * n: 1 / 8 for n in range(8)}, {"." * n: 1 / 4 for n in range(6, 10)}),
)


def overlap(p: Row, q: Row) -> float:
    return sum(min(share, q.get(token, 0.0)) for token, share in p.items())


def _top(row: Row) -> str:
    return max(row, key=row.__getitem__)


def _kept(p: Row, q: Row, token: str) -> float:
    return min(1.0, p.get(token, 0.0) / q[token])


OVERLAPS = (
    Mistake(
        "This is the chance that a token drawn from p and one drawn from q happen to be the same. "
        "A draft needs no such luck: drawn from q, it is kept with chance min(1, p/q).",
        lambda p, q: sum(share * q.get(token, 0.0) for token, share in p.items()),
        3,
    ),
    Mistake(
        "You ask whether both have the same favourite. This decides in greedy decoding; sampled, all tokens count.",
        lambda p, q: float(_top(p) == _top(q)),
        4,
    ),
    Mistake("This is how much p and q differ; α is what is left.", lambda p, q: 1 - overlap(p, q)),
    Mistake(
        "You take away each difference twice: what p has more in one place, it has less in another.",
        lambda p, q: 2 * overlap(p, q) - 1,
        earned=0.5,
    ),
    Mistake(
        "You take away each difference twice: what p has more in one place, it has less in another.",
        lambda p, q: max(0.0, 2 * overlap(p, q) - 1),
        earned=0.5,
    ),
    Mistake(
        "This is the chance of one draft only, the drafter's favourite. The draft is drawn: weigh every token with q.",
        lambda p, q: _kept(p, q, _top(q)),
        4,
    ),
    Mistake(
        "You look at one token only, a favourite. The draft may be any token that q can draw.",
        lambda p, q: min(p[_top(p)], q.get(_top(p), 0.0)),
    ),
    Mistake(
        "You look at one token only, a favourite. The draft may be any token that q can draw.",
        lambda p, q: p.get(_top(q), 0.0),
    ),
    Mistake(
        "You take the mean of min(1, p/q) as if every token were drafted equally often; it is drafted with chance q.",
        lambda p, q: sum(_kept(p, q, token) for token in q) / len(q),
        earned=0.25,
    ),
    Mistake(
        "You add up min(1, p/q) without weights; a token is drafted with chance q.",
        lambda p, q: sum(_kept(p, q, token) for token in q),
        earned=0.25,
    ),
    Mistake(
        "You weigh min(1, p/q) with p, but the draft is drawn from q.",
        lambda p, q: sum(p.get(token, 0.0) * _kept(p, q, token) for token in q),
        earned=0.25,
    ),
    Mistake(
        "A draft is kept with chance p/q, not q/p.",
        lambda p, q: sum(q[token] * _kept(q, p, token) for token in q if token in p),
        earned=0.25,
    ),
    Mistake("Take the smaller of the two shares, not the larger.", lambda p, q: 2 - overlap(p, q)),
)


@part("4.overlap", points=2)
def chance_to_survive(made: Callable[[Row, Row], float]) -> None:
    """chance_to_survive(p, q) → α of this place; p and q are dicts."""
    found = [number(x, "The chance") for x in answers(made, PLACES)]
    if not all(same(x, overlap(*place)) for x, place in zip(found, PLACES)):
        (p, q), x = next((place, x) for place, x in zip(PLACES, found) if not same(x, overlap(*place)))
        mistake = explained(OVERLAPS, PLACES, found)
        if mistake is None and all(abs(x - overlap(*place)) < 0.06 for x, place in zip(found, PLACES)):
            mistake = Mistake("Near, but rounded: do not round inside a calculation.", overlap, earned=0.5)
        raise named(
            mistake,
            f"With p = {p} and q = {q} your function gives {told(x)}.",
            "Go token by token: how often is it drafted, and how often is it kept then? Add this up."
            if 0 <= x <= 1
            else "This is no chance: it must lie between 0 and 1.",
        )
    for p, q in UNORDERED:
        if not same(number(made(dict(p), dict(q)), "The chance"), overlap(p, q)):
            raise Wrong(
                f"With p = {p} and q = {q} the result is wrong: the tokens stand in another order there. "
                "Find a token's share by its name, not by its place in the dict.",
                0.5,
            )
    for p, q in LACKING:
        before = f"With p = {p} and q = {q}"
        try:
            x = number(made(dict(p), dict(q)), "The chance")
        except KeyError:
            raise Wrong(
                f"{before} your function raised KeyError. A token that is missing in a dict has chance 0 there: "
                "q.get(token, 0).",
                0.5,
            ) from None
        if not same(x, overlap(p, q)):
            raise Wrong(
                f"{before} your function gives {told(x)}. A token that is missing in one of them has chance 0 there.",
                0.5,
            )


# Tokens per pass

CURVES = ((0.75, [4, 0, 1, 2, 7]), (0.4, [4, 1, 30]), (0.9, [3, 8, 5]), (0.3, [2, 6]))


def _each(formula: Callable[[float, int], float]) -> Callable[[float, list[int]], list[float]]:
    return lambda alpha, gammas: [formula(alpha, gamma) for gamma in gammas]


ALONE = "You count each draft as if it were kept or not by itself. It only counts if all drafts before it were kept."
TERMS = (
    (
        "The target's own token is missing: the corrected one or the bonus is written in every round.",
        lambda a, n: expected_tokens(a, n) - 1,
        6,
    ),
    (ALONE, lambda a, n: 1 + a * n, None),
    (f"{ALONE} And the target's own token is missing.", lambda a, n: a * n, 6),
    (
        "The last power of α is missing: with γ drafts kept the bonus comes too, so the sum goes up to α^γ.",
        lambda a, n: expected_tokens(a, n - 1),
        6,
    ),
    (
        "There is one power of α too many: with γ drafts at most γ + 1 tokens are written.",
        lambda a, n: expected_tokens(a, n + 1),
        None,
    ),
    ("This is the limit for endless drafts; γ has to count.", lambda a, n: 1 / (1 - a), None),
    (
        "You count a round as all or nothing, but drafts before the first miss are kept.",
        lambda a, n: 1 + n * a**n,
        None,
    ),
    (
        "You count a round as all or nothing, but drafts before the first miss are kept.",
        lambda a, n: (n + 1) * a**n,
        None,
    ),
    (
        "You count a round as all or nothing, but drafts before the first miss are kept.",
        lambda a, n: 1 + a**n,
        None,
    ),
    ("This is the chance that all drafts are kept, not a number of tokens.", lambda a, n: a**n, None),
    ("These are the most tokens a round can write; α has to count.", lambda a, n: n + 1, None),
    (
        "α times all γ + 1 tokens is not it: the first token is certain, the last one is rare.",
        lambda a, n: a * (n + 1),
        None,
    ),
    ("In the closed form the sum is divided by 1 − α.", lambda a, n: 1 - a ** (n + 1), None),
)
TOKENS = tuple(Mistake(said, _each(formula), misconception) for said, formula, misconception in TERMS)


def _alike(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


@part("4.tokens", points=2)
def tokens_per_pass(made: Callable[[float, list[int]], list[float]]) -> None:
    """tokens_per_pass(alpha, gammas) → E for each γ in the list."""
    raw = answers(made, CURVES)
    if not hasattr(raw[0], "__len__"):
        raise Wrong(f"The result should be a list, with one number for each γ in gammas; it is {shown(raw[0])}.")
    found = [_numbers(value, len(gammas)) for value, (_, gammas) in zip(raw, CURVES)]
    right = _each(expected_tokens)
    if not all(_alike(x, right(*case)) for x, case in zip(found, CURVES)):
        raise _wrong_curve(found)
    for gammas in ([4, 0, 1], [2, 3]):
        try:
            value = made(1.0, list(gammas))
        except ZeroDivisionError:
            raise Wrong(
                "For α = 1 your closed form divides by 0. Every draft is kept there: γ + 1 tokens. "
                "Treat it apart, or add up the powers.",
                0.75,
            ) from None
        x = _numbers(value, len(gammas))
        if not _alike(x, right(1.0, gammas)):
            raise Wrong(
                f"For α = 1 and γ = {told(gammas)} your function gives {told(x)}; every draft is kept there.", 0.75
            )
        x = _numbers(made(0.0, list(gammas)), len(gammas))
        if not _alike(x, right(0.0, gammas)):
            if all(value == 0 for value in x):
                raise Wrong("For α = 0 no draft is kept, but each round still writes the target's own token.", 0.75, 6)
            raise Wrong(
                f"For α = 0 and γ = {told(gammas)} your function gives {told(x)}; no draft is kept there.", 0.75
            )
    if len(_numbers(made(0.5, []), None)):
        raise Wrong("For an empty list of γ your function should give an empty list.", 0.75)


def _numbers(value: object, length: int | None) -> list[float]:
    return [number(x, "Tokens per pass") for x in listed(value, length, "The result, one number for each γ,")]


def _wrong_curve(found: list[list[float]]) -> Wrong:
    right = _each(expected_tokens)
    (alpha, gammas), x = next((case, x) for case, x in zip(CURVES, found) if not _alike(x, right(*case)))
    before = f"For α = {told(alpha)} and γ = {told(gammas)} your function gives {told(x)}."
    if mistake := explained(TOKENS, CURVES, found, _alike):
        return named(mistake, before, "")
    if all(_alike(sorted(x), sorted(right(*case))) for x, case in zip(found, CURVES)):
        return Wrong(f"{before} The numbers are right, and in another order than the γ in the list.", 0.5)
    if all(abs(a - b) < 0.06 for x, case in zip(found, CURVES) for a, b in zip(x, right(*case))):
        return Wrong(f"{before} Near, but rounded: do not round inside a calculation.", 0.5)
    return Wrong(f"{before} Ask for each token of a round with what chance it is written, and add these chances up.")


# A claim

CLAIMS = (
    (0.75, 4, 3.3),
    (0.4, 4, 1.5),
    (0.4, 4, 2.0),
    (0.75, 4, 3.05),
    (0.8, 3, 4.2),
    (0.5, 6, 1.0),
    (0.4, 9, 1.65),
    (0.9, 2, 8.15),
    (1.0, 3, 6.0),
    (0.0, 5, 1.0),
    (0.6, 4, 0.9),
)
FAR = 0.05
MOST = 100  # the largest γ that is looked at


def source_of(alpha: float, claimed: float) -> int | None:
    """The γ whose E is nearest to what was claimed, if it is near enough."""
    gamma = min(range(MOST + 1), key=lambda n: abs(expected_tokens(alpha, n) - claimed))
    return gamma if abs(expected_tokens(alpha, gamma) - claimed) <= FAR else None


def _first(alpha: float, enough: Callable[[float], bool]) -> int | None:
    return next((n for n in range(MOST + 1) if enough(expected_tokens(alpha, n))), None)


def _nearest(alpha: float, claimed: float, gammas: Sequence[int], far: float = FAR) -> int | None:
    gamma = min(gammas, key=lambda n: abs(expected_tokens(alpha, n) - claimed))
    return gamma if abs(expected_tokens(alpha, gamma) - claimed) <= far else None


SOURCES = (
    Mistake(
        "You give back the γ that was asked for. With which γ does the claimed number come out?", lambda a, n, e: n
    ),
    Mistake(
        "You count the terms of the sum. A round with γ drafts has γ + 1 of them.",
        lambda a, n, e: None if (found := source_of(a, e)) is None else found + 1,
    ),
    Mistake(
        "You stop at the first γ that reaches the claimed number; but rounded, it may stand a little above the true one. "
        "Take the γ that comes nearest.",
        lambda a, n, e: _first(a, lambda x: x >= e),
        earned=0.5,
    ),
    Mistake(
        "You stop at the first γ that is near enough; a later one may be nearer.",
        lambda a, n, e: _first(a, lambda x: abs(x - e) <= FAR),
        earned=0.75,
    ),
    Mistake(
        "The nearest γ is not enough: where no γ comes within .05 of the claimed number, the answer is None.",
        lambda a, n, e: _nearest(a, e, range(MOST + 1), math.inf),
        earned=0.5,
    ),
    Mistake(
        "Where no γ comes within .05 of the claimed number, the answer is None; and of two that are equally near, the smaller.",
        lambda a, n, e: min(range(MOST, -1, -1), key=lambda m: abs(expected_tokens(a, m) - e)),
        earned=0.5,
    ),
    Mistake(
        "Of two γ that are equally near, the smaller one is asked for.",
        lambda a, n, e: _nearest(a, e, range(MOST, -1, -1)),
        earned=0.75,
    ),
    Mistake("You do not look at γ = 0.", lambda a, n, e: _nearest(a, e, range(1, MOST + 1)), earned=0.75),
    Mistake(
        "You do not look beyond the γ that was asked for; the claimed number may belong to a larger one.",
        lambda a, n, e: _nearest(a, e, range(n + 1)),
    ),
)


@part("4.claim", points=2, seconds=5)
def audit(made: Callable[[float, int, float], tuple[float, int | None]]) -> None:
    """audit(alpha, gamma, claimed) → (E, the γ that the claimed number belongs to or None)."""
    pairs = [listed(value, 2, "What your function returns") for value in answers(made, CLAIMS)]
    if pairs[0][0] is None or pairs[0][0] is Ellipsis:
        raise StillOpen
    values, gammas = zip(*pairs)
    right = [expected_tokens(alpha, gamma) for alpha, gamma, _ in CLAIMS]
    wanted = [source_of(alpha, claimed) for alpha, _, claimed in CLAIMS]
    if values[0] == 5 and same(number(gammas[0], "The second result"), right[0]):
        raise Wrong("The two results are swapped: first the tokens per pass, then the γ.", 0.5)
    _right_values([number(x, "The first result, the tokens per pass,") for x in values], right)
    for (alpha, _, claimed), x in zip(CLAIMS, gammas):
        if x is not None and not (isinstance(x, int | float) and not isinstance(x, bool)):
            raise Wrong(
                f"For α = {told(alpha)} and the claimed number {told(claimed)} the second result should be a γ or None; "
                f"it is {shown(x)}.",
                0.5,
            )
    if list(gammas) == wanted:
        return
    (alpha, gamma, claimed), x = next((c, x) for c, x, w in zip(CLAIMS, gammas, wanted) if x != w)
    before = (
        f"For α = {told(alpha)} and the claimed number {told(claimed)} your second result is {x!r}. "
        f"(The first one, {told(expected_tokens(alpha, gamma))} for γ = {gamma}, is right.)"
    )
    mistake = explained(SOURCES, CLAIMS, gammas, lambda a, b: a == b)
    if mistake is None and all(x == w or (x is None and w > 8) for x, w in zip(gammas, wanted)):
        mistake = Mistake(f"You stop too early: look at all γ up to {MOST}.", lambda: None, earned=0.75)
    if mistake is None:
        raise Wrong(f"{before} Compute E for γ = 0, 1, 2, … and see which one comes nearest to it.", 0.5)
    raise Wrong(f"{before} {mistake.said}", max(0.5, mistake.earned), mistake.misconception)


def _right_values(found: list[float], right: list[float]) -> None:
    if _alike(found, right):
        return
    (alpha, gamma, _), x = next((c, x) for c, x, r in zip(CLAIMS, found, right) if not same(x, r))
    before = f"For α = {told(alpha)} and γ = {gamma} your first result is {told(x)}."
    if _alike(found, [claimed for _, _, claimed in CLAIMS]):
        raise Wrong(f"{before} This is the claimed number. The first result is the true one.")
    finite = [i for i, (alpha, _, _) in enumerate(CLAIMS) if alpha < 1]
    for said, formula, misconception in TERMS:
        if all(same(found[i], formula(CLAIMS[i][0], CLAIMS[i][1])) for i in finite):
            raise Wrong(f"{before} {said}", misconception=misconception)
    if all(abs(a - b) < 0.06 for a, b in zip(found, right)):
        raise Wrong(f"{before} Near, but rounded: the exact number is asked for.", 0.5)
    raise Wrong(f"{before} It should be E, the expected tokens per pass.")


# A trace


def a_round(kept: int, gamma: int = 4) -> list[str]:
    if kept == gamma:
        return ["accepted"] * gamma + ["bonus"]
    return ["accepted"] * kept + ["rejected"] + ["discarded"] * (gamma - kept - 1) + ["corrected"]


def cut(kept: int, gamma: int = 4) -> list[str]:
    """A stop came with the last accepted draft: what stood behind it was not examined, and nothing was added."""
    return ["accepted"] * kept + ["discarded"] * (gamma - kept)


def a_text(*kept: int, gamma: int = 4) -> Text:
    return [a_round(n, gamma) for n in kept]


SILENT = ["plain"]  # lookup found nothing to copy
COPIED = a_text(2, 4, 0)
TRACES: tuple[list[Text], ...] = (
    [a_text(2, 4, 0, 1)],
    [a_text(4, 4, 3), a_text(0, 1, 0, 0, 2, 0, 0, 1, 0, 1)],
    [a_text(3, 1, 3, gamma=3), a_text(0, 2, 0, gamma=3), a_text(3, 3, gamma=3)],
    [[SILENT, *a_text(4, 4), SILENT, SILENT], [*a_text(0, 0, 1), SILENT]],
    [[*a_text(4, 2), cut(2)], [*a_text(0, 0, 1, 0), cut(1)], a_text(0, 0)],
    [a_text(0, 0, 0)],
)


def counts(of: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Accepted and tested drafts in some rounds."""
    marks = [mark for each in of for mark in each]
    accepted = marks.count("accepted")
    return accepted, accepted + marks.count("rejected")


def ratio(of: Sequence[tuple[int, int]]) -> float:
    """α: the ratio of the sums."""
    return sum(a for a, _ in of) / sum(n for _, n in of)


def alpha_of(texts: Sequence[Text]) -> float:
    return ratio([counts(text) for text in texts])


def _flat(texts: Sequence[Text]) -> list[str]:
    return [mark for text in texts for each in text for mark in each]


def _rounds(texts: Sequence[Text]) -> list[list[str]]:
    return [each for text in texts for each in text]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _of(*names: str) -> Callable[[Sequence[Text]], int]:
    return lambda texts: sum(_flat(texts).count(name) for name in names)


ACCEPTED, TESTED = _of("accepted"), _of("accepted", "rejected")
PROPOSED = _of("accepted", "rejected", "discarded")
WRITTEN = _of("accepted", "corrected", "bonus", "plain")
OWN = "A corrected token, a bonus or a plain one is the target's own: it is no draft, and does not count."
RATES = (
    Mistake(
        "You divide by all proposed drafts. A discarded draft was never examined, so it says nothing about α.",
        lambda texts: ACCEPTED(texts) / PROPOSED(texts),
        5,
    ),
    Mistake(
        "You divide by γ times the rounds, so drafts that were never examined, or never made, count as wrong.",
        lambda texts: (
            ACCEPTED(texts) / (max(map(PROPOSED, ([[each]] for each in _rounds(texts)))) * len(_rounds(texts)))
        ),
        5,
    ),
    Mistake(
        "You take the mean of the texts' own rates. A text with few drafts then weighs as much as one with many: "
        "divide the sum by the sum.",
        lambda texts: _mean([alpha_of([text]) for text in texts]),
        earned=0.5,
    ),
    Mistake(
        "You take the mean of the rounds' own rates. A round that tested one draft then weighs as much as one that "
        "tested four: divide the sum by the sum.",
        lambda texts: _mean([ratio([counts([each])]) for each in _rounds(texts) if TESTED([[each]])]),
        earned=0.25,
    ),
    Mistake(
        "You take the mean of the rounds' own rates, and divide by drafts that were never examined.",
        lambda texts: _mean([ACCEPTED([[each]]) / PROPOSED([[each]]) for each in _rounds(texts) if PROPOSED([[each]])]),
        5,
    ),
    Mistake("You divide by all marks; only drafts that were examined count.", lambda t: ACCEPTED(t) / len(_flat(t))),
    Mistake(OWN, lambda t: WRITTEN(t) / len(_flat(t))),
    Mistake(OWN, lambda t: WRITTEN(t) / PROPOSED(t)),
    Mistake(OWN, lambda t: WRITTEN(t) / TESTED(t)),
    Mistake(OWN, lambda t: ACCEPTED(t) / _of("accepted", "rejected", "bonus", "corrected")(t)),
    Mistake(OWN, lambda t: ACCEPTED(t) / _of("accepted", "rejected", "bonus", "corrected", "plain")(t)),
    Mistake(OWN, lambda t: _of("accepted", "bonus")(t) / _of("accepted", "rejected", "bonus")(t)),
    Mistake(OWN, lambda t: ACCEPTED(t) / WRITTEN(t)),
    Mistake(
        "This is the number of accepted drafts a round, not the chance of a draft.",
        lambda t: ACCEPTED(t) / len(_rounds(t)),
    ),
    Mistake("These are tokens per pass, not α.", lambda t: WRITTEN(t) / len(_rounds(t))),
    Mistake(
        "You look at the first draft of each round only; the later ones that were examined count too.",
        lambda t: _mean([each[0] == "accepted" for each in _rounds(t) if each[0] != "plain"]),
    ),
    Mistake(
        "This is the share of rounds without a miss, not the chance of a draft.",
        lambda t: _mean([each[-1] == "bonus" for each in _rounds(t)]),
    ),
    Mistake("This is the chance of a rejection.", lambda t: 1 - ACCEPTED(t) / TESTED(t)),
    Mistake(
        "In a round that was cut short by a stop you count a rejected draft that is not there: count the marks.",
        lambda t: ACCEPTED(t) / (ACCEPTED(t) + sum("discarded" in each or "rejected" in each for each in _rounds(t))),
        earned=0.5,
    ),
)


@part("4.rate", points=2)
def alpha_hat(made: Callable[[list[Text]], float]) -> None:
    """alpha_hat(texts) → α of the trace."""
    cases = [(texts,) for texts in TRACES]
    found = [number(x, "α") for x in answers(made, cases)]
    right = [alpha_of(texts) for texts in TRACES]
    if _alike(found, right):
        return
    i = next(i for i, (x, r) in enumerate(zip(found, right)) if not same(x, r))
    accepted = ", ".join(" ".join(str(each.count("accepted")) for each in text) for text in TRACES[i])
    before = f"For texts whose rounds accept {accepted} drafts your function gives {told(found[i])}."
    raise named(
        explained(RATES, cases, found),
        before,
        "Count the accepted drafts, count those that were examined (accepted or rejected), and divide."
        if 0 <= found[i] <= 1
        else "This is no chance: it must lie between 0 and 1.",
    )


# Its interval


def written(alpha: float, rounds: int, dice: random.Random) -> Text:
    """A text whose drafts survive with chance α."""
    return a_text(*(next((i for i in range(4) if dice.random() >= alpha), 4) for _ in range(rounds)))


def _suite(alphas: Sequence[float], rounds: Sequence[int], seed: int) -> list[Text]:
    dice = random.Random(seed)
    return [written(alpha, n, dice) for alpha, n in zip(alphas, rounds)]


SUITES = (
    _suite([0.95] * 10 + [0.15] * 10, [*range(3, 8)] * 2 + [*range(16, 36, 2)], 1),
    _suite([0.1 + 0.05 * i for i in range(18)], [4 + 2 * i for i in range(18)], 2),
)
SEEDS = range(8)  # an interval is the mean of so many, so that chance hardly matters
RUNS = 20_000  # for the judge's own intervals
ROOM = 0.2  # of a standard error; an interval that holds 90 % is off by .3


def spread(units: Sequence[tuple[int, int]], value: Callable[[list[tuple[int, int]]], float], runs: int) -> list[float]:
    """What a bootstrap over these units gives, from small to large."""
    dice = random.Random(5)
    return sorted(value(dice.choices(units, k=len(units))) for _ in range(runs))


def _ends(values: Sequence[float], outside: float) -> tuple[float, float]:
    """The interval that leaves the share `outside` out at each end."""
    k = min(int(outside * len(values)), len(values) - 1)
    return values[k], values[-1 - k]


@functools.cache
def _intervals(suite: int) -> dict[str, tuple[float, float]]:
    """The right interval and the wrong ones."""
    texts = SUITES[suite]
    by_text = [counts(text) for text in texts]
    all_proposed = [(ACCEPTED([text]), PROPOSED([text])) for text in texts]
    right = spread(by_text, ratio, RUNS)
    return {
        "right": _ends(right, 0.025),
        "ratios": _ends(spread(by_text, lambda of: _mean([a / n for a, n in of]), RUNS), 0.025),
        "proposed": _ends(spread(all_proposed, ratio, RUNS), 0.025),
        "90": _ends(right, 0.05),
        "50": _ends(right, 0.25),
        "99": _ends(right, 0.005),
        "68": _ends(right, 0.16),
        "middle": (right[RUNS // 2], right[RUNS // 2]),
    }


TOO_NARROW = "Draw whole texts: the tokens of one text are alike, and more of them do not replace more texts."
INTERVALS = {  # name → (what is said, share earned, misconception)
    "ratios": ("You take the mean of the drawn texts' rates. Divide the sum by the sum, as for α itself.", 0.5, None),
    "proposed": ("You divide by all proposed drafts; discarded ones were never examined.", 0.5, 5),
    "90": ("You leave 5 % out at each end, so the interval holds 90 %. Leave out 2.5 %.", 0.5, None),
    "50": ("You leave a quarter out at each end, so the interval holds one half. Leave out 2.5 %.", 0.5, None),
    "99": ("You leave out .5 % at each end, so the interval holds 99 %. Leave out 2.5 %.", 0.5, None),
    "68": ("It holds about 68 %, as one standard error to each side does. Leave out 2.5 % at each end.", 0.5, None),
    "middle": ("Both ends lie in the middle. Leave out 2.5 % of the values at each end.", 0.25, None),
}


@part("4.interval", points=2, seconds=60)
def interval(made: Callable[[list[Text], random.Random], tuple[float, float]]) -> None:
    """interval(texts, dice) → (low, high), 95 %, by bootstrap over texts."""
    begun(made)

    def asked(texts: list[Text], seed: int) -> tuple[float, float]:
        given = [[list(each) for each in text] for text in texts]
        low, high = listed(made(given, random.Random(seed)), 2, "The interval")
        return number(low, "The lower end"), number(high, "The upper end")

    low, high = asked([COPIED] * 10, 0)
    told_copies = f"Given ten copies of one text, your interval is {told([low, high])}."
    if not same(low, high):
        raise Wrong(
            f"{told_copies} Whichever copies are drawn, α is the same, so it should have no width. Do you draw rounds or single drafts? {TOO_NARROW}"
        )
    if not same(low, alpha_of([COPIED])):
        proposed = same(low, ACCEPTED([COPIED]) / PROPOSED([COPIED]))
        raise Wrong(
            f"{told_copies} Both ends should be α of this text, {told(alpha_of([COPIED]))}. "
            + ("Discarded drafts were never examined." if proposed else "Is α the accepted divided by the examined?"),
            misconception=5 if proposed else None,
        )
    found, fixed = [], False
    for suite in range(len(SUITES)):
        each = [asked(SUITES[suite], seed) for seed in SEEDS]
        if asked(SUITES[suite], SEEDS[0]) != each[0]:
            raise Wrong(
                "Called twice with dice of the same seed, your function gives two different intervals. "
                "Draw with dice only, never with the module random.",
                0.5,
            )
        low, high = _mean([a for a, _ in each]), _mean([b for _, b in each])
        if same(low, high) and same(low, alpha_of(SUITES[suite])):
            raise Wrong(
                "Your interval has no width: with dice.sample or dice.shuffle every text comes exactly once. "
                "Draw with replacement, so that a text may come twice and another one not at all."
            )
        if low > high:
            raise Wrong("The lower end must come first.", 0.75)
        fixed = fixed or len(set(each)) == 1
        found.append((low, high))
    if not all(_near(suite, ends, "right") for suite, ends in enumerate(found)):
        raise _wrong_interval(found)
    if fixed:
        raise Wrong("Your interval is the same for every seed: draw with the dice that your function is given.", 0.5)


def _near(suite: int, ends: tuple[float, float], name: str) -> bool:
    low, high = _intervals(suite)["right"]
    return all(abs(a - b) <= ROOM * (high - low) / 4 for a, b in zip(ends, _intervals(suite)[name]))


def _wrong_interval(found: list[tuple[float, float]]) -> Wrong:
    suite, ends = next((i, ends) for i, ends in enumerate(found) if not _near(i, ends, "right"))
    low, high = _intervals(suite)["right"]
    before = (
        f"For {len(SUITES[suite])} texts with α = {told(alpha_of(SUITES[suite]))} your interval is {told(list(ends))}; "
        f"it should be near {told([low, high])}."
    )
    for name, (said, earned, misconception) in INTERVALS.items():
        if all(_near(i, x, name) for i, x in enumerate(found)):
            return Wrong(f"{before} {said}", earned, misconception)
    widths = [(b - a) / (_intervals(i)["right"][1] - _intervals(i)["right"][0]) for i, (a, b) in enumerate(found)]
    if all(width < 0.9 for width in widths):
        return Wrong(
            f"{before} It is too narrow. Do you draw as many texts as there are, and leave out only 2.5 % at each end?",
            0.25,
        )
    if all(width > 1.1 for width in widths):
        return Wrong(
            f"{before} It is too wide. Do you draw as many texts as there are, and leave out 2.5 % at each end?", 0.25
        )
    return Wrong(f"{before} Draw texts, divide the sums, sort the results, and leave out 2.5 % at each end.", 0.25)
