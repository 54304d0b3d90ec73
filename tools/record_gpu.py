"""Record what a GPU does, for the lessons to show beside the learner's own numbers: `python tools/record_gpu.py`.

It takes some minutes, and writes specdec_lab/data/gpu.json: {"hardware", "torch", "passes": {model: {k: seconds}}, "steps":
{model: {[texts, γ]: seconds}}, "texts" (greedy) and "sampled" (temperature 1): {model: {"texts", "tokens_per_second" by arm,
and of greedy ones "same", how many are plain decoding's}}}.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import specdec_lab as sd
from specdec_lab.engine.decode import Keep
from specdec_lab.lab import Lab
from specdec_lab.measure.costs import batch_costs, pass_times
from specdec_lab.measure.prompts import first_of_each_kind, read_prompts
from specdec_lab.measure.results import folder
from specdec_lab.models import fast
from specdec_lab.models.base import Model
from specdec_lab.models.hardware import describe
from specdec_lab.models.load import wrapped

sys.path.append(str(Path(__file__).parent / "peers"))
from hf_generate import hf_arms

WIDTHS = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
GAMMAS = (0, 1, 2, 4)
DRAFTERS = ("lookup", "model", "eagle", "early-exit", "eagle-tree")
GAMMA = 4
NOISE = (  # of 1.2 and of 8 billion weights
    {"hidden_size": 2048, "num_hidden_layers": 16, "intermediate_size": 8192, "num_attention_heads": 32},
    {"hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336, "num_attention_heads": 32},
)
TEXT = "The river rises in the mountains, and where it meets the sea there is a city. " * 4


def digits(x: float) -> float:
    """Those that count."""
    return float(f"{x:.4g}")


def noise_llama(shape: dict[str, int], device: torch.device) -> Model:
    """A Llama with random weights: its text is noise, its timing is real."""
    more = {"num_key_value_heads": 8, "vocab_size": 128_256, "max_position_embeddings": 4096}
    config = LlamaConfig.from_dict({**shape, **more, "tie_word_embeddings": True})
    with device:
        hf = LlamaForCausalLM._from_config(config, dtype=torch.bfloat16)
    weights = sum(p.numel() for p in hf.parameters())
    return wrapped(hf.eval(), f"{config.num_hidden_layers} layers, {weights / 1e6:,.1f} million random weights")


def passes(model: Model) -> dict[int, float]:
    """T(k) in seconds, of captured passes only: all others are a matter of starting operations."""
    return {k: digits(statistics.median(seconds)) for k, seconds in pass_times(model, WIDTHS).items()}


def steps(*args, **settings) -> dict[str, float]:
    """Seconds of steps of a batch, by [texts, γ]."""
    costs = batch_costs(*args, SIZES, GAMMAS, **settings)
    return {json.dumps(key): digits(seconds) for key, seconds in costs.items()}


def texts(lab: Lab, temperature: float, peers: bool) -> dict:
    """Texts of plain decoding, of each drafter and of peers, in turns: how fast; greedy ones, how many are plain's."""
    prompts = first_of_each_kind(read_prompts(), 2)
    same, seconds, tokens = {}, {}, {}
    theirs = hf_arms(lab, GAMMA) if peers else {}
    for seed, p in enumerate(prompts):
        ids, found = lab.encode(p.content, p.raw), {}
        settings = {"max_new_tokens": 96, "temperature": temperature, "seed": seed}
        found["plain"] = lab.plain(ids, **settings)
        for name in DRAFTERS:
            found[name] = lab.speculative(ids, name, gamma=GAMMA, keep=Keep(), **settings)
        found |= {name: arm(ids, **settings) for name, arm in theirs.items()}
        for arm, text in found.items():
            same[arm] = same.get(arm, 0) + (text.tokens == found["plain"].tokens)
            seconds[arm] = seconds.get(arm, 0) + text.seconds
            tokens[arm] = tokens.get(arm, 0) + len(text.tokens)
    speeds = {"tokens_per_second": {arm: digits(tokens[arm] / seconds[arm]) for arm in tokens}}
    return {"texts": len(prompts), **speeds, **({} if temperature else {"same": same})}


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    fast.MAX_KEPT_ROWS = max(WIDTHS)
    device, found = torch.device("cuda"), {"passes": {}, "steps": {}, "texts": {}, "sampled": {}}
    for dtype in ("bfloat16", "float32"):
        lab = sd.load(device="cuda", dtype=dtype)
        name = f"{lab.target.name}, {dtype}"
        found["passes"][name] = passes(lab.target)
        found["texts"][name] = texts(lab, 0, peers=dtype == "bfloat16")
        found["sampled"][name] = texts(lab, 1, peers=False)
        found["steps"][name] = steps(lab.target, lab.encode(TEXT))
        found["steps"][f"{name}, eagle"] = steps(lab.target, lab.encode(TEXT), drafter=lab.drafter("eagle"))
    for shape in NOISE:
        model = noise_llama(shape, device)
        found["passes"][model.name] = passes(model)
        found["steps"][model.name] = steps(model, list(range(100, 260)))
    result = {"schema": 1, "hardware": describe(device), "torch": torch.__version__, **found}
    Path(folder().parent, "gpu.json").write_text(json.dumps(result) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
