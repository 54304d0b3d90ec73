"""The target's answers on disk: files of tokens in a folder, and nothing else. Its rows are computed again from them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.formats import first_line
from specdec_lab.models.reference import ReferenceModel

LEARNED, HELD_OUT = "conversations", "held-out"  # folders of files: to learn from, and to measure on


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
    def own(self) -> int:
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

    def check(self, target: ReferenceModel) -> None:
        """Raises ValueError where the arrays do not fit together, or hold tokens that the target does not have."""
        numbers = self.tokens, self.length, self.prompt
        if any(x.dtype.kind not in "iu" or x.ndim != 1 for x in numbers) or self.temperature.dtype.kind != "f":
            raise ValueError("its parts are of another kind")
        n = {len(x) for x in (self.length, self.prompt, self.temperature, self.kind)}
        if n != {len(self)} or not len(self) or self.length.sum() != len(self.tokens):
            raise ValueError("its parts are of different lengths")
        if not ((self.prompt > 0) & (self.prompt < self.length)).all():
            raise ValueError("it has texts without a prompt, or without an answer")
        if not 0 <= int(self.tokens.min()) <= int(self.tokens.max()) < target.input_vocab:
            raise ValueError("it has tokens that the target does not know")


TEXT = "target", "precision"  # the fields that are no arrays
ARRAYS = tuple(field.name for field in fields(Answers) if field.name not in TEXT)


def collected(texts: Sequence[tuple[str, float, Sequence[int], Sequence[int]]], target: ReferenceModel) -> Answers:
    """Texts, each a (kind, temperature, prompt, answer), as they are kept."""
    kinds, heats, prompts, answers = zip(*texts)
    both = [[*prompt, *answer] for prompt, answer in zip(prompts, answers)]
    small = target.input_vocab <= 2**16
    return Answers(
        np.concatenate([np.array(text, dtype=np.uint16 if small else np.uint32) for text in both]),
        np.array([len(text) for text in both], dtype=np.int32),
        np.array([len(prompt) for prompt in prompts], dtype=np.int32),
        np.array(heats, dtype=np.float32),
        np.array(kinds),
        target.name,
        target.precision,
    )


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("answers-*.npz"))


def save_answers(answers: Answers, folder: Path) -> None:
    """Add a file to a folder, which is made where there is none.

    Raises:
        LabError: when it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = len(files(folder))  # some may be copies of other names
        while (path := folder / f"answers-{number:04}.npz").exists():
            number += 1
        with written_whole(path) as unfinished, open(unfinished, "wb") as file:
            np.savez_compressed(file, **{field.name: getattr(answers, field.name) for field in fields(answers)})
    except OSError as e:
        raise LabError(
            f"The answers cannot be kept in {folder} ({e.strerror}): make room, or choose another --folder."
        ) from e


def read_answers(folder: Path, target: ReferenceModel) -> Answers | None:
    """All answers of a folder; None where there are none.

    Raises:
        LabError: naming the file, for one that is damaged, or that another target wrote.
    """
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
            stored = Answers(**parts)
        if stored.target == target.name:
            stored.check(target)
    except Exception as e:  # whatever damage makes of other libraries
        why = first_line(e) if type(e) is ValueError and "pickle" not in str(e) else "it is torn, or of another kind"
        raise LabError(f"{path} cannot be read ({why}): delete it. The other files beside it stay as they are.") from e
    if stored.target != target.name:
        raise LabError(f"{path} was written by {stored.target}, not by {target.name}: choose another --folder.")
    return stored
