"""Record what lesson 10 shows: tokens per pass of chains, trees and block verification, on the built-in suite.

    python tools/record_trees.py TEMPERATURE [PROMPTS]

Writes specdec_lab/data/trees/t0.json or t1.json: for each arm and prompt the new tokens and the passes, from which all
else is computed. No times: it may run beside other work, and goes on where it was stopped. PROMPTS: the first so many
of each of the six kinds (default: 6).
"""

import json
import sys
from pathlib import Path

import torch

import specdec_lab as sd
from specdec_lab.engine.rules import verify_block
from specdec_lab.engine.verify import verify
from specdec_lab.measure.prompts import first_of_each_kind, read_prompts

CHAINS = {f"{name} {n}": (name, n, verify) for name in ("eagle", "eagle-tree") for n in (4, 8, 16)}
MEDUSA = {f"{name} {n}": (name, n, verify) for name, n in (("medusa", 4), ("medusa-tree", 4), ("medusa-tree", 8))}
BLOCKS = {f"eagle {n}, block": ("eagle", n, verify_block) for n in (4, 8)}


def main(temperature: float, each: int) -> None:
    torch.set_num_threads(1)
    lab, suite = sd.load(), read_prompts()
    prompts = first_of_each_kind(suite, each)
    arms = {**CHAINS, **MEDUSA, **(BLOCKS if temperature else {})}
    path = Path(sd.__file__).parent / "data" / "trees" / f"t{temperature:g}.json"
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text(encoding="utf-8"))["arms"] if path.exists() else {}
    wanted = {p.id for p in prompts}
    found = {arm: {i: n for i, n in known.get(arm, {}).items() if i in wanted} for arm in arms}
    for request, prompt in enumerate(suite):
        missing = [arm for arm in arms if prompt.id in wanted and prompt.id not in found[arm]]
        if not missing:
            continue
        ids = lab.encode(prompt.content, prompt.raw)
        settings = {"temperature": temperature, "max_new_tokens": 64, "request": request}
        plain = lab.plain(ids, **settings).tokens if temperature == 0 else None
        for arm in missing:
            name, n, rule = arms[arm]
            trace = lab.speculative(ids, name, gamma=n, verify=rule, keep=sd.Keep(), **settings)
            trace.check()
            assert plain is None or trace.tokens == plain, f"{arm} on {prompt.id} is not plain decoding's text"
            found[arm][prompt.id] = [len(trace.tokens), trace.target_passes]
        print(min(map(len, found.values())), "of", len(prompts), flush=True)
        result = {"temperature": temperature, "target": lab.target.name, "max_new_tokens": 64, "seed": 0, "arms": found}
        path.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6)
