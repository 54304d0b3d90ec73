"""Save the course's draft model as a plain Llama folder, for transformers and other engines."""

import argparse
import json

from specdec_lab.cli import lab_from


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="where to save it")


def run(args: argparse.Namespace) -> int:
    args.draft = None  # what is saved is the course's own
    lab = lab_from(args)
    lab.plain_draft().save_pretrained(args.folder)
    lab.tokenizer.save_pretrained(args.folder)
    print(json.dumps({"schema": 1, "folder": args.folder}) if args.json else f"The draft model is in {args.folder}.")
    return 0
