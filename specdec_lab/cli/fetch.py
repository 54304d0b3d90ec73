"""Fetch the embedded target into the cache, once, and make ready what all kernels share."""

import argparse

from specdec_lab.choices import EMBEDDED
from specdec_lab.cli import reply, say


def run(args: argparse.Namespace) -> int:
    from specdec_lab.models.embedded import target_dir
    from specdec_lab.models.load import load_model

    folder = target_dir(say)
    load_model(EMBEDDED, args.device, say)  # packs its weights: a cache that is read-only later has them
    return reply(args, {"schema": 1, "target": str(folder)}, f"The target is in {folder}.")
