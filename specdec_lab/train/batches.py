"""Batches of the target's answers, with the rows that the target makes of them.

Only tokens lie on the disk. A pass gives the rows back when they are wanted: at any depth, and for any drafter. On a CPU,
where this takes longer than learning from them, rows are kept for the next visit as long as there is memory.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import psutil
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from specdec_lab.models.base import PREFILL_CHUNK
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.answers import Answers

POSITIONS = {"cpu": 3072, "cuda": 24_576}  # of a batch, at most: long texts come alone
EVALUATED = 40_000  # positions of the held-out texts in an evaluation
KEPT = 0.25  # the share of free memory for rows
MOST = torch.finfo(torch.float16).max
Batch = tuple[Tensor, Tensor, Tensor]


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
        whole = torch.cat(found, 1).clamp(-MOST, MOST)
        return {key: whole[r, : len(text)].half() for r, (key, text) in enumerate(texts.items())}
