"""The target answers what is asked, so that a draft can learn from it: each text is a request and its answer.

A draft has to guess what *this* target says, where it is asked what users ask. Each answer has a temperature of its own,
and half of them are greedy. A batch writes many texts side by side, a token of each a pass. Where one has ended, the next
request takes its place.
"""

import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from specdec_lab.engine import decode
from specdec_lab.engine.batch import Batch
from specdec_lab.engine.decode import Stops
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.errors import Say
from specdec_lab.formats import pace
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.answers import HELD_OUT, LEARNED, collected, files, read_answers, save_answers

TEMPERATURES = (0.0, 0.0, 0.0, 0.3, 0.7, 1.0)  # of the answers; one is drawn for each text
LOOP = 80  # an answer that repeats up to so many tokens is ended: nobody would read on
SIDE_BY_SIDE = {"cpu": 32, "cuda": 512}  # texts: on a CPU more would fill the memory with their keys and values
SAVE = 60  # seconds of writing that an interrupt may lose
HELD_OUT_TOKENS = 60_000  # to measure on, which are written first; or a fifth of what is to be learned from


@dataclass(frozen=True)
class Request:
    """A prompt to be answered: all tokens up to the answer's first."""

    kind: str
    tokens: list[int]


@dataclass
class Writing:
    """A text that is being written. tokens: of the answer."""

    request: Request
    temperature: float
    tokens: Sequence[int] = ()


class Asked:
    """What is asked, as long as more is needed. All that begin are written to their end: if the last ones were left
    out, short answers would be too many.

    Args:
        request: draws the next one.
        wanted: tokens of answers.
    """

    def __init__(self, request: Callable[[random.Random], Request], draw: random.Random, wanted: int, longest: int):
        self.request, self.random, self.wanted, self.begun = request, draw, wanted, time.time()
        self.typical, self.open, self.ended, self.answered = float(longest), 0, 0, 0

    def draw(self, most: int) -> list[Writing]:
        found = []
        while len(found) < most and self.answered + self.open * self.typical < self.wanted:
            self.open += 1
            found.append(Writing(self.request(self.random), self.random.choice(TEMPERATURES)))
        return found

    def end(self, text: Writing) -> None:
        self.open, self.ended, self.answered = self.open - 1, self.ended + 1, self.answered + len(text.tokens)
        self.typical = self.answered / self.ended

    def pace(self) -> str:
        return pace(self.answered, self.wanted, time.time() - self.begun)


def write_text(
    target: ReferenceModel,
    ends: Collection[int],
    folder: Path,
    tokens: int,
    requests: Callable[[bool], Callable[[random.Random], Request]],
    longest: int,
    seed: int = 0,
    say: Say = print,
) -> None:
    """Have the target answer until `folder` holds at least that many tokens of its own, and those to measure on. What
    is there stays: it goes on where it stopped, and an interrupt keeps the answers that have ended.

    Args:
        ends: the ids that end an answer.
        requests: held_out → what draws a request of that side: of the text to learn from, or of that to measure on.
        longest: tokens of an answer.
        seed: another one gives another text to learn from; what is held out stays the same.
    """
    folder.mkdir(parents=True, exist_ok=True)  # where that cannot be, it is told before anything is written
    for side, wanted in ((HELD_OUT, min(HELD_OUT_TOKENS, tokens // 5)), (LEARNED, tokens)):
        into, held_out = folder / side, side == HELD_OUT
        there = read_answers(into, target)
        wanted -= there.answered if there else 0
        if wanted <= 0:
            continue
        say(f"The target answers prompts to {'measure on' if held_out else 'learn from'}: {wanted:,} tokens …")
        draw = random.Random(f"{'held out' if held_out else f'train {seed}'} {len(files(into))}")
        asked, ended, saved = Asked(requests(held_out), draw, wanted, longest), [], time.time()
        try:
            for text in answers(target, ends, asked, longest, draw.getrandbits(32)):
                ended.append((text.request.kind, text.temperature, text.request.tokens, text.tokens))
                if time.time() - saved > SAVE:
                    save_answers(collected(ended, target), into)
                    ended, saved = [], time.time()
                    say(asked.pace())
        finally:
            if ended:
                save_answers(collected(ended, target), into)
        say(asked.pace())


def answers(target: ReferenceModel, ends: Collection[int], asked: Asked, longest: int, seed: int) -> Iterator[Writing]:
    """The texts, each as soon as it has ended: with a token of `ends`, in a loop, or with `longest` tokens.

    The same texts come again on the same device.
    """
    batch = Batch(target, SIDE_BY_SIDE.get(target.device.type, SIDE_BY_SIDE["cpu"]))
    stops, running, numbers = Stops(longest, frozenset(ends), loops), [], count()
    while True:
        for text in asked.draw(batch.most - len(running)):
            how = {"sampler": Sampler(text.temperature), "stops": stops, "uniforms": Uniforms(seed, next(numbers))}
            running.append((text, batch.submit(decode.Request(target, text.request.tokens, **how))))
        if not running:
            return
        batch.step(0)
        for text, trace in running:
            if trace.stop:
                text.tokens = trace.tokens
                asked.end(text)
                yield text
        running = [(text, trace) for text, trace in running if not trace.stop]


def loops(answer: Sequence[int]) -> bool:
    """Whether an answer ends in a loop: a few tokens three times, or many twice."""
    for period in range(1, min(LOOP, len(answer) // 2) + 1):
        if answer[-1] != answer[-1 - period]:  # as with most periods
            continue
        span = max(3 * period, 12) if period < 16 else 2 * period
        if len(answer) >= span and answer[-span:-period] == answer[period - span :]:
            return True
    return False
