"""What you have done so far: exercises, quizzes and guesses, from your ledger."""

import argparse
from pathlib import Path

from specdec_lab.cli import reply


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", help="the file ledger.json (default: the one of your working copy)")
    parser.add_argument("--import", metavar="FILE", help="add to the ledger what you did on the course's pages")
    parser.add_argument("--export", metavar="FILE", help="write the ledger to a file that the course's pages read")


def run(args: argparse.Namespace) -> int:
    from specdec_grader.progress_table import progress_text, read_progress
    from specdec_lab.course.ledger import Ledger, export_progress, import_progress, read_ledger

    source = vars(args)["import"]
    if args.ledger and (Path(args.ledger).exists() or not source):
        read_ledger(args.ledger)  # before anything is set aside: a file that is no ledger stays as it is
    ledger, lines, moved = Ledger(args.ledger), [], {}
    if source:
        moved["added"] = import_progress(source, ledger)
        found = {0: "nothing that was not there already", 1: "one entry"}.get(
            moved["added"], f"{moved['added']} entries"
        )
        lines.append(f"Imported from {Path(source).name}: {found}. What was there has stayed as it was.")
    if args.export:
        export_progress(args.export, ledger)
        moved["exported"] = args.export
        lines.append(f"Your progress is in {args.export}: on the course's pages, read it under “your progress”.")
    lines += filter(None, [ledger.news()])
    done, news = read_progress(args.ledger)
    return reply(args, {**done, **moved}, "\n".join([*lines, progress_text(done, news)]))
