"""Exercise 4: its interval, over texts."""

import functools
import random
from collections.abc import Callable, Sequence

from specdec_lab.grade.acceptance.rate import ACCEPTED, COPIED, PROPOSED, _mean, a_text, alpha_of, counts, ratio
from specdec_lab.grade.cases import told
from specdec_lab.grade.part import Wrong, begun, listed, number, part, same

Row = dict[str, float]  # only the tokens with a chance above 0
Text = list[list[str]]  # rounds of marks


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
