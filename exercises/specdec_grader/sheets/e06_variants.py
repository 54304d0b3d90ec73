"""Exercise 6: prompt lookup, and a better one, which is judged by tokens per cost on recorded texts."""

import copy
import random

from specdec_grader.coerce import reject_empty
from specdec_grader.mistakes import Mistake, Wrong
from specdec_grader.part import part
from specdec_grader.question import question, stored
from specdec_grader.supplied.copying import GAMMA, PRICE, Propose, Replayed, Text, drafts, replay, total

# 6.propose


def one_by_one(text: list[int], gamma: int) -> list[int]:
    out = list(text)
    for _ in range(gamma):
        out += propose(out, 1)
    return out[len(text) :]


def propose(text, gamma):
    for n in (3, 2, 1):
        for end in range(len(text) - 1, n - 1, -1):
            if text[end - n : end] == text[-n:]:
                return (text[end:] * gamma)[:gamma]
    return []


PROPOSE = question(
    propose,
    read=drafts,
    cases=(
        ([1, 2, 3, 9, 8, 1, 2, 3], 2),
        ([4, 5, 6, 7, 2, 6, 8, 4, 5, 6], 3),  # the longest run, though a shorter one stands nearer
        ([1, 2, 3, 4, 8, 1, 2, 3, 5, 9, 1, 2, 3], 4),  # twice: the later one
        ([1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3], 2),  # a run of two stands nearer, and goes on differently
        ([1, 2, 3, 4, 5, 9, 2, 3, 4, 6, 1, 2, 3], 2),  # what was copied stands nearer, too
        ([3, 7, 1, 9, 6, 4, 3, 5, 2, 1, 9], 4),  # a run of two
        ([6, 1, 4, 2, 5, 8, 4], 3),  # of one
        ([1, 2, 3, 4, 5], 3),  # none
        ([7, 7], 3),  # here and in the next three the copy goes on with itself
        ([1, 2, 1, 2], 5),
        ([3, 5, 5, 5], 4),
        ([8, 6, 8], 6),
        ([1, 2, 1, 9, 1, 2, 1, 2, 1], 3),  # the match and the end of the text share a token
        ([9, 4, 4, 1, 8, 2, 4, 4, 1, 8, 3, 7, 2, 4, 1, 8], 3),  # three match in both; four in neither
        ([7, 1, 2, 3, 4, 5, 1, 2, 3, 9, 7, 1, 2, 3], 2),  # a run of four, longer than it may be, stands further back
        ([5], 4),
        ([], 4),
        ([1, 2, 1, 2], 0),
    ),
    seen="For the text {} and γ = {} the proposal should be {right}; yours is {found}.",
    hint="Which run matches the end of the text, where does it stand, and what follows it?",
)


@part("6.propose", points=3, asks=[PROPOSE])
def judge_propose(made: Propose) -> None:
    PROPOSE.judge(made)
    text, gamma = copy.deepcopy(PROPOSE.cases[1])
    made(text, gamma)
    if text != PROPOSE.cases[1][0]:
        raise Wrong(
            "Your function changes the text that it is given. Work on a copy: the target still needs it.", 2 / 3
        )


# 6.improve

STEPS = (1.05, 1.12, 1.18)  # times the plain version; two different ideas were tried that reach the last one
VOCABULARY = 49_152
HELD_OUT = [Text(t["id"], t["prompt"], t["answer"]) for t in stored("copying")["texts"]]  # which no learner is given


def renumbered(text: Text) -> Text:
    """The same text with other numbers for its tokens, new each time: what follows what stays, and no number is known."""
    ids = sorted({*text.prompt, *text.answer})
    other = dict(zip(ids, random.sample(range(VOCABULARY), len(ids))))
    return text._replace(prompt=[other[i] for i in text.prompt], answer=[other[i] for i in text.answer])


@part("6.improve", points=3, seconds=60, shows=True)
def judge_improve(made: Propose) -> None:
    reject_empty(made([1, 2, 1], GAMMA))
    yours = total(replay(made, renumbered(text)) for text in HELD_OUT)
    plain = total(replay(propose, text) for text in HELD_OUT)
    times = yours.per_cost / plain.per_cost
    reached = sum(times >= step for step in STEPS)
    if reached < len(STEPS):
        said = (
            f"On nine other texts your drafter brings {yours.per_cost:.2f} tokens per cost, {times:.3f} times the plain version "
            f"({plain.per_cost:.2f}); the steps are {', '.join(map(str, STEPS))}."
        )
        mistake = next_step(yours, plain, times)
        raise Wrong(f"{said} {mistake.said}", reached / len(STEPS), mistake.belief)


def next_step(yours: Replayed, plain: Replayed, times: float) -> Mistake:
    """What to think about next, and the belief that a bad result shows."""
    silent, a_round = yours.silent / yours.passes, yours.drafted / yours.passes
    if silent > 0.6:
        said = f"It is silent in {silent:.0%} of the rounds. A wrong draft spoils no text, it only costs {PRICE}:"
        belief = 11 if yours.drafted > 0 and times < 1 else None
        return Mistake(f"{said} try more often, with fewer tokens where you are less sure.", belief=belief)
    if times < 1 and yours.per_pass > plain.per_pass:
        more = f"It has more tokens per pass ({yours.per_pass:.2f} against {plain.per_pass:.2f})"
        return Mistake(f"{more}, but it drafts {a_round:.1f} tokens in a round, and each one costs.", belief=7)
    if abs(times - 1) < 0.02 and a_round > 4:
        behind = "most of them stand behind a miss: when is it worth copying fewer?"
        return Mistake(f"It drafts {a_round:.1f} tokens in a round, and {behind}", belief=8)
    if times < 1:
        return Mistake("Where are its drafts wrong, and where does it miss what the plain version finds?")
    return Mistake("After how long a match is a copy mostly right? Let that decide how many tokens you copy.")
