"""`specdec-lab`: every verb in a file of its own. Results on stdout, progress on stderr."""

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_lab.choices import BENCHED, DTYPES, EMBEDDED
from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.formats import printable
from specdec_lab.show.table import page

if TYPE_CHECKING:
    from specdec_lab.lab import Lab

VERBS = dict.fromkeys(["demo", "bench", "traffic", "train", "doctor", "fetch", "lab"], "specdec_lab")
# The grader is another package, which this one never imports.
VERBS |= dict.fromkeys(["progress", "grade", "course", "class-report"], "specdec_grader")


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def drafter_names(given: str) -> tuple[str, ...]:
    """The names in an option, with commas between them: of drafters that can be compared."""
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",")))
    for name in names:
        if name not in BENCHED:
            raise LabError(
                f"There is no drafter “{name}” to compare: choose some of {', '.join(BENCHED)}, with commas."
            )
    return names


def decoding_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of every verb that writes texts."""
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy")
    parser.add_argument("--max-new-tokens", type=int, default=64)


def check_positive(args: argparse.Namespace, *options: str) -> None:
    """Raises LabError for one of these numbers that is given and below 1."""
    for option in options:
        if (value := getattr(args, option)) is not None and value < 1:
            raise LabError(f"--{option.replace('_', '-')} is {value}, but must be at least 1.")


def check_texts(args: argparse.Namespace) -> None:
    """Raises LabError for an option that is empty, or holds what no file's name and no prompt can hold."""
    for option, value in vars(args).items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                name = option.replace("_", "-")
                if not text.strip():
                    raise LabError(f"The {name} is empty: give one, or leave it out.")
                if "\0" in text or any("\ud800" <= c <= "\udbff" for c in text):  # what fsencode refuses
                    raise LabError(f"The {name} holds a zero byte or half a character: write it out again.")


def lab_from(args: argparse.Namespace) -> "Lab":
    """The Lab that the common options describe."""
    from specdec_lab.lab import load

    return load(args.target, args.draft, args.device, say, args.dtype, args.weights, args.backend)


def reply(args: argparse.Namespace, result: dict, text: str) -> int:
    """Print what a verb found: `result` as JSON with --json, else `text`. Returns the exit status."""
    print(json.dumps(result, ensure_ascii=False) if args.json else text)
    return 0


def reply_with_page(args: argparse.Namespace, result: dict, title: str, markdown: str) -> int:
    """`reply` with a report in Markdown; it is also written as a page where --html says."""
    reply(args, result, markdown)  # first of all: to write the page may fail
    if args.html:
        with written_whole(Path(args.html)) as unfinished:
            unfinished.write_text(page(title, markdown), encoding="utf-8")
    return 0


def describe_os_error(e: OSError) -> str:
    """A sentence about a file that nothing else said one about."""
    name = f"“{printable(str(e.filename)[-80:], 80)}”" if e.filename else "A file"
    return f"{name} cannot be used ({e.strerror or e}): is it where it should be, and yours to write?"


def parser_of_verbs() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    common.add_argument("--target", default=EMBEDDED, help="hub name or path (default: the embedded model)")
    common.add_argument("--draft", help="hub name or path of a draft model")
    common.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    common.add_argument("--dtype", default="auto", help=", ".join(DTYPES) + " (the target's weights)")
    common.add_argument("--backend", default="auto", help="auto, fast or reference (transformers' own forward pass)")
    common.add_argument("--weights", help="folder of trained drafters (default: those of the course)")
    common.add_argument("--seed", type=int, default=0)

    parser = argparse.ArgumentParser(
        prog="specdec-lab", description="Real draft/verify decoding, shown token by token."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, package in VERBS.items():
        module = importlib.import_module(f"{package}.cli.{name.replace('-', '_')}")
        verb = verbs.add_parser(name, parents=[common], help=module.__doc__.splitlines()[0])
        if hasattr(module, "arguments"):  # of its own, besides the common ones
            module.arguments(verb)
        verb.set_defaults(run=module.run)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one verb; 0 when it worked, 1 when something is missing, 2 when the input was wrong."""
    for stream in (sys.stdout, sys.stderr):  # ✓ and γ, also where the console's code page lacks them
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(encoding="utf-8", errors="replace")
    parser = parser_of_verbs()
    args, more = parser.parse_known_args(argv)
    if more and args.verb != "lab":
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    args.more = more  # JupyterLab's own options
    try:
        check_texts(args)
        return args.run(args)
    except KeyboardInterrupt:
        say("specdec-lab: interrupted.")
        return 130
    except BrokenPipeError:  # the reader (head, less) has gone
        sys.stderr.close()
        return 0
    except (LabError, OSError) as e:
        why = describe_os_error(e) if isinstance(e, OSError) else str(e)
        if args.json:
            print(json.dumps({"schema": 1, "error": why}, ensure_ascii=False))
        say(f"specdec-lab: {why}")
        return 2
