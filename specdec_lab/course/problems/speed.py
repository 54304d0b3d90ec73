"""Lesson 05: what is gained by the clock."""

from specdec_lab import theory
from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers, in_words
from specdec_lab.formats import short


@fresh_numbers(expected=(2.4, 2.8, 3.2), gamma=(3, 4, 5), c=(0.1, 0.2, 0.3), v=(1.2, 1.5, 1.8))
def speed_up(expected: float, gamma: int, c: float, v: float) -> Problem:
    cost = gamma * c + v
    return Problem(expected / cost,
        f"A pair gives {expected} tokens per pass with γ = {gamma}. One draft costs {c} of a plain step, and the checking pass "
        f"costs {v} plain steps; nothing else takes time. How many times as fast as plain decoding is it?",
        f"A round costs {gamma} · {c} + {v} = {short(cost)} plain steps, so S = {expected} / {short(cost)} = {short(expected / cost)}.",
        Mistake("This is tokens per pass. A round costs more than one plain step.", expected, belief=7),
        Mistake(f"The drafting is missing: {gamma} drafts cost {short(gamma * c)} plain steps.", expected / v),
        Mistake(f"This pays for one draft; a round needs {gamma} of them, one after the other.", expected / (c + v)),
        Mistake(f"This takes the checking pass for a plain one; it costs {v}.", expected / (1 + gamma * c)))  # fmt: skip


@fresh_numbers(alpha=(0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9), c=(0.05, 0.1, 0.15, 0.2, 0.25, 0.3))
def best_gamma(alpha: float, c: float) -> Problem:
    gammas = (1, 2, 3, 4, 6, 8)
    shown = [f"{theory.expected_tokens(alpha, gamma):.2f}" for gamma in gammas]
    gains = {gamma: float(E) / (gamma * c + 1) for gamma, E in zip(gammas, shown)}  # as one computes from what is shown
    second, best = sorted(gammas, key=gains.get)[-2:]
    close = gains[best] < 1.01 * gains[second]
    return Problem(best,
        f"With γ = {in_words(gammas)} a pair gives {', '.join(shown)} tokens per pass. A draft costs {c} of a plain step, and the "
        "checking pass costs 1 for each of these γ. Which of them is the fastest?",
        f"S = E / (γ · {c} + 1) is {', '.join(f'{gain:.2f}' for gain in gains.values())}: the largest at γ = {best}.",
        Mistake("It gives the most tokens per pass, and the last drafts cost more than they bring.", 8, belief=8),
        Mistake("It spends the least on drafts; the second draft would still bring more than it costs.", 1),
        Mistake("", best if close else None),  # too close to call, and so not clear
        tolerance=0)  # fmt: skip


@fresh_numbers(gamma=(2, 3, 4, 5, 6), c=(0.05, 0.1, 0.2, 0.3), v=(1.1, 1.2, 1.4, 1.6))
def break_even_tokens(gamma: int, c: float, v: float) -> Problem:
    cost = gamma * c + v
    return Problem(cost,
        f"γ = {gamma}, a draft costs {c} of a plain step, and the checking pass costs {v} plain steps; nothing else takes time. "
        "From how many tokens per pass on is there a gain?",
        f"A round costs {gamma} · {c} + {v} = {short(cost)} plain steps; in this time plain decoding writes {short(cost)} tokens.",
        Mistake("More than one token per pass is not yet a gain: a round takes longer than a plain step.", 1.0, belief=7),
        Mistake("This is enough only if drafts are free.", v),
        Mistake(f"This takes the checking pass for a plain one; it costs {v}.", 1 + gamma * c))  # fmt: skip


@fresh_numbers(reading=(0.6, 0.8, 1.2, 2.0), writing=(1.0, 1.5, 2.0, 3.0), times=(1.6, 2.0, 2.5))
def whole_answer(reading: float, writing: float, times: float) -> Problem:
    answer = reading + writing / times
    return Problem(answer,
        f"A server needs {reading} s to read a prompt, and then {writing} s to write the answer. "
        f"Speculation makes its decoding {times} times as fast. After how long is the answer complete?",
        f"Only the writing becomes shorter: {reading} + {writing} / {times} = {short(answer)} s.",
        Mistake("This makes the reading faster too. Before the first token there is nothing to draft.", (reading + writing) / times, belief=15),
        Mistake("The reading is missing: the first token waits for it.", writing / times),
        Mistake("It is the other way round: the writing gets faster, the reading does not.", reading / times + writing, belief=15), unit="s")  # fmt: skip
