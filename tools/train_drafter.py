"""Train a drafter that ships with the course, on the text that tools/write_training_text.py wrote.

    python tools/train_drafter.py NAME TEXT --tokens 20M

TEXT keeps the checkpoint, and NAME.safetensors in the end: it may be stopped at any time, and goes on from there.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from specdec_lab.choices import EMBEDDED, TRAINED
from specdec_lab.cli.train import count
from specdec_lab.models.load import load_model
from specdec_lab.train import own
from specdec_lab.train.distill import Head, parts
from specdec_lab.train.loop import Trainer

PLACES = (64, 128, 256, 512, 1024)  # tokens before the predicted one: fewer than 64, than 128, …


@torch.no_grad()
def overlaps(student: Tensor, teacher: Tensor, head: Head) -> Tensor:
    """[n]: Σ min(p, q) of each row [n, H]."""
    both = ((head.probabilities(x[part]) for x in (student, teacher)) for part in parts(student))
    return torch.cat([torch.minimum(q, p).sum(-1) for q, p in both])


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
        for (r, place), value in zip(matter.nonzero().tolist(), overlaps(guesses[0], true, trainer.head).tolist()):
            text, below = numbers[r], [p for p in PLACES if place < p]
            found["kind"][str(held.kind[text])].append(value)
            found["place"][f"under {below[0]}" if below else f"{PLACES[-1]} and more"].append(value)
            found["temperature"][f"{held.temperature[text]:.1f}"].append(value)
    return {x: {k: (len(v), round(float(np.mean(v)), 4)) for k, v in sorted(few.items())} for x, few in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=TRAINED)
    parser.add_argument("folder", type=Path, help="the text, and the checkpoint")
    parser.add_argument("--tokens", type=count, default=2_000_000, help="to train on in all, repeats included")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="a folder of weights to begin with (default: parts of the target)")
    parser.add_argument("--target", default=EMBEDDED)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    args = parser.parse_args()
    target, tokenizer = load_model(args.target, args.device, print, args.dtype)
    trainer = own.trainer_of(args.name, target, tokenizer, args.folder, args.seed, args.start, print)
    trainer.run(own.stages(args.name, args.tokens, bool(args.start)), args.folder / f"{args.name}.pt")
    weights = args.folder / f"{args.name}.safetensors"
    own.export(trainer, args.name, weights, held_out_by=evaluate_by_kind(trainer))
    print(f"The drafter is in {weights}.")


if __name__ == "__main__":
    main()
