"""Fetch the embedded target into the cache, once."""

import argparse

from specdec_lab.cli import reply, say


def run(args: argparse.Namespace) -> int:
    from specdec_lab.models.embedded import target_dir

    folder = target_dir(say)
    return reply(args, {"schema": 1, "target": str(folder)}, f"The target is in {folder}.")
