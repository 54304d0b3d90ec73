"""Exercise 4: interval(texts, dice) → (low, high), 95 % of α, by bootstrap over texts."""

import random
from collections.abc import Callable, Sequence
from functools import cache, partial
from statistics import fmean

from specdec_grader.kit import Mistake, Question, Wrong, begun, listed, number, part, pretty, same
from specdec_grader.sheets.acceptance import rate
from specdec_grader.sheets.acceptance.rate import Text, a_text, alpha_of

Ends = tuple[float, float]
Counts = tuple[int, int]  # a text's accepted and tested drafts

SEEDS = range(8)  # an interval is the mean of so many, so that chance hardly matters
RUNS = 20_000  # for the judge's own intervals
COPIED = a_text(2, 4, 0)  # ten copies of it have an interval without width
ROOM = 0.014  # at each end: a right interval is off by .004, with few draws by .01; one that holds 90 % by .02


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


def without(outside: float, value: Callable[[Sequence[Counts]], float] = ratio_of_sums) -> Callable[..., Ends]:
    """The formula of the interval that leaves the share `outside` out at each end; it has its own dice."""

    def ends(texts: list[Text], dice: random.Random | None = None) -> Ends:
        counts = ((rate.count([text], rate.ACCEPTED), rate.count([text], rate.TESTED)) for text in texts)
        values = bootstrap(tuple(counts), value)
        k = int(outside * (RUNS - 1))  # − 1: the halves keep one value each
        return values[k], values[-1 - k]

    return ends


right = without(0.025)


def seen(case: tuple[list[Text]], found: Ends, right: Ends) -> str:
    texts = case[0]
    before = f"For {len(texts)} texts with α = {pretty(alpha_of(texts))} your interval is"
    return f"{before} {pretty(list(found))}; it should be near {pretty(list(right))}."


def hint(case: tuple[list[Text]], found: Ends) -> str:
    (low, high), (start, end) = found, right(*case)
    if high - low < 0.9 * (end - start):
        return "It is too narrow. Do you draw as many texts as there are, and leave out only 2.5 % at each end?"
    if high - low > 1.1 * (end - start):
        return "It is too wide. Do you draw as many texts as there are, and leave out 2.5 % at each end?"
    return "Draw texts, divide the sums, sort the results, and leave out 2.5 % at each end: what comes out are two values, the low and the high end."


INTERVAL = Question(
    right=right, equal=partial(same, tolerance=ROOM), seen=seen, hint=hint,
    cases=((random_texts([0.95] * 10 + [0.15] * 10, [*range(3, 8)] * 2 + [*range(16, 36, 2)], 1),),
           (random_texts([0.1 + 0.08 * i for i in range(11)], [14 + 3 * i for i in range(11)], 2),)),
    mistakes=[
        Mistake("You take the mean of the drawn texts' rates. Divide the sum by the sum, as for α itself.", without(0.025, mean_of_ratios), earned=0.5),
        Mistake("You leave 5 % out at each end, so the interval holds 90 %. Leave out 2.5 %.", without(0.05), earned=0.5),
        Mistake("You leave a quarter out at each end, so the interval holds one half. Leave out 2.5 %.", without(0.25), earned=0.5),
        Mistake("You leave out .5 % at each end, so the interval holds 99 %. Leave out 2.5 %.", without(0.005), earned=0.5),
        Mistake("It holds about 68 %, as one standard error to each side does. Leave out 2.5 % at each end.", without(0.16), earned=0.5),
        Mistake("Both ends lie in the middle. Leave out 2.5 % of the values at each end.", without(0.5))])  # fmt: skip


@part("4.interval", points=2, seconds=60, asks=[INTERVAL])
def interval(made: Callable[[list[Text], random.Random], Ends]) -> None:

    def asked(texts: list[Text], seed: int) -> Ends:
        given = [[list(marks) for marks in text] for text in texts]
        low, high = listed(begun(made(given, random.Random(seed))), 2, "The interval")
        return number(low, "The lower end"), number(high, "The upper end")

    low, high = asked([COPIED] * 10, 0)
    before = f"Given ten copies of one text, your interval is {pretty([low, high])}."
    if not same(low, high):
        raise Wrong(
            f"{before} Whichever copies are drawn, α is the same, so it should have no width. Do you draw rounds or single drafts? "
            "Draw whole texts: the tokens of one text are alike, and more of them do not replace more texts."
        )
    before += f" Both ends should be α of this text, {pretty(alpha_of([COPIED]))}."
    if same(low, rate.share(rate.ACCEPTED, rate.PROPOSED)([COPIED])):
        raise Wrong(f"{before} Discarded drafts were never examined.", belief=5)
    if not same(low, alpha_of([COPIED])):
        raise Wrong(f"{before} Is α the accepted divided by the examined?")
    found, fixed, other_dice, swapped = [], False, False, False
    for (texts,) in INTERVAL.cases:
        drawn = [asked(texts, seed) for seed in SEEDS]
        other_dice = other_dice or asked(texts, SEEDS[0]) != drawn[0]
        low, high = map(fmean, zip(*drawn))
        if same(low, high) and same(low, alpha_of(texts)):
            said = "Your interval has no width: with dice.sample or dice.shuffle every text comes exactly once."
            raise Wrong(f"{said} Draw with replacement, so that a text may come twice and another one not at all.")
        if all(a == b for a, b in drawn) and len(set(drawn)) > 1:
            said = "Do you draw anew for each value, inside of the loop, and give back two of the values, a low and a high one?"
            raise Wrong(f"Your interval has no width. {said}")
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
