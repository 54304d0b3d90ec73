"""Record what lesson 10 shows: tokens per pass of chains, trees and block verification, on the whole built-in suite.

    python tools/record_trees.py TEMPERATURE

Writes specdec_lab/data/trees/t0.json or t1.json: for each arm and prompt the new tokens and the passes, from which all
else is computed. No times: it may run beside other work.
"""

import json
import sys
from pathlib import Path

import torch

import specdec_lab as sd
from specdec_lab.engine.block import verify_block
from specdec_lab.engine.verify import verify
from specdec_lab.measure.prompts import read_prompts

CHAINS = {f"{name} {n}": (name, n, verify) for name in ("eagle", "eagle-tree") for n in (4, 8, 16)}
MEDUSA = {f"{name} {n}": (name, n, verify) for name in ("medusa", "medusa-tree") for n in (4, 8)}
BLOCKS = {f"eagle {n}, block": ("eagle", n, verify_block) for n in (4, 8)}


def main(temperature: float) -> None:
    torch.set_num_threads(1)
    lab, prompts = sd.load(), read_prompts()
    arms = {**CHAINS, **MEDUSA, **(BLOCKS if temperature else {})}
    if temperature:
        del arms["medusa 8"]  # it has four heads
    found: dict[str, dict[str, list[int]]] = {arm: {} for arm in arms}
    for request, prompt in enumerate(prompts):
        ids = lab.encode(prompt.content, prompt.raw)
        settings = {"temperature": temperature, "max_new_tokens": 64, "request": request}
        plain = lab.plain(ids, **settings).tokens if temperature == 0 else None
        for arm, (name, n, rule) in arms.items():
            trace = lab.speculative(ids, name, gamma=n, verify=rule, keep=sd.Keep(), **settings)
            trace.check()
            assert plain is None or trace.tokens == plain, f"{arm} on {prompt.id} is not plain decoding's text"
            found[arm][prompt.id] = [len(trace.tokens), trace.target_passes]
        print(request + 1, "of", len(prompts), flush=True)
        result = {"temperature": temperature, "target": lab.target.name, "max_new_tokens": 64, "seed": 0, "arms": found}
        path = Path(sd.__file__).parent / "data" / "trees" / f"t{temperature:g}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(float(sys.argv[1]))
