"""`specdec-lab`: every verb in a file of its own. Results on stdout, progress on stderr."""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_lab.choices import DRAFTERS, DTYPES, EMBEDDED
from specdec_lab.errors import LabError
from specdec_lab.files import check_plain, path_of, written_whole
from specdec_lab.show.table import page

if TYPE_CHECKING:
    from specdec_lab.lab import Lab

VERBS = dict.fromkeys(["demo", "bench", "traffic", "train", "export", "doctor", "fetch", "lab"], "specdec_lab")
# The grader is another package, which this one never imports.
VERBS |= dict.fromkeys(["progress", "grade", "course", "class-report"], "specdec_grader")

# What names files or folders: options, and arguments that have no name to be called by.
OPTIONS = ("target", "draft", "weights", "dir", "html", "prompts", "passages", "start", "ledger", "import", "export")
POSITIONS = ("out", "folder", "file", "course", "gradebook", "notebooks")
LONGEST, LONGEST_PART = 4096, 255  # bytes, on the systems that allow most


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def drafter_names(given: str) -> tuple[str, ...]:
    """The names in an option, with commas between them.

    Raises:
        LabError: for a name that is none, or stands twice.
    """
    names = tuple(name.strip() for name in given.split(","))
    for i, name in enumerate(names):
        if name not in DRAFTERS:
            raise LabError(f"There is no drafter “{name}”: choose some of {', '.join(DRAFTERS)}, with commas.")
        if name in names[:i]:
            raise LabError(f"The drafter “{name}” stands twice in --drafters.")
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


def lab_from(args: argparse.Namespace) -> "Lab":
    """The Lab that the common options describe."""
    from specdec_lab.lab import load

    return load(args.target, args.draft, args.device, say, args.dtype, args.weights, args.backend)


def reply(args: argparse.Namespace, result: dict, text: str) -> int:
    """Print what a verb found: `result` as JSON with --json, else `text`. Returns the exit status."""
    print(json.dumps(result, ensure_ascii=False) if args.json else text)
    return 0


@contextmanager
def told_of_page(name: str) -> Iterator[None]:
    """Turn an OSError inside the block into one sentence about the page of that name.

    Raises:
        LabError: instead.
    """
    try:
        yield
    except OSError as e:
        raise LabError(
            f"The report cannot be written to {name} ({e.strerror}): choose another place with --html."
        ) from e


def check_page(name: str) -> None:
    """Raises LabError where no page can be written, before anything is measured for it."""
    with told_of_page(name):
        check_plain(Path(name))
        os.listdir(Path(name).parent)


def reply_with_page(args: argparse.Namespace, result: dict, title: str, markdown: str) -> int:
    """`reply` with a report; it is also written as a page where --html says.

    Raises:
        LabError: when the page cannot be written.
    """
    if args.html:
        with told_of_page(args.html), written_whole(Path(args.html)) as unfinished:
            unfinished.write_text(page(title, markdown), encoding="utf-8")
    return reply(args, result, markdown)


def check_names(args: argparse.Namespace) -> None:
    """Raises LabError, before anything is done, for a text that cannot be one, and for a name that no file can have."""
    for part, value in vars(args).items():
        for text in value if isinstance(value, list) else [value]:
            halved = isinstance(text, str) and any("\ud800" <= c <= "\udfff" for c in text)
            if halved and part not in (*OPTIONS, *POSITIONS):
                option = f"--{part.replace('_', '-')}"
                raise LabError(f"{option} holds half a character (a lone surrogate): write it out again.")
    for option, name in given(args):
        if not name.strip():
            raise LabError(f"{option} is empty: give a name, or leave it out.")
        path_of(name)
        if wrong := no_name(name):
            raise LabError(f"{option} is no name of a file or a folder: it {wrong}.")


def given(args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """What names files or folders, and what it is called."""
    for part, value in vars(args).items():
        if part in (*OPTIONS, *POSITIONS):
            for name in value if isinstance(value, list) else [value]:
                if isinstance(name, str):
                    yield (f"--{part}" if part not in POSITIONS else f"“{legible(name)}”"), name


def no_name(name: str) -> str | None:
    try:
        data = os.fsencode(name)
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate)"
    if b"\0" in data:
        return "holds a zero byte"
    if len(data) > LONGEST or any(len(part) > LONGEST_PART for part in data.replace(b"\\", b"/").split(b"/")):
        return "is too long"
    return None


def legible(name: str) -> str:
    name = name if len(name) <= 80 else f"…{name[-80:]}"
    return name.encode(errors="replace").decode().replace("\0", "?")


def told(e: OSError) -> str:
    """A sentence about a file that nothing else said one about."""
    name = f"“{legible(str(e.filename))}”" if e.filename else "A file"
    return f"{name} cannot be used ({e.strerror or type(e).__name__}): is it where it should be, and yours to write?"


def main(argv: list[str] | None = None) -> int:
    """Run one verb; 0 when it worked, 1 when something is missing, 2 when the input was wrong."""
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

    for stream in (sys.stdout, sys.stderr):  # ✓ and γ, also where the console's code page lacks them
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(encoding="utf-8", errors="replace")
    args, more = parser.parse_known_args(argv)
    if more and args.verb != "lab":
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    args.more = more  # JupyterLab's own options
    try:
        check_names(args)
        if getattr(args, "html", None):
            check_page(args.html)
        return args.run(args)
    except KeyboardInterrupt:
        say("specdec-lab: interrupted.")
        return 130
    except BrokenPipeError:  # the reader (head, less) has gone
        sys.stderr.close()
        return 0
    except (LabError, OSError) as e:
        why = str(e) if isinstance(e, LabError) else told(e)
        if args.json:
            print(json.dumps({"schema": 1, "error": why}, ensure_ascii=False))
        say(f"specdec-lab: {why}")
        return 2
