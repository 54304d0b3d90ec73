"""Measure your own prompts, and decide whether speculation is worth it for them."""

import argparse
from pathlib import Path

from specdec_lab.choices import BENCHED
from specdec_lab.cli import decoding_arguments, drafters, lab_from, positive, reply, say
from specdec_lab.errors import LabError

DRAFTERS = ("lookup", "eagle", "hybrid")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="JSON lines (prompts, or an OpenAI-style log) or plain text; or builtin")
    parser.add_argument("--drafters", type=drafters, help=f"of {', '.join(BENCHED)} (default: {','.join(DRAFTERS)})")
    decoding_arguments(parser)
    parser.add_argument("--repeats", type=positive, help="how often every prompt is decoded (default: 2)")
    parser.add_argument("--endpoint", help="an OpenAI-compatible server to measure, such as http://localhost:8000/v1")
    parser.add_argument("--at-once", type=positive, help="prompts that wait for the server at any time (default: 1)")
    parser.add_argument("--api-key", help="of the server (default: OPENAI_API_KEY of the environment)")
    parser.add_argument("--model", help="of the server, by its name there (default: the first that it lists)")
    parser.add_argument("--html", help="also write the report as a page")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.measure import endpoint
    from specdec_lab.measure.prompts import ENOUGH, read_traffic
    from specdec_lab.show.report import report

    for name in ("drafters", "repeats") if args.endpoint else ("at_once", "model"):
        if getattr(args, name) is not None:
            option = f"--{name.replace('_', '-')}"
            if args.endpoint:
                raise LabError(f"With --endpoint the server drafts, as it was started, and once: leave {option} out.")
            raise LabError(f"{option} is for a server: give its address with --endpoint, or leave {option} out.")
    prompts, problems = read_traffic(args.file)
    settings = {"temperature": args.temperature, "max_new_tokens": args.max_new_tokens}
    meta = {"schema": 1, "file": Path(args.file).name, **settings}
    if args.endpoint:
        new, temperature = args.max_new_tokens, args.temperature
        how = {"at_once": args.at_once or 1, "key": args.api_key, "model": args.model}
        found = endpoint.ask_all(args.endpoint, prompts, new, temperature, say, **how)
        result = {"meta": meta, **found, "problems": problems + found["problems"]}
    else:
        from specdec_lab.measure import bench, traffic  # torch, which a server's client does without

        lab = lab_from(args)
        prompts, too_long = bench.usable(lab, prompts, args.max_new_tokens)
        problems += too_long
        if not prompts:
            raise LabError(f"No prompt in {args.file} can be used. {problems[0]}")
        if len(prompts) < ENOUGH:
            say(f"{len(prompts)} prompts give an estimate, and no decision. It takes {ENOUGH}.")
        names, repeats = args.drafters or DRAFTERS, args.repeats or 2
        measured = traffic.compare_drafters(lab, prompts, names, repeats, say, seed=args.seed, **settings)
        meta |= {"hardware": lab.hardware, "target": lab.target.name, "prompts": len(prompts), "repeats": repeats}
        result = {"meta": meta, **measured, "problems": problems}
    return reply(args, result, report(result), f"Speculation on {meta['file']}")
