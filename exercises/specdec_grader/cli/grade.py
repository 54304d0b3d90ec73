"""Grade exercise notebooks. This runs their code, locked in."""

import argparse
import json

from specdec_lab.cli import say


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "notebooks", nargs="+", metavar="NOTEBOOK", help="exercise notebooks, of one learner or of many"
    )
    parser.add_argument(
        "--unlocked", action="store_true",
        help="also without bubblewrap: the code runs as you then, and can read and write all of your files",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from specdec_grader.learner.jail import check_jail
    from specdec_grader.notebook import grade_each

    check_jail(say, args.unlocked)
    graded = []
    for found in grade_each(args.notebooks, say, args.unlocked):
        graded.append(found)
        if not args.json:
            print(as_text(found), flush=True)
    if args.json:
        print(json.dumps(graded[0] if len(graded) == 1 else graded, ensure_ascii=False))
    return 2 if all("error" in found for found in graded) else 0


def as_text(found: dict) -> str:
    from specdec_grader.part import SYMBOLS

    if "error" in found:
        return f"{found['notebook']}: {found['error']}"
    which = "" if found["exercise"] in found["notebook"] else f" (exercise {found['exercise']})"
    how = "" if found["locked"] else ", graded without a lock: its code ran as you"
    lines = [f"{found['notebook']}{which}: {found['points']:g} of {found['max_points']} points{how}"]
    for p in found["parts"]:
        lines += [f"  {SYMBOLS.get(p['status'], '✎')} {p['id']}: {p['message']} ({p['points']:g} of {p['max_points']})"]
    return "\n".join(lines)
