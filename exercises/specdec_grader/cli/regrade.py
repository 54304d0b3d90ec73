"""Grade what a class handed in once more, in processes that the notebooks' code cannot reach the marks from."""

import argparse
from pathlib import Path

from specdec_grader.cli.grade import unlocked_argument
from specdec_lab.cli import reply, say


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("course", help="a folder that `specdec-lab course` wrote, with submitted/ and gradebook.db")
    unlocked_argument(parser)


def run(args: argparse.Namespace) -> int:
    from specdec_grader.classroom.again import grade_again
    from specdec_grader.learner.jail import check_jail

    check_jail(say, args.unlocked)
    found = grade_again(Path(args.course), say, args.unlocked)
    lines = [f"{found['notebooks']} notebooks, {len(found['differences'])} other marks than nbgrader's."]
    for d in found["differences"]:
        old = "no mark" if d["nbgrader"] is None else f"{d['nbgrader']:g}"
        lines.append(f"  {d['student']}, {d['part']}: {old} there, {d['here']:g} here: {d['message']}")
    return reply(args, found, "\n".join(lines + found["problems"]))
