"""Exercise 8: whole_answer(first, per_token, tokens, ratio) → how many times as fast the whole answer is."""

from specdec_grader.kit import ROUNDED, Mistake, Question, part


def times_as_fast(first: float, pace: float, n: int, ratio: float) -> float:
    rest = (n - 1) * pace
    return (first + rest) / (first + rest / ratio)


WHOLE = Question(
    right=times_as_fast, near=ROUNDED,
    cases=((0.5, 0.02, 201, 2.0), (3.0, 0.02, 5, 2.0), (0.1, 0.05, 1, 3.0), (0.0, 0.03, 40, 1.6), (2.0, 0.04, 101, 0.8), (1.0, 0.03, 50, 1.0)),
    seen="With {} s to the first token, {} s for each further one, {} tokens and ratio {} the answer is {right} times as fast; yours is {found}.",
    hint="What is the whole time without drafts, and with?",
    mistakes=[
        Mistake("This is the speed-up of the writing alone. The prompt must still be read, and no draft makes that shorter.",
                lambda first, pace, n, ratio: ratio, belief=15),
        Mistake("You make the time to the first token shorter, too: reading the prompt has no drafts.",
                lambda first, pace, n, ratio: (first + (n - 1) * pace) / (first / ratio + (n - 1) * pace), belief=15),
        Mistake("The first token is there already when `first` is over: tokens − 1 remain.",
                lambda first, pace, n, ratio: times_as_fast(first, pace, n + 1, ratio)),
        Mistake("In all, it is the time of tokens − 1 tokens in both cases; you count them in one of the two only.",
                lambda first, pace, n, ratio: (first + n * pace) / (first + (n - 1) * pace / ratio)),
        Mistake("It is upside down: above 1 must be faster.", lambda *case: 1 / times_as_fast(*case)),
        Mistake("A ratio of 2 is twice as fast, so a token takes half the time: divide by the ratio.",
                lambda first, pace, n, ratio: times_as_fast(first, pace, n, 1 / ratio)),
        Mistake("These are the seconds with drafts; how many times as fast is it?", lambda first, pace, n, ratio: first + (n - 1) * pace / ratio),
        Mistake("These are the seconds that are saved; how many times as fast is it?", lambda first, pace, n, ratio: (n - 1) * pace * (1 - 1 / ratio)),
        Mistake("You take a mean of ratios, weighted by time. Divide one whole time by the other.",
                lambda first, pace, n, ratio: 1 / times_as_fast(first, pace, n, 1 / ratio)),
        Mistake("You take a mean of ratios. Divide one whole time by the other.", lambda first, pace, n, ratio: (1 + ratio) / 2)])  # fmt: skip

part("8.whole", points=2, asks=[WHOLE])(WHOLE.judge)
