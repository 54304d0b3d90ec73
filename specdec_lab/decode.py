"""Plain and speculative decoding, each a generator of rounds.

Both keep one invariant between rounds: every token of the text but the last is cached. So a
pass over [last, drafts…] returns γ + 1 rows: one for each draft, and one after the last draft.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from specdec_lab.drafters.base import Drafter, Proposal
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached, Model
from specdec_lab.record import Keep, Stopwatch, record
from specdec_lab.sampling import ACCEPT, GREEDY, RESAMPLE, Sampler, Uniforms, draw
from specdec_lab.trace import PLAIN, Round
from specdec_lab.verify import Verdict, verify

if TYPE_CHECKING:
    from specdec_lab.auto import AutoGamma


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


def begin(target: Model, prompt: Sequence[int]) -> tuple[Cached, Tensor | None]:
    """Check the prompt and cache all but its last token; also returns the hidden rows of what is cached.

    Raises:
        LabError: for an empty prompt, one that leaves no room, or ids outside the vocabulary.
    """
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
    cached = target.cached()
    return cached, cached.prefill(prompt[:-1])


def plain(
    target: Model,
    prompt: Sequence[int],
    *,
    sampler: Sampler = GREEDY,
    stops: Stops = Stops(),
    uniforms: Uniforms | None = None,
    keep: Keep = Keep(),
) -> Iterator[Round]:
    """Ordinary decoding: one target pass a token. The yardstick for everything else."""
    uniforms = uniforms or Uniforms()
    text = list(prompt)
    cached, _ = begin(target, prompt)
    reason = None
    while reason is None:
        start, watch = len(text), Stopwatch()
        logits = cached.extend([[text[-1]]]).logits[0]
        p = sampler(logits)
        target.synchronize()
        watch.lap("verify")

        token = draw(p[0], uniforms(start, RESAMPLE))
        _, reason = stops.cut(text[len(prompt) :], [token], target.context - start)
        text.append(token)
        yield record(
            start,
            Proposal([]),
            Verdict(0, token, PLAIN),
            1,
            reason,
            p=p,
            q=p[:0],
            logits=logits,
            u_accept=(),
            sampler=sampler,
            keep=keep,
            watch=watch,
        )


def speculative(
    target: Model,
    drafter: Drafter,
    prompt: Sequence[int],
    *,
    gamma: "int | AutoGamma" = 4,
    sampler: Sampler = GREEDY,
    stops: Stops = Stops(),
    uniforms: Uniforms | None = None,
    verify: Callable[..., Verdict] = verify,
    keep: Keep = Keep(),
) -> Iterator[Round]:
    """Draft, verify, keep what agrees, correct the first miss, discard the rest (Leviathan et al., algorithm 1).

    Args:
        target: the model whose output this is.
        drafter: proposes; it may return fewer than gamma tokens, or none.
        prompt: token ids, at least one.
        gamma: the most tokens drafted a round, at least 1; or what chooses it anew for each round.
        sampler: shapes p, and q where the drafter draws.
        verify: the rule. Another one can be plugged in to see what it breaks.
        keep: what to record beyond the numbers that decided.

    Raises:
        LabError: for gamma < 1, or a prompt that `begin` refuses.
    """
    if isinstance(gamma, int) and gamma < 1:
        raise LabError(
            f"γ is {gamma}, but a round drafts at least 1 token (plain decoding is the case without drafts)."
        )
    uniforms = uniforms or Uniforms()
    text = list(prompt)
    cached, hidden = begin(target, prompt)
    drafter.start(cached, prompt, hidden)
    drafting = "oracle" if drafter.oracle else "draft"
    reason = None
    while reason is None:
        start, room, watch = len(text), target.context - len(text), Stopwatch()
        most = gamma if isinstance(gamma, int) else gamma.choose()
        proposal = drafter.propose(text, min(most, room - 1), sampler, uniforms)
        drafts = proposal.tokens
        target.synchronize()
        watch.lap(drafting)

        begun = proposal.begun
        if begun is None:
            rows = cached.extend([[text[-1], *drafts]])
        else:
            rows = cached.extend(begun.hidden[None], layers=(begun.layers, target.layers))
        p = sampler(rows.logits[0])
        q = proposal.distributions(target.vocab_size, p.device)
        target.synchronize()
        watch.lap("verify")

        u_accept = [uniforms(start + i, ACCEPT) for i in range(len(drafts))]
        u_resample = [uniforms(start + i, RESAMPLE) for i in range(len(drafts) + 1)]
        verdict = verify(p, q, drafts, u_accept, u_resample)
        new = [*drafts[: verdict.accepted], verdict.token]
        kept, reason = stops.cut(text[len(prompt) :], new, room)

        text += new[:kept]
        cached.rewind([len(text) - 1])
        watch.lap("loop")
        drafter.observe(text, rows.hidden[0, :kept])
        watch.lap(drafting)
        done = record(
            start,
            proposal,
            verdict,
            kept,
            reason,
            p=p,
            q=q,
            logits=rows.logits[0],
            u_accept=u_accept,
            sampler=sampler,
            keep=keep,
            watch=watch,
        )
        if not isinstance(gamma, int):
            gamma.observe(done)
        yield done
