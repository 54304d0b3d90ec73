"""Write a ready nbgrader course of the exercises."""

import argparse
from pathlib import Path

from specdec_lab.cli import reply, say


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", help="a new folder")


def run(args: argparse.Namespace) -> int:
    from specdec_grader.classroom.course import write_course

    say("Making the assignments …")
    names = write_course(Path(args.out))
    text = (
        f"The course is in {args.out}: {len(names)} assignments.\n"
        f"Hand out the notebooks in {args.out}/release. Put what comes back into {args.out}/submitted/STUDENT/ASSIGNMENT/, and run there\n"
        "  nbgrader autograde ASSIGNMENT\n  nbgrader formgrader   (written answers)\n  nbgrader generate_feedback ASSIGNMENT\n"
        f"Then: specdec-lab class-report {args.out}/gradebook.db"
    )
    return reply(args, {"schema": 1, "folder": args.out, "assignments": names}, text)
