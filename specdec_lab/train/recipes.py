"""One recipe for each trained drafter: which net, and in which stages it learns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from specdec_lab.drafters.trained import KINDS, about, load_net, save_net, shape
from specdec_lab.errors import LabError, Say
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.answers import HELD_OUT, LEARNED, Answers, read_answers
from specdec_lab.train.batches import Batches
from specdec_lab.train.loop import Stage, Trainer, evaluate_by_kind, read_checkpoint

FREQUENT = 12_288  # F, the tokens that the drafters can draft


def stages(name: str, tokens: int, begun: bool = False) -> list[Stage]:
    """How `tokens` training tokens are spent: seven tenths on KL, the last three on TV, which is 1 − α itself.

    The two-layer draft model after 2.4 M tokens of KL, and 0.4 M more of either: α 0.437 with KL
    and 0.456 with TV on held-out text (and the same favourite in 44.0 % and 43.6 %). TV alone
    gives a new student too little to go by.

    EAGLE rehearses all the way: it learns from its own guesses, too, as many steps deep as it is used. With this in the
    last quarter alone its fifth draft had 0.09 less overlap with the target than its first; now it has 0.03 less.

    Args:
        begun: the student begins with trained weights, which go on with TV alone, in smaller steps.
    """
    deep = (3, 4) if name == "eagle" else (1, 1)
    first = Stage(tokens * 7 // 10, lr=2e-3, loss="tv") if begun else Stage(tokens * 7 // 10)
    last = Stage(tokens * 3 // 10, lr=2e-3 if begun else 4e-3, loss="tv")
    return [replace(stage, unroll=unroll) for stage, unroll in zip((first, last), deep)]


def frequent_ids(
    answers: Answers, tokenizer: PreTrainedTokenizerBase, vocab_size: int, known: Sequence[int] = ()
) -> torch.Tensor:
    """The FREQUENT tokens that the target writes most, [F] in increasing order; every special token is among them.

    Args:
        known: ids that are frequent in another text; each counts as half a token here, so unseen ids come after them.
    """
    written = np.concatenate([answers.answer(i) for i in range(len(answers))])
    counts = np.bincount(written, minlength=vocab_size).astype(float)
    counts[list(known)] += 0.5
    counts[[i for i in tokenizer.all_special_ids if i < vocab_size]] = np.inf
    return torch.from_numpy(np.sort(np.argsort(-counts, kind="stable")[: min(FREQUENT, vocab_size)]))


def check(name: str, target: ReferenceModel, tokens: int) -> None:
    """Check that there is a recipe of that name, for this kind of target and so many tokens.

    Raises:
        LabError: when there is not.
    """
    if name not in KINDS:
        raise LabError(f"There is no recipe “{name}”: choose one of {', '.join(KINDS)}.")
    check_target(target)
    if tokens < 100:
        raise LabError(f"{tokens} tokens are too few to train on: ask for at least 100 (2M means two million).")


def check_target(target: ReferenceModel) -> None:
    """Check that students can learn from this target's text.

    Raises:
        LabError: when they cannot.
    """
    if target.hf.config.model_type != "llama":
        raise LabError(f"{target.name} is a {target.hf.config.model_type} model; training needs a Llama-shaped one.")


def train(
    name: str,
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    tokens: int,
    seed: int = 0,
    start: Path | None = None,
    say: Say = print,
    every: int = 250_000,
    evaluated: Callable[[Trainer], None] = lambda trainer: None,
) -> Trainer:
    """Train one student on the answers in `folder`, up to `tokens` tokens in all; goes on from its checkpoint there.

    Args:
        start: a folder of weights that a student without a checkpoint begins with, instead of parts of the target.
        every: so many tokens lie between two evaluations on the held-out text.
        evaluated: told the trainer after each evaluation.

    Raises:
        LabError: what `check` refuses, a folder without answers or with another target's, a torn file or checkpoint,
            weights to start with that are not there or do not fit.
    """
    check(name, target, tokens)
    answers, held = (read_answers(folder / side, target) for side in (LEARNED, HELD_OUT))
    if not answers or not held:
        raise LabError(f"There is no text in {folder}: let the target write some first.")
    torch.manual_seed(seed)
    for p in target.hf.parameters():
        p.requires_grad_(False)
    kept = read_checkpoint(folder / f"{name}.pt")
    # More text may have been written since the checkpoint; its head stays as it was.
    begun = load_net(name, target, start) if start else None
    known = begun.head.ids.tolist() if begun else ()
    ids = kept["ids"] if kept else frequent_ids(answers, tokenizer, target.vocab_size, known)
    net = KINDS[name].net(target.hf, ids).float()  # half precision would lose the small steps of training
    if begun and not kept:
        net.load_state_dict(begun.state_dict())
    trainer = Trainer(net, Batches(target, answers, held, net.depths), seed=seed)
    trainer.before = about(name, start)["training_tokens"] if start else 0
    if kept:
        trainer.restore(kept)
        say(f"Going on from {trainer.tokens / 1e6:.2f} M tokens.")
    if not trainer.history:  # where it begins
        trainer.evaluate()
    evaluated(trainer)
    trainer.run(
        stages(name, tokens, start is not None),
        every=every,
        save_to=folder / f"{name}.pt",
        say=say,
        evaluated=evaluated,
    )
    return trainer


def export(trainer: Trainer, name: str, target: ReferenceModel, path: Path) -> None:
    """Write the student's weights as a drafter loads them, with what the model card says of it."""
    card = {
        "drafter": name,
        "target": target.name,
        **dict(zip(("hidden_size", "layers", "vocab_size"), shape(target))),
        "training_tokens": trainer.before + trainer.tokens,
        "text_precision": trainer.batches.learned.precision.split(", "),
        "held_out": trainer.history[-1]["steps"],
        "held_out_by": evaluate_by_kind(trainer),
        "licence": "Apache-2.0",
    }
    save_net(trainer.net, path, card)
