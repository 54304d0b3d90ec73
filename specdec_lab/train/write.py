"""Text to learn from: the target answers what is asked, and its hidden rows are kept.

A draft has to guess what *this* target says, where it is asked what users ask. So each text begins with
a request; the target answers at the text's own temperature, greedily in half of the texts, and when its
answer has ended, the user says something more. A text may also begin with an open user turn, which the
target then writes, too.

The texts of a shard are equally long. Their prompts are nearly so: what they have in common in length goes
through the model in wide passes, the rest is given token by token while other texts already answer.
"""

import random
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from specdec_lab.drafters.early_exit import exit_of
from specdec_lab.errors import LabError, Say
from specdec_lab.models.base import Cached
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.shards import CONVERSATIONS, HELD_OUT, ROWS, answered, file_of, reserve, work_folder

USERS = 0.8  # the temperature of the users' turns that the target writes: they must differ, and at 1 it writes nonsense
TEMPERATURES = (0.0, 0.0, 0.0, 0.3, 0.7, 1.0)  # of the answers; one is drawn for each text
LOOP = 80  # an answer that repeats up to so many tokens is ended: nobody would read on
PASS = 4096  # positions that go through the model at once
OWN_SHARE = 0.45  # about the share of a shard's positions that are the target's own
HELD_OUT_TOKENS = 60_000  # to measure on, which are written first; or a fifth of what is to be learned from
GOLDEN = 0.6180339887  # number · GOLDEN modulo 1: places between 0 and 1, spread evenly in any stretch of shards


@dataclass(frozen=True)
class Size:
    """How large shards are, in tokens: about `positions` in all, `answer` behind each prompt."""

    positions: int = 24_000
    answer: int = 216


@dataclass(frozen=True)
class Request:
    """A prompt to be answered: all tokens up to the answer's first. kind free: the user's turn is still open."""

    kind: str
    tokens: list[int]


class Requests(Protocol):
    """What is asked on one side: in the text to learn from, or in the text that is held out to measure on."""

    held_out: bool

    def lengths(self, number: int) -> tuple[int, int]:
        """The least and the most tokens of the prompts in shard `number`."""

    def of_shard(self, number: int, low: int, high: int, draw: random.Random, rows: int) -> list[Request]:
        """The `rows` requests of shard `number`, of low … high tokens."""

    def follow_up(self, kind: str, draw: random.Random, fresh: bool = False) -> str:
        """What the user says once an answer to a request of that kind has ended; something new, if `fresh`."""


@dataclass(frozen=True)
class Turns:
    """How the target's chat template opens turns, as token ids.

    prefix: everything before a first user's words. close: what ends them. answer, user: what
        opens an answer, and the next user's turn after one.
    """

    prefix: list[int]
    close: list[int]
    answer: list[int]
    user: list[int]


def turns(tokenizer: PreTrainedTokenizerBase) -> Turns:
    """Read off the chat template, by rendering marked messages.

    Raises:
        LabError: without a template, or with one that cannot be taken apart so.
    """
    if tokenizer.chat_template is None:
        raise LabError("This target has no chat template, so it cannot write conversations to learn from.")
    marks = ["\x01", "\x02", "\x03"]
    messages = [{"role": role, "content": mark} for role, mark in zip(("user", "assistant", "user"), marks)]
    three = tokenizer.apply_chat_template(messages, tokenize=False)
    one = tokenizer.apply_chat_template(messages[:1], tokenize=False)
    asked = tokenizer.apply_chat_template(messages[:1], tokenize=False, add_generation_prompt=True)
    try:
        before, _, rest = three.partition(marks[0])
        user = rest[rest.index(marks[1]) + 1 : rest.index(marks[2])]
        parts = [before, one.partition(marks[0])[2], asked.removeprefix(one), user]
        prefix, close, answer, user = (tokenizer(part, add_special_tokens=False).input_ids for part in parts)
        if len(prefix) < 2 or not answer or not user or not asked.startswith(one):
            raise ValueError
    except ValueError as e:
        raise LabError("This target's chat template cannot be taken apart into turns, so no text was written.") from e
    return Turns(prefix, close, answer, user)


class Noise:
    """Gumbel noise from a pool: argmax(logits / T + noise) is a sample at temperature T.

    Softmax and multinomial over 49,152 tokens took as long as the model's own pass (128 rows on two
    CPU cores, bfloat16). A random stretch of a large pool is random enough for training text.
    """

    def __init__(self, vocab_size: int, generator: torch.Generator, device: torch.device):
        uniform = torch.rand(2**23 + vocab_size, generator=generator).clamp(1e-9, 1 - 1e-7)
        self.pool = -torch.log(-torch.log(uniform)).to(device)
        self.stretches = self.pool.unfold(0, vocab_size, 1)  # a view: row i is the stretch that begins at i
        self.generator = generator

    def choose(self, logits: Tensor, temperature: Tensor) -> Tensor:
        """One token for each row: logits [R, V], temperature [R], 0 for greedy; greedy rows need no noise."""
        starts = torch.randint(0, 2**23, (len(logits),), generator=self.generator).to(logits.device)
        temperature = temperature.to(logits.device)
        chosen = torch.empty(len(logits), dtype=torch.long, device=logits.device)
        greedy = temperature == 0
        chosen[greedy] = logits[greedy].argmax(-1)
        warm = ~greedy
        chosen[warm] = (logits[warm] / temperature[warm, None] + self.stretches[starts[warm]]).argmax(-1)
        return chosen


