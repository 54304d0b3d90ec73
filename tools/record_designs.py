"""Record what lesson 11 shows: designs of drafts, trained on the same text, and how often each place is right.

    python tools/record_designs.py FOLDER [TOKENS]

FOLDER: text that tools/write_training_text.py wrote. Each design learns from TOKENS of it (default 120k), beginning with a
part of the target. Writes specdec_lab/data/designs.json after each; those that are in it already are left alone.
"""

import json
import sys
from functools import partial
from pathlib import Path

import torch
from designs import PLACES, BlockOfMasks, LayerForEach, ThreeDepths

import specdec_lab as sd
from specdec_lab.drafters.eagle import EagleNet
from specdec_lab.drafters.medusa import MedusaNet
from specdec_lab.train.loop import Stage, Text, Trainer
from specdec_lab.train.recipes import frequent_ids
from specdec_lab.train.shards import CONVERSATIONS, HELD_OUT, read_shards

DESIGNS = {  # the net, and the drafting steps that it learns
    "EAGLE": (EagleNet, 1),
    "EAGLE, rehearsed": (EagleNet, PLACES),
    "three depths, rehearsed": (ThreeDepths, PLACES),
    "a layer for each": (LayerForEach, PLACES),
    "block of masks": (BlockOfMasks, PLACES),
    "Medusa": (MedusaNet, PLACES),
}


def main(folder: Path, tokens: int) -> None:
    lab = sd.load(backend="reference")
    shards, held = read_shards(folder / CONVERSATIONS), read_shards(folder / HELD_OUT)
    ids = frequent_ids(shards, lab.tokenizer, lab.target.vocab_size)
    for p in lab.target.hf.parameters():
        p.requires_grad_(False)
    path = Path(sd.__file__).parent / "data" / "designs.json"
    found = json.loads(path.read_text(encoding="utf-8"))["designs"] if path.exists() else {}
    for name, (kind, unroll) in DESIGNS.items():
        if name in found:
            continue
        torch.manual_seed(0)
        net = kind(lab.target.hf, ids).float()
        trainer = Trainer(net, Text(shards, held, lab.target.device, net.depths))
        kept = folder / f"design-{list(DESIGNS).index(name)}.pt"
        if kept.exists():
            trainer.restore(torch.load(kept, weights_only=True))
        plan = [Stage(tokens * 3 // 4, unroll=unroll), Stage(tokens // 4, lr=4e-3, loss="tv", unroll=unroll)]
        trainer.run(plan, every=tokens // 4, save_to=kept, say=partial(print, name, flush=True))
        net.unroll = PLACES
        places = trainer.evaluate()
        found[name] = {
            "overlap": [f.overlap for f in places],
            "agree": [f.agree for f in places],
            "weights": sum(p.numel() for p in net.parameters() if p.requires_grad),
        }
        result = {"target": lab.target.name, "tokens": tokens, "held_out": places[0].n, "designs": found}
        path.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 120_000)
