"""The target's answers: files of tokens in a folder, and batches of them with the rows that the target makes of them.

Only tokens lie on the disk. A pass gives the rows back when they are wanted: at any depth, and for any drafter. On a CPU,
where this takes longer than learning from them, rows are kept for the next visit as long as there is memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import psutil
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.models.base import PREFILL_CHUNK
from specdec_lab.models.reference import ReferenceModel

LEARNED, HELD_OUT = "conversations", "held-out"  # folders of files: to learn from, and to measure on
POSITIONS = {"cpu": 3072, "cuda": 24_576}  # of a batch, at most: long texts come alone
EVALUATED = 40_000  # positions of the held-out texts in an evaluation
KEPT = 0.25  # the share of free memory for rows
LARGEST = torch.finfo(torch.float16).max
Batch = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True)
class Answers:
    """Texts, each a prompt and what the target answered.

    tokens: [all], one text behind the other, each from the first token of the chat template on.
    length, prompt: [N], tokens of each text, and of its prompt.
    temperature: [N], of the answer. kind: [N], of the request.
    target: who wrote them, and in which precision it computed.
    """

    tokens: np.ndarray
    length: np.ndarray
    prompt: np.ndarray
    temperature: np.ndarray
    kind: np.ndarray
    target: str
    precision: str

    def __len__(self) -> int:
        return len(self.length)

    @property
    def answered(self) -> int:
        """Tokens that the target has written."""
        return int(self.length.sum() - self.prompt.sum())

    @cached_property
    def starts(self) -> np.ndarray:
        """[N], where each text begins in `tokens`."""
        return self.length.cumsum() - self.length

    def text(self, i: int) -> list[int]:
        return self.tokens[self.starts[i] :][: self.length[i]].tolist()

    def answer(self, i: int) -> list[int]:
        return self.text(i)[self.prompt[i] :]

    def fit(self, vocabulary: int) -> bool:
        """Whether the arrays belong together, and hold ids of such a vocabulary alone."""
        each = {len(x) for x in (self.length, self.prompt, self.temperature, self.kind)}
        whole = each == {len(self)} and self.length.sum() == len(self.tokens) > 0 and self.tokens.dtype.kind == "u"
        parted = (self.prompt > 0) & (self.prompt < self.length)
        return bool(whole and parted.all() and self.tokens.max() < vocabulary)


TEXT = "target", "precision"  # the fields that are no arrays
ARRAYS = tuple(field.name for field in fields(Answers) if field.name not in TEXT)


def collected(texts: Sequence[tuple[str, float, Sequence[int], Sequence[int]]], target: ReferenceModel) -> Answers:
    """Texts, each a (kind, temperature, prompt, answer), as they are kept."""
    kinds, temperatures, prompts, answers = zip(*texts)
    both = [[*prompt, *answer] for prompt, answer in zip(prompts, answers)]
    return Answers(
        np.concatenate([np.array(text, dtype=np.uint32) for text in both]),
        np.array([len(text) for text in both], dtype=np.int32),
        np.array([len(prompt) for prompt in prompts], dtype=np.int32),
        np.array(temperatures, dtype=np.float32),
        np.array(kinds),
        target.name,
        target.precision,
    )


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("answers-*.npz"))


def save_answers(answers: Answers, folder: Path) -> None:
    """Add a file to a folder, which is made where there is none. Raises LabError when it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = len(files(folder))  # some may be copies of other names
        while (path := folder / f"answers-{number:04}.npz").exists():
            number += 1
        with written_whole(path) as unfinished, open(unfinished, "wb") as file:
            np.savez_compressed(file, **{field.name: getattr(answers, field.name) for field in fields(answers)})
    except OSError as e:
        raise LabError(
            f"The answers cannot be kept in {folder} ({e.strerror}): make room, or choose another folder."
        ) from e


def read_answers(folder: Path, target: ReferenceModel) -> Answers | None:
    """All answers of a folder; None where there are none. Raises LabError for a damaged file, or another target's."""
    found = [read_file(path, target) for path in files(folder)]
    if not found:
        return None
    arrays = {name: np.concatenate([getattr(one, name) for one in found]) for name in ARRAYS}
    return replace(found[0], **arrays, precision=", ".join(sorted({one.precision for one in found})))


