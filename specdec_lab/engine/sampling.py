"""From logits to a distribution, from a distribution and a uniform number to a token."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from specdec_lab.errors import LabError
from specdec_lab.formats import in_digits

DRAFT, ACCEPT, RESAMPLE = 0, 1, 2  # what a random number is for: each is used for one thing only


@dataclass(frozen=True)
class Sampler:
    """Turns logits into the distribution that tokens are drawn from.

    The same sampler shapes p and q: what speculation preserves is the target's distribution
    *after* temperature, top-k, top-p and min-p, which are applied in this order.

    Args:
        temperature: 0 is greedy (a one-hot distribution on the largest logit).
        top_k: keep the k most likely tokens; None keeps all. Ties at the border are kept.
        top_p: keep the smallest set of most likely tokens whose probability reaches top_p.
        min_p: keep tokens at least min_p times as likely as the likeliest (Nguyen et al. 2024, arXiv 2407.01082).
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None

    def __post_init__(self):
        if not 0 <= self.temperature < float("inf"):
            raise LabError(f"The temperature is {self.temperature}, but must be 0 (greedy) or a positive number.")
        if self.top_k is not None and self.top_k < 1:
            raise LabError(f"top_k is {self.top_k}, but must be at least 1 (None keeps every token).")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise LabError(f"top_p is {self.top_p}, but must lie in (0, 1] (None keeps every token).")
        if self.min_p is not None and not 0 <= self.min_p <= 1:
            raise LabError(f"min_p is {self.min_p}, but must lie in [0, 1] (None or 0 keeps every token).")

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def __call__(self, logits: Tensor) -> Tensor:
        """Logits [..., V] of any float type to probabilities [..., V] in float64.

        Float64, because exactness is the point: in float32 the running sum over 49,152
        tokens is only good to about 1e-5.
        """
        check_finite(logits)
        return self.shaped(logits)

    def shaped(self, logits: Tensor) -> Tensor:
        """The same without the check, which would wait for the device."""
        if logits.device.type == "mps":  # no float64 there
            logits = logits.cpu()
        if self.greedy:
            return torch.zeros_like(logits, dtype=torch.float64).scatter_(-1, logits.argmax(-1, keepdim=True), 1.0)
        # In place: fresh memory of this size costs more than the arithmetic, and torch's softmax of float64 still more.
        largest = logits.amax(-1, keepdim=True)
        scaled = logits.to(torch.float64, copy=True).sub_(largest).div_(self.temperature)
        if self.top_k is not None and self.top_k < logits.shape[-1]:
            smallest_kept = scaled.topk(self.top_k, dim=-1).values[..., -1:]
            scaled.masked_fill_(scaled < smallest_kept, float("-inf"))
        probs = scaled.exp_()
        probs.div_(probs.sum(-1, keepdim=True))
        if self.top_p is not None and self.top_p < 1:
            ordered, index = probs.sort(dim=-1, descending=True, stable=True)
            before = ordered.cumsum(-1) - ordered  # mass ahead of each token: the first one is always kept
            ordered = ordered.masked_fill(before >= self.top_p, 0.0)
            probs = torch.zeros_like(probs).scatter_(-1, index, ordered)
            probs = probs / probs.sum(-1, keepdim=True)
        if self.min_p:
            probs.masked_fill_(probs < self.min_p * probs.amax(-1, keepdim=True), 0.0)
            probs.div_(probs.sum(-1, keepdim=True))
        return probs


GREEDY = Sampler()


def check_finite(logits: Tensor) -> None:
    """Raises LabError for logits [..., V] with a row that holds NaN, or nothing finite to choose from."""
    check_largest(logits.amax(-1).flatten().tolist())


