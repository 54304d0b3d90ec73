"""What a caller may set: when a text ends, how many drafts a round has, and what is kept of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specdec_lab.errors import LabError
from specdec_lab.formats import in_digits
from specdec_lab.models.base import Model


@dataclass(frozen=True)
class Stops:
    """When a text ends.

    Args:
        max_new_tokens: at most this many.
        eos: ids that end the text; the id itself is kept.
        string: told all new tokens so far, true when they complete a stop string.

    Raises:
        LabError: for max_new_tokens < 1.
    """

    max_new_tokens: int = 128
    eos: frozenset[int] = frozenset()
    string: Callable[[Sequence[int]], bool] | None = None

    def __post_init__(self):
        if self.max_new_tokens < 1:
            raise LabError(f"max_new_tokens is {self.max_new_tokens}, but must be at least 1.")

    def cut(self, before: Sequence[int], new: Sequence[int], room: int) -> tuple[int, str | None]:
        """How many of the tokens `new` to keep, and why the text ends there (None: it goes on).

        Args:
            before: all new tokens of earlier rounds.
            room: how many more tokens the context holds.
        """
        for kept, token in enumerate(new, start=1):
            if token in self.eos:
                return kept, "eos"
            if self.string is not None and self.string([*before, *new[:kept]]):
                return kept, "stop_string"
            if len(before) + kept >= self.max_new_tokens:
                return kept, "limit"
            if kept == room:
                return kept, "context"
        return len(new), None


@dataclass(frozen=True)
class Keep:
    """What is kept of a round beyond the numbers that decided.

    Args:
        top: if above 0, that many of the most likely tokens of p and q at each place; and the probabilities of the
            drafts at temperature 1, with nothing cut.
        rows: whether to keep all of p and q.
    """

    top: int = 0
    rows: bool = False

    def __post_init__(self):
        if self.top < 0:
            raise LabError(f"top is {self.top}, but must be at least 0.")


MOST_DRAFTS = 256  # a round; with more of them a single round would take minutes, and nearly all are thrown away


def check_gamma(gamma: int, least: int, why: str) -> None:
    """Raises LabError for a γ that is no whole number, below `least`, or above MOST_DRAFTS. why: what `least` means."""
    if not hasattr(gamma, "__index__"):
        raise LabError(f"γ is {gamma!r:.20}, but must be a whole number.")
    if gamma < least:
        raise LabError(f"γ is {in_digits(gamma)}, but must be at least {least} ({why}).")
    if gamma > MOST_DRAFTS:
        raise LabError(
            f"γ is {in_digits(gamma)}, but must be at most {MOST_DRAFTS}: more drafts of a round are hardly ever kept."
        )


def check_prompt(target: Model, prompt: Sequence[int]) -> None:
    """Raises LabError for a prompt that is empty, leaves no room, or holds ids outside the vocabulary."""
    if len(prompt) == 0:
        raise LabError("The prompt is empty: give the model at least one token to start from.")
    if len(prompt) >= target.context:
        raise LabError(
            f"The prompt has {len(prompt)} tokens, but {target.name} can see only {target.context}, "
            "the answer included: shorten the prompt."
        )
    if not 0 <= min(prompt) <= max(prompt) < target.vocab_size:
        raise LabError(
            f"The prompt holds a token id outside 0…{target.vocab_size - 1}, the vocabulary of {target.name}."
        )
