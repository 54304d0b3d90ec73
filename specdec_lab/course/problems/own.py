"""Lesson 12: what a better draft brings, and when its training has paid."""

from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers
from specdec_lab.formats import short


@fresh_numbers(step=(20, 40, 50), tokens=((1.6, 2.0), (1.5, 2.0), (2.0, 2.5)), minutes=(5, 10))
def paid_after(step: int, tokens: tuple[float, float], minutes: int) -> Problem:
    before, after = tokens
    saved = step / before - step / after
    milliseconds = minutes * 60_000
    answer = milliseconds / saved / 1000
    return Problem(answer,
        f"A plain step takes {step} ms. With the old draft text is written {before} times as fast as plain, with the new one {after} times. "
        f"Training took {minutes} minutes on this machine. After how many thousand tokens has it paid for itself?",
        f"A token took {step} / {before} = {short(step / before)} ms, and takes {step} / {after} = {short(step / after)} ms now. "
        f"{milliseconds:,} ms / {short(saved)} ms = {short(answer)} thousand tokens.".replace(",000 ms", " 000 ms"),
        Mistake("This compares with plain decoding. The old draft is there already.", milliseconds / (step - step / after) / 1000),
        Mistake("So many tokens the new draft writes in that time. Divide by what each of them saves.", milliseconds / (step / after) / 1000),
        Mistake("A token takes the step divided by the speed-up, not multiplied by it.", milliseconds / (step * (after - before)) / 1000),
        Mistake("A minute has 60,000 milliseconds.", answer / 60), unit="thousand tokens")  # fmt: skip


@fresh_numbers(tokens=((1.8, 2.25), (1.6, 2.0), (2.0, 2.6)), speed=(1.3, 1.4, 1.5))
def speed_after(tokens: tuple[float, float], speed: float) -> Problem:
    before, after = tokens
    answer = speed * after / before
    return Problem(answer,
        f"A draft is trained further on a firm's own texts. It is as large as before. On prompts put aside its tokens per pass rise from {before} to {after}; "
        f"with the old weights decoding was {speed} times as fast as plain. How many times as fast is it now?",
        f"The cost of a round has not changed, so S grows as E does: {speed} · {after} / {before} = {short(answer)}.",
        Mistake("This is tokens per pass. A round costs more than a plain step, as before.", after, belief=7),
        Mistake("The cost of a round stays the same, so S is multiplied by after / before; nothing is added.", speed + after - before),
        Mistake("Nothing about the cost has changed, but more tokens come out of each round.", speed))  # fmt: skip