def argmax_tokens(texts: Sequence[Tensor]) -> list[list[int]]:
    """For each text's logits [k, V], the tokens of the k largest. All are read from the device at once."""
    if not texts:
        return []
    found = [logits.max(-1) for logits in texts]
    # In one tensor: float32 is exact to 16 million.
    both = torch.stack([torch.cat(list(some)).float() for some in zip(*found)])
    largest, chosen = both.tolist()
    check_largest(largest)
    tokens = iter(map(int, chosen))
    return [list(islice(tokens, len(logits))) for logits in texts]


def check_largest(largest: Sequence[float]) -> None:
    """`check_finite`, from the largest logit of each row, which is NaN where a row holds NaN."""
    if not all(map(math.isfinite, largest)):
        raise LabError(
            "The model's logits contain NaN or infinity, so no token can be chosen: "
            "load it in float32, or check its weights."
        )


def pick(probs: Tensor, u: float) -> Tensor:
    """The token [] at u of the cumulative distribution of `probs` [V]; u in [0, 1). Nothing waits for the device.

    A GPU adds up in parallel, so its running sum can fall a little: with a chance of about 1e-16 the token is one of
    probability 0.
    """
    cumulative = probs.cumsum(-1)
    total = cumulative[-1:]
    # For u just below 1 the product can round up to the total, where no token lies.
    at = torch.minimum(total * u, total.nextafter(torch.zeros_like(total)))
    return torch.searchsorted(cumulative, at, right=True)[0].clamp(max=len(probs) - 1)


def draw(probs: Tensor, u: float) -> int:
    """The token that `pick` picks, as a number; also on a GPU never one of probability 0."""
    token = pick(probs, u)
    token, mass = torch.stack([token.double(), probs.take(token).double()]).tolist()
    if mass == 0:
        possible = probs.nonzero()[:, 0]
        token = possible[(possible <= token).sum() - 1]
    return int(token)


class Uniforms:
    """Random numbers in [0, 1) from a table keyed by (seed, request, position, purpose).

    The number belongs to the *position* in the text, not to the moment it is asked for. So a
    position that is drafted, discarded and drafted again sees the same number (a discarded
    draft has had no influence on what was emitted, so nothing is counted twice), and two
    backends that decode the same request can be compared token by token.

    Args:
        seed, request: 0 … 2³² − 1; each pair has a table of its own.
    """

    def __init__(self, seed: int = 0, request: int = 0):
        for name, value in (("seed", seed), ("request number", request)):
            if not 0 <= value < 2**32:  # larger ones would share tables with smaller ones
                raise LabError(f"The {name} is {in_digits(value)}, but must be between 0 and {2**32 - 1}.")
        self._key = seed, request
        self._streams: dict[int, np.random.Generator] = {}
        self._tables: dict[int, np.ndarray] = {}

    def fresh(self) -> "Fresh":
        """Numbers for a rule that must not see one twice (see `verify_block`)."""
        return Fresh(self._key)

    def __call__(self, position: int, purpose: int, rank: int = 0) -> float:
        """The number of one position (tokens before it in the text) and one purpose.

        Args:
            rank: which of several drafts for that position it is for: how many of them are older.
        """
        if rank not in self._tables:
            key = (*self._key, rank) if rank else self._key
            self._streams[rank] = np.random.Generator(np.random.Philox(np.random.SeedSequence(key)))
            self._tables[rank] = np.empty((0, 3))
        while position >= len(self._tables[rank]):
            self._tables[rank] = np.concatenate([self._tables[rank], self._streams[rank].random((512, 3))])
        return float(self._tables[rank][position, purpose])


class Fresh(Uniforms):
    """Random numbers in [0, 1), a new one at each call. It is called like `Uniforms`; the arguments do not matter."""

    def __init__(self, key: tuple[int, int]):
        self._stream = np.random.Generator(np.random.Philox(np.random.SeedSequence([*key, 2**32 - 1])))

    def __call__(self, position: int, purpose: int, rank: int = 0) -> float:
        return float(self._stream.random())

    def fresh(self) -> "Fresh":
        return self
