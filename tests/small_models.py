"""Small random models of three architectures, in both backends.

A "replayed" model is the fast one as it runs on a GPU, with its passes recorded (by a stand-in, see `tape`).
"""

import torch
from graph_tape import Tape
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

from specdec_lab.models.base import Cached
from specdec_lab.models.fast import FastModel
from specdec_lab.models.reference import ReferenceModel

V = 11
SMALL = {"vocab_size": V, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1}
LLAMA = SMALL | {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
HF = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**LLAMA)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**LLAMA)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(**SMALL, n_embd=32, n_layer=3, n_head=4, n_positions=64)),
}
KINDS = (*HF, "fast llama", "fast qwen2", "replayed llama", "replayed qwen2")


def make(kind: str, seed: int = 0) -> ReferenceModel:
    torch.manual_seed(seed)
    hf = HF[kind.split()[-1]]().double()
    for name, p in hf.named_parameters():
        if p.dim() > 1:  # larger than a usual start, so that a wrong cache shows
            p.data.mul_(4)
        elif "norm" in name or "bias" in name:  # and not all the same, so that a forgotten one shows
            p.data.add_(torch.randn(p.shape, dtype=p.dtype), alpha=0.3)
    model = (FastModel if kind.startswith(("fast", "replayed")) else ReferenceModel)(hf, f"{kind}-{seed}")
    if kind.startswith("replayed"):
        model.capture = Tape
    return model


def near(model: ReferenceModel) -> dict:
    """`transformers` takes its norms in float32, whatever the model is in; the fast backend does not."""
    return {"atol": 1e-4, "rtol": 1e-4} if isinstance(model, FastModel) else {"atol": 1e-10}


def text(n: int, seed: int = 0) -> list[int]:
    return torch.randint(0, V, (n,), generator=torch.Generator().manual_seed(seed)).tolist()


@torch.no_grad()
def uncached(model: ReferenceModel, tokens: list[int]) -> torch.Tensor:
    """[len(tokens), V] by `transformers` itself, without any cache."""
    return model.hf(torch.tensor([tokens]), use_cache=False).logits[0]


def check_pass(cached: Cached, *texts: list[int]) -> None:
    """Extend a cache, which holds the beginnings of these texts, by the rest: rows as `transformers` has without one."""
    model, held = cached.model, list(cached.lengths)
    rows = cached.extend([tokens[n:] for tokens, n in zip(texts, held, strict=True)]).logits
    for row, tokens, n in zip(rows, texts, held):
        assert torch.allclose(row[: len(tokens) - n], uncached(model, tokens)[n:], **near(model))
