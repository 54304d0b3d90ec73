"""Lesson 07: what is left of the gain when many texts are written at once."""

from specdec_lab.course.problems.base import Mistake, Problem, fresh_numbers
from specdec_lab.formats import short

MACHINE = (
    "Up to n = {idle} a pass over n tokens takes as long as one over a single token; beyond, it takes n / {idle} times as long. "
    "Drafts are free, γ = {gamma}, and each text gets {expected:g} tokens per pass."
)


@fresh_numbers(idle=(24, 48, 60, 96), texts=(4, 16, 30, 64), drafts=((2, 2.2), (3, 2.6), (4, 2.8)))
def gain_at_load(idle: int, texts: int, drafts: tuple[int, float]) -> Problem:
    gamma, expected = drafts
    rows = texts * (gamma + 1)
    plain, wide, narrow = (max(1.0, tokens / idle) for tokens in (texts, rows, texts * gamma))
    answer = expected * plain / wide
    return Problem(answer,
        f"{MACHINE.format(idle=idle, gamma=gamma, expected=expected)} {texts} texts are written at once. "
        "How many times as fast as without drafts is this?",
        f"Without drafts a pass has {texts} tokens and costs {short(plain)}, with drafts it has {texts} · {gamma + 1} = {rows} "
        f"and costs {short(wide)}. So {expected} · {short(plain)} / {short(wide)} = {short(answer)}.",
        Mistake(f"Plain decoding writes one token a pass for each of the {texts} texts, too.", expected * texts),
        Mistake(f"This is tokens per pass. A pass over {rows} tokens costs more than a plain one.", expected if wide > plain else None, belief=7),
        Mistake(f"Each text brings its newest token into the pass, besides its {gamma} drafts.", expected * plain / narrow if wide > plain else None),
        Mistake("For so many texts a pass without drafts costs more, too.", expected / wide if plain > 1 else None),
        Mistake(f"This pays for every token. Up to {idle} of them share the price of one.", expected / (gamma + 1) if plain == 1 else None))  # fmt: skip


@fresh_numbers(idle=(40, 80, 120, 200), drafts=((2, 2.1), (3, 2.2), (3, 2.5), (4, 2.5), (4, 3.0), (5, 3.3)))
def crossover(idle: int, drafts: tuple[int, float]) -> Problem:
    gamma, expected = drafts
    answer = expected * idle / (gamma + 1)
    return Problem(answer,
        f"{MACHINE.format(idle=idle, gamma=gamma, expected=expected)} "
        "At how many texts at once is the gain used up, so that drafting is exactly as fast as not drafting?",
        f"With drafts B texts bring {gamma + 1} · B tokens. Such a pass costs {expected:g} plain ones where {gamma + 1} · B = "
        f"{expected:g} · {idle}, so B = {short(answer)}. (There a pass without drafts still costs 1.)",
        Mistake(f"From there on drafts cost something. The gain is used up only when a pass costs {expected:g}.", idle / (gamma + 1)),
        Mistake("From there on a pass without drafts costs more, too. Drafting is a loss before that.", idle),
        Mistake(f"This is the number of tokens in the pass; each text brings {gamma + 1} of them.", expected * idle),
        Mistake(f"Each text brings its newest token into the pass, besides its {gamma} drafts.", expected * idle / gamma))  # fmt: skip
