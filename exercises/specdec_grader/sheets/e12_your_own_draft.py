"""Exercise 12: which prompts to put aside, which look to keep, whether a gain is one, and when it has paid."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from specdec_grader.coerce import listed, number, whole, word
from specdec_grader.mistakes import Wrong
from specdec_grader.part import part_of_one
from specdec_grader.question import ROUNDED, question

# 12.aside


def numbers_of_prompts(value: object) -> list[int]:
    items = listed(value, ordered=False)
    if items and all(isinstance(item, bool) for item in items):
        raise Wrong("Your list has True and False; give the numbers of the prompts that are put aside.")
    numbers = sorted(whole(item, "Each item of your list") for item in items)
    if len(set(numbers)) < len(numbers):
        raise Wrong(f"Your list has a prompt twice: {numbers}.")
    return numbers


def put_aside(customers):
    order = list(dict.fromkeys(customers))
    aside = order[::4]
    return [i for i, name in enumerate(customers) if name in aside]


ASIDE = question(
    put_aside,
    read=numbers_of_prompts,
    cases=(
        (["A", "B", "C", "D", "E", "F"],),
        (["A", "A", "B", "C", "A", "D", "E", "E", "B"],),
        (["kim", "ada", "kim", "bob", "eve", "ada", "dan", "bob", "kim"],),
        (["Z", "Y", "X", "W", "V", "U", "Z", "V", "T", "S", "S"],),
        (["ann", "bo", "anna", "cy", "ann", "di", "anna"],),
        (["one"],),
        ([],),
    ),
    seen="For the customers {0} your function puts aside the prompts {found}; it should be {right}.",
    hint="List the customers in the order in which they first come. "
    "The first, the fifth, the ninth … of them are put aside, with all of their prompts.",
)
part_of_one("12.aside", points=3, asked=ASIDE)


# 12.look


def best_look(learned, aside):
    return aside.index(max(aside))


LOOK = question(
    best_look,
    read=whole,
    cases=(
        ([0.5, 0.6, 0.7, 0.8], [0.5, 0.55, 0.6, 0.58]),
        ([0.5, 0.7, 0.9, 0.95], [0.5, 0.49, 0.45, 0.4]),
        ([0.4, 0.5, 0.55], [0.4, 0.48, 0.52]),
        ([0.3, 0.5, 0.6, 0.7, 0.75], [0.3, 0.42, 0.45, 0.45, 0.44]),
        ([0.6, 0.64, 0.63], [0.6, 0.61, 0.62]),
        ([0.5, 0.6, 0.62, 0.7], [0.45, 0.58, 0.55, 0.6]),
    ),
    seen="For α on what was learned {0} and on what was put aside {1} your function keeps look {found}; "
    "it should be look {right}.",
    hint="Only the prompts that were put aside say how it will be with the next customer. "
    "Of equal looks take the earliest.",
)
part_of_one("12.look", points=2, asked=LOOK)


# 12.gain: counts are pairs (tokens, passes), one for each text

Counts = Sequence[tuple[int, int]]


def rate(counts: Counts) -> float:
    return sum(n for n, _ in counts) / sum(passes for _, passes in counts)


def mean_rate(counts: Counts) -> float:
    return fmean(n / passes for n, passes in counts)


def gain(old, new):
    return rate(new) / rate(old)


GAIN = question(
    gain,
    near=ROUNDED,
    cases=(
        ([(60, 30), (10, 8)], [(60, 20), (10, 8)]),
        ([(64, 40), (64, 32), (12, 10)], [(64, 32), (64, 30), (12, 11)]),
        ([(50, 25)], [(50, 20)]),
        ([(20, 10), (80, 60)], [(20, 12), (80, 40)]),
        ([(30, 10), (30, 30)], [(30, 11), (30, 20)]),
    ),
    seen="For (tokens, passes) {0} before and {1} after, your function gives {found}; it should be {right}.",
    hint="All new tokens divided by all passes, for each draft; then the new one's divided by the old one's.",
)
part_of_one("12.gain", points=2, asked=GAIN)


# 12.paid

NEVER = "never"


def number_or_never(value: Any) -> float | str:
    if isinstance(value, str):
        return word(value, [NEVER], "What your function returns, if it is no number,")
    return number(value, f'What your function returns, if it is not "{NEVER}",')


def tokens_until_paid(step, before, after, minutes):
    saving = step / before - step / after
    return minutes * 60_000 / saving if after > before else NEVER


PAID = question(
    tokens_until_paid,
    read=number_or_never,
    cases=(
        (20.0, 1.7, 2.1, 10.0),
        (40.0, 1.25, 2.0, 30.0),
        (10.0, 2.0, 2.0, 5.0),
        (25.0, 2.0, 1.6, 10.0),
        (50.0, 1.0, 2.5, 60.0),
        (8.0, 1.6, 3.2, 1.0),
    ),
    seen="A step of {} ms, {} times plain before and {} after, {} minutes of training: "
    "your function gives {found}; it should be {right}.",
    hint="A token takes step / S milliseconds. What a token saves, and how often that is the time of the training?",
)
part_of_one("12.paid", points=3, asked=PAID)
