"""The target answers what is asked, so that a draft can learn from it: each text is a request and its answer.

A draft has to guess what *this* target says, where it is asked what users ask. Each answer has a temperature of its own,
and half of them are greedy. Many texts are written side by side, a token of each a pass. Where one has ended, the next
request takes its place.
"""

import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from specdec_lab.errors import LabError, Say
from specdec_lab.formats import pace
from specdec_lab.models.base import PREFILL_CHUNK, Cached
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.answers import HELD_OUT, LEARNED, collected, files, read_answers, save_answers

TEMPERATURES = (0.0, 0.0, 0.0, 0.3, 0.7, 1.0)  # of the answers; one is drawn for each text
LOOP = 80  # an answer that repeats up to so many tokens is ended: nobody would read on
SIDE_BY_SIDE = {"cpu": 32, "cuda": 2048}  # texts: on a CPU more would fill the memory with their keys and values
LOOK = 8  # tokens of each text between two looks at which have ended
PASS = 4096  # positions of prompts that go through the model at once
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
            for text in answers(target, ends, asked, longest, draw.getrandbits(62)):
                ended.append((text.request.kind, text.temperature, text.request.tokens, text.tokens))
                if time.time() - saved > SAVE:
                    save_answers(collected(ended, target), into)
                    ended, saved = [], time.time()
                    say(asked.pace())
        finally:
            if ended:
                save_answers(collected(ended, target), into)
        say(asked.pace())


@torch.inference_mode()
def answers(target: ReferenceModel, ends: Collection[int], asked: Asked, longest: int, seed: int) -> Iterator[Writing]:
    """The texts, each as soon as it has ended: with a token of `ends`, in a loop, or with `longest` tokens.

    The same texts come again on the same device. Raises LabError for a prompt that leaves no room for such an answer.
    """
    device, most = target.device, SIDE_BY_SIDE.get(target.device.type, SIDE_BY_SIDE["cpu"])
    generator = torch.Generator().manual_seed(seed)
    cached, live = target.cached(0), []
    # Of each text, a row of the cache and of these: its tokens, how many there are, the newest one, its temperature.
    tokens = torch.zeros(most, longest + LOOK, dtype=torch.long, device=device)
    count, newest = (torch.zeros(most, dtype=torch.long, device=device) for _ in range(2))
    heat = torch.zeros(most, device=device)
    while True:
        if most - len(live) >= most // 8 or not live:
            new = sorted(asked.draw(most - len(live)), key=lambda text: len(text.request.tokens))
            for part in parts(new):
                join(cached, part, target.context - longest - LOOK)
                for text in part:
                    r = len(live)
                    tokens[r], count[r], newest[r], heat[r] = 0, 0, text.request.tokens[-1], text.temperature
                    live.append(text)
        if not live:
            return
        n, warm = len(live), torch.tensor([r for r, text in enumerate(live) if text.temperature], device=device)
        for _ in range(LOOK):
            logits = cached.extend(newest[:n, None]).logits[:, 0]
            newest[:n] = choose(logits, heat[:n], warm.long(), torch.rand(len(warm), generator=generator).to(device))
            tokens[:n].scatter_(1, count[:n, None], newest[:n, None])
            count[:n] += 1
        seen, counts = tokens[:n].cpu(), count[:n].cpu()
        for r, end in reversed(list(enumerate(ended(seen, counts, ends, longest)))):
            if end:
                live[r].tokens = seen[r, :end].tolist()
                asked.end(live[r])
                yield live[r]
                cached.drop(r)
                live[r] = live[-1]
                live.pop()
                for x in (tokens, count, newest, heat):
                    x[r] = x[len(live)]


def parts(texts: Sequence[Writing]) -> Iterator[Sequence[Writing]]:
    """Texts in order of their length, as many at a time as fill a PASS."""
    i = 0
    while i < len(texts):
        n = 1
        while i + n < len(texts) and (n + 1) * len(texts[i + n].request.tokens) <= PASS:
            n += 1
        yield texts[i : i + n]
        i += n


def join(cached: Cached, texts: Sequence[Writing], longest: int) -> None:
    """Read the prompts, all but their last tokens, and copy their rows behind those of the cache."""
    prompts = [text.request.tokens[:-1] for text in texts]
    if len(prompts[-1]) >= longest:
        raise LabError(f"A prompt of {len(prompts[-1]) + 1} tokens leaves no room for an answer: shorten it.")
    new = cached.model.cached(len(prompts))
    for i in range(0, len(prompts[-1]), PREFILL_CHUNK):
        new.extend([prompt[i : i + PREFILL_CHUNK] for prompt in prompts], logits=False)
    cached.join(new)


def choose(logits: Tensor, temperature: Tensor, warm: Tensor, u: Tensor) -> Tensor:
    """One token [R] for each row of logits [R, V]: the most likely one; for the rows `warm` [W] drawn with u [W]."""
    chosen = logits.argmax(-1)
    if len(warm):
        below = (logits[warm].float() / temperature[warm, None]).softmax(-1).cumsum(-1) < u[:, None]
        chosen[warm] = below.sum(-1).clamp(max=logits.shape[1] - 1)
    return chosen


def ended(tokens: Tensor, count: Tensor, ends: Collection[int], longest: int) -> list[int]:
    """Of answers [R, n], of which count [R] tokens stand, where each has ended; 0 where it goes on."""
    at = torch.arange(tokens.shape[1])
    last = torch.isin(tokens, torch.tensor(sorted(ends))) & (at < count[:, None])
    first = torch.where(last.any(1), last.int().argmax(1) + 1, longest + 1)
    looping = torch.where(loops(tokens, count), count, longest + 1)
    end = torch.minimum(first, looping).clamp(max=longest)
    return torch.where((end < longest) | (count >= longest), end, 0).tolist()


def loops(tokens: Tensor, count: Tensor) -> Tensor:
    """[R]: whether the answers [R, n] end, after count [R] tokens, in a loop: a few tokens three times, or many twice."""
    reach = 2 * LOOP
    at = count[:, None] - reach + torch.arange(reach)
    tail = tokens.gather(1, at.clamp(min=0))  # [R, reach], the newest token last
    found = torch.zeros(len(tokens), dtype=torch.bool)
    for period in range(1, LOOP + 1):
        span = max(3 * period, 12) if period < 16 else 2 * period
        found |= (tail[:, reach - span : -period] == tail[:, reach - span + period :]).all(1) & (count >= span)
    return found
