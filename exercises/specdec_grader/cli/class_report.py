"""Who of a class is where, and which misconceptions are common."""

import argparse
from pathlib import Path

from specdec_lab.cli import reply


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gradebook", help="the file gradebook.db of a course")
    parser.add_argument("--html", help="also write the report as a page")


def run(args: argparse.Namespace) -> int:
    from specdec_grader.classroom.report import body, read_class

    data = read_class(Path(args.gradebook))
    return reply(args, data, body(data), "The class")
