"""Measure drafters on many prompts, against plain decoding."""

import argparse
from contextlib import nullcontext
from importlib.metadata import version

from specdec_lab.choices import BENCHED, PEERS
from specdec_lab.cli import check_positive, decoding_arguments, drafter_names, lab_from, reply, say
from specdec_lab.errors import LabError
from specdec_lab.files import check_writable
from specdec_lab.formats import short

PEER_GAMMA = 4  # of transformers' lookup, where ours is not one number
NUMBERS = ("tokens/pass", "α", "d", "v", "o", "E/(d+v+o)", "measured", "95 %", "repetition")
ROW = "{:>12} {:>2}  {:<19}" + len(NUMBERS) * "{:>12}"
LIMITS = "reading", "computing", "starting"
LIMITS_ROW = "{:>4}" + 5 * "{:>12}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--drafters", default="all", help=f"all, or some of {', '.join(BENCHED)}, with commas")
    parser.add_argument("--prompts", default="builtin", help="builtin, or a JSON-lines file")
    parser.add_argument(
        "--gamma",
        default="4",
        help="most tokens drafted a round; best: the best such number for each drafter",
    )
    decoding_arguments(parser)
    parser.add_argument("--limit", type=int, help="use only the first N prompts of each kind")
    parser.add_argument("--repeats", type=int, default=1, help="decode every prompt so many times, for steadier times")
    parser.add_argument(
        "--peers", action="store_true", help="also transformers' own generate, and llama.cpp where it is installed"
    )
    parser.add_argument(
        "--llama-server", help="also llama.cpp: the path of its server, or the address of one that runs"
    )
    parser.add_argument("--floor", action="store_true", help="also how near each pass is to what this machine can do")
    parser.add_argument("--record", action="store_true", help="keep the result in the package, for the lessons to show")
    parser.add_argument("--timed", type=int, help="take times from, and repeat, only the first N prompts of each kind")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.engine.decode import MOST_DRAFTS, check_gamma
    from specdec_lab.measure import bench, roofline
    from specdec_lab.measure.hf_baselines import hf_arms
    from specdec_lab.measure.llama_cpp import llama_arms
    from specdec_lab.measure.prompts import first_of_each_kind, read_prompts
    from specdec_lab.measure.results import folder, save_result
    from specdec_lab.models.cpu import loops
    from specdec_lab.models.reference import ReferenceModel

    names = BENCHED if args.drafters == "all" else drafter_names(args.drafters)
    fixed = args.gamma.isascii() and args.gamma.isdigit() and len(args.gamma) < 20
    if args.gamma != "best" and not fixed:
        raise LabError(f"--gamma is {args.gamma[:20]}, but must be a number (at most {MOST_DRAFTS}), or best.")
    check_positive(args, "limit", "repeats", "timed")
    if args.record:
        try:  # before anything is measured
            folder().mkdir(parents=True, exist_ok=True)
            check_writable(folder())
        except OSError as e:
            raise LabError(f"No result can be kept in {folder()} ({e.strerror}): run without --record.") from e
    if fixed:
        check_gamma(int(args.gamma), 1, "plain decoding is measured in any case")
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
    pilot = []
    if args.gamma == "best":
        pilot, prompts = bench.set_aside(prompts)
        say(f"Looking for each drafter's best γ on {len(pilot)} prompts …")
        gammas = bench.best_gammas(lab, pilot, names, **settings)
    else:
        gammas = dict.fromkeys(names, int(args.gamma))
    timed = first_of_each_kind(prompts, args.timed) if args.timed else prompts
    limits = {"floor": roofline.report(lab.target)} if args.floor else {}
    others = hf_arms(lab, int(args.gamma) if fixed else PEER_GAMMA, say) if args.peers else {}
    llama = args.peers or args.llama_server
    with llama_arms(lab, args.llama_server, say) if llama else nullcontext({}) as arms:
        how = {"peers": others | arms, "repeats": args.repeats, "timed": timed, "say": say}
        runs = bench.decode_all(lab, prompts, gammas, **how, **settings)
    same = bench.identical(runs) if args.temperature == 0 else {}
    meta = {
        "schema": 1, "device": str(lab.target.device), "hardware": lab.hardware,
        "dtype": lab.target.precision, "target": lab.target.name,
        "temperature": args.temperature, "gamma": args.gamma, "max_new_tokens": args.max_new_tokens, "seed": args.seed,
        "backend": "reference" if type(lab.target) is ReferenceModel else "fast",
        "versions": {package: version(package) for package in ("torch", "transformers", *(["numba"] if loops.HERE else []))},
        "prompts": args.prompts, "repeats": args.repeats, "timed": args.timed,
        "prompts_used": len(prompts), "pilot": [p.id for p in pilot],
        "identical_texts": sum(same[name] for name in gammas) if same else None, "texts": len(prompts) * len(gammas),
        "identical_by_arm": same,
    }  # fmt: skip
    result = {"meta": meta, "rows": list(bench.rows(prompts, runs, timed)), **limits}
    if problems:
        result["problems"] = problems
    reply(args, result, as_text(result))  # first of all: keeping it may fail
    if args.record:
        say(f"The result is kept in {save_result(result)}.")
    return 0


def as_text(result: dict) -> str:
    from specdec_lab.measure.bench import doubt

    meta = result["meta"]
    lines = [f"{meta['target']} on {meta['hardware']}, {meta['dtype']}, temperature {meta['temperature']:g}"]
    if meta["identical_texts"] is not None:
        lines += [f"{meta['identical_texts']} of {meta['texts']} texts are plain decoding's, token for token."]
        peers = [f"{arm} {n}" for arm, n in meta["identical_by_arm"].items() if arm.startswith(PEERS)]
        if peers:
            lines += [f"Of each peer's {meta['prompts_used']} texts, its own plain decoding's: {', '.join(peers)}."]
    where = f" of the first {meta['timed']} prompts of each kind" if meta["timed"] else ""
    lines += [
        f"Times{where} in units of one plain step. E/(d+v+o) is {'their ' if where else ''}tokens per pass and the parts "
        "of their rounds: bookkeeping. measured: by the clock.",
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
    return "\n".join(lines + (["", limits_text(result["floor"])] if "floor" in result else []))


def limits_text(limits: dict) -> str:
    """How near each pass is to what the machine can do: its floor is the longest of reading, computing and starting."""
    machine = limits["machine"]
    lines = [
        f"This machine reads {machine['bandwidth'] / 1e9:.0f} GB/s, computes {machine['arithmetic'] / 1e9:.0f} GFLOP/s, and "
        f"starts an operation in {machine['launch'] * 1e6:.1f} µs. A pass over k tokens, in ms:",
        LIMITS_ROW.format("k", "measured", *LIMITS, "of floor"),
    ]
    for r in limits["passes"]:
        times = [short(1e3 * r[x]) for x in ("seconds", *LIMITS)]
        lines += [LIMITS_ROW.format(r["k"], *times, f"{max(r[x] for x in LIMITS) / r['seconds']:.0%}")]
    return "\n".join(lines)
