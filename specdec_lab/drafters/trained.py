"""The drafters that this project trains: their nets by name, and their weights on disk."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from specdec_lab.drafters.eagle import EagleDrafter, EagleNet
from specdec_lab.drafters.early_exit import EarlyExitDrafter, EarlyExitNet
from specdec_lab.drafters.medusa import MedusaDrafter, MedusaNet
from specdec_lab.drafters.model import DraftNet, ModelDrafter
from specdec_lab.drafters.student import Student
from specdec_lab.engine.drafter import Drafter
from specdec_lab.errors import LabError
from specdec_lab.files import written_whole
from specdec_lab.models.fast import FastModel
from specdec_lab.models.hardware import give_memory_back
from specdec_lab.models.linear import draft_product
from specdec_lab.models.reference import ReferenceModel

WEIGHTS = Path(__file__).parents[1] / "weights"
BLOCK = 64  # weights that share a scale


@dataclass(frozen=True)
class Kind:
    """net(target, ids) makes a student; drafter(net) drafts with it."""

    net: Callable[..., Student]
    drafter: Callable[..., Drafter]


def draft_model(net: Student) -> FastModel:
    """The course's draft model as one that can decode."""
    return FastModel(net.llama, "the course's draft model", draft_product)


KINDS = {
    "model": Kind(DraftNet, lambda net: ModelDrafter(draft_model(net))),
    "medusa": Kind(MedusaNet, MedusaDrafter),
    "eagle": Kind(EagleNet, EagleDrafter),
    "early-exit": Kind(EarlyExitNet, EarlyExitDrafter),
}


def save_net(net: Student, path: Path, about: dict) -> None:
    """Write what was trained to `path`, and as JSON in the same file what is known `about` it.

    Matrices in 8 bits, with a scale for each BLOCK of a row: EAGLE's `fuse` has weights of very
    different sizes side by side, and one scale a row would round the small ones away.
    """
    tensors = {"ids": net.head.ids.to(torch.int32).cpu()}
    for name, value in net.state_dict().items():
        if value.dim() == 2:
            blocks = value.float().cpu().unflatten(1, (-1, math.gcd(value.shape[1], BLOCK)))
            scale = blocks.abs().amax(2, keepdim=True).clamp(min=1e-6) / 127
            tensors[f"{name}.scale"] = scale.half()
            tensors[name] = (blocks / scale.half().float()).round().clamp(-127, 127).to(torch.int8)
        else:
            tensors[name] = value.float().cpu()
    with written_whole(path) as unfinished:
        save_file({k: v.contiguous() for k, v in tensors.items()}, unfinished, metadata={"about": json.dumps(about)})


def load_drafter(name: str, target: ReferenceModel, folder: Path = WEIGHTS) -> Drafter:
    """A trained drafter by name; or "untrained", the draft model as it was before: the course's useless draft."""
    if name == "untrained":
        ids = read_weights("model", target, folder)["ids"].long()
        kind, net = KINDS["model"], DraftNet(target.hf, ids).requires_grad_(False)
    else:
        kind, net = KINDS[name], load_net(name, target, folder)
    drafter = kind.drafter(net)
    if isinstance(net, DraftNet | EagleNet):  # it drafts on weights of its own, and the net learns no further
        net.llama.model.layers = nn.ModuleList()
    give_memory_back()
    return drafter


def load_net(name: str, target: ReferenceModel, folder: Path = WEIGHTS) -> Student:
    """The trained net of that name, sharing embeddings and head with `target`."""
    stored = read_weights(name, target, folder)
    net = KINDS[name].net(target.hf, stored.pop("ids").long())
    weights: dict[str, Tensor] = {}
    try:
        for key, value in stored.items():
            if value.dtype == torch.int8:
                weights[key] = (value.float() * stored[f"{key}.scale"].float()).flatten(1)
            elif not key.endswith(".scale"):
                weights[key] = value
        if different := set(weights) ^ set(net.state_dict()):
            raise LabError(
                f"The weights of “{name}” in {folder} are of another design than today's (they differ in “"
                f"{min(different)}”): train it again with `specdec-lab train {name}`."
            )
        net.load_state_dict(weights)
    except (
        RuntimeError,
        IndexError,
        KeyError,
    ) as e:  # another shape, though the same sizes; or numbers without a scale
        raise LabError(f"The weights of “{name}” in {folder} do not fit {target.name}: train it again.") from e
    return net.eval().requires_grad_(False)


def read_weights(name: str, target: ReferenceModel, folder: Path) -> dict[str, Tensor]:
    """The stored tensors by name, after a check that they were trained for a target like this one."""
    path = folder / f"{name}.safetensors"
    mend = f"train it with `specdec-lab train {name}`, name a draft model with --draft, or use the drafter lookup."
    if not path.is_file():
        raise LabError(f"There are no weights for the drafter “{name}” in {folder}: {mend}")
    try:
        with safe_open(path, "pt") as f:
            stored = {key: f.get_tensor(key) for key in f.keys()}  # noqa: SIM118
            about = json.loads(f.metadata()["about"])
            was_for, name_of = (about["hidden_size"], about["layers"], about["vocab_size"]), about["target"]
            largest = int(stored["ids"].max())
    except (SafetensorError, OSError, RuntimeError, TypeError, KeyError, ValueError) as e:
        raise LabError(f"The weights in {path} cannot be read ({type(e).__name__}): {mend}") from e
    if was_for != shape(target) or largest >= target.vocab_size:
        raise LabError(f"The drafter “{name}” was trained for {name_of}, not for {target.name}: {mend}")
    return stored


def about(name: str, folder: Path = WEIGHTS) -> dict:
    """What is known about the weights of a drafter (see `train.own.export`), and their size in MB."""
    path = folder / f"{name}.safetensors"
    with safe_open(path, "pt") as f:
        return json.loads(f.metadata()["about"]) | {"megabytes": path.stat().st_size / 1e6}


def shape(target: ReferenceModel) -> tuple[int, int, int]:
    """(H, layers, V) of a target: what the weights of a drafter must agree with."""
    return target.hf.config.hidden_size, target.layers, target.vocab_size
