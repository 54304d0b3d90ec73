"""Record what lesson 12 shows: the course's EAGLE trained on each of three files of prompts.

    python tools/record_climbs.py FOLDER

FOLDER keeps texts and checkpoints: it goes on where it was stopped. Writes specdec_lab/data/climbs.json: α on prompts
put aside as it climbs, and tokens per pass before and after, on these prompts and on those of the other files.
"""

import json
import sys
from pathlib import Path

import specdec_lab as sd
from specdec_lab.measure.prompts import Prompt
from specdec_lab.train import own

GAMMA, LENGTH = 4, 64
LEARNED = 120_000  # tokens, repeats included: of 40,000 that the target writes


def counts_of(lab: sd.Lab, prompts: list[Prompt]) -> dict[str, list[int]]:
    """EAGLE on these prompts, greedy: new tokens and target passes of each."""
    counts = {}
    for prompt in prompts:
        settings = {"gamma": GAMMA, "max_new_tokens": LENGTH, "keep": sd.Keep()}
        trace = lab.speculative(lab.encode(prompt.messages), "eagle", **settings)
        trace.check()
        counts[prompt.id] = [len(trace.tokens), trace.target_passes]
    return counts


def main(folder: Path) -> None:
    lab = sd.load()
    path = Path(sd.__file__).parent / "data" / "climbs.json"
    aside = {name: own.put_aside(own.our_prompts(name))[1] for name in own.OURS}
    about = {"target": lab.target.name, "hardware": lab.hardware, "gamma": GAMMA, "max_new_tokens": LENGTH}
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"runs": {}}
    before = kept.get("before") or {name: counts_of(lab, prompts) for name, prompts in aside.items()}
    for name in own.OURS:
        if name in kept["runs"]:
            continue
        history = []

        def looked(_, looks, history=history):
            history[:] = looks

        own.own_draft(
            lab,
            own.our_prompts(name),
            folder / name,
            tokens=LEARNED,
            looked=looked,
            say=lambda line: print(line, flush=True),
        )
        mine = sd.load(weights=folder / name)
        after = {other: counts_of(mine, prompts) for other, prompts in aside.items()}
        kept["runs"][name] = {"history": history, "after": after}
        kept = {**about, "before": before, "runs": kept["runs"]}
        path.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
