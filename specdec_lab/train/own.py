"""A draft for one's own texts: the target answers your prompts, the course's draft learns from the answers, and prompts
that were put aside show how far it has come.
"""

import random
import zlib
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path

from specdec_lab.drafters import trained
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.lab import Lab
from specdec_lab.measure.prompts import Prompt, read_prompts
from specdec_lab.models.embedded import cache_dir
from specdec_lab.train import recipes
from specdec_lab.train.write import LONGEST, LOOK, Request, write_text

NAME = "eagle"
ASIDE = 4  # every fourth prompt is put aside, to measure on
FEWEST = 8  # prompts: with fewer there is nothing to learn from, or nothing to measure on
ANSWER = 160  # tokens of an answer
EVALUATIONS = 12  # on the prompts put aside, while it trains
OURS = ("french", "shop", "questions")  # files of prompts that come with the course, for whoever has none


def our_prompts(name: str) -> list[Prompt]:
    """One of the files OURS."""
    return read_prompts(str(resources.files("specdec_lab").joinpath(f"data/own/{name}.jsonl")))


def folder_of(name: str) -> Path:
    """Where a draft of that name is kept: in the course's cache.

    Other weights of the course have another folder: a run that began with earlier ones would show their gain.
    """
    begun_with = f"{zlib.crc32((trained.WEIGHTS / f'{NAME}.safetensors').read_bytes()):08x}"
    return cache_dir() / "own" / begun_with / name


def put_aside(prompts: Sequence) -> tuple[list, list]:
    """Prompts to learn from, and prompts to measure on. (Or lists of prompts, where those of a list stay together.)"""
    return [p for i, p in enumerate(prompts) if i % ASIDE], list(prompts[::ASIDE])


class OwnRequests:
    """Each request is one of these prompts (see `write.Requests`).

    Args:
        room: prompts of more tokens are left out, since no answer would fit behind them.

    Raises:
        LabError: when no prompt is left.
    """

    def __init__(self, lab: Lab, prompts: Sequence[Prompt], room: int):
        asked = [Request(p.kind, lab.encode(p.content, p.raw)) for p in prompts]
        self.asked = [request for request in asked if len(request.tokens) <= room]
        self.left_out = len(asked) - len(self.asked)
        if not self.asked:
            raise LabError(
                f"There are too few prompts of at most {room} tokens: most are learned from, and every {ASIDE}th is "
                "only measured on."
            )

    def draw(self, draw: random.Random) -> Request:
        return draw.choice(self.asked)


def write_answers(
    lab: Lab,
    learned: Sequence[Prompt],
    aside: Sequence[Prompt],
    folder: Path,
    tokens: int,
    longest: int = LONGEST,
    seed: int = 0,
    say: Say = silent,
) -> None:
    """Have the target answer the prompts, until it has written `tokens` tokens to learn from, and some to measure on.

    Args:
        learned, aside: prompts to learn from, and to measure on. Those that leave no room for an answer are left out.
        longest, seed: as in `write.write_text`.

    Raises:
        LabError: for prompts that are all too long, or none, and what `write.write_text` refuses.
    """
    room = room_of(lab, longest)
    say(f"{len(learned) + len(aside):,} prompts are put into tokens …")
    requests = {held_out: OwnRequests(lab, some, room) for held_out, some in ((True, aside), (False, learned))}
    if left_out := sum(r.left_out for r in requests.values()):
        say(f"Prompts of more than {room} tokens are left out, since no answer would fit behind them: {left_out}.")
    write_text(lab.target, lab.eos, folder, tokens, requests.__getitem__, longest, seed, say)


def room_of(lab: Lab, longest: int) -> int:
    """The most tokens of a prompt that an answer of the `longest` kind still fits behind."""
    return lab.target.context - longest - LOOK


def own_draft(
    lab: Lab,
    prompts: Sequence[Prompt],
    folder: str | Path,
    write: int = 40_000,
    tokens: int = 200_000,
    start: Path | None = trained.WEIGHTS,
    looked: Callable[[str, list[dict]], None] = lambda name, history: None,
    say: Say = silent,
) -> Path:
    """Train the course's EAGLE on what the target answers to these prompts. Goes on where it was interrupted.

    Args:
        folder: for texts, checkpoint and weights; one for each file of prompts.
        write: tokens that the target writes to learn from.
        tokens: how many the draft learns from, repeats included.
        start: a folder of weights to begin with; None, and it begins with parts of the target.
        looked: told the folder's name and the history after each evaluation on the prompts put aside (as `LearningCurve` is).

    Returns:
        The folder, which `load(weights=…)` takes.

    Raises:
        LabError: for fewer than FEWEST prompts, prompts that are too long, or a folder that cannot be used.
    """
    folder = Path(folder)
    if len(prompts) < FEWEST:
        raise LabError(
            f"{len(prompts)} prompts are too few: give at least {FEWEST}, since every {ASIDE}th is only measured on."
        )
    recipes.check_target(lab.target)
    room = room_of(lab, ANSWER)
    if long := [p.id for p in prompts if len(lab.encode(p.messages)) > room]:
        raise LabError(
            f"The prompt “{long[0]}” has more than {room} tokens, and no answer would fit behind it: shorten it."
        )
    write_answers(lab, *put_aside(prompts), folder, write, ANSWER, say=say)
    trainer = recipes.train(
        NAME,
        lab.target,
        lab.tokenizer,
        folder,
        tokens,
        start=start,
        say=say,
        every=tokens // EVALUATIONS,
        evaluated=lambda trainer: looked(folder.name, trainer.history),
    )
    recipes.export(trainer, NAME, lab.target, folder / f"{NAME}.safetensors")
    return folder
