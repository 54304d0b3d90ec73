"""The training loop: batches of the target's text, one student, checkpoints, a record of how it went."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.distill import Fit, divergence
from specdec_lab.train.write import Shard

DEEPER = 0.8  # weight of each drafting step against the one before: a deep draft counts only if those before it held
HELD_OUT = 32  # at most so many texts of the first shard, and at most an eighth of them, are never trained on


@dataclass(frozen=True)
class Stage:
    """A stretch of training. unroll: drafting steps of a student that learns on its own guesses."""

    tokens: int
    lr: float = 8e-3
    loss: str = "kl"
    unroll: int = 1


class Text:
    """Batches (tokens [B, n], last [B, n, H], exit [B, n, H], counts [n]) of texts behind their common prefix.

    counts is 0 on the prefix, which all texts share, and 1 on what was written.
    """

    def __init__(self, target: ReferenceModel, prefix: Sequence[int], exit_layer: int, shards: Sequence[Shard]):
        self.device, self.shards = target.device, shards
        self.held = min(HELD_OUT, len(shards[0].tokens) // 8)
        cached = target.cached()
        half = cached.extend([prefix[:-1]], layers=(0, exit_layer))
        cached.rewind([0])
        whole = cached.extend(half.hidden, layers=(exit_layer, target.layers), logits=False)
        # .clone(): made in inference mode, used in training
        self.before = torch.tensor([prefix[:-1]]), whole.hidden.float().clone(), half.hidden.float().clone()

    def batch(self, shard: Shard, rows: Sequence[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        rows = sorted(rows)  # one sweep over the mapped file
        parts = [
            torch.from_numpy(shard.tokens[rows, :-1].astype(np.int64)),
            *(torch.from_numpy(np.asarray(part[rows], dtype=np.float32)) for part in (shard.last, shard.exit)),
        ]
        joined = [
            torch.cat([b.expand(len(rows), *b.shape[1:]), part.to(b.device)], 1) for b, part in zip(self.before, parts)
        ]
        counts = torch.ones(joined[0].shape[1])
        counts[: self.before[0].shape[1]] = 0
        return tuple(x.to(self.device) for x in (*joined, counts))

    def random(self, size: int, draw: np.random.Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        number = int(draw.integers(len(self.shards)))
        shard = self.shards[number]
        first = self.held if number == 0 else 0
        return self.batch(shard, first + draw.choice(len(shard.tokens) - first, size, replace=False))

    def held_out(self, size: int) -> list[tuple[Tensor, Tensor, Tensor, Tensor]]:
        return [self.batch(self.shards[0], range(i, min(i + size, self.held))) for i in range(0, self.held, size)]


def best_precision(device: torch.device) -> torch.dtype:
    """bfloat16 where the machine multiplies it faster, else float32: measured, on a layer's shapes."""
    if device.type == "cuda":
        return torch.bfloat16
    seconds = {}
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.ones(1024, 576, dtype=dtype), torch.ones(1536, 576, dtype=dtype)
        torch.nn.functional.linear(a, b)
        began = time.perf_counter()
        for _ in range(5):
            torch.nn.functional.linear(a, b)
        seconds[dtype] = time.perf_counter() - began
    return min(seconds, key=seconds.get)


class Optimizer:
    """Muon for matrices (Jordan et al. 2024), AdamW for the norms' vectors. Against AdamW alone it took
    half the tokens to the same loss (the model card has the runs)."""

    def __init__(self, net: nn.Module):
        self.parameters = [p for p in net.parameters() if p.requires_grad]
        matrices = [p for p in self.parameters if p.dim() == 2]
        vectors = [p for p in self.parameters if p.dim() != 2]
        self.parts = [torch.optim.Muon(matrices, momentum=0.95, weight_decay=0.01, adjust_lr_fn="match_rms_adamw")]
        if vectors:
            self.parts.append(torch.optim.AdamW(vectors, betas=(0.9, 0.95), weight_decay=0.0))

    def step(self, loss: Tensor, lr: float) -> None:
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for part in self.parts:
            for group in part.param_groups:
                group["lr"] = lr
            part.step()
            part.zero_grad()


