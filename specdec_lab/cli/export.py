"""Save the course's draft model as a plain Llama folder, for transformers and other engines."""

import argparse

from specdec_lab.cli import lab_from, reply
from specdec_lab.files import new_folder


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", help="where to save it: a new or an empty folder")


def run(args: argparse.Namespace) -> int:
    args.draft = None  # what is saved is the course's own
    folder = new_folder(args.folder)
    lab = lab_from(args)
    lab.plain_draft().save_pretrained(folder)
    lab.tokenizer.save_pretrained(folder)
    return reply(args, {"schema": 1, "folder": args.folder}, f"The draft model is in {args.folder}.")
