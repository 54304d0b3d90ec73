"""Loading: a name becomes a model on a device; a pair is checked to speak one vocabulary."""

import os
from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from specdec_lab.choices import EMBEDDED
from specdec_lab.errors import LabError, explain_memory
from specdec_lab.models.embedded import NAME, target_dir
from specdec_lab.models.fast import FastModel, supports
from specdec_lab.models.hardware import give_memory_back
from specdec_lab.models.packed import shared_products
from specdec_lab.models.reference import ReferenceModel
from specdec_lab.say import Say, silent


def pick_device(name: str = "auto") -> torch.device:
    """auto means CUDA, else MPS, else CPU.

    Raises:
        LabError: for a device that this machine does not have.
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, here in there.items() if here))
    if name not in there:
        raise LabError(f"There is no device “{name}”: choose auto, cpu, cuda or mps.")
    if not there[name]:
        raise LabError(f"This machine has no {name} device that torch can use: choose auto or cpu.")
    return torch.device(name)


def pick_dtype(name: str, device: torch.device) -> torch.dtype:
    """auto means float32 on a CPU (exact, and bf16 is slow there), bfloat16 on a GPU that has it, else float16.

    Raises:
        LabError: for a number format other than float32, bfloat16 and float16.
    """
    if name not in ("auto", "float32", "bfloat16", "float16"):
        raise LabError(f"There is no number format “{name}”: choose auto, float32, bfloat16 or float16.")
    if name != "auto":
        return getattr(torch, name)
    if device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False):
        return torch.bfloat16
    return torch.float32 if device.type == "cpu" else torch.float16


def load_model(
    name: str = EMBEDDED,
    device: torch.device | str = "auto",
    say: Say = silent,
    dtype: str = "auto",
    backend: str = "auto",
) -> tuple[ReferenceModel, PreTrainedTokenizerBase]:
    """A causal language model and its tokenizer, by hub name, by path, or the embedded one.

    Args:
        backend: "reference" runs `transformers`, "fast" what `models.fast` writes out (a second
            copy of the weights in memory); auto is fast wherever that is written for.

    Raises:
        LabError: unknown name, no network, not enough memory, unsuitable architecture.
    """
    if backend not in ("auto", "fast", "reference"):
        raise LabError(f"There is no backend “{backend}”: choose auto, fast or reference.")
    device = pick_device(device) if isinstance(device, str) else device
    source, shown = (target_dir(say), NAME) if name == EMBEDDED else (name, name)
    if name != EMBEDDED and not Path(name).exists():
        say(f"Looking for {name} in the local cache and on the hub …")
    logging.disable_progress_bar()
    with explain_memory(f"load {shown}", "close some programs, or choose a smaller model or another device"):
        try:
            tokenizer = AutoTokenizer.from_pretrained(source)
            dtype = pick_dtype(dtype, device)
            hf = AutoModelForCausalLM.from_pretrained(source, dtype=dtype, attn_implementation="sdpa")
        except (OSError, ValueError, ImportError, SafetensorError) as e:  # ImportError: a quantiser is not installed
            if name == EMBEDDED:
                raise LabError(
                    f"The cached target in {source} does not load ({_first_line(e)}): delete that folder and run again."
                ) from e
            like_a_hub_name = name.count("/") == 1 and not name.startswith((".", "/", "~"))
            if Path(name).exists() or (os.sep in name and not like_a_hub_name):
                raise LabError(f"No causal language model can be read from the folder {name}: {_first_line(e)}.") from e
            raise LabError(
                f"The model “{name}” cannot be loaded: check the name, and the network if it is not on this machine yet ({_first_line(e)})."
            ) from e
        model = wrapped(hf.to(device), shown, backend, Path(source) if name == EMBEDDED else None, say)
    give_memory_back()
    return model, tokenizer


def wrapped(
    hf: PreTrainedModel, name: str, backend: str = "auto", folder: Path | None = None, say: Say = silent
) -> ReferenceModel:
    """A loaded `transformers` model behind a backend (see `load_model`), checked with a short text.

    Args:
        folder: that of the embedded target, whose packed weights are shared (see `packed`).

    Raises:
        LabError: when the backend does not compute what the model does, or is not written for such a model.
    """
    if backend == "fast" and not supports(hf):
        raise LabError(
            f"The fast backend does not know {hf.config.model_type} models on {hf.device.type}: use --backend reference."
        )
    if backend == "reference" or not supports(hf):
        model = ReferenceModel(hf, name)
    else:
        model = FastModel(hf, name, made=shared_products(hf, folder, say) if folder else None)
    if model.device.type == "cuda":
        # cuDNN's attention plans anew for each length of a text: .4 s each on a B200 (FunASR's issue 3704).
        torch.backends.cuda.enable_cudnn_sdp(False)
    model.check()
    return model


def _first_line(e: Exception) -> str:
    """The beginning of another library's message."""
    line = (str(e).strip().splitlines() or [type(e).__name__])[0]
    return line[:150].rstrip(". ")


def eos_of(model: ReferenceModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The ids that end a text: the tokenizer's, and those that the model's makers set for generation."""
    also = model.hf.generation_config.eos_token_id if model.hf.generation_config else None
    ids = also if isinstance(also, list) else [also]
    return frozenset({tokenizer.eos_token_id, *ids} - {None})


def check_same_vocabulary(target: PreTrainedTokenizerBase, draft: PreTrainedTokenizerBase) -> None:
    """A draft's token ids must mean the same text to the target. Equal sizes prove nothing.

    Raises:
        LabError: naming the first token that differs.
    """
    ours, theirs = target.get_vocab(), draft.get_vocab()
    if ours == theirs:
        return
    differing = sum(ours.get(token) != i for token, i in theirs.items()) + sum(t not in theirs for t in ours)
    example = min((i, t) for t, i in (ours.items() ^ theirs.items()))
    raise LabError(
        f"The draft does not speak the target's vocabulary ({differing} of {len(ours)} tokens differ, first “{example[1]}” "
        f"at id {example[0]}): choose a draft from the target's own model family."
    )
