"""Exercise 6: better(text, gamma) → at most gamma token ids; judged by tokens per cost on recorded texts."""

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from specdec_lab.course.judges.kit import Mistake, Wrong, begun, common_start, part
from specdec_lab.course.judges.stored import stored
from specdec_lab.course.judges.variants.propose import Propose, drafts, lookup
from specdec_lab.formats import drop_leading_zeros

PRICE = 0.1  # plain passes that each draft costs, right or wrong
GAMMA = 8
STEPS = (1.05, 1.12, 1.18)  # times the plain version; two different ideas were tried that reach the last one
REACHABLE = 1.55  # times the plain version, when of all matches the best is known beforehand, and its length
VOCABULARY = 49_152


class Text(NamedTuple):
    """A prompt and the answer that the course's target gives greedily, as token ids."""

    id: str
    prompt: list[int]
    answer: list[int]


class Replayed(NamedTuple):
    """What a drafter brought on some texts. silent: rounds without a draft."""

    tokens: int
    passes: int
    drafted: int
    silent: int

    @property
    def per_pass(self) -> float:
        return self.tokens / self.passes

    @property
    def per_cost(self) -> float:
        """Tokens for each plain pass of cost: a round costs one, and PRICE for each draft."""
        return self.tokens / (self.passes + PRICE * self.drafted)


def texts() -> list[Text]:
    """The recorded texts of the exercise."""
    return [Text(t["id"], list(t["prompt"]), list(t["answer"])) for t in stored("copying")["texts"]]


def written(ids: Sequence[int]) -> str:
    """Token ids of these texts as text."""
    return "".join(stored("copying")["words"].get(str(i), "?") for i in ids)


def replay(made: Propose, text: Text) -> Replayed:
    """Write the answer in rounds: the drafter sees the text so far, and what agrees with the answer is accepted."""
    done = passes = drafted = silent = 0
    while done < len(text.answer):
        so_far = text.prompt + text.answer[:done]
        proposed = drafts(made(list(so_far), GAMMA))
        if len(proposed) > GAMMA:
            said = f"Your drafter proposed {len(proposed)} tokens where γ = {GAMMA} is the most: longer drafts are refused."
            raise Wrong(said, belief=8)
        rest = text.answer[done:]
        accepted = rest[: common_start(proposed, rest)]
        if not set(accepted) <= set(so_far):
            said = "A draft of yours was right, though its token had not stood in the text so far: whoever copies cannot know it."
            raise Wrong(f"{said} Use `text` only, and nothing that knows the answer.")
        done = min(len(text.answer), done + len(accepted) + 1)
        passes, drafted, silent = passes + 1, drafted + len(proposed), silent + (not proposed)
    return Replayed(len(text.answer), passes, drafted, silent)


def total(replays: Iterable[Replayed]) -> Replayed:
    return Replayed(*map(sum, zip(*replays)))


def compare(made: Propose) -> None:
    """Print what a drafter brings on each text, beside the plain version."""
    if made([1, 2, 1], GAMMA) is None:
        print("Nothing to compare yet: your drafter returns nothing.")
        return
    print(f"{'':18}   tokens per pass      tokens per cost\n{'':18}   plain     yours      plain     yours")
    plain = [replay(lookup, text) for text in texts()]
    try:
        yours = [replay(made, text) for text in texts()]
    except Wrong as e:
        print(e)
        return
    names = [text.id for text in texts()]
    for name, a, b in zip([*names, "all"], [*plain, total(plain)], [*yours, total(yours)]):
        print(f"{name:18}{a.per_pass:8.2f}{b.per_pass:10.2f}{a.per_cost:11.2f}{b.per_cost:10.2f}")


def renumbered(text: Text, seed: int) -> Text:
    """The same text with other numbers for its tokens: what follows what stays, and no number can be known."""
    ids = sorted({*text.prompt, *text.answer})
    other = dict(zip(ids, random.Random(seed).sample(range(VOCABULARY), len(ids))))
    return text._replace(prompt=[other[i] for i in text.prompt], answer=[other[i] for i in text.answer])


@part("6.improve", points=3, seconds=60)
def improve(made: Propose) -> None:
    begun(made([5, 6, 7, 5, 6], GAMMA))
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
            f"{said} try more often, with fewer tokens where you are less sure.", belief=11 if times < 1 else None
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
