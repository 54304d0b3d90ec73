"""Measure drafters on many prompts, against plain decoding."""

import argparse
import json

from specdec_lab.cli import load_lab, say
from specdec_lab.names import MEASURED


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--drafters", default="all", help=f"all, or some of {', '.join(MEASURED)}, with commas")
    parser.add_argument("--prompts", default="builtin", help="builtin, or a JSON-lines file")
    parser.add_argument("--gamma", default="4", help="most tokens drafted a round, or auto: the best for each drafter")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy")
    parser.add_argument("--max-new-tokens", type=int, default=64)
    parser.add_argument("--limit", type=int, help="use only the first N prompts of each kind")
    parser.add_argument("--repeats", type=int, default=1, help="decode every prompt so many times, for steadier times")
    parser.add_argument("--timed", type=int, help="take times from, and repeat, only the first N prompts of each kind")


def run(args: argparse.Namespace) -> int:
    from specdec_lab import bench
    from specdec_lab.errors import LabError

    names = MEASURED if args.drafters == "all" else tuple(args.drafters.split(","))
    if args.gamma != "auto" and not (args.gamma.isascii() and args.gamma.isdigit()):
        raise LabError(f"--gamma is {args.gamma}, but must be a number or auto.")
    for name in ("limit", "repeats", "timed"):
        if (value := getattr(args, name)) is not None and value < 1:
            raise LabError(f"--{name} is {value}, but must be at least 1.")
    prompts = bench.read_prompts(args.prompts)
    if args.limit:
        prompts = bench.first_of_each_kind(prompts, args.limit)
    lab = load_lab(args)
    settings = {"temperature": args.temperature, "max_new_tokens": args.max_new_tokens, "seed": args.seed}
    if args.gamma == "auto":
        few = bench.first_of_each_kind(prompts, 1)
        say(f"Looking for each drafter's best γ on {len(few)} prompts …")
        plain, *pilots = bench.measure(lab, few, dict.fromkeys(names, bench.PILOT_GAMMA), **settings)
        gammas = {p.arm: bench.best_gamma(p, plain, list(p.traces)) for p in pilots}
    else:
        gammas = dict.fromkeys(names, int(args.gamma))
    timed = bench.first_of_each_kind(prompts, args.timed) if args.timed else prompts
    runs = bench.measure(lab, prompts, gammas, repeats=args.repeats, timed=timed, say=say, **settings)
    same = None
    if args.temperature == 0:
        plain = runs[0].traces
        same = sum(r.traces[i][0].tokens == plain[i][0].tokens for r in runs[1:] for i in plain)
    meta = {
        "schema": 1,
        "device": str(lab.target.device),
        "hardware": lab.hardware,
        "dtype": str(lab.target.dtype).removeprefix("torch."),
        "target": lab.target.name,
        "temperature": args.temperature,
        "max_new_tokens": args.max_new_tokens,
        "seed": args.seed,
        "prompts": args.prompts,
        "repeats": args.repeats,
        "timed": args.timed,
        "identical_texts": same,
        "texts": len(prompts) * (len(runs) - 1),
    }
    result = {"meta": meta, "rows": list(bench.rows(prompts, runs, timed))}
    print(json.dumps(result, ensure_ascii=False) if args.json else as_text(result))
    return 0


def as_text(result: dict) -> str:
    meta = result["meta"]
    columns = ("tokens/pass", "α", "d", "v", "o", "predicted", "measured", "95 %", "repetition")
    lines = [f"{meta['target']} on {meta['hardware']}, {meta['dtype']}, temperature {meta['temperature']:g}"]
    if meta["identical_texts"] is not None:
        lines += [f"{meta['identical_texts']} of {meta['texts']} texts are plain decoding's, token for token."]
    where = f" of the first {meta['timed']} prompts of each kind" if meta["timed"] else ""
    lines += [
        f"Times{where} in units of one plain step. predicted = tokens per pass / (d + v + o); measured is by the clock.",
        "",
    ]
    lines += [f"{'arm':>12} {'γ':>2}  {'kind':<19}" + "".join(f"{c:>12}" for c in columns)]
    for r in result["rows"]:
        ends = r["ratio_interval"]
        cells = [r[x] for x in ("tokens_per_pass", "alpha", "d", "v", "o", "ratio_predicted", "ratio_to_plain")]
        shown = ["–" if x is None else f"{x:.2f}" for x in cells]
        shown += [f"{ends[0]:.2f}–{ends[1]:.2f}" if ends else "–", f"{r['repetition']:.0%}"]
        gamma = "" if r["gamma"] is None else r["gamma"]
        lines += [f"{r['arm']:>12} {gamma:>2}  {r['kind']:<19}" + "".join(f"{c:>12}" for c in shown)]
    return "\n".join(lines)
