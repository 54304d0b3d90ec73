"""The training loop: batches of the target's answers, one student, checkpoints, a record of how it went."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from specdec_lab.drafters.student import Student
from specdec_lab.errors import LabError, Say
from specdec_lab.files import written_whole
from specdec_lab.formats import first_line, pace
from specdec_lab.train.batches import Batch, Batches
from specdec_lab.train.distill import Fit, Head, divergence, fit, overlaps

DEEPER = 0.8  # weight of each drafting step against the one before: a deep draft counts only if those before it held
SAID = 60  # seconds between two sentences on how far it is
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


def mean_of(fits: Sequence[Fit]) -> Fit:
    """One fit over all positions of several."""
    n = [f.n for f in fits]
    return Fit(
        sum(n), *(float(np.average([getattr(f, x) for f in fits], weights=n)) for x in ("kl", "overlap", "agree"))
    )


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
    def evaluate(self) -> list[Fit]:
        """The fit on the held-out texts, for each drafting step."""
        fits = []
        for _, batch in self.batches.held_out():
            guesses, true, _ = self.guesses(batch)
            fits.append([fit(guess, true, self.head) for guess in guesses])
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
        end, shown = sum(stage.tokens for stage in plan), self.tokens
        begun, learning = self.tokens, 0.0  # learning: seconds, without those of evaluations

        def tell() -> None:
            """Evaluate, and say how well the student fits."""
            fit = " | ".join(f"α {f.overlap:.3f}, same favourite {f.agree:.3f}" for f in self.evaluate())
            say(f"{pace(self.tokens - begun, end - begun, learning)}: {fit}")

        try:
            while self.tokens < end:
                clock = time.perf_counter()
                stage, rate = place(plan, self.tokens)
                self.net.unroll = stage.unroll
                # The batch follows from the number of tokens too.
                batch = self.batches.random(np.random.default_rng([self.seed, self.tokens]))
                self.optimizer.step(self.loss(batch, stage.loss), rate)
                self.tokens += int(batch[-1].sum())
                seconds = time.perf_counter() - clock
                learning += seconds
                if learning // SAID > (learning - seconds) // SAID:
                    say(pace(self.tokens - begun, end - begun, learning))
                if self.tokens - shown >= every or self.tokens >= end:
                    tell()
                    shown = self.tokens
                    if save_to:
                        self.save(save_to)
                    evaluated(self)
            if not self.history:  # an interrupt came at the last evaluation
                self.net.unroll = plan[-1].unroll
                tell()
        except KeyboardInterrupt:
            if save_to:
                self.save(save_to)
            raise

    def save(self, path: Path) -> None:
        """Write a checkpoint, and the history beside it as JSON.

        Raises:
            LabError: when it cannot be written.
        """
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
            raise LabError(f"{path} cannot be written ({why}): make room, or choose another --folder.") from e

    def restore(self, state: dict) -> None:
        """Go on from what `save` wrote and `read_checkpoint` read.

        Raises:
            LabError: when that was another design than this student's.
        """
        try:
            self.net.load_state_dict(state["net"])
            for part, kept in zip(self.optimizer.parts, state["optimizer"], strict=True):
                part.load_state_dict(kept)
        except (RuntimeError, ValueError) as e:
            raise LabError("The checkpoint there is of another design than today's: delete it to begin anew.") from e
        self.seed, self.tokens, self.history = state["seed"], state["tokens"], state["history"]


@torch.no_grad()
def evaluate_by_kind(trainer: Trainer) -> dict[str, dict[str, tuple[int, float]]]:
    """How well the first drafting step guesses the held-out text, by kind of request, place and temperature.

    Returns:
        {"kind", "place" and "temperature": {its value: (number of positions, mean of Σ min(p, q))}}.
    """
    found: dict[str, dict[str, list[float]]] = {x: defaultdict(list) for x in ("kind", "place", "temperature")}
    held = trainer.batches.held
    for numbers, batch in trainer.batches.held_out():
        guesses, true, matter = trainer.guesses(batch)
        overlap = overlaps(guesses[0], true, trainer.head).tolist()
        for (r, place), value in zip(matter.nonzero().tolist(), overlap):
            text, below = numbers[r], [p for p in PLACES if place < p]
            found["kind"][str(held.kind[text])].append(value)
            found["place"][f"under {below[0]}" if below else f"{PLACES[-1]} and more"].append(value)
            found["temperature"][f"{held.temperature[text]:.1f}"].append(value)
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
