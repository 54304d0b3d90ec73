"""Exercise 12: tokens_until_paid(step, before, after, minutes) → how many tokens must be served, or "never"."""

from collections.abc import Callable

from specdec_grader.kit import Mistake, Question, number, part, pretty

NEVER = "never"
CASES = (
    (20.0, 1.7, 2.1, 10.0), (40.0, 1.25, 2.0, 30.0), (10.0, 2.0, 2.0, 5.0), (25.0, 2.0, 1.6, 10.0), (50.0, 1.0, 2.5, 60.0), (8.0, 1.6, 3.2, 1.0),
)  # fmt: skip


def saved(step: float, before: float, after: float) -> float:
    """Milliseconds a token."""
    return step / before - step / after


def tokens(step: float, before: float, after: float, minutes: float) -> float | str:
    return minutes * 60_000 / saved(step, before, after) if after > before else NEVER


def read(value: object) -> float | str:
    return value if value == NEVER else number(value, f'What your function returns, if it is not "{NEVER}",')


def wrong(cost: Callable[[float, float, float, float], float]) -> Callable[..., float | str]:
    """Another account, where it pays at all."""
    return lambda step, before, after, minutes: cost(step, before, after, minutes) if after > before else NEVER


PAID = Question(
    cases=CASES, right=tokens, read=read,
    seen=lambda case, found, right: f"A step of {case[0]:g} ms, {case[1]:g} times plain before and {case[2]:g} after, {case[3]:g} minutes of training: "
    f"your function gives {pretty(found)}; it should be {pretty(right)}.",
    hint="A token takes step / S milliseconds. What a token saves, and how often that is the time of the training?",
    mistakes=[
        Mistake("A token takes step / S. You multiply by S.", wrong(lambda step, before, after, minutes: minutes * 60_000 / (step * (after - before)))),
        Mistake("Minutes, milliseconds: a minute has 60,000 of them.", wrong(lambda step, before, after, minutes: minutes * 60 / saved(step, before, after)),
                wrong(lambda step, before, after, minutes: minutes * 1000 / saved(step, before, after)),
                wrong(lambda step, before, after, minutes: minutes / saved(step, before, after))),
        Mistake("You compare with plain decoding. The old draft is there already: only what is better than it counts.",
                wrong(lambda step, before, after, minutes: minutes * 60_000 / (step - step / after))),
        Mistake("This is how many tokens are written during that time. How much does each of them save?",
                wrong(lambda step, before, after, minutes: minutes * 60_000 / (step / after))),
        Mistake(f'Where nothing is saved it never pays: give "{NEVER}".',
                
                lambda *case: 0.0 if tokens(*case) == NEVER else tokens(*case), earned=0.5)])  # fmt: skip


@part("12.paid", points=3, asks=[PAID])
def tokens_until_paid(made: Callable[[float, float, float, float], object]) -> None:
    PAID.judge(made)