class Trainer:
    """Trains one student and remembers how it went; `save` and `load` lose no step."""

    def __init__(self, net: nn.Module, text: Text, size: int = 8, seed: int = 0):
        self.net, self.text, self.size = net, text, size
        self.optimizer, self.draw = Optimizer(net), np.random.default_rng(seed)
        self.precision = best_precision(text.device)
        self.head = net.head.weight.to(self.precision)
        self.tokens, self.history = 0, []  # history: one entry each time the held-out texts were looked at

    def loss(self, batch: tuple[Tensor, Tensor, Tensor, Tensor], kind: str) -> tuple[Tensor, list[Fit]]:
        tokens, last, exits, counts = batch
        with torch.autocast(self.text.device.type, self.precision, enabled=self.precision != torch.float32):
            steps = self.net.predict(tokens, last, exits)
        total, fits = 0.0, []
        for k, (guess, true) in enumerate(steps):
            weight = counts[-guess.shape[1] :].expand(len(guess), -1).reshape(-1)
            flat = (guess.float().flatten(0, 1), true.flatten(0, 1))
            loss, fit = divergence(*flat, self.head, weight, kind)
            total = total + DEEPER**k * loss / weight.sum()
            fits.append(fit)
        return total, fits

    def look(self) -> list[Fit]:
        """The fit on the held-out texts, for each drafting step."""
        with torch.no_grad():
            looks = [self.loss(batch, "kl")[1] for batch in self.text.held_out(self.size)]
        mean = [
            Fit(
                sum(f.n for f in step),
                *(float(np.mean([getattr(f, x) for f in step])) for x in ("kl", "overlap", "agree")),
            )
            for step in zip(*looks)
        ]
        self.history.append({"tokens": self.tokens, "steps": [asdict(f) for f in mean]})
        return mean

    def run(
        self, stage: Stage, *, every: int = 250_000, save_to: Path | None = None, say: Callable[[str], None] = print
    ) -> None:
        """Train for stage.tokens more: a short warm-up, then constant, and over the last third down to nearly nothing."""
        if hasattr(self.net, "unroll"):
            self.net.unroll = stage.unroll
        begin, shown, clock = self.tokens, self.tokens, time.perf_counter()
        while (done := (self.tokens - begin) / stage.tokens) < 1:
            rate = stage.lr * min(1, done / 0.02 + 0.05, (1 - done) * 3 + 0.01)
            batch = self.text.random(self.size, self.draw)
            loss, _ = self.loss(batch, stage.loss)
            self.optimizer.step(loss, rate)
            self.tokens += int(batch[3].sum()) * self.size
            if self.tokens - shown >= every or self.tokens - begin >= stage.tokens:
                fit = " | ".join(f"α {f.overlap:.3f}, same favourite {f.agree:.3f}" for f in self.look())
                speed = (self.tokens - shown) / (time.perf_counter() - clock)
                say(f"{self.tokens / 1e6:.2f} M tokens, {speed:.0f} a second: {fit}")
                shown, clock = self.tokens, time.perf_counter()
                if save_to:
                    self.save(save_to)

    def save(self, path: Path) -> None:
        parts = [part.state_dict() for part in self.optimizer.parts]
        state = {"net": self.net.state_dict(), "optimizer": parts, "draw": self.draw.bit_generator.state}
        state |= {"tokens": self.tokens, "history": self.history, "ids": self.net.head.ids.cpu()}
        torch.save(state, path.with_suffix(".tmp"))
        path.with_suffix(".tmp").replace(path)
        path.with_suffix(".json").write_text(json.dumps(self.history, indent=1), encoding="utf-8")

    def load(self, path: Path) -> None:
        state = torch.load(path, weights_only=False)  # our own file
        self.net.load_state_dict(state["net"])
        for part, kept in zip(self.optimizer.parts, state["optimizer"]):
            part.load_state_dict(kept)
        self.draw.bit_generator.state = state["draw"]
        self.tokens, self.history = state["tokens"], state["history"]
