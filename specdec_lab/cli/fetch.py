"""Fetch the embedded target into the cache, once, and make ready what all kernels share."""

import argparse

from specdec_lab.choices import EMBEDDED
from specdec_lab.cli import reply, say
from specdec_lab.errors import LabError


def run(args: argparse.Namespace) -> int:
    from specdec_lab.models.embedded import target_dir

    if args.target != EMBEDDED:
        raise LabError("fetch is for the course's own target: demo and bench fetch another one by its --target.")
    folder = target_dir(say)
    from specdec_lab.models.load import load_model  # torch, behind what is told of the download

    load_model(EMBEDDED, args.device, say)  # numba compiles once, and keeps what it has compiled
    return reply(args, {"schema": 1, "target": str(folder)}, f"The target is in {folder}.")
