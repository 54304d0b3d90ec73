"""The conversations that the shipped drafters learned from: the target answers requests about passages, and about what it
has composed itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from transformers import PreTrainedTokenizerBase

from specdec_lab.errors import Say
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train import write
from specdec_lab.train.shards import CONVERSATIONS, HELD_OUT, Shard, read_shards
from training_text.documents import WRITTEN, Document, Library, Passages
from training_text.requests import LONGEST, Requests

REFRESH_EVERY = 16  # after so many shards what the target has composed meanwhile is added to what is asked about
COMPOSED = 40  # words at least of what the target composed, to be asked about
COOL = 0.7  # answers up to this temperature are asked about in later shards


@dataclass(frozen=True)
class Size(write.Size):
    """How large shards are, in tokens. longest: of a prompt."""

    longest: int = LONGEST


def write_conversations(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    tokens: int,
    passages: Passages = Passages(),
    size: Size = Size(),
    spare: float = 0,
    seed: int = 0,
    say: Say = print,
) -> None:
    """Have the target answer requests until `folder` holds that many tokens of its own. Whole shards stay: it goes on
    where it stopped.

    Args:
        passages: what is asked about; without any, only what needs no passage is asked.
        spare, seed: as in `write.write_text`.

    Raises:
        LabError: what `write.write_text` refuses.
    """
    prefix = write.turns(tokenizer).prefix

    @cache
    def library(held_out: bool, refreshed: int) -> Library:
        """Passages, and what the target has composed in the first shards of this side."""
        shards = read_shards(folder / (HELD_OUT if held_out else CONVERSATIONS))[: refreshed * REFRESH_EVERY]
        return Library([*passages.side(held_out), *written_documents(shards, tokenizer)], passages.weights)

    def requests(held_out: bool, number: int) -> Requests:
        return Requests(tokenizer, prefix, library(held_out, number // REFRESH_EVERY), held_out, size.longest)

    write.write_text(target, tokenizer, folder, tokens, requests, size, spare, seed, say)


def written_documents(shards: Sequence[Shard], tokenizer: PreTrainedTokenizerBase) -> list[Document]:
    """What the target composed in these shards (letters, reports, recipes …), to be asked about.

    Its subjects are those of everyday life, which are rare in texts that are free to use.
    """
    found, end = [], write.turns(tokenizer).user[0]
    for shard in shards:
        for r in np.flatnonzero((shard.kind == "compose") & (shard.temperature <= COOL)).tolist():
            first = int(np.argmax(shard.own[r]))
            answer = shard.tokens[r, first + 1 :].tolist()
            if end not in answer:
                continue
            text = tokenizer.decode(answer[: answer.index(end)]).strip()
            if len(text.split()) >= COMPOSED and "[" not in text and "<" not in text:
                found.append(Document(WRITTEN, "prose", "en", "", text))
    return found
