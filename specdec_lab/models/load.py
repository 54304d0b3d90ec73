"""Loading: a name becomes a model on a device; a pair is checked to speak one vocabulary."""

import os
import re
from contextlib import suppress
from pathlib import Path

import huggingface_hub as hub
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from specdec_lab.choices import DTYPES, EMBEDDED
from specdec_lab.errors import LabError, Say, explain_memory, say_if_slow, silent
from specdec_lab.formats import first_line
from specdec_lab.models.embedded import NAME, target_dir
from specdec_lab.models.fast import FastModel, supports
from specdec_lab.models.hardware import give_memory_back
from specdec_lab.models.reference import Loaded, ReferenceModel


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
    """auto means float32 on a CPU, bfloat16 on a GPU that has it, else float16. Beside int4 weights all is bfloat16.

    Raises:
        LabError: for another number format, and for int4 on a GPU.
    """
    if name not in DTYPES:
        raise LabError(f"There is no number format “{name}”: choose {', '.join(DTYPES[:-1])} or {DTYPES[-1]}.")
    if name == "int4":
        if device.type != "cpu":
            raise LabError(f"Weights in 4 bits are written for a CPU, not for {device.type}: use --device cpu.")
        return torch.bfloat16
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
        dtype: see `pick_dtype`. With "int4" the model runs from the numbers that its file stores (see `linear`).
        backend: "reference" runs `transformers`, "fast" what `models.fast` writes out (a second
            copy of the weights in memory); auto is fast wherever that is written for.

    Raises:
        LabError: unknown name, no network, not enough memory, unsuitable architecture.
    """
    if backend not in ("auto", "fast", "reference"):
        raise LabError(f"There is no backend “{backend}”: choose auto, fast or reference.")
    device = pick_device(device) if isinstance(device, str) else device
    source, shown = (target_dir(say), NAME) if name == EMBEDDED else (name, name)
    folder = Path(source) if Path(source).is_dir() else None
    if not folder:
        say(f"Looking for {name} in the local cache and on the hub …")
    logging.disable_progress_bar()
    with explain_memory(f"load {shown}", "close some programs, or choose a smaller model or another device"):
        stored, torch_dtype = dtype == "int4", pick_dtype(dtype, device)
        try:
            if folder and name != EMBEDDED:
                check_folder(folder)
            with say_if_slow(silent if folder else say, "The hub does not answer yet: still waiting …", 10):
                here = {"local_files_only": bool(folder), "trust_remote_code": False}
                tokenizer = AutoTokenizer.from_pretrained(source, **here)
            hf = from_pretrained(source, torch.float32 if stored else torch_dtype, shown, say).to(device)
            if getattr(hf.config, "auto_map", None):
                say(f"{name} comes with code of its own, which is not run: transformers' own is.")
            model = wrapped(hf, shown, backend, say, stored)
        except (LabError, MemoryError, torch.OutOfMemoryError):
            raise
        # Whatever a damaged folder makes of other libraries: they raise errors of every kind.
        except Exception as e:
            if isinstance(e, RuntimeError) and "memory" in str(e):
                raise  # the CPU's allocator; see explain_memory
            if refusal(e):
                with suppress(LabError, OSError):  # what an earlier run fetched, asking nobody
                    config = hub.hf_hub_download(name, "config.json", local_files_only=True)
                    found = load_model(os.path.dirname(config), device, say, dtype, backend)
                    say(f"{why_not(name, source, e)} The files that are on this machine are used.")
                    found[0].name = name
                    return found
            raise LabError(why_not(name, source, e)) from e
    give_memory_back()
    return model, tokenizer


def from_pretrained(source: str | Path, dtype: torch.dtype, name: str, say: Say = silent) -> Loaded:
    """The model that transformers reads.

    Raises:
        LabError: as `check_weights`.
    """
    told = logging.get_verbosity()
    logging.set_verbosity_error()  # instead of a table of what is missing, a sentence is told
    try:
        hf, info = AutoModelForCausalLM.from_pretrained(  # pyright: ignore[reportGeneralTypeIssues] - a pair
            source,
            dtype=dtype,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # `check_weights` does not
            local_files_only=Path(source).is_dir(),
        )
    finally:
        logging.set_verbosity(told)
    check_weights(hf, info, name, say)
    return hf


def check_weights(hf: PreTrainedModel, info: dict, name: str, say: Say) -> None:
    """Look at what was read: transformers draws weights that a file lacks at random, and drops those it does not know.

    Args:
        info: what transformers says about it.

    Raises:
        LabError: naming the first weight that is missing; or that was dropped, though the model has a part for it.
    """
    parts = {without_numbers(key) for key, _ in hf.named_parameters()}
    missing, unknown = sorted(info["missing_keys"]), sorted(info["unexpected_keys"])
    wrong = {
        "no weight “{}”": missing,
        "a weight “{}” of another size than its config.json says": sorted(key for key, *_ in info["mismatched_keys"]),
        "a weight “{}” that its config.json has no place for": [x for x in unknown if without_numbers(x) in parts],
    }
    for what, keys in wrong.items():
        if keys:
            there = f"; there is “{unknown[0]}”" if keys is missing and unknown else ""
            mend = "get its files anew, or mend its config.json or the names of its weights"
            raise LabError(f"{name} has {what.format(keys[0])}{there}. Nothing is made up here: {mend}.")
    if unknown:
        say(f"{name} holds weights that are no part of the model, and are left out, such as “{unknown[0]}”.")


def without_numbers(key: str) -> str:
    """The part that a weight belongs to, the same in all layers."""
    return re.sub(r"\d+", "*", key.rpartition(".")[0])


REFUSALS = {  # by what the hub answers, what one does
    hub.errors.GatedRepoError: "ask for access on https://huggingface.co/{}, and log in with  hf auth login",
    hub.errors.RepositoryNotFoundError: "check the name; a private one wants that you log in with  hf auth login",
    hub.errors.HfHubHTTPError: "try again later",
}


def refusal(e: BaseException | None) -> hub.errors.HfHubHTTPError | None:
    """What the hub answered, where that is behind another library's error."""
    while e and (not isinstance(e, hub.errors.HfHubHTTPError) or isinstance(e, hub.errors.EntryNotFoundError)):
        e = e.__cause__ or e.__context__
    return e


