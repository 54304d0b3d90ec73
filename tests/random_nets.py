"""The drafters that are trained, on a small target with random weights; and what they should draw from, without any cache."""

import torch
from small_models import LLAMA
from tiny import SAMPLED
from transformers import LlamaConfig, LlamaForCausalLM

from specdec_lab.drafters import EagleTreeDrafter, HybridDrafter, MedusaTreeDrafter, ModelDrafter
from specdec_lab.drafters.eagle import EagleDrafter, EagleNet
from specdec_lab.drafters.early_exit import EarlyExitDrafter, EarlyExitNet
from specdec_lab.drafters.medusa import MedusaDrafter, MedusaNet
from specdec_lab.drafters.model import DraftNet
from specdec_lab.drafters.trained import draft_model
from specdec_lab.models.reference import ReferenceModel


class RandomTarget(ReferenceModel):
    """A small Llama that also says its probabilities without any cache."""

    def __init__(self, vocab_size: int, dtype: torch.dtype = torch.float64):
        torch.manual_seed(3)
        hf = LlamaForCausalLM(LlamaConfig(**{**LLAMA, "vocab_size": vocab_size})).to(dtype)
        for p in hf.parameters():
            p.data.mul_(4) if p.dim() > 1 else None
        super().__init__(hf.requires_grad_(False), "random")
        self._seen = {}

    def rows(self, text, depths=()) -> torch.Tensor:
        """[len(text), (1 + len(depths)) · H], uncached."""
        key = tuple(text), depths
        if key not in self._seen:
            self._seen[key] = self.cached().extend([list(text)], depths=depths).hidden[0].clone()
        return self._seen[key]

    def probabilities(self, text) -> torch.Tensor:
        return SAMPLED(self.hf.lm_head(self.rows(text)[-1]))


def spread(net, row, width) -> torch.Tensor:
    """q [V] of a guessed row [H]: what the cut head says, zero elsewhere."""
    q = torch.zeros(width, dtype=torch.float64)
    q[net.head.ids] = SAMPLED(net.head(row))
    return q


# For each drafter: the net, and q [V] of the next draft after true text and some drafts, without any cache.


def q_model(target, net, text, drafts):
    logits = draft_model(net).cached().extend([[*text, *drafts]]).hidden[0, -1]
    return spread(net, logits, target.vocab_size)


def q_medusa(target, net, text, drafts):
    guess = net.guess(len(drafts), target.rows(text)[len(text) - 2], torch.tensor(text[-1]))
    return spread(net, guess, target.vocab_size)


def q_early_exit(target, net, text, drafts):
    residual = target.cached().extend([[*text, *drafts]], layers=(0, net.layers)).hidden[0, -1]
    return spread(net, net.guess(residual), target.vocab_size)


def q_eagle(target, net, text, drafts):
    rows, tokens, body = net.joined(target.rows(text, net.depths))[:-1], [*text, *drafts], net.llama.model
    while True:  # the whole layer again for every draft
        x = net.inputs(rows, torch.tensor(tokens[1 : len(rows) + 1]))[None]
        at = torch.arange(x.shape[1])
        y = body.norm(
            body.layers[0](
                x,
                attention_mask=(at[None] <= at[:, None])[None, None],
                position_ids=at[None],
                position_embeddings=body.rotary_emb(x, position_ids=at[None]),
            )
        )
        if len(rows) == len(tokens) - 1:
            return spread(net, y[0, -1], target.vocab_size)
        rows = torch.cat([rows, y[0, -1:]])


def q_hybrid(target, net, text, drafts):
    whole = [*text, *drafts]
    for n in (3, 2):  # the latest place where the text's last tokens stood before
        for end in range(len(text) - 1, n - 1, -1):
            if text[end - n : end] == text[-n:]:
                return torch.eye(target.vocab_size, dtype=torch.float64)[whole[end + len(drafts)]]
    return q_eagle(target, net, text, drafts)


KINDS = {
    "model": (DraftNet, lambda net: ModelDrafter(draft_model(net)), q_model),
    "medusa": (MedusaNet, MedusaDrafter, q_medusa),
    "eagle": (EagleNet, EagleDrafter, q_eagle),
    "early-exit": (lambda target, ids: EarlyExitNet(target, ids, layers=2), EarlyExitDrafter, q_early_exit),
    "hybrid": (EagleNet, lambda net: HybridDrafter(EagleDrafter(net)), q_hybrid),
}
TREES = {
    "eagle-tree": (EagleNet, lambda net: EagleTreeDrafter(EagleDrafter(net)), q_eagle),
    "medusa-tree": (MedusaNet, lambda net: MedusaTreeDrafter(MedusaDrafter(net)), q_medusa),
}


def make(name: str, vocab_size: int, ids: list[int], dtype: torch.dtype = torch.float64):
    """(target, net, what makes a drafter, its q without any cache)"""
    make_net, drafter, q_of = (KINDS | TREES)[name]
    target = RandomTarget(vocab_size, dtype)
    torch.manual_seed(5)
    net = make_net(target.hf, torch.tensor(ids))
    net.requires_grad_(False)
    with torch.no_grad():
        for p in net.parameters():  # nothing may hide behind a weight that begins as zero
            p += 0.1 * torch.randn_like(p)
    return target, net, lambda: drafter(net), q_of


def check_q(q, tokens, shape, behind, favourites=False) -> None:
    """Each draft is drawn from what the net gives behind the draft's own way, less its older siblings.

    Args:
        q: [n, V]. behind(way): what the net gives there, without any cache.
        favourites: nothing is drawn. Each draft is the likeliest that is left, and its q is one-hot.
    """
    for i, parent in enumerate(shape.parents):
        own = behind([tokens[j] for j in shape.path(parent)]).clone()
        own[[tokens[j] for j in shape.children[parent] if j < i]] = 0
        if favourites:
            assert tokens[i] == own.argmax()
            own = torch.eye(len(own), dtype=torch.float64)[tokens[i]]
        assert torch.allclose(q[i], own / own.sum(), atol=1e-9), f"draft {i}"
