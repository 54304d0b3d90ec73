"""What you have done so far: exercises, quizzes and guesses, from your ledger."""

import argparse
import json


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", help="the file ledger.json (default: the one of your working copy)")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.course.progress import progress, progress_text

    done, news = progress(args.ledger)
    if args.json:
        print(json.dumps(done, ensure_ascii=False))
    else:
        print(progress_text(done, news))
    return 0
