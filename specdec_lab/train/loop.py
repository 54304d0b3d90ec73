"""The training loop: batches of the target's answers, one student, checkpoints, a record of how it went."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from specdec_lab.drafters.student import Student
from specdec_lab.errors import LabError, Say
from specdec_lab.files import written_whole
from specdec_lab.formats import first_line, pace
from specdec_lab.train.answers import Batch, Batches
from specdec_lab.train.distill import Head, compare, divergence, means_of

DEEPER = 0.8  # weight of each drafting step against the one before: a deep draft counts only if those before it held
SAID = 60  # seconds between two sentences on how far it is


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
        muon = torch.optim.Muon(matrices, momentum=0.95, weight_decay=0.01, adjust_lr_fn="match_rms_adamw")
        self.parts: list[torch.optim.Optimizer] = [muon]
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


class Trainer:
    """Trains one student and remembers how it went.

    Args:
        seed: of the random batches.
    """

    def __init__(self, net: Student, batches: Batches, seed: int = 0):
        self.net, self.batches, self.seed = net, batches, seed
        self.optimizer = Optimizer(net)
        self.precision = precision(batches.device)
        self.head = Head(net.head.weight.to(self.precision))
        self.before = 0  # tokens that the weights it began with had learned from
        self.tokens, self.history = 0, []  # history: one entry for each evaluation

    def guesses(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Rows [steps, m, H] guessed at each drafting step, the target's rows [m, H], and [B, n], which these m are of the
        rows of the batch: those that count and that each step guesses. The others need no head.
        """
        tokens, rows, counts = batch
        device = self.batches.device.type
        with torch.autocast(device, self.precision, enabled=self.precision != torch.float32):
            steps = self.net.predict(tokens, rows)
        n = min(guess.shape[1] for guess, _ in steps)
        matter = counts > 0
        matter[:, :-n] = False
        some = matter[:, -n:]
        return torch.stack([guess[:, -n:].float()[some] for guess, _ in steps]), steps[0][1][:, -n:][some], matter

    def loss(self, batch: Batch, kind: str) -> Tensor:
        """The loss of a batch: a mean over its rows for each drafting step, added up with the weights DEEPER^step."""
        guesses, true, _ = self.guesses(batch)
        weight = DEEPER ** torch.arange(len(guesses)) / max(len(true), 1)
        return divergence(guesses, true, self.head, weight.to(true.device), kind)

    @torch.no_grad()
    def evaluate(self) -> list[dict[str, float]]:
        """How well the student guesses the held-out texts, for each drafting step (see `means_of`)."""
        sums: Tensor | float = 0.0
        for _, batch in self.batches.held_out():
            guesses, true, _ = self.guesses(batch)
            sums = sums + torch.stack([compare(guess, true, self.head) for guess in guesses])
        steps = [means_of(step) for step in torch.as_tensor(sums)]
        self.history.append({"tokens": self.tokens, "steps": steps})
        return steps

    def learn(self, plan: Sequence[Stage]) -> None:
        """One update on the batch that follows from the number of tokens, as its rate and its stage do."""
        stage, rate = place(plan, self.tokens)
        self.net.unroll = stage.unroll
        batch = self.batches.random(np.random.default_rng([self.seed, self.tokens]))
        self.optimizer.step(self.loss(batch, stage.loss), rate)
        self.tokens += int(batch[-1].sum())

    def run(
        self,
        plan: Sequence[Stage],
        save_to: Path,
        every: int = 250_000,
        say: Say = print,
        evaluated: Callable[["Trainer"], None] = lambda trainer: None,
    ) -> None:
        """Train to the end of the plan, from wherever this trainer stands in it. What an interrupt finds is saved.

        Args:
            every: so many tokens lie between two evaluations.
            evaluated: told this trainer after each evaluation; its history has grown.
        """
        end, begun, shown = sum(stage.tokens for stage in plan), self.tokens, self.tokens
        learning, said = 0.0, 0.0  # seconds, without those of evaluations
        try:
            while self.tokens < end:
                clock = time.perf_counter()
                self.learn(plan)
                learning += time.perf_counter() - clock
                far = pace(self.tokens - begun, end - begun, learning)
                if self.tokens - shown >= every or self.tokens >= end:
                    fits = (f"α {s['overlap']:.3f}, same favourite {s['agree']:.3f}" for s in self.evaluate())
                    say(f"{far}: {' | '.join(fits)}")
                    shown = self.tokens
                    self.save(save_to)
                    evaluated(self)
                elif learning - said > SAID:
                    say(far)
                    said = learning
        except KeyboardInterrupt:
            self.save(save_to)
            raise

    def save(self, path: Path) -> None:
        """Write a checkpoint, and the history beside it as JSON. Raises LabError when it cannot be written."""
        parts = [part.state_dict() for part in self.optimizer.parts]
        state = {"net": self.net.state_dict(), "optimizer": parts, "seed": self.seed}
        state |= {"tokens": self.tokens, "history": self.history, "ids": self.net.head.ids.cpu()}
        try:
            with written_whole(path) as unfinished:
                torch.save(state, unfinished)
            with written_whole(path.with_suffix(".json")) as unfinished:
                unfinished.write_text(json.dumps(self.history, indent=1), encoding="utf-8")
        except (OSError, RuntimeError) as e:  # PyTorch's writer has an error of its own for a full disk
            why = getattr(e, "strerror", None) or first_line(e)
            raise LabError(f"{path} cannot be written ({why}): make room, or choose another folder.") from e

    def restore(self, state: dict) -> None:
        """Go on from what `save` wrote and `read_checkpoint` read. Raises LabError for another design than this student's."""
        try:
            self.net.load_state_dict(state["net"])
            for part, kept in zip(self.optimizer.parts, state["optimizer"], strict=True):
                part.load_state_dict(kept)
        except (RuntimeError, ValueError) as e:
            raise LabError("The checkpoint there is of another design than today's: delete it to begin anew.") from e
        self.seed, self.tokens, self.history = state["seed"], state["tokens"], state["history"]


def read_checkpoint(path: Path) -> dict | None:
    """What `Trainer.save` wrote, on whatever device; None when there is none. Raises LabError for a damaged file."""
    if not path.exists():
        return None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as e:  # a damaged file can make torch raise anything
        raise LabError(f"The checkpoint {path} cannot be read: delete it to begin anew.") from e
