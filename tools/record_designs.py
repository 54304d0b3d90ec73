"""Record what deeper_11_designs shows: designs of drafts, trained on the same text, and how often each place is right.

    python tools/record_designs.py FOLDER [TOKENS]

FOLDER: text that tools/write_training_text.py wrote. Each design learns from TOKENS of it (default 100k), beginning with a
part of the target. Adds them to specdec_lab/data/designs.json; those that are there for so many tokens are left alone.
"""

import json
import sys
from functools import partial
from pathlib import Path

import torch
from designs import PLACES, LastRow
from torch import Tensor

import specdec_lab as sd
from specdec_lab.drafters.eagle import EagleNet
from specdec_lab.train.answers import HELD_OUT, LEARNED, Batches, read_answers
from specdec_lab.train.distill import Head, parts
from specdec_lab.train.loop import Stage, Trainer
from specdec_lab.train.own import frequent_ids

DESIGNS = {  # the net, and the drafting steps that it learns
    "last row": (LastRow, 1),
    "last row, rehearsed": (LastRow, PLACES),
    "three depths": (EagleNet, 1),
    "three depths, rehearsed": (EagleNet, PLACES),
}


class Narrow(Batches):
    """Batches whose rows are kept for all designs at three depths, and given at those that one of them reads."""

    wanted = 0

    def of(self, source, numbers):
        tokens, rows, counts = super().of(source, numbers)
        return tokens, rows[..., : (1 + self.wanted) * self.target.hf.config.hidden_size], counts


def favourites(rows: Tensor, head: Head) -> Tensor:
    """[n]: the number of the most likely token behind each of n rows."""
    return torch.cat([head.logits(rows[part].to(head.dtype)).argmax(-1) for part in parts(rows)])


@torch.no_grad()
def tokens_a_pass(trainer: Trainer) -> float:
    """E of a greedy chain of PLACES drafts from true text: 1 + the mean chance that the first 1, 2, … of them are all the
    target's favourites.
    """
    kept, chains = torch.zeros(PLACES), 0
    for _, batch in trainer.batches.held_out():
        guesses, true, matter = trainer.guesses(batch)
        right = torch.zeros(PLACES, *matter.shape, dtype=torch.bool)
        wanted = favourites(true, trainer.head)
        for step, guess in enumerate(guesses):
            right[step][matter] = favourites(guess, trainer.head) == wanted
        # Draft k of the chain that begins at i is step k at i + k.
        n = matter.shape[1] - PLACES + 1
        whole = torch.stack([matter[:, k : n + k] for k in range(PLACES)]).all(0)
        runs = torch.stack([right[k, :, k : n + k] for k in range(PLACES)]).cumprod(0)
        kept += runs[:, whole].sum(1)
        chains += int(whole.sum())
    return float(1 + (kept / chains).sum())


def main(folder: Path, tokens: int) -> None:
    lab = sd.load(dtype="bfloat16")
    answers, held = (read_answers(folder / side, lab.target) for side in (LEARNED, HELD_OUT))
    ids = frequent_ids(answers, lab.tokenizer, lab.target.vocab_size)
    for p in lab.target.hf.parameters():
        p.requires_grad_(False)
    path = Path(sd.__file__).parent / "data" / "designs.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    batches = Narrow(lab.target, answers, held, EagleNet(lab.target.hf, ids).depths)
    for name, (kind, unroll) in DESIGNS.items():
        if any(one["design"] == name and one["tokens"] == tokens for one in kept["runs"]):
            continue
        torch.manual_seed(0)
        net = kind(lab.target.hf, ids).float()
        batches.wanted = len(net.depths)
        trainer = Trainer(net, batches)
        plan = [Stage(tokens * 7 // 10, unroll=unroll), Stage(tokens * 3 // 10, lr=4e-3, loss="tv", unroll=unroll)]
        trainer.run(plan, folder / f"{name}.pt", every=tokens, say=partial(print, name, flush=True))
        net.unroll = PLACES
        places = trainer.evaluate()
        run = {"design": name, "tokens": tokens, "held_out": places[0]["n"], "tokens_a_pass": tokens_a_pass(trainer)}
        run |= {x: [place[x] for place in places] for x in ("overlap", "agree")}
        run |= {"weights": sum(p.numel() for p in net.parameters() if p.requires_grad)}
        kept["runs"].append(run)
        path.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
