"""The one interface behind which every way of drafting stands. A new one is a file in drafters/, a line in
`drafters.FACTORIES`, and a name in `choices.WITHOUT_WEIGHTS`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from specdec_lab.engine.lockstep import Drafting, run_in_lockstep
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.base import Row
from specdec_lab.models.tree import Tree


@dataclass(frozen=True)
class Proposal:
    """Drafted tokens and the distributions that they were drawn from.

    tokens: the ids of at most γ drafts; may be empty.
    q: [len(tokens), V] float64, row i is what tokens[i] was drawn from; None when each
        token was certain (copied, or chosen greedily): then q is one-hot.
    logits: called for the draft's raw logits [len(tokens), V], if they are to be kept; None when there are none.
    started: what drafting has already done of the verify pass, if anything: (layers, hidden rows). The
        rows [γ + 1, H] are of the last token of the text and the γ drafts, after the target's first
        `layers` layers, whose cache holds them: it is rewound before the other layers run, and not earlier.
    sure: called for the chance that the draft gives its favourite at the place of each token, [len(tokens)], if its
        rows are known. It follows from the tokens before, and not from the one at this place: see `confidence`.
    tree: which draft follows which, if several follow the same token; a chain becomes None. Row i of q is then what
        tokens[i] was drawn from after its older siblings: where none may be drawn twice, a q without them.
    """

    tokens: list[int]
    q: Tensor | None = None
    logits: Callable[[], Tensor] | None = None
    started: tuple[int, Tensor] | None = None
    tree: Tree | None = None
    sure: Callable[[], list[float]] | None = None

    def __post_init__(self):
        if self.tree and self.tree.is_chain:  # one without any drafts is a chain, too
            object.__setattr__(self, "tree", None)

    def first(self, n: int) -> "Proposal":
        """A chain's first n drafts, as if no more had been made."""
        if n >= len(self.tokens):
            return self
        q = None if self.q is None else self.q[:n]
        logits = None if self.logits is None else lambda: self.logits()[:n]
        started = self.started and (self.started[0], self.started[1][: n + 1])
        return Proposal(self.tokens[:n], q, logits, started)

    @cached_property
    def shape(self) -> Tree:
        """The tree, also where it is a chain."""
        return self.tree or Tree.chain(len(self.tokens))

    def distributions(self, vocab_size: int, device: torch.device) -> Tensor:
        """q as a tensor [len(tokens), V] on `device`."""
        if self.q is not None:
            return self.q.to(device)
        ids = torch.tensor(self.tokens, dtype=torch.long, device=device)[:, None]
        return torch.zeros(len(self.tokens), vocab_size, dtype=torch.float64, device=device).scatter_(1, ids, 1.0)

    def raw(self, vocab_size: int, device: torch.device) -> Tensor:
        """The softmax of the draft's own logits, [len(tokens), V]; q where there are none."""
        if self.logits is None:
            return self.distributions(vocab_size, device).float()
        return self.logits().to(device, torch.float32).softmax(-1)


class Drafter:
    """Proposes tokens for the target to check: each drafter for one text, whether it is written alone or in a batch.

    The text that `drafting` is given is the truth. A drafter with a cache compares lengths and
    catches up on whatever it has not seen: two tokens after a fully accepted round, more
    after rounds that it did not draft.
    """

    name: str
    # After how many of the target's layers it also reads the residual stream. Hidden rows that it is given are then
    # [.., (1 + len(depths)) · H]: behind each last row those of the depths, in this order.
    depths: Sequence[int] = ()
    oracle = False  # true when drafting uses the target itself: its passes and time are not counted

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        """A new text begins. Its place in the target's cache, `target`, holds all of the prompt but its last token.

        All that belongs to a text is made here: a shallow copy of a drafter that is started is independent of it.

        Args:
            hidden: the target's last hidden rows [len(prompt) − 1, H] for what it holds, wider with `depths`; None
                when the prompt is a single token.
        """

    def rows(self) -> list[Row]:
        """This text's rows in the drafter's own caches: a batch moves them into shared ones."""
        return []

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal | Drafting:
        """Draft at most gamma ≥ 0 tokens to follow `text`: what a drafter writes.

        Either return a Proposal, such as `Proposal([text[-1]] * gamma)`. Or, to run a net together with those of other
        texts, `yield` what is to be computed, and go on with its answer:

            hidden = yield Pass(self.row, new)                    # runs with the other texts' passes
            logits = yield Apply(self.model.head, [hidden[-1:]])  # and so does this product
            return Proposal([int(logits[0].argmax())])

        `Pass` and `Apply` are in `lockstep`.

        A draft for the position i (tokens before it) is drawn with `uniforms(i, DRAFT)`, in a tree with
        `uniforms(i, DRAFT, rank)` (see `Tree.ranks`).
        """
        raise NotImplementedError(f"{type(self).__name__} has no `drafting`.")

    @torch.inference_mode()
    def propose(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Proposal:
        """What `drafting` makes for this text alone. A round asks all its texts in lockstep."""
        return run_in_lockstep([self.drafting(text, gamma, sampler, uniforms)])[0]

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        """The round is over; `text` is what has been written, prompt included.

        Args:
            hidden: the target's last hidden rows [n, H], wider with `depths`, for the n positions that became
                certain: from the one before the first new token to the last but one of `text`.
        """
