"""The drafters that this project trains: their nets by name, and their weights on disk."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from specdec_lab.drafters.base import Drafter
from specdec_lab.drafters.eagle import EagleDrafter, EagleNet
from specdec_lab.drafters.early_exit import EarlyExitDrafter, EarlyExitNet
from specdec_lab.drafters.medusa import MedusaDrafter, MedusaNet
from specdec_lab.drafters.model import ModelDrafter
from specdec_lab.drafters.small import DraftNet
from specdec_lab.errors import LabError
from specdec_lab.models.reference import ReferenceModel

WEIGHTS = Path(__file__).parents[1] / "weights"


@dataclass(frozen=True)
class Kind:
    """net(target, ids) makes a student; drafter(net) drafts with it."""

    net: Callable[..., nn.Module]
    drafter: Callable[[nn.Module], Drafter]


def draft_model(net: DraftNet) -> ReferenceModel:
    return ReferenceModel(net.llama, "the course's draft model")


KINDS = {
    "model": Kind(DraftNet, lambda net: ModelDrafter(draft_model(net))),
    "medusa": Kind(MedusaNet, MedusaDrafter),
    "eagle": Kind(EagleNet, EagleDrafter),
    "early-exit": Kind(EarlyExitNet, EarlyExitDrafter),
}


def save_net(net: nn.Module, path: Path, about: dict) -> None:
    """Write what was trained, matrices in 8 bits (a scale for each output), and what is known `about` it."""
    tensors = {"ids": net.head.ids.to(torch.int32).cpu()}
    for name, value in net.state_dict().items():
        if value.dim() == 2:
            scale = value.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
            tensors[f"{name}.scale"] = scale.float().cpu()
            value = (value / scale).round().to(torch.int8)
        else:
            value = value.float()
        tensors[name] = value.cpu().contiguous()
    save_file(tensors, path, metadata={"about": json.dumps(about)})


def load_net(name: str, target: ReferenceModel, folder: Path = WEIGHTS) -> nn.Module:
    """The trained net of that name, sharing embeddings and head with `target`.

    Raises:
        LabError: when there are no weights, or they were trained for a target of another shape.
    """
    path = folder / f"{name}.safetensors"
    if not path.exists():
        raise LabError(
            f"There are no weights for the drafter “{name}” in {folder}: train it with `specdec-lab train {name}`"
            + (", or name a draft model with --draft." if name == "model" else ".")
        )
    with safe_open(path, "pt") as f:
        stored = {key: f.get_tensor(key) for key in f.keys()}  # noqa: SIM118
        about = json.loads(f.metadata()["about"])
    size = target.hf.config.hidden_size
    if about["hidden_size"] != size or target.hf.config.model_type != "llama":
        raise LabError(
            f"The drafter “{name}” was trained for {about['target']} and cannot draft for {target.name}: "
            f"train one for it with `specdec-lab train {name}`, name a draft model with --draft, or use lookup."
        )
    net = KINDS[name].net(target.hf, stored.pop("ids").long())
    weights: dict[str, Tensor] = {}
    for key, value in stored.items():
        if not key.endswith(".scale"):
            weights[key] = value.float() * stored[f"{key}.scale"] if value.dtype == torch.int8 else value
    net.load_state_dict(weights)
    return net.eval().requires_grad_(False)


def untrained_net(target: ReferenceModel, folder: Path = WEIGHTS) -> DraftNet:
    """The draft model as it was before its training, the target's first two layers: the course's useless draft."""
    with safe_open(folder / "model.safetensors", "pt") as f:
        ids = f.get_tensor("ids").long()
    return DraftNet(target.hf, ids).eval().requires_grad_(False)