def read_file(path: Path, target: ReferenceModel) -> Answers:
    """One file, as `read_answers` says."""
    try:
        with np.load(path) as file:
            parts: dict = {name: file[name] for name in ARRAYS} | {name: str(file[name]) for name in TEXT}
        answers = Answers(**parts)
        whole = answers.target != target.name or answers.fit(target.input_vocab)
    except Exception:  # whatever damage makes of other libraries
        whole = False
    if not whole:
        raise LabError(f"{path} is damaged: delete it. The other files beside it stay as they are.")
    if answers.target != target.name:
        raise LabError(f"{path} was written by {answers.target}, not by {target.name}: choose another folder.")
    return answers


class Batches:
    """Batches (tokens [B, n], rows [B, n, (1 + D) · H], counts [B, n]) of texts.

    rows: the target's at these tokens, and behind each those of its D depths.
    counts: 1 where the next token is the target's own; else 0.

    Args:
        learned: to train on. held: to measure on.
        depths: as in `Student.depths`.
    """

    def __init__(self, target: ReferenceModel, learned: Answers, held: Answers, depths: Sequence[int] = ()):
        self.target, self.learned, self.held, self.depths = target, learned, held, depths
        self.device = target.device
        self.positions = POSITIONS.get(self.device.type, POSITIONS["cpu"])
        self.by_length = np.argsort(learned.length, kind="stable")
        self.before = learned.length[self.by_length].cumsum()
        mixed = np.random.default_rng(0).permutation(len(held))
        some = mixed[: 1 + int(np.searchsorted(held.length[mixed].cumsum(), EVALUATED))]
        self.measured = some[np.argsort(held.length[some], kind="stable")]
        self.kept: dict[tuple[int, int], Tensor] = {}
        self.room = KEPT * psutil.virtual_memory().available if self.device.type == "cpu" else 0  # bytes

    def random(self, draw: np.random.Generator) -> Batch:
        """Some texts of about the same length. Each text is as likely as any other."""
        last = int(np.searchsorted(self.before, draw.integers(self.before[-1]), side="right"))
        return self.of(self.learned, self.ending(self.learned, self.by_length, last))

    def held_out(self) -> Iterator[tuple[Sequence[int], Batch]]:
        """The batches to measure on, each with the numbers of its texts."""
        last = len(self.measured) - 1
        while last >= 0:
            numbers = self.ending(self.held, self.measured, last)
            yield numbers, self.of(self.held, numbers)
            last -= len(numbers)

    def ending(self, source: Answers, ordered: np.ndarray, last: int) -> Sequence[int]:
        """As many of these texts, which are in the order of their length, as make a batch; `last` is the last of them."""
        many = max(1, self.positions // int(source.length[ordered[last]]))
        return ordered[max(0, last + 1 - many) : last + 1].tolist()

    def of(self, source: Answers, numbers: Sequence[int]) -> Batch:
        """The batch of these texts."""
        keys = [(id(source), i) for i in numbers]
        texts = dict(zip(keys, (source.text(i)[:-1] for i in numbers)))
        fresh = self.computed({key: text for key, text in texts.items() if key not in self.kept})
        for key, rows in fresh.items():
            if self.room > 0:
                self.kept[key] = rows
                self.room -= rows.nbytes
        rows = pad_sequence([fresh[key] if key in fresh else self.kept[key] for key in keys], batch_first=True)
        tokens = pad_sequence([torch.tensor(text) for text in texts.values()], batch_first=True)
        prompt, length = (torch.tensor(x[list(numbers)])[:, None] for x in (source.prompt, source.length))
        at = torch.arange(tokens.shape[1])
        counts = (at >= prompt - 1) & (at < length - 1)
        return tokens.to(self.device), rows.float(), counts.to(self.device, torch.float32)

    def computed(self, texts: dict[tuple[int, int], list[int]]) -> dict[tuple[int, int], Tensor]:
        """The target's rows [n, (1 + D) · H] for texts of n tokens each, in half precision: the same ones each time."""
        if not texts:
            return {}
        cached, found = self.target.cached(len(texts)), []
        for i in range(0, max(map(len, texts.values())), PREFILL_CHUNK):
            chunks = [text[i : i + PREFILL_CHUNK] for text in texts.values()]
            found.append(cached.extend(chunks, logits=False, depths=self.depths).hidden)
        whole = torch.cat(found, 1).clamp(-LARGEST, LARGEST)
        return {key: whole[r, : len(text)].half() for r, (key, text) in enumerate(texts.items())}
