"""Save the course's draft model as a plain Llama folder, for transformers and other engines."""

import argparse
import json

from specdec_lab.cli import load_lab


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="where to save it")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.bench import read_prompts
    from specdec_lab.drafters.model import whole_llama
    from specdec_lab.drafters.trained import load_net

    lab = load_lab(args)
    texts = [lab.encode(p.content, p.raw) for p in read_prompts()]
    whole_llama(load_net("model", lab.target, lab.weights), lab.target.hf, texts).save_pretrained(args.folder)
    lab.tokenizer.save_pretrained(args.folder)
    print(json.dumps({"schema": 1, "folder": args.folder}) if args.json else f"The draft model is in {args.folder}.")
    return 0
