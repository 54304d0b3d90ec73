"""EAGLE: one decoder layer that goes on from the target's hidden rows (Li et al. 2024, arXiv 2401.15077).

The target's hidden row at position i − 1 and the token at i make the layer's input; its output
stands for the hidden row at i, and the target's head turns it into a draft. The next step uses
it in place of the true row. After a round, true rows replace these guesses.

The first EAGLE reads the target's last rows alone, and is trained to hit them. This one is made as EAGLE-3 is (Li et
al. 2025, arXiv 2503.01840): it reads the target at three depths, joined into one row; and it is trained on what the
head makes of its rows, and on going on from them. A row that is similar to the true one is a by-product.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import rms_norm
from transformers import DynamicCache, PreTrainedModel

from specdec_lab.drafters.drawing import ChainBuilder, tree_of
from specdec_lab.drafters.student import EMBEDDING_SCALE, Student, exit_of, middle_of, small_llama
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.lockstep import Apply, Drafting, Pass, run_in_lockstep
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.base import PREFILL_CHUNK, Row
from specdec_lab.models.fast import FastModel
from specdec_lab.models.linear import draft_product
from specdec_lab.models.tree import TEXT, Tree, TreeInCache

# How often the first, second, … of some drawn drafts is the one that is accepted: measured at temperature 1 on 24
# prompts of the built-in suite, at 631 places, where it hardly differed by depth.
RATES = [[0.54, 0.09, 0.06, 0.02]] * 8


class EagleNet(Student):
    """join: the target's row at three depths → one row, of which only true rows have need: a guess stands for all
    three. fuse: [row at i − 1, embedding of token i] → the layer's input; then one Llama layer and its norm.
    """

    def __init__(self, target: PreTrainedModel, ids: Tensor):
        super().__init__()
        layers, size = target.config.num_hidden_layers, target.config.hidden_size
        self.depths = exit_of(layers), middle_of(layers)
        self.llama = small_llama(target, [layers - 1], ids)
        self.head = self.llama.lm_head
        self.join = nn.Linear(3 * size, size, bias=False).to(target.device, target.dtype)
        self.fuse = nn.Linear(2 * size, size, bias=False).to(target.device, target.dtype)
        with torch.no_grad():
            self.join.weight.copy_(
                torch.cat([torch.eye(size), torch.zeros(size, 2 * size)], 1)
            )  # begins as the last row
            # Begins as a sum to which both give as much, of the size that the layer is used to.
            self.fuse.weight.copy_(5 * torch.eye(size).repeat(1, 2))

    def joined(self, rows: Tensor) -> Tensor:
        """The target's rows [..., 3 H], the last one first, as what the layer reads of them [..., H]."""
        last, *lower = rows.chunk(3, -1)
        return self.join(torch.cat([last, *(rms_norm(x, x.shape[-1:]) for x in lower)], -1))

    def inputs(self, rows: Tensor, tokens: Tensor) -> Tensor:
        """The layer's input [..., n, H], from tokens [..., n] and the rows [..., n, H] at the positions before them:
        joined ones, or its own guesses.
        """
        return self.fuse(torch.cat([rows, EMBEDDING_SCALE * self.llama.model.embed_tokens(tokens)], -1))

    def predict(self, tokens: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The steps of training: each reads the guesses of the step before it."""
        return self.steps(tokens, self.joined(rows), rows.chunk(3, -1)[0])

    def steps(self, tokens: Tensor, features: Tensor, rows: Tensor) -> list[tuple[Tensor, Tensor]]:
        """`predict`, for a layer that may read other features than the target's last rows.

        Args:
            features: [R, n, H], what the layer reads at positions that the target has passed. Behind these it reads its
                own guesses.
            rows: [R, n, H], the true rows that the guesses are compared with.
        """
        body, before, true = self.llama.model, features[:, :-1], rows[:, 1:]
        n = true.shape[1]
        at = torch.arange(n, device=tokens.device)
        rope = body.rotary_emb(true, position_ids=at[None])
        cache, steps = DynamicCache(), []
        for step in range(self.unroll):
            # At step s a position sees what a draft s deep sees: inputs made of true rows up to s
            # positions back, then one made of a guess of each earlier step.
            seen = [at[None] <= at[:, None] - step] + [
                at[None] == at[:, None] - back for back in range(step - 1, -1, -1)
            ]
            guess = body.norm(
                body.layers[0](
                    self.inputs(before, tokens[:, 1:]),
                    attention_mask=torch.cat(seen, 1)[None, None],
                    position_ids=at[None],
                    past_key_values=cache,
                    position_embeddings=rope,
                )
            )
            steps.append((guess, true))
            before = torch.cat([features[:, :1], guess[:, :-1].to(features.dtype)], 1)
        return steps


class EagleDrafter(Drafter):
    """Keeps a cache of the layer, made of true rows only.

    After rounds that it did not draft, their rows go through the layer together with the newest one
    when it drafts again: a wider pass instead of several.
    """

    name = "eagle"

    def __init__(self, net: EagleNet):
        self.net = net.eval()
        self.depths = net.depths
        net.join, net.fuse = draft_product(net.join.weight), draft_product(net.fuse.weight)
        self.model = FastModel(net.llama, "eagle", draft_product)

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        self.width, self.row = target.model.vocab_size, Row(self.model.cached())
        self.true, self.tokens = hidden, list(prompt[1:])  # still to be fed: true rows, and the token after each
        if hidden is not None:
            run_in_lockstep([self.feed(len(hidden) - 1)])

    def rows(self) -> list[Row]:
        return [self.row]

    def feed(self, n: int) -> Drafting:
        """Feed the first n of `true` and `tokens` to the layer. Returns the guess [1, H] behind the last of them."""
        guess = None
        for i in range(0, n, PREFILL_CHUNK):
            part = slice(i, min(i + PREFILL_CHUNK, n))
            rows = yield Apply(self.net.joined, [self.true[part]])
            guess = (yield from self.step(rows, self.tokens[part]))[-1:]
        self.true, self.tokens = self.true[n:], self.tokens[n:]
        return guess

    def step(self, rows: Tensor, tokens: Sequence[int] | Tensor, tree: TreeInCache | None = None) -> Drafting:
        """The guesses [n, H] behind rows [n, H], joined or guessed, and the n tokens after them. tree: as in `Pass`."""
        inputs = yield Apply(self.net.inputs, [rows, torch.as_tensor(tokens, device=rows.device)])
        return (yield Pass(self.row, inputs, layers=(0, 1), tree=tree))

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        if gamma < 1 or self.true is None:  # a one-token prompt has no row yet
            return Proposal([])
        chain = ChainBuilder(self.width, self.net.head.ids, sampler, uniforms, len(text))
        guess = yield from self.feed(len(self.tokens))
        while True:
            logits = yield Apply(self.model.head, [guess])
            token = chain.add(logits[0])
            if len(chain.tokens) == gamma:
                break
            guess = yield from self.step(guess, token[0])
        self.row.rewind(len(text) - 1)
        self.true = None
        return chain.proposal()

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        self.true = hidden if self.true is None else torch.cat([self.true, hidden])
        self.tokens = [*self.tokens, *text[len(text) - len(hidden) :]]


class EagleTreeDrafter(EagleDrafter):
    """Drafts a tree that follows the layer's own confidence (EAGLE-2, Li et al. 2024, arXiv 2406.16858).

    It has the net of an `EagleDrafter`, which drafts chains. The layer goes on from several of its guesses in one pass;
    each sees the true rows and the guesses on its own path.

    sampled: whether drafts are drawn at random when the target's tokens are. If not, they are the most likely ones at
        any temperature.
    """

    name = "eagle-tree"
    sampled = True

    def __init__(self, chain: EagleDrafter):
        self.net, self.model, self.depths = chain.net, chain.model, chain.depths

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        if gamma < 1 or self.true is None:
            return Proposal([])
        guess = yield from self.feed(len(self.tokens))
        ids = self.net.head.ids
        tree = tree_of(gamma, self.width, ids, sampler, uniforms, len(text), RATES, self.sampled)
        start, fed = self.row.length, []  # the drafts that went through the layer, in their order
        guesses = {TEXT: guess[0]}
        tree.behind([TEXT], (yield Apply(self.model.head, [guess])))
        while wait := tree.waiting():
            fed += wait
            number = {TEXT: TEXT} | {draft: n for n, draft in enumerate(fed)}
            fed_tree = Tree(tuple(number[tree.parents[draft]] for draft in fed))
            before = torch.stack([guesses[tree.parents[draft]] for draft in wait])
            tokens = [tree.tokens[draft] for draft in wait]
            hidden = yield from self.step(before, tokens, (start, fed_tree))
            guesses |= zip(wait, hidden)
            tree.behind(wait, (yield Apply(self.model.head, [hidden])))
        self.row.rewind(len(text) - 1)
        self.true = None
        return tree.proposal()
