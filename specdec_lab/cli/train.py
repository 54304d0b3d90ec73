"""Train a drafter on what the target answers to your prompts; go on where an earlier run stopped."""

import argparse
from pathlib import Path

from specdec_lab.choices import TRAINED
from specdec_lab.cli import reply, say
from specdec_lab.errors import LabError

TEXT = "text"  # in a drafter's place: write only


def count(text: str) -> int:
    """“2M”, “500k” or a plain number.

    Raises:
        ValueError: for anything else; argparse makes a sentence of it.
    """
    unit = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    number = float(text.rstrip("kKmM")) * unit
    if not 0 <= number < 1e15:  # as infinity is not, which is no int
        raise ValueError
    return int(number)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("drafter", help=f"one of {', '.join(TRAINED)}; or text, to write text and train nothing")
    parser.add_argument("--folder", help="where text and checkpoints are kept (default: in the cache)")
    parser.add_argument(
        "--write", type=count, default=500_000, help="tokens that the target writes to learn from (2M, 500k, …)"
    )
    parser.add_argument(
        "--passages",
        metavar="FOLDER",
        help="your own prompts (.jsonl), and texts to be asked about (.txt, .md, .rst, .py) (default: the installed "
        "Python's own sources)",
    )
    parser.add_argument(
        "--tokens", type=count, default=2_000_000, help="tokens to train on in all, repeats and earlier runs included"
    )
    parser.add_argument("--start", metavar="FOLDER", help="weights to begin with (default: parts of the target)")
    parser.add_argument("--out", help="folder for the weights (default: the folder of the text)")


def run(args: argparse.Namespace) -> int:
    from specdec_lab.drafters.trained import load_net
    from specdec_lab.lab import load
    from specdec_lab.models.embedded import cache_dir
    from specdec_lab.train import own, recipes, texts
    from specdec_lab.train.write import lacking, written

    prompts = texts.read_folder(Path(args.passages)) if args.passages else None
    lab = load(args.target, device=args.device, say=say, dtype=args.dtype, backend=args.backend)
    target, only_text = lab.target, args.drafter == TEXT
    if only_text:
        recipes.check_target(target)
    else:
        recipes.check(args.drafter, target, args.tokens)
        if args.start:  # what does not fit is told before hours of writing
            load_net(args.drafter, target, Path(args.start))
    folder = Path(args.folder) if args.folder else cache_dir() / "train" / target.name.replace("/", "--")
    weights = Path(args.out or folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        weights.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise LabError(f"{e.filename} cannot be made ({e.strerror}): choose another --folder or --out.") from e
    if lacking(folder, target, args.write):
        if prompts is None:
            say("Users ask about the installed Python's own sources alone: --passages FOLDER gives your own prompts.")
            prompts = texts.installed_python()
        learned, aside = ([p for same_text in side for p in same_text] for side in own.put_aside(prompts))
        own.write_answers(lab, learned, aside, folder, args.write, seed=args.seed, say=say)
    if only_text:
        result = {"schema": 1, "text": str(folder), "written": written(folder, target)}
        return reply(args, result, f"The text is in {folder}.")
    start = Path(args.start) if args.start else None
    trainer = recipes.train(args.drafter, target, lab.tokenizer, folder, args.tokens, args.seed, start, say)
    path = weights / f"{args.drafter}.safetensors"
    recipes.export(trainer, args.drafter, target, path)
    result = {"schema": 1, "weights": str(path), "tokens": trainer.tokens, "history": trainer.history}
    return reply(args, result, f"The drafter is in {path}. Use it with  --weights {weights}")
