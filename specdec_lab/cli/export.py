"""Save the course's draft model as a plain Llama folder, for transformers and other engines."""

import argparse
from pathlib import Path

from specdec_lab.cli import lab_from, reply


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="where to save it")


def run(args: argparse.Namespace) -> int:
    args.draft = None  # what is saved is the course's own
    Path(args.folder).mkdir(parents=True, exist_ok=True)
    lab = lab_from(args)
    lab.plain_draft().save_pretrained(args.folder)
    lab.tokenizer.save_pretrained(args.folder)
    return reply(args, {"schema": 1, "folder": args.folder}, f"The draft model is in {args.folder}.")
