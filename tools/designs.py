"""Designs of drafters that came after EAGLE, as small as the course's own: what each reads, how it makes its drafts.

They are for comparison: trained on the same text with the same loop, and measured place by place (deeper_11_designs).
"""

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from specdec_lab.drafters.eagle import EagleNet
from specdec_lab.drafters.student import EMBEDDING_SCALE, Student, small_llama

PLACES = 4  # drafts a round


class LastRow(EagleNet):
    """The first EAGLE's input: the target's last row alone (Li et al. 2024, arXiv 2401.15077)."""

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__(target, ids)
        self.depths, self.join = (), nn.Identity()

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        return self.steps(tokens, rows, rows)


class LayerForEach(Student):
    """Multi-token prediction: a layer for each place, each reads the one before (DeepSeek-AI 2024, arXiv 2412.19437).

    In the paper the layers are trained together with the model, so that the model's rows serve them, too. Here the
    target is not trained.
    """

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__()
        last, size = target.config.num_hidden_layers - 1, target.config.hidden_size
        self.layers = nn.ModuleList(small_llama(target, [last], ids) for _ in range(PLACES))
        self.head = self.layers[0].lm_head
        self.fuse = nn.ModuleList(nn.Linear(2 * size, size, bias=False) for _ in range(PLACES))
        self.fuse.to(target.device, target.dtype)
        with torch.no_grad():  # as EAGLE's
            for fuse in self.fuse:
                fuse.weight.copy_(5 * torch.eye(size).repeat(1, 2))

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Each step reads the step before, and the token that is known by then."""
        steps, before = [], rows
        for place, (net, fuse) in enumerate(zip(self.layers, self.fuse)):
            known = EMBEDDING_SCALE * net.model.embed_tokens(tokens[:, place + 1 :])
            n = known.shape[1]
            inputs = fuse(torch.cat([before[:, :n], known], -1))
            before = net.model(inputs_embeds=inputs).last_hidden_state
            steps.append((before, rows[:, place + 1 :]))
        return steps


class BlockOfMasks(LastRow):
    """All drafts of a round in one pass: masks stand behind the text, and the layer turns all of them into guesses.

    (As in PARD, An et al. 2025, arXiv 2504.18583; DFlash, Chen et al. 2026, arXiv 2602.06036, fills larger blocks so.)
    The masks of a block see the text and each other. The first draft needs no mask: it is EAGLE's, as that reads the last row. The input at each
    further place is the first draft's input plus a mask, a vector that is trained: through attention alone a single
    layer would bring too little of the first draft's input there.
    """

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__(target, ids)
        self.masks = nn.Parameter(torch.zeros(PLACES - 1, target.config.hidden_size, device=target.device))

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """A block behind every token of the text at once."""
        text = self.inputs(rows[:, :-1], tokens[:, 1:])
        count, n, size = text.shape
        masks = (text[:, None] + self.masks[:, None].to(text.dtype)).flatten(1, 2)
        place = torch.arange(PLACES, device=tokens.device).repeat_interleave(n)  # 0: the text itself
        at = torch.arange(n, device=tokens.device).repeat(PLACES)
        earlier, same = at[None] <= at[:, None], at[None] == at[:, None]
        sees = torch.where(place[None] == 0, earlier, same & (place[:, None] > 0))
        x, body = torch.cat([text, masks], 1), self.llama.model
        positions = (at + place)[None]
        guess = body.norm(
            body.layers[0](
                x,
                attention_mask=sees[None, None],
                position_ids=positions,
                position_embeddings=body.rotary_emb(x, position_ids=positions),
            )
        ).view(count, PLACES, n, size)
        return [(guess[:, k, : n - k], rows[:, k + 1 :]) for k in range(PLACES)]
