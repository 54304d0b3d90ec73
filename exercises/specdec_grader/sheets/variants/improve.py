"""Exercise 6: better(text, gamma) → at most gamma token ids; judged by tokens per cost on recorded texts."""

import random

from specdec_grader.kit import Mistake, Wrong, part
from specdec_grader.sheets.variants.propose import lookup
from specdec_lab.course.given.copying import PRICE, Propose, Replayed, Text, replay, texts, total
from specdec_lab.formats import drop_leading_zeros

STEPS = (1.05, 1.12, 1.18)  # times the plain version; two different ideas were tried that reach the last one
REACHABLE = 1.55  # times the plain version, when of all matches the best is known beforehand, and its length
VOCABULARY = 49_152


def renumbered(text: Text, seed: int) -> Text:
    """The same text with other numbers for its tokens: what follows what stays, and no number can be known."""
    ids = sorted({*text.prompt, *text.answer})
    other = dict(zip(ids, random.Random(seed).sample(range(VOCABULARY), len(ids))))
    return text._replace(prompt=[other[i] for i in text.prompt], answer=[other[i] for i in text.answer])


@part("6.improve", points=3, seconds=60)
def improve(made: Propose) -> None:
    yours = total(replay(made, renumbered(text, seed)) for seed, text in enumerate(texts()))
    plain = total(replay(lookup, text) for text in texts())
    times = yours.per_cost / plain.per_cost
    if times > REACHABLE:
        raise Wrong(
            f"Your drafter brings {times:.2f} times the plain version. Whoever knew at each place which match is right, "
            f"and for how long, would reach {REACHABLE}: these drafts come from the answer. Use `text` only."
        )
    reached = sum(times >= step for step in STEPS)
    if reached < len(STEPS):
        said = drop_leading_zeros(
            f"Your drafter brings {yours.per_cost:.2f} tokens per cost, {times:.3f} times the plain version "
            f"({plain.per_cost:.2f}); the steps are {', '.join(map(str, STEPS))}."
        )
        mistake = next_step(yours, plain, times)
        raise Wrong(f"{said} {mistake.said}", reached / len(STEPS), mistake.belief)


def next_step(yours: Replayed, plain: Replayed, times: float) -> Mistake:
    """What to think about next, and the belief that a bad result shows."""
    silent, a_round = yours.silent / yours.passes, yours.drafted / yours.passes
    if silent > 0.6:
        said = f"It is silent in {silent:.0%} of the rounds. A wrong draft does not spoil the text, it only costs {drop_leading_zeros(str(PRICE))}:"
        return Mistake(
            f"{said} try more often, with fewer tokens where you are less sure.",
            belief=11 if yours.drafted > 0 and times < 1 else None,
        )
    if times < 1 and yours.per_pass > plain.per_pass:
        more = f"It has more tokens per pass ({yours.per_pass:.2f} against {plain.per_pass:.2f})"
        return Mistake(f"{more}, but it drafts {a_round:.1f} tokens in a round, and each one costs.", belief=7)
    if abs(times - 1) < 0.02 and a_round > 4:
        behind = "most of them stand behind a miss: when is it worth copying fewer?"
        return Mistake(f"It drafts {a_round:.1f} tokens in a round, and {behind}", belief=8)
    if times < 1:
        return Mistake("Where are its drafts wrong, and where does it miss what the plain version finds?")
    return Mistake("After how long a match is a copy mostly right? Let that decide how many tokens you copy.")
