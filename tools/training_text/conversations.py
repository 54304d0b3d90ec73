"""The answers that the shipped drafters learned from: to requests about passages, and about what the target has composed
itself.
"""

import random
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from specdec_lab.errors import Say
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.answers import HELD_OUT, LEARNED, Answers, read_answers
from specdec_lab.train.write import Request, write_text
from training_text.documents import WRITTEN, Document, Library, Passages
from training_text.requests import LONGEST, Requests

REFRESH = 2_000_000  # after so many tokens what the target has composed meanwhile is added to what is asked about
LONGEST_ANSWER = 256  # tokens
COMPOSED = 40  # words at least of what the target composed, to be asked about
COOL = 0.7  # answers up to this temperature are asked about later


def write_conversations(
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    ends: Collection[int],
    folder: Path,
    tokens: int,
    passages: Passages = Passages(),
    longest: tuple[int, int] = (LONGEST, LONGEST_ANSWER),
    seed: int = 0,
    say: Say = print,
) -> None:
    """Have the target answer requests until `folder` holds that many tokens of its own: it goes on where it stopped.

    Args:
        passages: what is asked about; without any, only what needs no passage is asked.
        longest: tokens of a prompt, and of an answer.
        ends, seed: as in `write.write_text`.
    """
    prompt, answer = longest

    def requests(held_out: bool) -> Callable[[random.Random], Request]:
        known = read_answers(folder / (HELD_OUT if held_out else LEARNED), target)
        documents = [*passages.side(held_out), *(written_documents(known, tokenizer, ends) if known else [])]
        return Requests(tokenizer, Library(documents, passages.weights), held_out, prompt).draw

    write = partial(write_text, target, ends, folder, requests=requests, longest=answer, seed=seed, say=say)
    for first in range(REFRESH, tokens, REFRESH):
        write(tokens=first)
    write(tokens=tokens)


def written_documents(answers: Answers, tokenizer: PreTrainedTokenizerBase, ends: Collection[int]) -> list[Document]:
    """What the target composed (letters, reports, recipes …), to be asked about.

    Its subjects are those of everyday life, which are rare in texts that are free to use.
    """
    found = []
    for i in ((answers.kind == "compose") & (answers.temperature <= COOL)).nonzero()[0].tolist():
        *answer, last = answers.answer(i)
        text = tokenizer.decode(answer).strip()
        if last in ends and len(text.split()) >= COMPOSED and "[" not in text and "<" not in text:
            found.append(Document(WRITTEN, "prose", "en", "", text))
    return found
