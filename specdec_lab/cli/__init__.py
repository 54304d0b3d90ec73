"""`specdec-lab`: every verb in a file of its own. Results on stdout, progress on stderr."""

import argparse
import importlib
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

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


class Parser(argparse.ArgumentParser):
    """Tells what it cannot read in one sentence, as everything else is told."""

    def error(self, message: str) -> NoReturn:
        raise LabError(f"{message[:230]} (see {self.prog} --help)")


def positive(text: str) -> int:
    """A whole number of at least 1: a type of options."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is too small, it must be at least 1")
    return number


def temperature(text: str) -> float:
    """0 or a positive number: a type of options."""
    if not 0 <= (number := float(text)) < math.inf:
        raise argparse.ArgumentTypeError(f"{number} is no temperature, it must be 0 or a positive number")
    return number


def drafters(text: str) -> tuple[str, ...]:
    """Names of drafters that can be compared, with commas between them, or all: a type of options."""
    names = BENCHED if text == "all" else tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in BENCHED:
            raise argparse.ArgumentTypeError(f"there is no drafter “{name}” to compare, choose of {', '.join(BENCHED)}")
    return names


def decoding_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of every verb that writes texts."""
    parser.add_argument("--temperature", type=temperature, default=0.0, help="0 is greedy")
    parser.add_argument("--max-new-tokens", type=positive, default=64)


def lab_from(args: argparse.Namespace) -> "Lab":
    """The Lab that the common options describe."""
    from specdec_lab.lab import load

    return load(args.target, args.draft, args.device, say, args.dtype, args.weights, args.backend)


def reply(args: argparse.Namespace, result: dict, text: str, title: str = "") -> int:
    """Print what a verb found: `result` as JSON with --json, else `text`. Returns the exit status.

    With a title the text is a report in Markdown, which is also written as a page where --html says.
    """
    print(json.dumps(result, ensure_ascii=False) if args.json else text)  # first of all: to write the page may fail
    if title and args.html:
        if Path(args.html).is_file() and Path(args.html).read_bytes()[:1] not in (b"", b"<"):
            raise LabError(f"“{args.html}” is no page, so it is not written over: give --html another name.")
        with written_whole(Path(args.html)) as unfinished:
            unfinished.write_text(page(title, text), encoding="utf-8")
    return 0


def describe_os_error(e: OSError) -> str:
    """A sentence about a file that nothing else said one about."""
    name = f"“{printable(str(e.filename)[-80:], 80)}”" if e.filename else "A file"
    return f"{name} cannot be used ({e.strerror or e}): is it where it should be, and yours to write?"


def parser_of_verbs() -> argparse.ArgumentParser:
    common = Parser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    common.add_argument("--target", default=EMBEDDED, help="hub name or path (default: the embedded model)")
    common.add_argument("--draft", help="hub name or path of a draft model")
    common.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    common.add_argument("--dtype", default="auto", help=", ".join(DTYPES) + " (the target's weights)")
    common.add_argument("--backend", default="auto", help="auto, fast or reference (transformers' own forward pass)")
    common.add_argument("--weights", help="folder of trained drafters (default: those of the course)")
    common.add_argument("--seed", type=int, default=0)

    parser = Parser(prog="specdec-lab", description="Real draft/verify decoding, shown token by token.")
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
    argv = sys.argv[1:] if argv is None else argv
    try:
        if any(not text.strip() or (text.startswith("--") and text.endswith("=")) for text in argv):
            raise LabError("One of the options is empty: give a value, or leave it out.")
        parser = parser_of_verbs()
        args, args.more = parser.parse_known_args(argv)  # more: JupyterLab's own options
        if args.more and args.verb != "lab":
            parser.error(f"unrecognized arguments: {' '.join(args.more)}")
        return args.run(args)
    except KeyboardInterrupt:
        say("specdec-lab: interrupted.")
        return 130
    except BrokenPipeError:  # the reader (head, less) has gone
        sys.stderr.close()
        return 0
    except (LabError, OSError) as e:
        why = describe_os_error(e) if isinstance(e, OSError) else str(e)
        if "--json" in argv:
            print(json.dumps({"schema": 1, "error": why}, ensure_ascii=False))
        say(f"specdec-lab: {why}")
        return 2
