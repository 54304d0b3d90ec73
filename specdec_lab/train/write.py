"""Text to learn from: the target writes it itself, and its hidden rows are kept.

A draft has to guess what *this* target says, so the target's own text is the right lesson. From
the bare chat prefix a chat model invents its own users: each text begins with an open user turn,
in most cases with a few given words ("Write a poem about", see openings.json), and runs on
through answer, next question, next answer. Users write at temperature 1, so that they differ;
answers at the text's own temperature, from 1 down to greedy, as they will be asked for.

No question-answering and no retrieval is among the openings: these two kinds of the built-in
prompts show what the drafters do where nothing prepared them.
"""

import json
import random
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from specdec_lab.errors import LabError
from specdec_lab.models.reference import ReferenceModel

TEMPERATURES = (1.0, 1.0, 1.0, 0.7, 0.7, 0.3, 0.0, 0.0)  # of the answers; one is drawn for each text


@dataclass(frozen=True)
class Shard:
    """Some texts of equal length, and what the target computed while it wrote them.

    tokens: [R, N + 1]; the first is the last token of `prefix`.
    last, exit: [R, N, H] float16, the target's rows at tokens[:, :N]: the last hidden row (as
        the head reads it), which predicts the next token, and the residual stream after
        `exit_layer` layers. Read from disk as they are used.
    temperature: [R], of the answers. kind: [R], which openings.
    """

    tokens: np.ndarray
    last: np.ndarray
    exit: np.ndarray
    temperature: np.ndarray
    kind: np.ndarray


def chat_prefix(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], int, int]:
    """The ids before a first user's words, and the two ids that say whose turn it is: (opens a turn, assistant).

    Raises:
        LabError: for a tokenizer without a chat template.
    """
    if tokenizer.chat_template is None:
        raise LabError("This target has no chat template, so it cannot write conversations to learn from.")
    marker = "\x00"
    whole = tokenizer.apply_chat_template([{"role": "user", "content": marker}], tokenize=False)
    before = whole[: whole.index(marker)]
    ids = tokenizer(before, add_special_tokens=False).input_ids
    special = set(tokenizer.all_special_ids)
    opens = next(i for i in reversed(ids) if i in special)
    assistant = tokenizer("assistant", add_special_tokens=False).input_ids[0]
    return ids, opens, assistant


class Noise:
    """Gumbel noise from a pool: argmax(logits / T + noise) is a sample at temperature T.

    A fresh number for each of 49,152 tokens of each row costs more than the model; a random
    stretch of a large pool costs nothing and is random enough for training text.
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


@torch.inference_mode()
def write_shard(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    number: int,
    rows: int,
    length: int,
    exit_layer: int,
) -> None:
    """Write shard `number` of `folder`: the same number gives the same text on the same device. Appears when whole."""
    openings = json.loads(resources.files("specdec_lab.train").joinpath("openings.json").read_text(encoding="utf-8"))
    draw, generator = random.Random(number), torch.Generator().manual_seed(number)
    prefix, opens, assistant = chat_prefix(tokenizer)
    kinds = [draw.choice(sorted(openings)) for _ in range(rows)]
    given = [tokenizer(draw.choice(openings[k]), add_special_tokens=False).input_ids for k in kinds]
    answers = torch.tensor([draw.choice(TEMPERATURES) for _ in range(rows)])
    noise = Noise(target.vocab_size, generator, target.device)

    cached = target.cached(rows)
    cached.extend([prefix[:-1]] * rows, logits=False)
    hidden_size = target.hf.config.hidden_size
    last = np.lib.format.open_memmap(_path(folder, number, "last.tmp"), "w+", np.float16, (rows, length, hidden_size))
    exits = np.lib.format.open_memmap(_path(folder, number, "exit.tmp"), "w+", np.float16, (rows, length, hidden_size))
    tokens = torch.full((rows, length + 1), prefix[-1])
    is_user = torch.ones(rows, dtype=torch.bool)
    for i in range(length):
        at = cached.lengths
        half = cached.extend(tokens[:, i : i + 1].tolist(), layers=(0, exit_layer))
        cached.rewind(at)
        whole = cached.extend(half.hidden, layers=(exit_layer, target.layers))
        exits[:, i], last[:, i] = half.hidden[:, 0].half().cpu().numpy(), whole.hidden[:, 0].half().cpu().numpy()
        chosen = noise.choose(whole.logits[:, 0].float(), torch.where(is_user, 1.0, answers)).cpu()
        for r, ids in enumerate(given):
            if i < len(ids):
                chosen[r] = ids[i]
        # A turn's role is the token after the one that opens it.
        is_user = torch.where(tokens[:, i] == opens, chosen != assistant, is_user)
        tokens[:, i + 1] = chosen
    for part in (last, exits):
        part.flush()
    for part in ("last", "exit"):
        _path(folder, number, f"{part}.tmp").rename(_path(folder, number, part))
    arrays = {"tokens": tokens.numpy().astype(np.uint32), "temperature": answers.numpy(), "kind": np.array(kinds)}
    np.savez(folder / f"unfinished-{number:04}.npz", **arrays)
    # Last of all: a shard without it is not there.
    (folder / f"unfinished-{number:04}.npz").rename(folder / f"text-{number:04}.npz")


def _path(folder: Path, number: int, part: str) -> Path:
    return folder / f"{part}-{number:04}"


def read_shards(folder: Path) -> list[Shard]:
    """All whole shards of a folder, in order; hidden rows are mapped, not read."""
    shards = []
    for text in sorted(folder.glob("text-*.npz")):
        number = int(text.stem.partition("-")[2])
        last, exits = (np.load(_path(folder, number, part), mmap_mode="r") for part in ("last", "exit"))
        arrays = np.load(text)
        shards.append(Shard(arrays["tokens"], last, exits, arrays["temperature"], arrays["kind"]))
    return shards
