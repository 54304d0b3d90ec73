"""Record what lesson 12 shows: the course's EAGLE trained on each of three files of prompts, some ten minutes each.

    python tools/record_climbs.py FOLDER

FOLDER keeps texts and checkpoints: it goes on where it was stopped. Writes specdec_lab/data/climbs.json: α on prompts
put aside as it climbs, and tokens per pass before and after, on these prompts and on those of the other files.
"""

import json
import sys
import time
from pathlib import Path

import specdec_lab as sd
from specdec_lab.measure.prompts import Prompt
from specdec_lab.train import own

GAMMA, LENGTH = 4, 64


def tokens_per_pass(lab: sd.Lab, prompts: list[Prompt]) -> float:
    """EAGLE on these prompts, greedy."""
    traces = []
    for prompt in prompts:
        settings = {"gamma": GAMMA, "max_new_tokens": LENGTH, "keep": sd.Keep()}
        traces.append(lab.speculative(lab.encode(prompt.messages), "eagle", **settings))
        traces[-1].check()
    return sum(len(t.tokens) for t in traces) / sum(t.target_passes for t in traces)


def main(folder: Path) -> None:
    lab = sd.load()
    path = Path(sd.__file__).parent / "data" / "climbs.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else {}
    aside = {name: own.put_aside(own.our_prompts(name))[1] for name in own.OURS}
    before = {name: tokens_per_pass(lab, prompts) for name, prompts in aside.items()}
    print(before, flush=True)
    for name in own.OURS:
        if name in runs:
            continue
        history, start = [], time.perf_counter()

        def looked(_, looks, history=history):
            history[:] = looks

        own.own_draft(
            lab, own.our_prompts(name), folder / name, looked=looked, say=lambda line: print(line, flush=True)
        )
        minutes = (time.perf_counter() - start) / 60
        mine = sd.load(weights=folder / name)
        after = {other: tokens_per_pass(mine, prompts) for other, prompts in aside.items()}
        runs[name] = {
            "minutes": minutes,
            "history": history,
            "tokens_per_pass": [before[name], after[name]],
            "elsewhere": {other: [before[other], after[other]] for other in own.OURS if other != name},
        }
        result = {
            "target": lab.target.name,
            "hardware": lab.hardware,
            "gamma": GAMMA,
            "max_new_tokens": LENGTH,
            "runs": runs,
        }
        path.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
