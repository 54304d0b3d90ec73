"""A draft for one's own texts: the target answers your prompts, a draft learns from the answers, and prompts that were put
aside show how far it has come.
"""

import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from specdec_lab.drafters import trained
from specdec_lab.drafters.trained import KINDS
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.lab import Lab
from specdec_lab.measure.prompts import Prompt, read_prompts
from specdec_lab.models.embedded import cache_dir
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.train.answers import HELD_OUT, LEARNED, Answers, Batches, read_answers
from specdec_lab.train.loop import Stage, Trainer, read_checkpoint
from specdec_lab.train.write import Request, write_text

ASIDE = 4  # every fourth prompt is put aside, to measure on
FEWEST = 8  # prompts: with fewer there is nothing to learn from, or nothing to measure on
ANSWER = 160  # tokens of an answer
EVALUATIONS = 12  # on the prompts put aside, while it trains
FREQUENT = 12_288  # F, the tokens that a draft can propose
OURS = ("french", "shop", "questions")  # files of prompts that come with the course, for whoever has none


def our_prompts(name: str) -> list[Prompt]:
    """One of the files OURS."""
    return read_prompts(str(resources.files("specdec_lab").joinpath(f"data/own/{name}.jsonl")))


def folder_of(name: str) -> Path:
    """Where a draft of that name is kept: in the course's cache.

    Other weights of the course have another folder: a run that began with earlier ones would show their gain.
    """
    begun_with = f"{zlib.crc32((trained.WEIGHTS / 'eagle.safetensors').read_bytes()):08x}"
    return cache_dir() / "own" / begun_with / name


def put_aside(prompts: Sequence[Prompt]) -> tuple[list[Prompt], list[Prompt]]:
    """Prompts to learn from, and prompts to measure on."""
    return [p for i, p in enumerate(prompts) if i % ASIDE], list(prompts[::ASIDE])


def own_draft(
    lab: Lab,
    prompts: Sequence[Prompt],
    folder: str | Path,
    write: int = 40_000,
    tokens: int = 200_000,
    start: Path | None = trained.WEIGHTS,
    looked: Callable[[str, list[dict]], None] = lambda name, history: None,
    say: Say = silent,
    name: str = "eagle",
    seed: int = 0,
) -> Path:
    """Train a draft on what the target answers to these prompts. Goes on where it was interrupted.

    Args:
        folder: for texts, checkpoint and weights; one for each file of prompts.
        write: tokens that the target writes to learn from.
        tokens: how many the draft learns from, repeats included.
        start: a folder of weights to begin with; None, and it begins with parts of the target.
        looked: told the folder's name and the history after each evaluation on the prompts put aside (as `LearningCurve` is).
        name: of the drafter, one of KINDS.
        seed: of what is written, and of the order in which it is learned.

    Returns:
        The folder, which `load(weights=…)` takes.
    """
    folder, family = Path(folder), lab.target.hf.config.model_type
    if len(prompts) < FEWEST:
        raise LabError(
            f"{len(prompts)} prompts are too few: give at least {FEWEST}, since every {ASIDE}th is only measured on."
        )
    if tokens < 100:
        raise LabError(f"{tokens} tokens are too few to train on: ask for at least 100 (2M means two million).")
    if family != "llama":  # the nets begin with parts of the target
        raise LabError(f"{lab.target.name} is a {family} model; training needs a Llama-shaped one.")
    if start:  # what does not fit is told before the target writes for hours
        trained.read_weights(name, lab.target, start)
    write_answers(lab, prompts, folder, write, seed, say)
    trainer = trainer_of(name, lab.target, lab.tokenizer, folder, seed, start, say)

    def evaluated(trainer: Trainer) -> None:
        looked(folder.name, trainer.history)

    evaluated(trainer)
    plan = stages(name, tokens, start is not None)
    trainer.run(plan, folder / f"{name}.pt", tokens // EVALUATIONS, say, evaluated)
    export(trainer, name, folder / f"{name}.safetensors")
    return folder


def write_answers(
    lab: Lab, prompts: Sequence[Prompt], folder: Path, tokens: int, seed: int = 0, say: Say = silent
) -> None:
    """Have the target answer these prompts, until it has written `tokens` tokens to learn from, and some to measure on.
    Prompts that leave no room for an answer are left out.
    """
    room = lab.target.context - ANSWER
    learned, aside = put_aside(prompts)

    def asked(held_out: bool) -> Callable[[random.Random], Request]:
        requests = [Request(p.kind, lab.encode(p.content, p.raw)) for p in (aside if held_out else learned)]
        short = [request for request in requests if len(request.tokens) <= room]
        if len(short) < len(requests):
            say(f"Prompts of more than {room} tokens are left out: {len(requests) - len(short)}.")
        if not short:
            raise LabError(f"There are too few prompts of at most {room} tokens: no answer fits behind the others.")
        return lambda draw: draw.choice(short)

    write_text(lab.target, lab.eos, folder, tokens, asked, ANSWER, seed, say)


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
    answered = np.concatenate([answers.answer(i) for i in range(len(answers))])
    counts = np.bincount(answered, minlength=vocab_size).astype(float)
    counts[list(known)] += 0.5
    counts[[i for i in tokenizer.all_special_ids if i < vocab_size]] = np.inf
    return torch.from_numpy(np.sort(np.argsort(-counts, kind="stable")[: min(FREQUENT, vocab_size)]))


def trainer_of(
    name: str,
    target: ReferenceModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    seed: int = 0,
    start: Path | None = None,
    say: Say = silent,
) -> Trainer:
    """A trainer of a student on the answers in `folder`; it goes on from its checkpoint there.

    Args:
        start: a folder of weights that a student without a checkpoint begins with, instead of parts of the target.
    """
    answers, held = (read_answers(folder / side, target) for side in (LEARNED, HELD_OUT))
    if not answers or not held:
        raise LabError(f"There is no text in {folder}: let the target write some first.")
    torch.manual_seed(seed)
    for p in target.hf.parameters():
        p.requires_grad_(False)
    kept = read_checkpoint(folder / f"{name}.pt")
    # More text may have been written since the checkpoint; its head stays as it was.
    begun = trained.load_net(name, target, start) if start else None
    known = begun.head.ids.tolist() if begun else ()
    ids = kept["ids"] if kept else frequent_ids(answers, tokenizer, target.vocab_size, known)
    net = KINDS[name].net(target.hf, ids).float()  # half precision would lose the small steps of training
    if begun and not kept:
        net.load_state_dict(begun.state_dict())
    trainer = Trainer(net, Batches(target, answers, held, net.depths), seed=seed)
    trainer.before = trained.about(name, start)["training_tokens"] if start else 0
    if kept:
        trainer.restore(kept)
        say(f"Going on from {trainer.tokens / 1e6:.2f} M tokens.")
    if not trainer.history:  # where it begins
        trainer.evaluate()
    return trainer


def export(trainer: Trainer, name: str, path: Path, **more: object) -> None:
    """Write the student's weights as a drafter loads them, with what the model card says of it, and `more`."""
    target, learned = trainer.batches.target, trainer.batches.learned
    card = {
        "drafter": name,
        "target": target.name,
        **dict(zip(("hidden_size", "layers", "vocab_size"), trained.shape(target))),
        "training_tokens": trainer.before + trainer.tokens,
        "text_precision": learned.precision.split(", "),
        "held_out": trainer.history[-1]["steps"],
        "licence": "Apache-2.0",
    }
    trained.save_net(trainer.net, path, card | more)