def held_out_tokens(tokens: int) -> int:
    """How many tokens are held out where `tokens` are to be learned from."""
    return min(HELD_OUT_TOKENS, tokens // 5)


def written(folder: Path) -> int:
    """Tokens of the target's own to learn from, in all whole shards there."""
    return answered(folder / CONVERSATIONS)


def lacking(folder: Path, tokens: int) -> bool:
    """Whether so many tokens, and those to measure on, are still to be written."""
    return written(folder) < tokens or answered(folder / HELD_OUT) < held_out_tokens(tokens)


def write_text(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    tokens: int,
    requests_of: Callable[[bool, int], Requests],
    size: Size = Size(),
    spare: float = 0,
    seed: int = 0,
    say: Say = print,
) -> None:
    """Have the target answer until `folder` holds that many tokens of its own, and those to measure on. Whole shards
    stay: it goes on where it stopped.

    Args:
        requests_of: (held_out, number of a shard) → what is asked in it.
        spare: GB of the disk that are left free; when no more is, it ends as if all was written.
        seed: another one gives another text to train on; what is held out stays the same.

    Raises:
        LabError: when a folder cannot be made, the disk has no room for all of them, or the chat template cannot be
            taken apart.
    """
    shard = size.positions * target.hf.config.hidden_size * 2 * len(ROWS) / 1e6  # MB
    sides = ((HELD_OUT, held_out_tokens(tokens), "to measure on"), (CONVERSATIONS, tokens, "to learn from"))
    for side, wanted, purpose in sides:
        into = folder / side
        try:
            into.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise LabError(f"The folder {into} cannot be made ({e.strerror}): choose another one.") from e
        while (have := answered(into)) < wanted:
            needed = shard if spare else (wanted - have) / (size.positions * OWN_SHARE) * shard  # MB
            free = shutil.disk_usage(folder).free / 1e6
            if free - spare * 1000 < needed:
                if spare:
                    say(f"{have:,} tokens are written; ending here, since {free / 1000:.0f} GB of disk are left.")
                    break
                raise LabError(
                    f"The text to be written needs about {needed:.0f} MB of disk, and {folder} has {free:.0f} MB free: "
                    "make room, choose another folder, or ask for fewer tokens."
                )
            number = reserve(into)
            say(f"The target answers prompts {purpose}: {have:,} of {wanted:,} tokens …")
            clock = time.perf_counter()
            requests = requests_of(side == HELD_OUT, number)
            write_shard(target, tokenizer, requests, into, number, size, seed)
            seconds = time.perf_counter() - clock
            say(f"Shard {number} took {seconds:.0f} s, {(answered(into) - have) / seconds:.0f} tokens a second.")


def middle_of(layers: int) -> int:
    """A depth between exit and end, for students that read three depths."""
    return max(2, layers * 3 // 5)


def write_shard(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    requests: Requests,
    folder: Path,
    number: int,
    size: Size,
    seed: int = 0,
) -> None:
    """Write shard `number` of `folder`, where it appears when it is whole.

    The same number, requests and seed give the same text on the same device.
    """
    work = work_folder(folder, number)
    work.mkdir(exist_ok=True)
    try:
        write_parts(target, tokenizer, requests, work, number, size, seed)
        for part in (*ROWS, "text"):  # text last of all: a shard without it is not there
            file_of(work, number, part).replace(file_of(folder, number, part))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def planned(
    requests: Requests, number: int, size: Size, context: int, draw: random.Random
) -> tuple[list[Request], int]:
    """The requests of a shard, one for each of its texts, and n: the rows that are kept of each text."""
    low, high = requests.lengths(number)
    rows = max(1, size.positions // (high + size.answer))
    asked = requests.of_shard(number, low, min(high, context - 2), draw, rows)
    longest = max(len(request.tokens) for request in asked)
    n = min(max(high, longest) + size.answer, context) - 1
    asked = [replace(request, tokens=request.tokens[: n - 1]) for request in asked]
    return asked[: max(1, min(rows, size.positions // (n + 1)))], n


@torch.inference_mode()
def write_parts(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    requests: Requests,
    work: Path,
    number: int,
    size: Size,
    seed: int,
) -> None:
    """Write the files of a shard into `work`."""
    side = "held out" if requests.held_out else f"train {seed}"
    draw = random.Random(f"{side} {number}")
    generator = torch.Generator().manual_seed(draw.getrandbits(62))
    cuts = exit_of(target.layers), middle_of(target.layers)
    turn = turns(tokenizer)
    asked, n = planned(requests, number, size, target.context, draw)
    rows = len(asked)
    answers = torch.tensor([draw.choice(TEMPERATURES) for _ in range(rows)])

    given = torch.full((rows, n + 1), -1)  # tokens that are not the target's to choose; -1 where it chooses
    for r, request in enumerate(asked):
        given[r, : len(request.tokens)] = torch.tensor(request.tokens)
    is_user = torch.tensor([request.kind == "free" for request in asked])
    is_free = is_user.clone()
    own, turns_of = torch.zeros(rows, n, dtype=torch.bool), [0] * rows
    tokens = given.clamp(min=0)
    noise = Noise(target.vocab_size, generator, target.device)
    kept = [
        np.lib.format.open_memmap(
            file_of(work, number, part), "w+", np.float16, (rows, n, target.hf.config.hidden_size)
        )
        for part in ("exit", "middle", "last")
    ]
    cached = target.cached(rows)
    start = min(len(request.tokens) for request in asked) - 1  # what all prompts fill goes through in wide passes
    step = max(1, PASS // rows)
    for i in range(0, start, step):
        keep(kept, slice(i, min(i + step, start)), depths(cached, tokens[:, i : min(i + step, start)], cuts))
    for i in range(start, n):
        hidden = depths(cached, tokens[:, i : i + 1], cuts)
        keep(kept, slice(i, i + 1), hidden)
        chooses = given[:, i + 1] < 0
        if chooses.any():
            which = chooses.nonzero()[:, 0]
            logits = target.head(hidden[-1][which.to(target.device), 0])
            heat = torch.where(is_user, USERS, answers)[which]
            tokens[which, i + 1] = noise.choose(logits, heat).cpu()
        own[:, i] = chooses & ~is_user
        if i + 2 > n:
            break
        if is_free.any():  # whose turn it is, where the target also writes what the users say
            so_far = tokens[:, : i + 2]
            opened, closed = ends_with(so_far, turn.user), ends_with(so_far, turn.answer)
            is_user = is_free & ((is_user | opened) & ~closed)
        answering = own[:, i] & ~is_free
        ended = answering & (tokens[:, i + 1] == turn.user[0])
        looping = (
            answering & ~ended & loops(tokens[:, : i + 2], own[:, : i + 1]) if i % 4 == 0 else ended.new_zeros(rows)
        )
        for r in (ended | looping).nonzero()[:, 0].tolist():
            turns_of[r] += 1  # after a second answer, and after one that led nowhere, there is a new subject
            words = requests.follow_up(asked[r].kind, draw, fresh=bool(looping[r]) or turns_of[r] > 1)
            words = tokenizer(words, add_special_tokens=False).input_ids
            more = [*turn.user[0 if looping[r] else 1 :], *words, *turn.close, *turn.answer][: n - i - 1]
            following = slice(i + 2, i + 2 + len(more))
            given[r, following] = tokens[r, following] = torch.tensor(more, dtype=torch.long)
    for part in kept:
        part.flush()
    np.savez(
        file_of(work, number, "text"),
        tokens=tokens.numpy().astype(np.uint32),
        own=own.numpy(),
        temperature=answers.numpy(),
        kind=np.array([request.kind for request in asked]),
        target=np.array(target.name),
        precision=np.array(target.precision),
        exit_layer=np.array(cuts[0]),
        middle_layer=np.array(cuts[1]),
    )


def depths(cached: Cached, tokens: Tensor, cuts: Sequence[int]) -> list[Tensor]:
    """One pass over tokens [R, k]: the rows [R, k, H] after each of the cuts, and the last ones."""
    at, x, found = cached.lengths, tokens, []
    for layers in pairwise((0, *cuts, cached.model.layers)):
        cached.rewind(at)
        x = cached.extend(x, layers=layers, logits=False).hidden
        found.append(x)
    return found


def keep(kept: Sequence[np.ndarray], where: slice, rows: Sequence[Tensor]) -> None:
    """Write rows [R, k, H] of each depth into the mapped files [R, n, H], at the positions `where`."""
    for part, values in zip(kept, rows):
        part[:, where] = values.half().cpu().numpy()


def loops(tokens: Tensor, own: Tensor) -> Tensor:
    """[R]: whether each row of tokens [R, n + 1] ends in a loop: a few tokens of the target's own three times, or many
    of them twice. own: [R, n], as in `Shard`.
    """
    found = torch.zeros(len(tokens), dtype=torch.bool)
    for period in range(1, LOOP + 1):
        span = max(3 * period, 12) if period < 16 else 2 * period
        if span < tokens.shape[1]:
            found |= (tokens[:, -span:-period] == tokens[:, period - span :]).all(1) & own[:, -span:].all(1)
    return found


def ends_with(tokens: Tensor, pattern: list[int]) -> Tensor:
    """[R]: whether each row of tokens [R, n] ends with the pattern."""
    if tokens.shape[1] < len(pattern):
        return torch.zeros(len(tokens), dtype=torch.bool)
    return (tokens[:, -len(pattern) :] == torch.tensor(pattern)).all(1)
