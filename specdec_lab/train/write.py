"""Text to learn from: the target writes it itself, and its hidden rows are kept.

A draft has to guess what *this* target says, so the target's own text is the right lesson. From
the bare chat prefix a chat model invents its own users: each text begins with an open user turn,
in most cases with a few given words ("Write a poem about", see openings.json), and runs on
through answer, next question, next answer. Where the user asks about a text (a summary, a
translation), it is a passage from an earlier answer. Answers are written at the text's own
temperature, from 1 down to greedy, as they will be asked for.

No question-answering and no retrieval is among the openings: on these two kinds of the built-in
prompts a drafter was prepared by nothing but what the target invents by itself.
"""

import json
import random
import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from specdec_lab.errors import LabError
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.shards import Shard, file_of, read_shards, work_folder

COOL = 0.7  # answers up to this temperature are quoted as passages
PASSAGE = 30, 120  # tokens that are quoted, at least and at most
USERS = 0.8  # the temperature of the users' turns: they must differ, and at 1 a small model writes nonsense
TEMPERATURES = (1.0, 0.7, 0.7, 0.5, 0.3, 0.0, 0.0, 0.0)  # of the answers; one is drawn for each text


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
        """One token for each row: logits [R, V] float32, temperature [R], 0 for greedy."""
        starts = torch.randint(0, 2**23, (len(logits),), generator=self.generator).to(logits.device)
        t = temperature.to(logits.device)[:, None]
        return torch.where(t > 0, logits / t.clamp(min=1e-3) + self.stretches[starts], logits).argmax(-1)


def write_shard(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    number: int,
    rows: int,
    length: int,
    exit_layer: int,
) -> None:
    """Write shard `number` of `folder`. Appears when whole.

    The same number gives the same text on the same device, if the same shards are already there.
    """
    work = work_folder(folder, number)
    work.mkdir(exist_ok=True)
    try:
        write_parts(target, tokenizer, work, number, rows, length, exit_layer)
        for part in ("last", "exit", "text"):  # text last of all: a shard without it is not there
            file_of(work, number, part).replace(file_of(folder, number, part))
    finally:
        shutil.rmtree(work, ignore_errors=True)


@torch.inference_mode()
def write_parts(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    work: Path,
    number: int,
    rows: int,
    length: int,
    exit_layer: int,
) -> None:
    """Write the files of a shard into `work`."""
    openings = json.loads(resources.files("specdec_lab.train").joinpath("openings.json").read_text(encoding="utf-8"))
    draw, generator = random.Random(number), torch.Generator().manual_seed(number)
    turn = turns(tokenizer)
    prefix = turn.prefix
    kinds = [draw.choice(sorted(openings)) for _ in range(rows)]
    earlier = read_shards(work.parent)
    given = [open_with(draw.choice(openings[k]), earlier, tokenizer, turn, draw) for k in kinds]
    answers = torch.tensor([draw.choice(TEMPERATURES) for _ in range(rows)])
    noise = Noise(target.vocab_size, generator, target.device)

    cached = target.cached(rows)
    cached.extend([prefix[:-1]] * rows, logits=False)
    hidden_size = target.hf.config.hidden_size
    last, exits = (
        np.lib.format.open_memmap(file_of(work, number, part), "w+", np.float16, (rows, length, hidden_size))
        for part in ("last", "exit")
    )
    tokens = torch.full((rows, length + 1), prefix[-1])
    is_user = torch.ones(rows, dtype=torch.bool)
    for i in range(length):
        at = cached.lengths
        half = cached.extend(tokens[:, i : i + 1].tolist(), layers=(0, exit_layer))
        cached.rewind(at)
        whole = cached.extend(half.hidden, layers=(exit_layer, target.layers))
        exits[:, i], last[:, i] = half.hidden[:, 0].half().cpu().numpy(), whole.hidden[:, 0].half().cpu().numpy()
        chosen = noise.choose(whole.logits[:, 0].float(), torch.where(is_user, USERS, answers)).cpu()
        for r, ids in enumerate(given):
            if i < len(ids):
                chosen[r] = ids[i]
        tokens[:, i + 1] = chosen
        is_user = (is_user | ends_with(tokens[:, : i + 2], turn.user)) & ~ends_with(tokens[:, : i + 2], turn.answer)
    for part in (last, exits):
        part.flush()
    arrays = {"tokens": tokens.numpy().astype(np.uint32), "temperature": answers.numpy(), "kind": np.array(kinds)}
    by = {"target": np.array(target.name), "precision": np.array(str(target.dtype).removeprefix("torch."))}
    np.savez(file_of(work, number, "text"), **arrays, **by)


def open_with(
    words: str, earlier: list[Shard], tokenizer: PreTrainedTokenizerBase, turn: Turns, draw: random.Random
) -> list[int]:
    """The first tokens of a text: an opening, and where it ends in {text} a passage and the end of the user's turn."""
    before, mark, _ = words.partition("{text}")
    ids = tokenizer(before, add_special_tokens=False).input_ids
    found = passage(earlier, turn, draw) if mark else []
    return [*ids, *found, *turn.close, *turn.answer] if found else ids


def passage(earlier: list[Shard], turn: Turns, draw: random.Random) -> list[int]:
    """A stretch of an earlier answer at a low temperature, for a user to ask about.

    Empty when there is none yet.
    """
    least, most = PASSAGE
    for _ in range(100 if earlier else 0):
        shard = draw.choice(earlier)
        row = draw.randrange(len(shard.tokens))
        if shard.temperature[row] > COOL:
            continue
        text = shard.tokens[row].tolist()
        begins = [i for i in range(len(text)) if text[i : i + len(turn.answer)] == turn.answer]
        for i in begins:
            answer = text[i + len(turn.answer) :]
            ends = [n for n in range(len(answer)) if answer[n] == turn.user[0]]  # the marker that ends the answer
            answer = answer[: min([most, *ends])]
            if len(answer) >= least:
                return answer
    return []


def ends_with(tokens: Tensor, pattern: list[int]) -> Tensor:
    """[R]: whether each row of tokens [R, n] ends with the pattern."""
    if tokens.shape[1] < len(pattern):
        return torch.zeros(len(tokens), dtype=torch.bool)
    return (tokens[:, -len(pattern) :] == torch.tensor(pattern)).all(1)
