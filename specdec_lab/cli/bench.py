"""Measure drafters on many prompts, against plain decoding."""

import argparse
from importlib.metadata import version
from typing import TYPE_CHECKING

from specdec_lab.choices import BENCHED
from specdec_lab.cli import decoding_arguments, drafters, lab_from, positive, reply, say
from specdec_lab.errors import LabError

if TYPE_CHECKING:
    from specdec_lab.lab import Lab

NUMBERS = ("tokens/pass", "α", "d", "v", "o", "E/(d+v+o)", "measured", "95 %", "repetition")
ROW = "{:>12} {:>2}  {:<19}" + len(NUMBERS) * "{:>12}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--drafters", type=drafters, default="all", help=f"all, or some of {', '.join(BENCHED)}")
    parser.add_argument("--prompts", default="builtin", help="builtin, or a JSON-lines file")
    parser.add_argument("--gamma", type=gamma, default="4", help="most tokens drafted a round, or each drafter's best")
    decoding_arguments(parser)
    parser.add_argument("--limit", type=positive, help="use only the first N prompts of each kind")
    parser.add_argument("--repeats", type=positive, default=1, help="how often every prompt is decoded")
    parser.add_argument("--record", action="store_true", help="keep the result in the package, for the lessons to show")
    parser.add_argument("--timed", type=positive, help="time and repeat only the first N prompts of each kind")


def gamma(text: str) -> str:
    """A whole number, or best: a type of options."""
    return text if text == "best" else str(int(text))


def run(args: argparse.Namespace) -> int:
    from specdec_lab.engine.decode import check_gamma
    from specdec_lab.measure import bench
    from specdec_lab.measure.prompts import first_of_each_kind, read_prompts
    from specdec_lab.measure.results import save_result

    number = None if args.gamma == "best" else int(args.gamma)
    if number is not None:
        check_gamma(number, 1, "plain decoding is measured in any case")
    prompts = read_prompts(args.prompts)
    if args.limit:
        prompts = first_of_each_kind(prompts, args.limit)
    lab = lab_from(args)
    prompts, problems = bench.usable(lab, prompts, args.max_new_tokens)
    for line in problems:
        say(line)
    if not prompts:
        raise LabError(f"No prompt of {args.prompts} can be used. {problems[0]}")
    settings = {"temperature": args.temperature, "max_new_tokens": args.max_new_tokens, "seed": args.seed}
    pilot, gammas = [], dict.fromkeys(args.drafters, number or 0)
    if number is None:
        pilot, prompts = bench.split_pilot(prompts)
        say(f"Looking for each drafter's best γ on {len(pilot)} prompts …")
        gammas = bench.best_gammas(lab, pilot, args.drafters, **settings)
    timed = first_of_each_kind(prompts, args.timed) if args.timed else prompts
    runs = bench.decode_all(lab, prompts, gammas, repeats=args.repeats, timed=timed, say=say, **settings)
    same = bench.identical(runs) if args.temperature == 0 else {}
    meta = about(args, lab) | {
        "prompts_used": len(prompts), "pilot": [p.id for p in pilot],
        "identical_texts": sum(same.values()) if same else None, "texts": len(prompts) * len(gammas),
        "identical_by_arm": same,
    }  # fmt: skip
    result = {"meta": meta, "rows": list(bench.rows(prompts, runs, timed))}
    if problems:
        result["problems"] = problems
    reply(args, result, as_text(result))  # first of all: keeping it may fail
    if args.record:
        say(f"The result is kept in {save_result(result)}.")
    return 0


def about(args: argparse.Namespace, lab: "Lab") -> dict:
    """What a result is a result of."""
    from specdec_lab.models import loops
    from specdec_lab.models.reference import ReferenceModel

    given = ("temperature", "gamma", "max_new_tokens", "seed", "prompts", "repeats", "timed")
    return {
        "schema": 1, "device": str(lab.target.device), "hardware": lab.hardware,
        "dtype": lab.target.precision, "target": lab.target.name,
        "backend": "reference" if type(lab.target) is ReferenceModel else "fast",
        "versions": {package: version(package) for package in ("torch", "transformers", *(["numba"] if loops.HERE else []))},
        **{name: getattr(args, name) for name in given},
    }  # fmt: skip


def as_text(result: dict) -> str:
    from specdec_lab.measure.bench import doubt

    meta = result["meta"]
    lines = [f"{meta['target']} on {meta['hardware']}, {meta['dtype']}, temperature {meta['temperature']:g}"]
    if meta["identical_texts"] is not None:
        lines += [f"{meta['identical_texts']} of {meta['texts']} texts are plain decoding's, token for token."]
    where = f" of the first {meta['timed']} prompts of each kind" if meta["timed"] else ""
    lines += [
        f"Times{where} in units of one plain step. E/(d+v+o) is {'their ' if where else ''}tokens per pass and the parts "
        "of their rounds: bookkeeping. measured: by the clock."
    ]
    for r in result["rows"]:
        if r["kind"] == "overall" and (doubted := doubt(r["arm"], r)):
            lines += [doubted]
    lines += ["", ROW.format("arm", "γ", "kind", *NUMBERS)]
    for r in result["rows"]:
        numbers = [r[x] for x in ("tokens_per_pass", "alpha", "d", "v", "o", "ratio_from_parts", "ratio_to_plain")]
        cells = ["–" if x is None else f"{x:.2f}" for x in numbers]
        interval = "{:.2f}–{:.2f}".format(*r["ratio_interval"]) if r["ratio_interval"] else "–"
        gamma = "" if r["gamma"] is None else r["gamma"]
        lines += [ROW.format(r["arm"], gamma, r["kind"], *cells, interval, f"{r['repetition']:.0%}")]
    return "\n".join(lines)
