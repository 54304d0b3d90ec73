"""What you have done so far: exercises, quizzes and guesses, from your ledger."""

import argparse

from specdec_lab.cli import reply


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", help="the file ledger.json (default: the one of your working copy)")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.course.progress import progress, progress_text

    done, news = progress(args.ledger)
    return reply(args, done, progress_text(done, news))
