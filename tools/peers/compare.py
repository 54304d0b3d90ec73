"""Our drafters beside other programs, on the same prompts and by turns: `python tools/peers/compare.py`.

The others are `generate` of transformers, with its own assisted generation and prompt lookup, and llama.cpp, where a
`llama-server` is installed. A program's texts are compared with those of its own plain decoding.
"""

import argparse
import json
import random
from collections.abc import Callable, Sequence
from functools import partial

from hf_generate import hf_arms
from llama_cpp import llama_arms

from specdec_lab import load
from specdec_lab.choices import DTYPES
from specdec_lab.cli import say
from specdec_lab.errors import LabError
from specdec_lab.lab import Lab
from specdec_lab.measure import bench
from specdec_lab.measure.prompts import Prompt, first_of_each_kind, read_prompts

ROW = "{:>14}{:>16}{:>16}{:>16}{:>20}{:>12}"


def compare(lab: Lab, prompts: Sequence[Prompt], arms: dict[str, Callable], **settings) -> list[dict]:
    """A row for each arm, the first of which is our plain decoding.

    A text that ended with the reading of its prompt has no time: its prompt does not count.
    """
    runs, dice = {name: bench.Run(name, None) for name in arms}, random.Random(0)
    for arm in arms.values():  # to warm up
        arm(lab.encode(prompts[0].content, prompts[0].raw)[:4], **settings)
    for number, prompt in enumerate(prompts):
        ids = lab.encode(prompt.content, prompt.raw)
        for name in dice.sample(list(arms), len(arms)):
            runs[name].traces[prompt.id] = [arms[name](ids, request=number, **settings)]
        say(f"{number + 1} of {len(prompts)} prompts ({prompt.id})")
    timed = [p.id for p in prompts if all(run.traces[p.id][0].seconds for run in runs.values())]
    return [row(run, runs, timed) for run in runs.values()]


def row(run: bench.Run, runs: dict[str, bench.Run], timed: Sequence[str]) -> dict:
    ours, texts = next(iter(runs.values())), [texts[0] for texts in run.traces.values()]
    known = run.arm.startswith(("hf-", "llama-"))
    own = runs.get(f"{run.arm.split('-')[0]}-plain") if known else ours
    same = own and sum(texts[0].tokens == own.traces[i][0].tokens for i, texts in run.traces.items())
    return {
        "arm": run.arm,
        "tokens_per_pass": sum(len(t.tokens) for t in texts) / sum(t.target_passes for t in texts),
        "tokens_per_second": bench.tokens_per_second([run.traces[i][0] for i in timed]) if timed else None,
        "ratio_to_plain": bench.ratio_to_plain(run, ours, timed) if timed else None,
        "ratio_interval": bench.ratio_interval(run, ours, timed),
        "as_own_plain": same,
    }


def as_text(rows: Sequence[dict], prompts: int) -> str:
    lines = [ROW.format("arm", "tokens/pass", "tokens/s", "times plain", "95 %", "own plain's")]
    for r in rows:
        numbers = (r[x] for x in ("tokens_per_pass", "tokens_per_second", "ratio_to_plain"))
        interval = "{:.2f}–{:.2f}".format(*r["ratio_interval"]) if r["ratio_interval"] else "–"
        same = "–" if r["as_own_plain"] is None else f"{r['as_own_plain']} of {prompts}"
        lines.append(ROW.format(r["arm"], *("–" if x is None else f"{x:.2f}" for x in numbers), interval, same))
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", default="embedded", help="hub name or path")
    parser.add_argument("--draft", help="hub name or path of a draft model")
    parser.add_argument("--weights", help="folder of trained drafters (default: those of the course)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto", help=", ".join(DTYPES))
    parser.add_argument("--drafters", default="lookup,model,eagle-tree", help="ours, with commas")
    parser.add_argument("--prompts", default="builtin", help="builtin, or a JSON-lines file")
    parser.add_argument("--limit", type=int, default=4, help="the first N prompts of each kind")
    parser.add_argument(
        "--gamma", type=int, default=4, help="of our drafters, and tokens that transformers' lookup copies"
    )
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--llama-server", help="the path of llama.cpp's server, or the address of one that runs")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    args = parser.parse_args(argv)
    settings = {"temperature": args.temperature, "max_new_tokens": args.max_new_tokens}
    try:
        lab = load(args.target, args.draft, args.device, say, args.dtype, args.weights)
        prompts, problems = bench.usable(
            lab, first_of_each_kind(read_prompts(args.prompts), args.limit), args.max_new_tokens
        )
        arms = {"plain": lab.plain}
        for name in args.drafters.split(","):
            arms[name] = partial(lab.speculative, drafter=name, gamma=args.gamma)
        with llama_arms(lab, args.llama_server, say) as others:
            rows = compare(lab, prompts, arms | hf_arms(lab, args.gamma, say) | others, **settings)
    except LabError as e:
        parser.exit(2, f"{e}\n")
    for line in problems:
        say(line)
    hardware = {"hardware": lab.hardware, "target": lab.target.name, "dtype": lab.target.precision, **settings}
    print(
        json.dumps({"meta": hardware, "rows": rows}, ensure_ascii=False) if args.json else as_text(rows, len(prompts))
    )


if __name__ == "__main__":
    main()
