"""The training loop: batches of the target's text, one student, checkpoints, a record of how it went."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from specdec_lab.drafters.student import Student
from specdec_lab.errors import LabError, Say
from specdec_lab.files import written_whole
from specdec_lab.train.distill import Fit, Head, divergence, fit, overlaps
from specdec_lab.train.shards import Shard

DEEPER = 0.8  # weight of each drafting step against the one before: a deep draft counts only if those before it held
POSITIONS = 3072  # of a batch, at most: long texts come alone
EVALUATED = 40_000  # positions of the held-out shards in an evaluation
GIVEN = 0.3  # the share of users' words that are learned from as well, and their weight
PLACES = (64, 128, 256, 512, 1024)  # tokens before the predicted one: fewer than 64, than 128, …


@dataclass(frozen=True)
class Stage:
    """A stretch of training.

    tokens: of the target's own, to learn from. lr: the largest learning rate. loss: "kl" or "tv".
    unroll: drafting steps of a student that learns on its own guesses.
    """

    tokens: int
    lr: float = 8e-3
    loss: str = "kl"
    unroll: int = 1


def place(plan: Sequence[Stage], tokens: int) -> tuple[Stage, float]:
    """The stage that the plan has after so many tokens, and the learning rate there.

    The rate rises in a short warm-up, is then constant, and falls to nearly nothing over a stage's last third. It
    follows from the number of tokens alone, so a run that was interrupted goes on as if it had not been.
    """
    for stage in plan:
        if tokens < stage.tokens:
            done = tokens / stage.tokens
            return stage, stage.lr * min(1, done / 0.02 + 0.05, (1 - done) * 3 + 0.01)
        tokens -= stage.tokens
    return plan[-1], 0.0


class Text:
    """Batches (tokens [B, n], last [B, n, H], rows at each of `depths` [B, n, H], counts [B, n]) of shards.

    counts is the weight of each row: 1 where the next token is the target's own. What the target expects within users'
    words teaches as well, and its rows are there already: to train on, a share GIVEN of those rows, drawn anew for each
    batch, has the weight GIVEN. All other rows have 0. Rows of depths that are not named are not read from the disk.

    Args:
        shards: to train on. held: to measure on.
        depths: "exit", "middle", or both; the last row is always read.
    """

    def __init__(
        self, shards: Sequence[Shard], held: Sequence[Shard], device: torch.device, depths: Sequence[str] = ()
    ):
        self.shards, self.held, self.device, self.depths = shards, held, device, ("last", *depths)
        answered = np.array([s.answered for s in shards], dtype=float)
        self.shares = answered / answered.sum()

    def batch(self, shard: Shard, rows: Sequence[int]) -> tuple[Tensor, ...]:
        """The batch of these texts of a shard; counts are those of the target's own tokens."""
        rows = sorted(rows)  # one sweep over the mapped file
        tokens = torch.from_numpy(shard.tokens[rows, :-1].astype(np.int64)).to(self.device)
        parts = [torch.from_numpy(getattr(shard, part)[rows]).to(self.device, torch.float32) for part in self.depths]
        return (tokens, *parts, torch.from_numpy(shard.own[rows]).to(self.device, torch.float32))

    def random(self, size: int, draw: np.random.Generator) -> tuple[Tensor, ...]:
        """At most `size` texts of one shard, fewer where they are long."""
        shard = self.shards[int(draw.choice(len(self.shards), p=self.shares))]
        some = min(size, len(shard.tokens), max(1, POSITIONS // shard.own.shape[1]))
        *read, counts = self.batch(shard, draw.choice(len(shard.tokens), some, replace=False))
        given = torch.from_numpy(draw.random(counts.shape) < GIVEN).to(self.device)
        return *read, torch.where((counts == 0) & given, GIVEN, counts)

    def held_out(self, size: int) -> Iterator[tuple[Shard, list[int], tuple[Tensor, ...]]]:
        """The batches to measure on, with their shard and rows: some of each held-out shard."""
        for shard in self.held:
            texts = min(len(shard.tokens), max(1, EVALUATED // len(self.held) // shard.own.shape[1]))
            for i in range(0, texts, size):
                rows = list(range(i, min(i + size, texts)))
                yield shard, rows, self.batch(shard, rows)


def precision(device: torch.device) -> torch.dtype:
    """bfloat16 where the hardware multiplies it natively, several times faster; else float32."""
    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        native = device.type == "cpu" and getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)()
    return torch.bfloat16 if native else torch.float32


class Optimizer:
    """Muon for matrices (Jordan et al. 2024), AdamW for the norms' vectors.

    The two-layer draft model after 100 updates (0.3 M tokens), α on held-out text: AdamW 0.261,
    0.275 and 0.278 at rates of 1e-3, 2e-3 and 4e-3; Muon 0.287, 0.310 and 0.288 at 3e-3, 8e-3 and 2e-2.
    """

    def __init__(self, net: nn.Module):
        self.parameters = [p for p in net.parameters() if p.requires_grad]
        matrices = [p for p in self.parameters if p.dim() == 2]
        vectors = [p for p in self.parameters if p.dim() != 2]
        self.parts = [torch.optim.Muon(matrices, momentum=0.95, weight_decay=0.01, adjust_lr_fn="match_rms_adamw")]
        if vectors:
            self.parts.append(torch.optim.AdamW(vectors, betas=(0.9, 0.95), weight_decay=0.0))

    def step(self, loss: Tensor, lr: float) -> None:
        """One update along the gradient of `loss`, which is clipped to length 1."""
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = lr
            part.step()
            part.zero_grad()


def mean_of(fits: Sequence[Fit]) -> Fit:
    """One fit over all positions of several."""
    n = [f.n for f in fits]
    return Fit(
        sum(n), *(float(np.average([getattr(f, x) for f in fits], weights=n)) for x in ("kl", "overlap", "agree"))
    )


class Trainer:
    """Trains one student and remembers how it went.

    Args:
        size: texts in a batch, at most.
        seed: of the random batches.
    """

    def __init__(self, net: Student, text: Text, size: int = 8, seed: int = 0):
        self.net, self.text, self.size = net, text, size
        self.seed = seed
        self.optimizer = Optimizer(net)
        self.precision = precision(text.device)
        self.head = Head(net.head.weight.to(self.precision))
        self.before = 0  # tokens that the weights it began with had learned from
        self.tokens, self.history = 0, []  # history: one entry for each evaluation

    def guesses(self, batch: tuple[Tensor, ...]) -> list[tuple[Tensor, Tensor, Tensor]]:
        """For each drafting step: rows [n, H] guessed, the target's rows [n, H], and the weights [R, m] of m places in
        each text. The n rows are those of a weight above 0; the others need no head.
        """
        *read, counts = batch
        with torch.autocast(self.text.device.type, self.precision, enabled=self.precision != torch.float32):
            steps = self.net.predict(*read)
        found = []
        for guess, true in steps:
            weight = counts[:, -guess.shape[1] :]
            matter = weight > 0
            found.append((guess.float()[matter], true[matter], weight))
        return found

    def loss(self, batch: tuple[Tensor, ...], kind: str) -> Tensor:
        """The loss of a batch: a mean over its rows for each drafting step, added up with the weights DEEPER^step."""
        total = 0.0
        for k, (guess, true, weights) in enumerate(self.guesses(batch)):
            weight = weights[weights > 0]
            total = total + DEEPER**k * divergence(guess, true, self.head, weight, kind) / weight.sum()
        return total

    @torch.no_grad()
    def evaluate(self) -> list[Fit]:
        """The fit on the held-out texts, for each drafting step."""
        fits = [
            [fit(guess, true, self.head) for guess, true, _ in self.guesses(batch)]
            for *_, batch in self.text.held_out(self.size)
        ]
        mean = [mean_of(step) for step in zip(*fits)]
        self.history.append({"tokens": self.tokens, "steps": [asdict(f) for f in mean]})
        return mean

    def run(
        self,
        plan: Sequence[Stage],
        *,
        every: int = 250_000,
        save_to: Path | None = None,
        say: Say = print,
        evaluated: Callable[["Trainer"], None] = lambda trainer: None,
    ) -> None:
        """Train to the end of the plan, from wherever this trainer stands in it.

        Args:
            every: so many tokens lie between two evaluations.
            evaluated: told this trainer after each evaluation; its history has grown.

        Raises:
            KeyboardInterrupt: after saving.
        """
        end, shown, clock = sum(stage.tokens for stage in plan), self.tokens, time.perf_counter()
        try:
            while self.tokens < end:
                stage, rate = place(plan, self.tokens)
                self.net.unroll = stage.unroll
                # The batch follows from the number of tokens too.
                batch = self.text.random(self.size, np.random.default_rng([self.seed, self.tokens]))
                self.optimizer.step(self.loss(batch, stage.loss), rate)
                self.tokens += int((batch[-1] == 1).sum())
                if self.tokens - shown >= every or self.tokens >= end:
                    self.tell(shown, clock, say)
                    shown, clock = self.tokens, time.perf_counter()
                    if save_to:
                        self.save(save_to)
                    evaluated(self)
            if not self.history:  # an interrupt came at the last evaluation
                self.net.unroll = plan[-1].unroll
                self.tell(shown, clock, say)
        except KeyboardInterrupt:
            if save_to:
                self.save(save_to)
            raise

    def tell(self, since: int, clock: float, say: Say) -> None:
        """Evaluate, and say how well the student fits and how fast it went.

        Args:
            since: tokens at the evaluation before. clock: when that was (time.perf_counter()).
        """
        fit = " | ".join(f"α {f.overlap:.3f}, same favourite {f.agree:.3f}" for f in self.evaluate())
        speed = (self.tokens - since) / (time.perf_counter() - clock)
        say(f"{self.tokens / 1e6:.2f} M tokens, {speed:.0f} a second: {fit}")

    def save(self, path: Path) -> None:
        """Write a checkpoint, and the history beside it as JSON."""
        parts = [part.state_dict() for part in self.optimizer.parts]
        state = {"net": self.net.state_dict(), "optimizer": parts, "seed": self.seed}
        state |= {"tokens": self.tokens, "history": self.history, "ids": self.net.head.ids.cpu()}
        with written_whole(path) as unfinished:
            torch.save(state, unfinished)
        with written_whole(path.with_suffix(".json")) as unfinished:
            unfinished.write_text(json.dumps(self.history, indent=1), encoding="utf-8")

    def restore(self, state: dict) -> None:
        """Go on from what `save` wrote and `read_checkpoint` read."""
        self.net.load_state_dict(state["net"])
        for part, kept in zip(self.optimizer.parts, state["optimizer"]):
            part.load_state_dict(kept)
        self.seed, self.tokens, self.history = state["seed"], state["tokens"], state["history"]


@torch.no_grad()
def evaluate_by_kind(trainer: Trainer) -> dict[str, dict[str, tuple[int, float]]]:
    """How well the first drafting step guesses the held-out text, by kind of request, place and temperature.

    Returns:
        {"kind", "place" and "temperature": {its value: (number of positions, mean of Σ min(p, q))}}.
    """
    found: dict[str, dict[str, list[float]]] = {x: defaultdict(list) for x in ("kind", "place", "temperature")}
    for shard, rows, (*read, counts) in trainer.text.held_out(trainer.size):
        guess, true, weights = trainer.guesses((*read, counts))[0]
        overlap = overlaps(guess, true, trainer.head).cpu().numpy()
        text, place = (x.cpu().numpy() for x in (weights > 0).nonzero(as_tuple=True))
        place = place + counts.shape[1] - weights.shape[1]
        for t, i, value in zip(text, place, overlap):
            found["kind"][str(shard.kind[rows[t]])].append(value)
            below = [p for p in PLACES if i < p]
            found["place"][f"under {below[0]}" if below else f"{PLACES[-1]} and more"].append(value)
            found["temperature"][f"{shard.temperature[rows[t]]:.1f}"].append(value)
    return {x: {k: (len(v), round(float(np.mean(v)), 4)) for k, v in sorted(few.items())} for x, few in found.items()}


def read_checkpoint(path: Path) -> dict | None:
    """What `Trainer.save` wrote, on whatever device; None when there is none.

    Raises:
        LabError: for a file that is damaged or something else.
    """
    if not path.exists():
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        if not {"net", "optimizer", "seed", "tokens", "history", "ids"} <= set(state):
            raise ValueError("parts are missing")
    except Exception as e:  # a damaged file can make torch raise anything
        raise LabError(f"The checkpoint {path} cannot be read: delete it to begin anew.") from e
    return state
