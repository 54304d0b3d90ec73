"""The same prompts through `transformers`' own `generate`.

Its weights, its loop, its defaults; only the text's length, its end and the sampling are ours.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from export import plain_draft
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList

from specdec_lab.clock import read_clock
from specdec_lab.errors import LabError, Say, silent
from specdec_lab.formats import first_line
from specdec_lab.lab import Lab
from specdec_lab.models.base import Model


@dataclass(frozen=True)
class Generated:
    """One text of a peer. seconds: without the prefill; target_passes: all calls of the target."""

    tokens: list[int]
    seconds: float
    target_passes: int


class _Clock(StoppingCriteria):
    """`generate` asks it after every round whether to stop: it notes the time, and never stops anything."""

    def __init__(self, model: Model):
        self.model = model
        self.rounds: list[tuple[int, float]] = []  # (length of the text, when)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **kwargs) -> torch.Tensor:
        if not self.rounds:  # the prompt has been read, once the device has done it
            self.model.synchronize()
        self.rounds.append((input_ids.shape[1], read_clock()))
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)


def hf_arms(lab: Lab, gamma: int, say: Say = silent) -> dict[str, Callable[..., Generated]]:
    """The arms by name; each takes token ids and the settings of `Lab.settings`.

    hf-plain decodes token by token, hf-assisted drafts with the course's draft model (or that of
    --draft) as a plain Llama, hf-lookup copies γ tokens from the prompt. Without a draft model,
    hf-assisted is left out, and so is each that transformers itself cannot run with this pair.
    """

    def arm(**options) -> Callable[..., Generated]:
        return lambda ids, **settings: generate(lab, ids, options, **settings)

    arms = {"hf-plain": arm()}
    try:
        arms["hf-assisted"] = arm(assistant_model=plain_draft(lab))
    except LabError as e:
        say(f"hf-assisted is left out: {e}")
    arms["hf-lookup"] = arm(prompt_lookup_num_tokens=gamma)
    return {name: made for name, made in arms.items() if runs(name, made, say)}


def runs(name: str, arm: Callable[..., Generated], say: Say) -> bool:
    """Whether transformers can do it with this pair, on a short text; where not, that is said."""
    try:
        arm([0, 1, 0, 1, 0, 1], max_new_tokens=4)
    except Exception as e:  # of every kind: it is another library's program
        say(f"{name} is left out: transformers cannot run it with this pair ({type(e).__name__}: {first_line(e)}).")
        return False
    return True


def generate(
    lab: Lab,
    ids: Sequence[int],
    options: dict,
    *,
    temperature: float = 0.0,
    max_new_tokens: int = 64,
    seed: int = 0,
    request: int = 0,
) -> Generated:
    """One text by `generate`.

    The clock starts when the first tokens are there, and the time of the others is scaled up to
    the whole text: our own times leave out the prefill too.
    """
    hf = lab.target.hf
    sampling = {"do_sample": True, "temperature": temperature, "top_k": 0} if temperature > 0 else {"do_sample": False}
    ends = {"eos_token_id": sorted(lab.eos), "pad_token_id": min(lab.eos)} if lab.eos else {"pad_token_id": 0}
    config = GenerationConfig(max_new_tokens=max_new_tokens, **ends, **sampling)
    clock, calls = _Clock(lab.target), []
    hook = hf.register_forward_hook(lambda *_: calls.append(1))
    # What is not set here `generate` takes from the model's own settings, a penalty for example, which ours does not have.
    own, hf.generation_config = getattr(hf, "generation_config", None), GenerationConfig()
    torch.manual_seed(seed + request)
    text = torch.tensor([list(ids)], device=hf.device)
    try:
        out = hf.generate(
            text,
            attention_mask=torch.ones_like(text),
            generation_config=config,
            stopping_criteria=StoppingCriteriaList([clock]),
            **options,
        )
        lab.target.synchronize()
    finally:
        hook.remove()
        hf.generation_config = own
    tokens = out[0, len(ids) :].tolist()
    first, since = clock.rounds[0]
    rest = len(ids) + len(tokens) - first
    seconds = (read_clock() - since) * len(tokens) / rest if rest else 0.0
    return Generated(tokens, seconds, len(calls))
