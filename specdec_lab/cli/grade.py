"""Grade exercise notebooks. This runs their code."""

import argparse
import json

from specdec_lab.cli import say
from specdec_lab.errors import LabError

SYMBOLS = {"right": "✓", "wrong": "✗", "open": "·", "missing": "?", "by hand": "✎"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "notebooks", nargs="+", metavar="NOTEBOOK", help="exercise notebooks, of one learner or of many"
    )


def run(args: argparse.Namespace) -> int:
    from specdec_lab.classroom.notebook import grade

    say("The code in these notebooks is run, as you: grade only what you would run.")
    graded = []
    for path in args.notebooks:
        try:
            graded.append(grade(path, say))
        except LabError as e:
            if len(args.notebooks) == 1:
                raise
            graded.append({"notebook": path, "points": 0.0, "max_points": 0, "parts": [], "error": str(e)})
        if not args.json:
            print(as_text(graded[-1]))
    if args.json:
        print(json.dumps(graded[0] if len(graded) == 1 else graded, ensure_ascii=False))
    return 0


def as_text(found: dict) -> str:
    if "error" in found:
        return f"{found['notebook']}: {found['error']}"
    lines = [f"{found['notebook']}: {found['points']:g} of {found['max_points']} points"]
    for p in found["parts"]:
        lines += [f"  {SYMBOLS[p['status']]} {p['id']}: {p['message']} ({p['points']:g} of {p['max_points']})"]
    return "\n".join(lines)
