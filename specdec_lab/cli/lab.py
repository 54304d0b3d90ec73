"""Open the course in JupyterLab, on a working copy of the lessons."""

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(args: argparse.Namespace) -> int:
    return 0
