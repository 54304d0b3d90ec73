"""Measure your own prompts, and decide whether speculation is worth it for them."""

import argparse
import math
from pathlib import Path

from specdec_lab.choices import BENCHED
from specdec_lab.cli import check_positive, decoding_arguments, drafter_names, lab_from, reply_with_page, say
from specdec_lab.errors import LabError

DRAFTERS = "lookup,eagle,hybrid"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="JSON lines (prompts, or an OpenAI-style log) or plain text; or builtin")
    parser.add_argument("--drafters", help=f"some of {', '.join(BENCHED)}, with commas (default: {DRAFTERS})")
    decoding_arguments(parser)
    parser.add_argument("--repeats", type=int, help="how often every prompt is decoded (default: 2)")
    parser.add_argument("--endpoint", help="an OpenAI-compatible server to measure, such as http://localhost:8000/v1")
    parser.add_argument("--at-once", type=int, default=1, help="prompts that wait for the server's answers at any time")
    parser.add_argument(
        "--api-key", help="of the server, if it asks for one (default: OPENAI_API_KEY of the environment)"
    )
    parser.add_argument("--model", help="of the server, by its name there (default: the first that it lists)")
    parser.add_argument("--html", help="also write the report as a page")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.measure import endpoint
    from specdec_lab.measure.prompts import ENOUGH, read_traffic
    from specdec_lab.show.report import report

    check_positive(args, "repeats")
    for name, given in {"--drafters": args.drafters, "--repeats": args.repeats}.items():
        if args.endpoint is not None and given is not None:
            raise LabError(f"With --endpoint the server drafts, as it was started, and once: leave {name} out.")
    for name, given in {"--at-once": args.at_once != 1, "--model": args.model is not None}.items():
        if given and args.endpoint is None:
            raise LabError(f"{name} is for a server: give its address with --endpoint, or leave {name} out.")
    if args.endpoint is not None:
        check_positive(args, "max_new_tokens")
        if not 0 <= args.temperature < math.inf:
            raise LabError(f"--temperature is {args.temperature}, but must be 0 or a positive number.")
    repeats = args.repeats or 2
    drafters = drafter_names(DRAFTERS if args.drafters is None else args.drafters)
    prompts, problems = read_traffic(args.file)
    settings = {"temperature": args.temperature, "max_new_tokens": args.max_new_tokens}
    meta = {"schema": 1, "file": Path(args.file).name, **settings}
    if args.endpoint is not None:
        new, temperature = args.max_new_tokens, args.temperature
        how = {"at_once": args.at_once, "key": args.api_key, "model": args.model}
        found = endpoint.ask_all(args.endpoint, prompts, new, temperature, say, **how)
        result = {"meta": meta, **found, "problems": problems + found["problems"]}
    else:
        from specdec_lab.measure import (
            bench,  # torch, which a server's client does without
            traffic,
        )

        lab = lab_from(args)
        prompts, too_long = bench.usable(lab, prompts, args.max_new_tokens)
        problems += too_long
        if not prompts:
            raise LabError(f"No prompt in {args.file} can be used. {problems[0]}")
        if len(prompts) < ENOUGH:
            say(f"{len(prompts)} prompts give an estimate, and no decision. It takes {ENOUGH}.")
        measured = traffic.compare_drafters(lab, prompts, drafters, repeats, say, seed=args.seed, **settings)
        meta |= {"hardware": lab.hardware, "target": lab.target.name, "prompts": len(prompts), "repeats": repeats}
        result = {"meta": meta, **measured, "problems": problems}
    return reply_with_page(args, result, f"Speculation on {meta['file']}", report(result))
