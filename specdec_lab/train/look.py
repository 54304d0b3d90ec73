"""Where a student guesses well and where not: overlap on held-out text by kind of request, place and temperature."""

from collections import defaultdict

import numpy as np
import torch

from specdec_lab.train.distill import overlaps
from specdec_lab.train.loop import Trainer

PLACES = (64, 128, 256, 512, 1024)  # tokens before the predicted one: fewer than 64, than 128, …


@torch.no_grad()
def by_kind_and_place(trainer: Trainer) -> dict[str, dict[str, tuple[int, float]]]:
    """How well the first drafting step guesses the held-out text.

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
