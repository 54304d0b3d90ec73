"""Tiny models on disk, each with its tokenizer; one has a chat template, and can write text to learn from."""

from collections.abc import Sequence

import torch
from small_models import LLAMA
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from specdec_lab.errors import silent
from specdec_lab.train import own
from specdec_lab.train.loop import Trainer

SMALL = 13, 28  # tokens of a prompt, and of an answer, at most
WORDS = ["<end>", "<turn>", "system", "user", "assistant", "a", "b", "c", "d", "e", "f", "g"]
SENTENCE = ["<end>", "the", "cat", "sat", "on", "a", "mat", "."]
TEMPLATE = (
    "{% for m in messages %}<turn> {{ m['role'] }} {{ m['content'] }} <end> {% endfor %}"
    "{% if add_generation_prompt %}<turn> assistant {% endif %}"
)


def tokenizer_of(words: list[str], special: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """A token for each word."""
    core = Tokenizer(WordLevel({w: i for i, w in enumerate(words)}, unk_token="<end>"))
    core.pre_tokenizer = Whitespace()
    core.add_special_tokens(["<end>", *special])
    names = {"eos_token": "<end>", "unk_token": "<end>", "additional_special_tokens": list(special)}
    return PreTrainedTokenizerFast(tokenizer_object=core, **names)


def save_writer(path) -> str:
    """Three layers that are far from random: the next token depends mostly on the last one."""
    torch.manual_seed(0)
    hf = LlamaForCausalLM(LlamaConfig(**{**LLAMA, "vocab_size": len(WORDS), "max_position_embeddings": 512}))
    for p in hf.parameters():
        p.data.mul_(6) if p.dim() > 1 else None
    hf.save_pretrained(path)
    tokenizer = tokenizer_of(WORDS, ["<turn>"])
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(path)
    return str(path)


def save(folder, words=SENTENCE, seed=0) -> str:
    """A tiny model and tokenizer on disk, as a hub folder holds them."""
    torch.manual_seed(seed)
    size = {"vocab_size": len(words), "num_hidden_layers": 2, "num_key_value_heads": 4}
    LlamaForCausalLM(LlamaConfig(**LLAMA | size | {"eos_token_id": 0, "pad_token_id": None})).save_pretrained(folder)
    tokenizer_of(words).save_pretrained(folder)
    return str(folder)


def train_on(name, target, tokenizer, folder, tokens, start=None, say=silent, evaluated=silent) -> Trainer:
    """A student that has learned from the answers in `folder`; it goes on from a checkpoint there."""
    trainer = own.trainer_of(name, target, tokenizer, folder, start=start, say=say)
    trainer.run(own.stages(name, tokens, bool(start)), folder / f"{name}.pt", say=say, evaluated=evaluated)
    return trainer
