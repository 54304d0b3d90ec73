"""Exercise 8: the time of a whole answer."""

from collections.abc import Callable

from specdec_lab.grade.cases import Mistake, answers, explained, named, told
from specdec_lab.grade.part import number, part, same
from specdec_lab.numbers import bare


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
