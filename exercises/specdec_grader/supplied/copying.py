"""Exercise 6: recorded texts in which much repeats, and what a drafter brings on them."""

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from typing import NamedTuple

from specdec_grader.coerce import common_start, listed, nothing, whole
from specdec_grader.mistakes import Wrong

PRICE = 0.1  # plain passes that each draft costs, right or wrong
GAMMA = 8

DATA = resources.files("specdec_lab") / "data" / "exercises" / "copying.json"

Propose = Callable[[list[int], int], Sequence[int]]


def drafts(value: object) -> list[int]:
    """What a drafter returned, as a list of whole numbers."""
    if nothing(value):
        raise Wrong(
            "Your drafter returns None for a text; it should return a list of tokens, or [] to propose nothing."
        )
    return [whole(token, "A proposed token") for token in listed(value)]


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


@functools.cache
def recorded() -> dict:
    return json.loads(DATA.read_text(encoding="utf-8"))


def texts() -> list[Text]:
    """The recorded texts of the exercise."""
    return [Text(t["id"], list(t["prompt"]), list(t["answer"])) for t in recorded()["texts"]]


def written(ids: Sequence[int]) -> str:
    """Token ids of these texts as text."""
    return "".join(recorded()["words"].get(str(i), "?") for i in ids)


def replay(made: Propose, text: Text) -> Replayed:
    """Write the answer in rounds: the drafter sees the text so far, and what agrees with the answer is accepted."""
    done = passes = drafted = silent = 0
    while done < len(text.answer):
        so_far = text.prompt + text.answer[:done]
        proposed = drafts(made(list(so_far), GAMMA))
        if len(proposed) > GAMMA:
            said = f"Your drafter proposed {len(proposed)} tokens where γ = {GAMMA} is the most: longer drafts are refused."
            raise Wrong(said)
        rest = text.answer[done:]
        accepted = rest[: common_start(proposed, rest)]
        done = min(len(text.answer), done + len(accepted) + 1)
        passes, drafted, silent = passes + 1, drafted + len(proposed), silent + (not proposed)
    return Replayed(len(text.answer), passes, drafted, silent)


def total(replays: Iterable[Replayed]) -> Replayed:
    return Replayed(*map(sum, zip(*replays)))


def plain(text: list[int], gamma: int) -> list[int]:
    """The course's own lookup, which a better one is compared with."""
    from specdec_lab.drafters.copying import LookupDrafter  # torch comes with it, and no check should wait for that
    from specdec_lab.engine.sampling import Sampler, Uniforms

    drafter = LookupDrafter()
    drafter.start(None, text, None)  # pyright: ignore[reportArgumentType] - it reads no target
    return drafter.propose(text, gamma, Sampler(), Uniforms()).tokens


def compare(made: Propose) -> None:
    """Print what a drafter brings on each text, beside the plain version."""
    if made([1, 2, 1], GAMMA) is None:
        print("Nothing to compare yet: your drafter returns nothing.")
        return
    print(f"{'':18}   tokens per pass      tokens per cost\n{'':18}   plain     yours      plain     yours")
    ours = [replay(plain, text) for text in texts()]
    try:
        yours = [replay(made, text) for text in texts()]
    except Wrong as e:
        print(e)
        return
    names = [text.id for text in texts()]
    for name, a, b in zip([*names, "all"], [*ours, total(ours)], [*yours, total(yours)]):
        print(f"{name:18}{a.per_pass:8.2f}{b.per_pass:10.2f}{a.per_cost:11.2f}{b.per_cost:10.2f}")
