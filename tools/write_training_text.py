"""Have the target write the text that the shipped drafters learn from; train them on it afterwards.

    python tools/passages.py PASSAGES
    python tools/write_training_text.py TEXT PASSAGES --tokens 5M --dtype bfloat16
    python tools/train_drafter.py NAME TEXT --tokens 20M

It may be stopped at any time, and goes on from what was written a minute before.
"""

import argparse
from pathlib import Path

from training_text.conversations import write_conversations
from training_text.documents import read_passages

from specdec_lab.choices import EMBEDDED
from specdec_lab.cli.train import count
from specdec_lab.models.load import eos_of, load_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the text is kept")
    parser.add_argument("passages", type=Path, help="the folder that tools/passages.py made")
    parser.add_argument("--tokens", type=count, default=500_000, help="that the target writes to learn from (2M, …)")
    parser.add_argument("--seed", type=int, default=0, help="another one gives another text")
    parser.add_argument("--target", default=EMBEDDED)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    args = parser.parse_args()
    passages = read_passages(args.passages)
    target, tokenizer = load_model(args.target, args.device, print, args.dtype)
    ends = eos_of(target, tokenizer)
    write_conversations(target, tokenizer, ends, args.folder, args.tokens, passages, seed=args.seed, say=print)


if __name__ == "__main__":
    main()
