"""A draft for one's own texts: the target answers your prompts, the course's draft learns from the answers, and prompts
that were put aside show how far it has come.
"""

import random
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from specdec_lab import quick
from specdec_lab.drafters import trained
from specdec_lab.drafters.early_exit import exit_of
from specdec_lab.errors import LabError
from specdec_lab.lab import Lab
from specdec_lab.measure.prompts import Prompt, read_prompts
from specdec_lab.models.base import Model
from specdec_lab.models.embedded import cache_dir
from specdec_lab.say import Say, silent
from specdec_lab.train import recipes
from specdec_lab.train.requests import GOLDEN, Request
from specdec_lab.train.shards import answered, reserve
from specdec_lab.train.write import Size, write_shard

NAME = "eagle"
ASIDE = 4  # every fourth prompt is put aside, to measure on
FEWEST = 8  # prompts: with fewer there is nothing to learn from, or nothing to measure on
ANSWER = 160  # tokens of each text behind its prompt
POSITIONS = 4_000  # of a shard: some seconds of writing, so that one sees it go on
EVALUATIONS = 12  # on the prompts put aside, while it trains
OURS = ("french", "shop", "questions")  # files of prompts that come with the course, for whoever has none


def our_prompts(name: str) -> list[Prompt]:
    """One of the files OURS."""
    return read_prompts(str(resources.files("specdec_lab").joinpath(f"data/own/{name}.jsonl")))


def folder_of(name: str) -> Path:
    """Where a draft of that name is kept: in the course's cache. In tests a new folder each time.

    Other weights of the course have another folder: a run that began with earlier ones would show their gain.
    """
    begun_with = f"{zlib.crc32((trained.WEIGHTS / f'{NAME}.safetensors').read_bytes()):08x}"
    return Path(tempfile.mkdtemp()) / name if quick.ON else cache_dir() / "own" / begun_with / name


def put_aside(prompts: Sequence[Prompt]) -> tuple[list[Prompt], list[Prompt]]:
    """Prompts to learn from, and prompts to measure on."""
    return [p for i, p in enumerate(prompts) if i % ASIDE], list(prompts[::ASIDE])


class OwnRequests:
    """Takes the place of `Requests`: texts begin with one of these prompts, and go on with others."""

    def __init__(self, prompts: Sequence[Prompt], tokens_of: Callable[[Prompt], list[int]], held_out: bool):
        self.asked = sorted((Request(p.kind, tokens_of(p)) for p in prompts), key=lambda r: len(r.tokens))
        self.words = [p.messages[-1]["content"] for p in prompts]
        self.held_out = held_out

    def of_shard(self, number: int, low: int, high: int, draw: random.Random, rows: int) -> list[Request]:
        fits = [r for r in self.asked if low <= len(r.tokens) <= high]
        return [draw.choice(fits) for _ in range(rows)]

    def follow_up(self, kind: str, draw: random.Random, fresh: bool = False) -> str:
        return draw.choice(self.words)


@dataclass(frozen=True)
class OwnSize(Size):
    """Shards of prompts that are nearly equally long. lengths: tokens of each prompt, in increasing order."""

    lengths: Sequence[int] = ()

    def prompts(self, number: int) -> tuple[int, int]:
        longest = self.lengths[int((number + 1) * GOLDEN % 1 * len(self.lengths))]
        return int(longest * 0.8), longest


def write_answers(
    target: Model,
    tokenizer: PreTrainedTokenizerBase,
    tokens_of: Callable[[Prompt], list[int]],
    prompts: Sequence[Prompt],
    folder: Path,
    tokens: int,
    say: Say,
) -> None:
    """Have the target answer all prompts, until it has written `tokens` tokens to learn from, and a fifth of that to
    measure on.

    Raises:
        LabError: when the folder cannot be made.
    """
    learned, aside = put_aside(prompts)
    for side, some, wanted in ((recipes.HELD_OUT, aside, tokens // 5), (recipes.CONVERSATIONS, learned, tokens)):
        into = folder / side
        try:
            into.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise LabError(f"The folder {into} cannot be made ({e.strerror}): choose another one.") from e
        requests = OwnRequests(some, tokens_of, side == recipes.HELD_OUT)
        size = OwnSize(quick.learned(POSITIONS), quick.tokens(ANSWER), lengths=[len(r.tokens) for r in requests.asked])
        while (have := answered(into)) < wanted:
            say(
                f"The target answers {'the prompts put aside' if requests.held_out else 'your prompts'}: {have:,} of {wanted:,} tokens …"
            )
            write_shard(target, tokenizer, requests, into, reserve(into), size, exit_of(target.layers))


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
        looked: told the folder's name and the history after each evaluation on the prompts put aside (see `show.climb`).

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
    room = lab.target.context - ANSWER
    if long := [p.id for p in prompts if len(lab.encode(p.messages)) > room]:
        raise LabError(
            f"The prompt “{long[0]}” has more than {room} tokens, and no answer would fit behind it: shorten it."
        )
    write, tokens = quick.learned(write), quick.learned(tokens)
    write_answers(lab.target, lab.tokenizer, lambda p: lab.encode(p.messages), prompts, folder, write, say)
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
