"""A folder of text to learn from: its whole shards, and who is writing which."""

import itertools
import os
import platform
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

CONVERSATIONS, HELD_OUT = "conversations", "held-out"  # folders of shards: to train on, and to measure on
DAY = 24 * 60 * 60  # seconds
ROWS = ("last", "exit", "middle")  # hidden rows, a file each


@dataclass(frozen=True)
class Shard:
    """Some texts of equal length n + 1, and what the target computed while it wrote them.

    tokens: [R, n + 1], from the first token of the chat template on.
    own: [R, n] bool, whether token i + 1 is the target's own, so that row i counts; users' words are given.
    last, exit, middle: [R, n, H] float16, the target's rows at tokens[:, :n]: the last hidden row (as
        the head reads it), which predicts the next token, and the residual stream after `exit_layer` and
        `middle_layer` layers. Read from disk as they are used.
    temperature: [R], of the answers. kind: [R], of the first request. target: who wrote it, and in which
        precision it computed.
    """

    tokens: np.ndarray
    own: np.ndarray
    last: np.ndarray
    exit: np.ndarray
    middle: np.ndarray
    temperature: np.ndarray
    kind: np.ndarray
    target: str
    precision: str
    exit_layer: int
    middle_layer: int

    @property
    def answered(self) -> int:
        """Tokens of the target's own."""
        return int(self.own.sum())


def file_of(folder: Path, number: int, part: str) -> Path:
    """Where a part of a shard is: last, exit, middle, or text. Only a shard whose text is there is whole."""
    return folder / f"{part}-{number:04}{'.npz' if part == 'text' else ''}"


def read_shards(folder: Path) -> list[Shard]:
    """All whole shards of a folder, in order; hidden rows are mapped, not read."""
    shards = []
    for text in sorted(folder.glob("text-*.npz")):
        number = int(text.stem.partition("-")[2])
        rows = {part: np.load(file_of(folder, number, part), mmap_mode="r") for part in ROWS}
        with np.load(text) as file:
            arrays = dict(file)
        named = {name: str(arrays.pop(name)) for name in ("target", "precision")}
        layers = {name: int(arrays.pop(name)) for name in ("exit_layer", "middle_layer")}
        shards.append(Shard(**arrays, **rows, **named, **layers))
    return shards


def answered(folder: Path) -> int:
    """Tokens of the target's own in all whole shards of a folder, without opening their rows."""
    total = 0
    for text in folder.glob("text-*.npz"):
        with np.load(text) as arrays:
            total += int(arrays["own"].sum())
    return total


def work_folder(folder: Path, number: int) -> Path:
    """Where this process writes shard `number`, and at the same time its mark that it does."""
    return folder / f"unfinished-{number:04}.{platform.node()}.{os.getpid()}"


def reserve(folder: Path) -> int:
    """The number of the first shard that is neither written nor being written; this process is now writing it.

    Several processes may write into one folder. What a killed one has left is removed.
    """
    for number in itertools.count():
        mine = work_folder(folder, number)
        mine.mkdir(exist_ok=True)  # first mark, then look: of two writers, at least one sees the other and goes on
        others = [w for w in folder.glob(f"unfinished-{number:04}.*") if w != mine]
        for left in itertools.filterfalse(alive, others):
            shutil.rmtree(left, ignore_errors=True)
        if not any(map(alive, others)) and not file_of(folder, number, "text").exists():
            return number
        shutil.rmtree(mine)


def alive(work: Path) -> bool:
    """Whether a work folder's process may still be writing. One of another machine is believed for a day."""
    machine, _, pid = work.name.partition(".")[2].rpartition(".")
    if machine == platform.node():
        return psutil.pid_exists(int(pid))
    try:
        return time.time() - work.stat().st_mtime < DAY
    except FileNotFoundError:  # it has just finished
        return False
