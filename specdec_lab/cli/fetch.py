"""Fetch the embedded target into the cache, once."""

import argparse
import json

from specdec_lab.cli import say


def arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(args: argparse.Namespace) -> int:
    from specdec_lab.models.embedded import target_dir

    folder = target_dir(say)
    print(json.dumps({"schema": 1, "target": str(folder)}) if args.json else f"The target is in {folder}.")
    return 0
