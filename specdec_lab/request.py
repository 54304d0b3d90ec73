"""One text being written: what stands so far, and all that belongs to this text alone.

What it does not hold is the target's cache: a loop may give each text one of its own
(`decode.speculative`), or rows of a shared one (`batch.Batch`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from specdec_lab.drafters.base import Drafter, Proposal
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached, Model
from specdec_lab.record import Keep, Stopwatch, record
from specdec_lab.sampling import ACCEPT, GREEDY, RESAMPLE, Sampler, Uniforms
from specdec_lab.trace import Round
from specdec_lab.verify import Verdict, verify


@dataclass(frozen=True)
class Stops:
    """When a text ends.

    Args:
        max_new_tokens: at most this many.
        eos: ids that end the text; the id itself is kept.
        string: told all new tokens so far, true when they complete a stop string.
    """

    max_new_tokens: int = 128
    eos: frozenset[int] = frozenset()
    string: Callable[[Sequence[int]], bool] | None = None

    def __post_init__(self):
        if self.max_new_tokens < 1:
            raise LabError(f"max_new_tokens is {self.max_new_tokens}, but must be at least 1.")

    def cut(self, before: Sequence[int], new: Sequence[int], room: int) -> tuple[int, str | None]:
        """How many of `new` to keep after the new tokens `before`, and why the text ends there, if it does."""
        for kept, token in enumerate(new, start=1):
            if token in self.eos:
                return kept, "eos"
            if self.string is not None and self.string([*before, *new[:kept]]):
                return kept, "stop_string"
            if len(before) + kept == self.max_new_tokens:
                return kept, "limit"
            if kept == room:
                return kept, "context"
        return len(new), None


def check_prompt(target: Model, prompt: Sequence[int]) -> None:
    """Raises LabError for an empty prompt, one that leaves no room, or ids outside the vocabulary."""
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


@dataclass
class Request:
    """A prompt, and how its continuation is drafted, drawn and ended.

    Args:
        drafter: its own, since it remembers this text.
        verify: the rule. Another one can be plugged in to see what it breaks.
        keep: what to record beyond the numbers that decided.

    Raises:
        LabError: for a prompt that `check_prompt` refuses.
    """

    target: Model
    prompt: Sequence[int]
    drafter: Drafter
    sampler: Sampler = GREEDY
    stops: Stops = Stops()
    uniforms: Uniforms | None = None
    verify: Callable[..., Verdict] = verify
    keep: Keep = Keep()

    def __post_init__(self):
        check_prompt(self.target, self.prompt)
        self.uniforms = self.uniforms or Uniforms()
        self.text, self.stop = list(self.prompt), None
        self.drafting = "oracle" if self.drafter.oracle else "draft"  # where its time is counted

    def begin(self) -> Cached:
        """Read the prompt: a cache of all of it but its last token."""
        cached = self.target.cached()
        hidden = cached.prefill(self.prompt[:-1])
        self.drafter.start(cached, self.prompt, hidden)
        return cached

    def propose(self, gamma: int) -> Proposal:
        """At most gamma drafts, fewer at the end of the context."""
        room = self.target.context - len(self.text)
        return self.drafter.propose(self.text, min(gamma, room - 1), self.sampler, self.uniforms)

    def settle(self, proposal: Proposal, logits: Tensor, hidden: Tensor, watch: Stopwatch) -> Round:
        """Verify, keep what agrees, and end the text if it ends here: `text` and `stop` are new afterwards.

        Args:
            logits: [γ + 1, V], the target's rows for the last token of the text and the γ drafts.
            hidden: [γ + 1, H], the same after the last layer.
        """
        start, drafts = len(self.text), proposal.tokens
        p = self.sampler(logits)
        q = proposal.distributions(self.target.vocab_size, p.device)
        self.target.synchronize()
        watch.lap("verify")

        u_accept = [self.uniforms(start + i, ACCEPT) for i in range(len(drafts))]
        u_resample = [self.uniforms(start + i, RESAMPLE) for i in range(len(drafts) + 1)]
        verdict = self.verify(p, q, drafts, u_accept, u_resample)
        new = [*drafts[: verdict.accepted], verdict.token]
        kept, self.stop = self.stops.cut(self.text[len(self.prompt) :], new, self.target.context - start)
        self.text += new[:kept]
        watch.lap("loop")
        self.drafter.observe(self.text, hidden[:kept])
        watch.lap(self.drafting)
        return record(
            start,
            proposal,
            verdict,
            kept,
            self.stop,
            p=p,
            q=q,
            logits=logits,
            u_accept=u_accept,
            sampler=self.sampler,
            keep=self.keep,
            watch=watch,
        )
