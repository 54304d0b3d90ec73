"""Who of a class is where, and which misconceptions are common."""

import argparse
import json
from pathlib import Path

from specdec_lab.cli import write_page


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gradebook", help="the file gradebook.db of a course")
    parser.add_argument("--html", help="also write the report as a page")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.classroom.gradebook import as_data, read_class
    from specdec_lab.show.class_page import page, report_text

    data = as_data(*read_class(Path(args.gradebook)))
    if args.html:
        write_page(args.html, page(data))
    print(json.dumps(data, ensure_ascii=False) if args.json else report_text(data))
    return 0
