"""Train a drafter on what the target answers to your prompts; go on where an earlier run stopped."""

import argparse
import json
from pathlib import Path

from specdec_lab.choices import EMBEDDED, TRAINED
from specdec_lab.cli import lab_from, reply, say


def count(text: str) -> int:
    """“2M”, “500k” or a plain number. Raises ValueError for anything else; argparse makes a sentence of it."""
    unit = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    number = float(text.rstrip("kKmM")) * unit
    if not 0 <= number < 1e15:  # as infinity is not, which is no int
        raise ValueError
    return int(number)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("drafter", choices=TRAINED, help=f"one of {', '.join(TRAINED)}")
    parser.add_argument("file", help="your prompts, as for bench: most are learned from, some are only measured on")
    parser.add_argument("--folder", help="where answers, checkpoints and weights are kept (default: in the cache)")
    parser.add_argument("--write", type=count, default=500_000, help="tokens that the target answers (2M, 500k, …)")
    parser.add_argument("--tokens", type=count, default=2_000_000, help="to learn from, also again or in earlier runs")
    parser.add_argument(
        "--start", metavar="FOLDER", help="weights to begin with (default: the course's or the target's)"
    )


def run(args: argparse.Namespace) -> int:
    from specdec_lab.drafters.trained import WEIGHTS
    from specdec_lab.measure.prompts import read_prompts
    from specdec_lab.train import own

    prompts = read_prompts(args.file)
    folder = Path(args.folder) if args.folder else own.folder_of(Path(args.file).stem)
    start = Path(args.start) if args.start else WEIGHTS if args.target == EMBEDDED else None
    how = {"say": say, "name": args.drafter, "seed": args.seed}
    own.own_draft(lab_from(args), prompts, folder, args.write, args.tokens, start, **how)
    history = json.loads((folder / f"{args.drafter}.json").read_text(encoding="utf-8"))
    weights = folder / f"{args.drafter}.safetensors"
    result = {"schema": 1, "weights": str(weights), "tokens": history[-1]["tokens"], "history": history}
    return reply(args, result, f"The drafter is in {weights}. Use it with  --weights {folder}")
