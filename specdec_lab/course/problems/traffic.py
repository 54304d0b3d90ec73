"""Lesson 08: what a serving engine reports about its drafts."""

from collections.abc import Sequence
from itertools import accumulate
from operator import mul

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers, in_words
from specdec_lab.formats import short

THREE_PLACES = (
    (0.8, 0.6, 0.36), (0.75, 0.6, 0.48), (0.7, 0.49, 0.3), (0.6, 0.42, 0.34), (0.9, 0.72, 0.54), (0.85, 0.51, 0.36), (0.65, 0.52, 0.37),
)  # fmt: skip
PLACES = (
    (0.9, 0.5, 0.3), (0.7, 0.4, 0.2), (0.6, 0.5, 0.4), (0.75, 0.6, 0.5),
    (0.9, 0.7, 0.6, 0.5), (0.8, 0.5, 0.3, 0.2), (0.6, 0.3, 0.2, 0.1), (0.7, 0.6, 0.5, 0.4),
)  # fmt: skip


@fresh_numbers(survival=THREE_PLACES, place=(2, 3))
def rate_from_survival(survival: Sequence[float], place: int) -> Problem:
    before, here = survival[place - 2], survival[place - 1]
    rate = here / before
    return Problem(rate,
        f"An engine reports survival: of all rounds with drafts, {in_words(survival)} were accepted at places 1, 2 and 3. "
        f"How large is α at place {place}, of the rounds that got this far?",
        f"{here} of all rounds got past place {place}, and {before} past the one before it: {here} / {before} = {short(rate)}.",
        Mistake("This is survival: it counts all rounds, also those whose miss came before this place.", here, belief=5),
        Mistake("Survival already holds all places before it. Divide by them; do not multiply again.", here * before),
        Mistake("This is the share that was rejected there.", 1 - rate),
        Mistake("This is how many of all rounds ended there, with a rejection.", before - here),
        Mistake("Divide by the place just before: place 2, not place 1.", here / survival[0] if place == 3 else None))  # fmt: skip


@fresh_numbers(survival=PLACES)
def tokens_from_survival(survival: Sequence[float]) -> Problem:
    places, expected = len(survival), 1 + sum(survival)
    return Problem(expected,
        f"γ = {places}. An engine reports survival: of all rounds, {in_words(survival)} were accepted at places 1 to {places}. "
        "How many tokens does a round write, on average?",
        f"1 + {' + '.join(map(str, survival))} = {short(expected)}. No formula is needed.",
        Mistake("These are the accepted drafts. The corrected or bonus token comes on top.", expected - 1, belief=6),
        Mistake("Products are for conditional rates. Survival already holds all places before it.", 1 + sum(accumulate(survival, mul))),
        Mistake("This is the formula with the rate of place 1. The later places are reported, and here they are not like it.",
                theory.expected_tokens(survival[0], places)),
        Mistake("This counts all drafts of every round, also those behind a miss.", places + 1, belief=1))  # fmt: skip
