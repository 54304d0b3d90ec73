"""Exercise 4: the overlap of two distributions, tokens per pass, a claim, and α of a trace with its interval."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from statistics import fmean

from specdec_grader.coerce import listed, number, reject_empty, same, shown
from specdec_grader.mistakes import Mistake, Wrong
from specdec_grader.part import part, part_of_one
from specdec_grader.question import ROUNDED, at_an_edge, pretty, question, results
from specdec_lab.theory import expected_tokens as E

# 4.overlap: p and q are dicts from token to probability, with only the tokens whose chance is above 0

Row = dict[str, float]


def favourite(row: Row) -> str:
    return max(row, key=row.__getitem__)


def kept(p: Row, q: Row) -> Row:
    """The chance of each draft to be kept by the rule, where both can say the same tokens."""
    return {token: min(1.0, p[token] / share) for token, share in q.items()}


def chance_to_survive(p, q):
    return sum(min(share, q.get(token, 0.0)) for token, share in p.items())


OVERLAP = question(
    chance_to_survive,
    read=partial(number, what="The chance"),
    near=ROUNDED,
    cases=(
        ({"on": 0.5, "in": 0.3, "at": 0.2}, {"on": 0.7, "in": 0.1, "at": 0.2}),
        ({"red": 0.42, "blue": 0.36, "green": 0.22}, {"red": 0.86, "blue": 0.08, "green": 0.06}),
        ({"red": 0.42, "blue": 0.36, "green": 0.22}, {"red": 0.36, "blue": 0.42, "green": 0.22}),
        ({"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}, {"a": 0.4, "b": 0.3, "c": 0.25, "d": 0.05}),
    ),
    seen="With p = {} and q = {} your function gives {found}.",
    hint="Go token by token: how often is it drafted, and how often is it kept then? Add this up.",
)
UNORDERED = replace(
    OVERLAP,
    mistakes=(),
    near=None,
    cases=(
        ({"a": 0.6, "b": 0.3, "c": 0.1}, {"c": 0.2, "b": 0.3, "a": 0.5}),
        ({"one": 0.55, "two": 0.45}, {"two": 0.15, "one": 0.85}),
    ),
    seen="With p = {} and q = {} the result is wrong:",
    hint="the tokens stand in another order there. Find a token's share by its name, not by its place in the dict.",
)
LACKING = replace(
    UNORDERED,
    cases=(
        ({"a": 0.6, "b": 0.4}, {"b": 0.3, "c": 0.7}),
        ({"yes": 1.0}, {"no": 0.35, "yes": 0.65}),
        ({"no": 0.35, "yes": 0.65}, {"yes": 1.0}),
        ({"left": 1.0}, {"right": 1.0}),
        ({"." * n: 1 / 8 for n in range(8)}, {"." * n: 1 / 4 for n in range(6, 10)}),
    ),
    seen="With p = {} and q = {} your function gives {found}.",
    hint="A token that is missing in one of them has chance 0 there.",
)


@part("4.overlap", points=2, asks=[OVERLAP])
def judge_overlap(made: Callable[[Row, Row], float]) -> None:
    OVERLAP.judge(made)
    UNORDERED.judge(made, earned=0.5)
    for p, q in LACKING.cases:
        try:
            replace(LACKING, cases=[(p, q)]).judge(made, earned=0.5)
        except KeyError:
            said = "raised KeyError. A token that is missing in a dict has chance 0 there: q.get(token, 0)."
            raise Wrong(f"With p = {p} and q = {q} your function {said}", 0.5) from None


# 4.tokens


def tokens_per_pass(alpha, gammas):
    return [E(alpha, gamma) for gamma in gammas]


def hint_tokens(case: tuple[float, list[int]], found: list[float]) -> str | Mistake:
    if same(sorted(found), sorted(tokens_per_pass(*case))):
        return Mistake("The numbers are right, and in another order than the γ in the list.", earned=0.5)
    return "Ask for each token of a round with what chance it is written, and add these chances up."


TOKENS = question(
    tokens_per_pass,
    near=ROUNDED,
    cases=((0.75, [4, 0, 1, 2, 7]), (0.4, [4, 1, 30]), (0.9, [3, 8, 5]), (0.3, [2, 6])),
    seen="For α = {} and γ = {} your function gives {found}.",
    hint=hint_tokens,
)


def numbers(value: object, length: int | None) -> list[float]:
    return [number(x, "Tokens per pass") for x in listed(value, length, "The result, one number for each γ,")]


EDGES = {
    (1.0, (4, 0, 1)): "every draft is kept there, γ + 1 tokens; a closed form divides by 0, so treat it apart",
    (0.0, (4, 0, 1)): "no draft is kept there",
    (0.5, ()): "to an empty list belongs an empty list",
}


@part("4.tokens", points=2, asks=[TOKENS])
def judge_tokens(made: Callable[[float, list[int]], list[float]]) -> None:
    given = zip(results(made, TOKENS), TOKENS.cases)
    TOKENS.compare([numbers(value, len(gammas)) for value, (_, gammas) in given])
    for (alpha, gammas), why in EDGES.items():
        before = f"For α = {pretty(alpha)} and γ = {pretty(list(gammas))}"
        with at_an_edge(f"{before}: {why}."):
            x = numbers(made(alpha, list(gammas)), len(gammas))
            if alpha == 0 and not any(x):
                raise Wrong("For α = 0 no draft is kept, but each round still writes the target's own token.", belief=6)
            if not same(x, TOKENS.right(alpha, gammas)):
                raise Wrong(f"{before} your function gives {pretty(x)}; {why}.")


# 4.claim: the learner's function gives both, the true tokens per pass and the γ that the claim belongs to

CLAIMS = (
    (0.7, 3, 2.8),
    (0.3, 5, 2.0),
    (0.4, 4, 1.5),
    (0.75, 4, 3.05),
    (0.8, 3, 4.2),
    (0.5, 6, 1.0),
    (0.4, 9, 1.65),
    (0.9, 2, 8.15),
    (0.0, 5, 1.0),
    (0.6, 4, 0.9),
    (0.99, 5, 33.9),
)
CERTAIN = ((1.0, 3, 6.0), (1.0, 3, 101.0))  # a closed form treats α = 1 apart, and is right there in spite of a mistake


def true_tokens(alpha, gamma, claimed):
    return E(alpha, gamma)


VALUE = question(
    true_tokens,
    near=Mistake("Near, but rounded: the exact number is asked for.", earned=0.5),
    cases=CLAIMS,
    seen="For α = {} and γ = {} your first result is {found}.",
    hint="It should be E, the expected tokens per pass.",
)


def seen_source(case: tuple[float, int, float], found: int | None, right: int | None) -> str:
    alpha, gamma, claimed = case
    first = f"(The first one, {pretty(E(alpha, gamma))} for γ = {gamma}, is right.)"
    return f"For α = {pretty(alpha)} and the claimed number {pretty(claimed)} your second result is {found!r}. {first}"


def gamma_behind(alpha, gamma, claimed):
    nearest = min(range(101), key=lambda n: abs(E(alpha, n) - claimed))
    return nearest if abs(E(alpha, nearest) - claimed) <= 0.05 else None


SOURCE = question(
    gamma_behind,
    cases=CLAIMS + CERTAIN,
    seen=seen_source,
    hint="Compute E for γ = 0, 1, 2, … and see which one comes nearest to it.",
)


@part("4.claim", points=2, seconds=5, asks=[VALUE, SOURCE])
def judge_claim(made: Callable[[float, int, float], tuple[float, int | None]]) -> None:
    values, gammas = zip(*(listed(value, 2) for value in results(made, VALUE, SOURCE)))
    true = [VALUE.right(*case) for case in SOURCE.cases]
    if list(values) == [SOURCE.right(*case) for case in SOURCE.cases] and same(list(gammas), true):
        raise Wrong("The two results are swapped: first the tokens per pass, then the γ.", 0.5)
    tokens = [number(x, "The first result, the tokens per pass,") for x in values]
    VALUE.compare(tokens[: len(CLAIMS)])
    replace(VALUE, cases=CERTAIN, mistakes=()).compare(tokens[len(CLAIMS) :])
    for (alpha, _, claimed), x in zip(SOURCE.cases, gammas):
        if isinstance(x, bool) or not (x is None or (isinstance(x, int | float) and math.isfinite(x))):
            before = f"For α = {pretty(alpha)} and the claimed number {pretty(claimed)} the second result"
            raise Wrong(f"{before} should be a γ or None; it is {shown(x)}.", 0.5)
    SOURCE.compare(gammas, earned=0.5)


# 4.rate: α of a trace

Text = list[list[str]]  # rounds of marks
ACCEPTED = {"accepted"}
TESTED = ACCEPTED | {"rejected"}
PROPOSED = TESTED | {"discarded"}
OWN = {"corrected", "bonus", "plain"}
SILENT = ["plain"]  # lookup found nothing to copy


def count(texts: Sequence[Text], kinds: set[str]) -> int:
    return sum(mark in kinds for text in texts for marks in text for mark in marks)


def rounds(texts: Sequence[Text]) -> list[list[Text]]:
    """Each round as a trace of its own."""
    return [[[marks]] for text in texts for marks in text]


def most_drafts(texts: Sequence[Text]) -> int:
    return max(count(one, PROPOSED) for one in rounds(texts))


def with_a_miss(texts: Sequence[Text]) -> int:
    """The rounds in which drafts were left over."""
    return sum(count(one, {"rejected", "discarded"}) > 0 for one in rounds(texts))


def a_text(*kept: int, gamma: int = 4) -> Text:
    """A text with a round for each number in `kept`: of its γ drafts so many are accepted."""
    return [
        ["accepted"] * n + (["rejected"] + ["discarded"] * (gamma - n - 1) + ["corrected"] if n < gamma else ["bonus"])
        for n in kept
    ]


def cut_short(kept: int, gamma: int = 4) -> list[str]:
    """A stop came with the last accepted draft: what stood after it was not tested, and nothing was added."""
    return ["accepted"] * kept + ["discarded"] * (gamma - kept)


def seen_rate(case: tuple[list[Text]], found: float, right: float) -> str:
    accepted = ", ".join(" ".join(str(marks.count("accepted")) for marks in text) for text in case[0])
    return f"For texts whose rounds accept {accepted} drafts your function gives {pretty(found)}."


def alpha_hat(texts):
    return count(texts, ACCEPTED) / count(texts, TESTED)


RATE = question(
    alpha_hat,
    read=partial(number, what="α"),
    cases=(
        ([a_text(2, 4, 0, 1)],),
        ([a_text(4, 4, 3), a_text(0, 1, 0, 0, 2, 0, 0, 1, 0, 1)],),
        ([a_text(3, 1, 3, gamma=3), a_text(0, 2, 0, gamma=3), a_text(3, 3, gamma=3)],),
        ([[SILENT, *a_text(4, 4), SILENT, SILENT], [*a_text(0, 0, 1), SILENT]],),
        ([[*a_text(4, 2), cut_short(2)], [*a_text(0, 0, 1, 0), cut_short(1)], a_text(0, 0)],),
        ([a_text(0, 0, 0)],),
    ),
    seen=seen_rate,
    hint="Count the accepted drafts, count those that were tested (accepted or rejected), and divide.",
)
part_of_one("4.rate", points=2, asked=RATE)


# 4.interval: 95 % of α, by bootstrap over texts

Ends = tuple[float, float]
Counts = tuple[int, int]  # a text's accepted and tested drafts

SEEDS = range(8)  # an interval is the mean of so many, so that chance hardly matters
RUNS = 20_000  # for the judge's own intervals
COPIED = a_text(2, 4, 0)  # ten copies of it have an interval without width
ROOM = 0.014  # at each end: a right interval is off by 0.004, with few draws by 0.01; one that holds 90 % by 0.02


def random_texts(alphas: Sequence[float], rounds: Sequence[int], seed: int) -> list[Text]:
    """Texts of so many rounds whose drafts survive with chance α."""
    dice = random.Random(seed)

    def kept(alpha: float) -> int:
        return next((i for i in range(4) if dice.random() >= alpha), 4)

    return [a_text(*(kept(alpha) for _ in range(n))) for alpha, n in zip(alphas, rounds)]


def ratio_of_sums(drawn: Sequence[Counts]) -> float:
    return sum(a for a, _ in drawn) / sum(n for _, n in drawn)


def mean_of_ratios(drawn: Sequence[Counts]) -> float:
    return fmean(a / n for a, n in drawn)


@cache
def bootstrap(texts: tuple[Counts, ...], value: Callable[[Sequence[Counts]], float]) -> list[float]:
    """The values of so many draws of texts, from small to large."""
    dice = random.Random(5)
    return sorted(value(dice.choices(texts, k=len(texts))) for _ in range(RUNS))


def left_between(texts: list[Text], outside: float, value: Callable[[Sequence[Counts]], float]) -> Ends:
    """The interval that leaves the share `outside` of the values out at each end."""
    values = bootstrap(tuple((count([text], ACCEPTED), count([text], TESTED)) for text in texts), value)
    k = int(outside * (RUNS - 1))  # − 1: the halves keep one value each
    return values[k], values[-1 - k]


def interval(texts, dice=None):  # it has its own dice
    return left_between(texts, 0.025, ratio_of_sums)


def seen_interval(case: tuple[list[Text]], found: Ends, right: Ends) -> str:
    texts = case[0]
    before = f"For {len(texts)} texts with α = {pretty(alpha_hat(texts))} your interval is"
    return f"{before} {pretty(list(found))}; it should be near {pretty(list(right))}."


def hint_interval(case: tuple[list[Text]], found: Ends) -> str:
    (low, high), (start, end) = found, interval(*case)
    if high - low < 0.9 * (end - start):
        return "It is too narrow. Do you draw as many texts as there are, and leave out only 2.5 % at each end?"
    if high - low > 1.1 * (end - start):
        return "It is too wide. Do you draw as many texts as there are, 1,000 times, and leave out 2.5 % at each end?"
    steps = "Draw texts, divide the sums, sort the results, and leave out 2.5 % at each end"
    return f"{steps}: what comes out are two values, the low and the high end."


INTERVAL = question(
    interval,
    equal=partial(same, tolerance=ROOM),
    cases=(
        (random_texts([0.95] * 10 + [0.15] * 10, [*range(3, 8)] * 2 + [*range(16, 36, 2)], 1),),
        (random_texts([0.1 + 0.08 * i for i in range(11)], [14 + 3 * i for i in range(11)], 2),),
    ),
    seen=seen_interval,
    hint=hint_interval,
)


@part("4.interval", points=2, seconds=240, asks=[INTERVAL])
def judge_interval(made: Callable[[list[Text], random.Random], Ends]) -> None:
    def asked(texts: list[Text], seed: int) -> Ends:
        given = [[list(marks) for marks in text] for text in texts]
        low, high = listed(reject_empty(made(given, random.Random(seed))), 2, "The interval")
        return number(low, "The lower end"), number(high, "The upper end")

    copies = asked([COPIED] * 10, 0)
    if is_a_formula([COPIED] * 10, [copies, asked([COPIED] * 10, 1)]):
        raise Wrong(f"{BY_FORMULA} And it takes the drafts of one text for independent ones, which they are not.")
    needs_no_width(*copies)
    found, fixed, other_dice, swapped = [], False, False, False
    for (texts,) in INTERVAL.cases:
        drawn = [asked(texts, seed) for seed in SEEDS]
        if is_a_formula(texts, drawn):
            raise Wrong(f"{BY_FORMULA} Nothing says that the results lie evenly on both sides of α.")
        other_dice = other_dice or asked(texts, SEEDS[0]) != drawn[0]
        low, high = map(fmean, zip(*drawn))
        if same(low, high) and same(low, alpha_hat(texts)):
            said = "Your interval has no width: with dice.sample or dice.shuffle every text comes exactly once."
            raise Wrong(f"{said} Draw with replacement, so that a text may come twice and another one not at all.")
        swapped = swapped or low > high
        found.append((min(low, high), max(low, high)))
        fixed = fixed or len(set(drawn)) == 1
    INTERVAL.compare(found)
    if other_dice:
        said = "Called twice with dice of the same seed, your function gives two different intervals."
        raise Wrong(f"{said} Draw with dice only, never with the module random.", 0.5)
    if swapped:
        raise Wrong("The lower end must come first.", 0.75)
    if fixed:
        raise Wrong("Your interval is the same for every seed: draw with the dice that your function is given.", 0.5)


BY_FORMULA = (
    "Your interval is as wide on both sides of α, and the same for every seed: some standard errors, by a formula. "
    "Asked for is a bootstrap: draw texts, 1,000 times, and look at what comes out."
)


def is_a_formula(texts: list[Text], drawn: Sequence[Ends]) -> bool:
    """Whether the interval has a width, is the same for every seed, and has a rate of the texts in its middle."""
    low, high = drawn[0]
    rates = alpha_hat(texts), fmean(alpha_hat([text]) for text in texts)
    return len(set(drawn)) == 1 and not same(low, high) and any(same((low + high) / 2, rate) for rate in rates)


def needs_no_width(low: float, high: float) -> None:
    """Whichever of ten copies are drawn, α is the same."""
    before = f"Given ten copies of one text, your interval is {pretty([low, high])}."
    if not same(low, high):
        said = "Whichever copies are drawn, α is the same, so it should have no width. Do you draw rounds or single drafts?"
        why = "the tokens of one text are alike, and more of them do not replace more texts."
        raise Wrong(f"{before} {said} Draw whole texts: {why}")
    before += f" Both ends should be α of this text, {pretty(alpha_hat([COPIED]))}."
    if same(low, count([COPIED], ACCEPTED) / count([COPIED], PROPOSED)):
        raise Wrong(f"{before} Discarded drafts were never tested.", belief=5)
    if not same(low, alpha_hat([COPIED])):
        raise Wrong(f"{before} Is α the accepted divided by the tested?")
