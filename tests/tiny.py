"""Small models whose every probability can be enumerated, and races of which every number is known."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from specdec_lab.drafters import LookupDrafter, ModelDrafter
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.engine.processors import Mask
from specdec_lab.engine.sampling import Sampler
from specdec_lab.engine.trace import Draft, Emitted, Round, Seconds, Trace
from specdec_lab.measure.costs import Race
from specdec_lab.models.base import Cached, Model, Rows

SAMPLED = Sampler(1.0)


def as_it_is(rows: Tensor) -> Tensor:
    """A head for hidden rows that are logits already."""
    return rows


class TinyModel(Model):
    """Random logits for every context: float64, and different after each different text."""

    def __init__(self, vocab_size: int, seed: int, spread: float = 1.5, context: int = 64):
        self.name, self.vocab_size, self.input_vocab = f"tiny-{seed}", vocab_size, vocab_size
        self.context, self.layers = context, 3
        self.device, self.dtype = torch.device("cpu"), torch.float64
        self.seed, self.spread = seed, spread
        self.head = as_it_is
        self._seen: dict[tuple[int, ...], Tensor] = {}

    def logits(self, text: Sequence[int]) -> Tensor:
        """[V]: what follows `text`."""
        key = tuple(text)
        if key not in self._seen:
            generator = torch.Generator().manual_seed(hash((self.seed, *key)) % 2**63)
            self._seen[key] = self.spread * torch.randn(self.vocab_size, generator=generator, dtype=torch.float64)
        return self._seen[key]

    def probabilities(self, text: Sequence[int], drafts: Sequence[int] = ()) -> Tensor:
        return Sampler(1.0)(self.logits([*text, *drafts]))

    def cached(self, rows: int = 1) -> "TinyCached":
        return TinyCached(self, rows)


def at_depth(rows: Tensor, depth: int) -> Tensor:
    """What stands at a depth, for last rows [.., V]: it tells which row and which depth it is of."""
    return rows * (depth + 2)


class TinyCached(Cached):
    """Remembers tokens where a real cache remembers keys: what is stale or missing changes the logits."""

    _run = _join = _drop = None  # extend, join and drop are its own

    def __init__(self, model: TinyModel, rows: int):
        self.model, self.lengths = model, [0] * rows
        self.slots: list[list[int]] = [[] for _ in range(rows)]

    def extend(self, new, *, layers=None, logits=True, trees=(), depths=()) -> Rows:
        """The last layer does all; before it a hidden row is [id, layers run]. See `at_depth` for other depths."""
        if layers and layers[0]:
            assert all(run == layers[0] for rows in new for run in rows[:, 1]), "rows of other layers"
            new = [rows[:, 0] for rows in new]
        new = [tokens.flatten().long().tolist() if isinstance(tokens, Tensor) else tokens for tokens in new]
        if layers and layers[1] < self.model.layers:
            self.lengths = [have + len(tokens) for have, tokens in zip(self.lengths, new)]
            ids = [torch.tensor([(t, layers[1]) for t in tokens], dtype=torch.float64).view(-1, 2) for tokens in new]
            return Rows(torch.nn.utils.rnn.pad_sequence(ids, batch_first=True), None)
        out = []
        for r, tokens in enumerate(new):
            row = [torch.empty(0, self.model.vocab_size, dtype=torch.float64)]
            for token in tokens:
                self.slots[r][self.lengths[r] :] = [token]
                self.lengths[r] += 1
                row.append(self.model.logits(self.seen(r, trees[r] if trees else None))[None])
            out.append(torch.cat(row))
        stacked = torch.nn.utils.rnn.pad_sequence(out, batch_first=True, padding_value=float("nan"))
        return Rows(torch.cat([stacked, *(at_depth(stacked, depth) for depth in depths)], -1), stacked)

    def seen(self, r: int, tree) -> list[int]:
        """What the newest token of row r sees, itself included."""
        text, newest = self.slots[r][: self.lengths[r]], self.lengths[r] - 1
        if tree is None or newest < tree[0]:
            return text
        start, nodes = tree
        return text[:start] + [text[start + i] for i in nodes.path(newest - start)]

    def _move(self, row: int, to: int, slots: Tensor) -> None:
        self.slots[row][to : to + len(slots)] = [self.slots[row][slot] for slot in slots]

    def join(self, other: "TinyCached") -> None:
        self.lengths += other.lengths
        self.slots += [list(row) for row in other.slots]

    def drop(self, row: int) -> None:
        self.lengths[row], self.slots[row] = self.lengths[-1], self.slots[-1]
        self.lengths.pop()
        self.slots.pop()


class Shaped(TinyModel):
    """What must come out: the tiny model, with what shapes its logits applied to one text at a time."""

    def __init__(self, model: TinyModel, processors, sampler=SAMPLED):
        super().__init__(model.vocab_size, model.seed, model.spread)
        self.processors, self.sampler = processors, sampler

    def probabilities(self, text, drafts=()):
        row = self.logits([*text, *drafts])
        for processor in self.processors:
            row = processor(row, [*text, *drafts])
        return self.sampler(row)


# Never one token twice in a row: what may follow changes with every token.
NO_STUTTER = Mask(lambda text: [t for t in range(3) if t != text[-1]])


def slowed(model, now, per_row):
    """Each pass over a row moves the clock by per_row(row)."""
    make = model.cached

    def cached(rows=1):
        held = make(rows)
        extend = held.extend

        def slow(new, **options):
            now[0] += sum(map(per_row, new))
            return extend(new, **options)

        held.extend = slow
        return held

    model.cached = cached


def trace_of(**more) -> Trace:
    target = more.pop("target", TinyModel(4, seed=8, spread=0.5))
    drafter = more.pop("drafter", ModelDrafter(TinyModel(4, seed=9, spread=0.5)))
    settings = {"gamma": 3, "sampler": SAMPLED, "stops": Stops(24)} | more
    return Trace([0, 1]).collect(speculative(target, drafter, [0, 1], **settings))


def rounds_of_accepted(lengths, gamma):
    """Hand-made rounds that accepted so many drafts each."""
    position = 1
    for n in lengths:
        marks = ["accepted"] * n + ["rejected"] + ["discarded"] * gamma
        drafts = tuple(
            Draft(0, 1, 1, 1, 1, float(i < n), None, mark, parent=i - 1) for i, mark in enumerate(marks[:gamma])
        )
        yield Round(position, drafts, Emitted(0, "bonus" if n == gamma else "corrected", 1, 1))
        position += n + 1


def raced(seconds: float = 0.05) -> Race:
    """A race of a tiny model, drafts by lookup, in which every pass took so long."""
    target = TinyModel(2, seed=1, spread=9.0)
    more = {"stops": Stops(16)}
    traces = [
        Trace([0, 1]).collect(plain(target, [0, 1], **more)),
        Trace([0, 1]).collect(speculative(target, LookupDrafter(), [0, 1], gamma=4, **more)),
    ]
    for trace in traces:
        trace.rounds[0] = replace(trace.rounds[0], seconds=Seconds(verify=seconds))
        trace.clock = [seconds] * len(trace.rounds)
    return Race([1.0], *traces)