def why_not(name: str, source: str | Path, e: Exception) -> str:
    """A sentence on a model that does not load."""
    if "trust_remote_code" in str(e):
        return (
            f"{name} comes with code of its own, and code of others is not run here: choose a model that transformers "
            "knows, such as Llama, Qwen2 or SmolLM2."
        )
    if refused := refusal(e):
        status, headers = refused.response.status_code, refused.response.request.headers
        mend = next(said for kind, said in REFUSALS.items() if isinstance(refused, kind)).format(name)
        if "authorization" in headers and (status == 401 or (status == 403 and name not in mend)):
            mend = "it does not take your token: log in anew with  hf auth login, or unset HF_TOKEN"
        return f"The hub does not give the model “{name}” (status {status}): {mend}."
    if name == EMBEDDED:
        return f"The cached target in {source} does not load ({first_line(e)}): delete that folder and run again."
    like_a_hub_name = name.count("/") == 1 and not name.startswith((".", "/", "~"))
    if Path(name).exists() or (os.sep in name and not like_a_hub_name):
        return f"No causal language model can be read from the folder {name}: {first_line(e)}."
    return (
        f"The model “{name}” cannot be loaded: check the name, and the network if it is not on this machine yet "
        f"({first_line(e)})."
    )


def check_folder(folder: Path) -> None:
    """Look for what transformers would describe in words of its own, or not at all.

    Raises:
        LabError: for a folder that it has not saved, and for weights that were not fetched.
    """
    if not (folder / "config.json").is_file():
        raise LabError(
            f"There is no config.json in {folder}: transformers saved no model there. (A GGUF file is converted once: "
            "AutoModelForCausalLM.from_pretrained(folder, gguf_file=…), then save_pretrained; the tokenizer likewise.)"
        )
    for path in folder.glob("*.safetensors"):
        with path.open("rb") as file:
            if file.read(99).startswith(b"version https://git-lfs"):
                raise LabError(f"{path} is a pointer of Git LFS, and no weights: run  git lfs pull  in that folder.")


def wrapped(
    hf: PreTrainedModel, name: str, backend: str = "auto", say: Say = silent, four_bits: bool = False
) -> ReferenceModel:
    """A loaded `transformers` model behind a backend (see `load_model`), checked with a short text.

    Args:
        four_bits: run from the numbers of 4 bits that the weights of `hf`, in float32, were made from.

    Raises:
        LabError: when the backend does not compute what the model does, or is not written for such a model.
    """
    fast = backend != "reference" and supports(hf)
    if four_bits and not fast:
        raise LabError(f"Weights in 4 bits need the fast backend, which does not run {name}: use --dtype float32.")
    if backend == "fast" and not fast:
        kind = f"{hf.config.model_type} models on {hf.device.type}"
        raise LabError(f"The fast backend does not know {kind}: use --backend reference.")
    if hf.device.type == "cuda":
        # cuDNN's attention plans anew for each length of a text: 0.4 s each on a B200 (FunASR's issue 3704).
        torch.backends.cuda.enable_cudnn_sdp(False)
    if fast:
        model = FastModel(hf, name, four_bits=four_bits)
        try:
            with say_if_slow(say, "Compiling what runs between the products, once for this processor …", 3):
                model.check()
            return model
        except LabError:
            if backend == "fast" or four_bits:
                raise
            say(f"{name} differs from what the fast backend writes out: transformers' own pass is used, a slower one.")
    model = ReferenceModel(hf, name)
    model.check()
    return model


def eos_of(model: ReferenceModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The ids that end a text: the tokenizer's, and those that the model's makers set for generation."""
    also = model.hf.generation_config.eos_token_id if model.hf.generation_config else None
    ids = also if isinstance(also, list) else [also]
    return frozenset(i for i in (tokenizer.eos_token_id, *ids) if isinstance(i, int))


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
        f"The draft does not speak the target's vocabulary ({differing} of {len(ours)} tokens differ, first "
        f"“{example[1]}” at id {example[0]}): choose a draft from the target's own model family."
    )
