"""Plain and speculative decoding, each a generator of rounds.

Both keep one invariant between rounds: every token of the text but the last is cached. So a
pass over [last, drafts…] returns γ + 1 rows: one for each draft, and one after the last draft.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_lab.drafters.base import Drafter, Proposal
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached, Model
from specdec_lab.sampling import ACCEPT, GREEDY, RESAMPLE, Sampler, Uniforms, draw
from specdec_lab.trace import ACCEPTED, DISCARDED, PLAIN, REJECTED, Draft, Emitted, Round, Seconds, top
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


@dataclass(frozen=True)
class Keep:
    """What a round records beyond the numbers that decided: the `top` n of p and q, and all `rows`."""

    top: int = 0
    rows: bool = False


def begin(target: Model, prompt: Sequence[int]) -> Cached:
    """Check the prompt and cache all but its last token.

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
    cached.prefill(prompt[:-1])
    return cached


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
    cached = begin(target, prompt)
    reason = None
    while reason is None:
        began = time.perf_counter()
        logits = cached.extend([[text[-1]]]).logits[0]
        p = sampler(logits)
        token = draw(p[0], uniforms(len(text), RESAMPLE))
        target.synchronize()
        verified = time.perf_counter()
        start = len(text)
        text.append(token)
        _, reason = stops.cut(text[len(prompt) : -1], [token], target.context - start)
        emitted = describe_emitted(token, PLAIN, p[0], logits[0], sampler, keep)
        yield Round(
            start=start,
            drafted=(),
            emitted=emitted,
            stop=reason,
            seconds=Seconds(verify=verified - began, loop=time.perf_counter() - verified),
            p_rows=p if keep.rows else None,
            after_top=emitted.p_top,
        )


def speculative(
    target: Model,
    drafter: Drafter,
    prompt: Sequence[int],
    *,
    gamma: int = 4,
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
        gamma: the most tokens drafted a round, at least 1.
        sampler: shapes p, and q where the drafter draws.
        verify: the rule. Another one can be plugged in to see what it breaks.
        keep: what to record beyond the numbers that decided.

    Raises:
        LabError: for gamma < 1, or a prompt that `begin` refuses.
    """
    if gamma < 1:
        raise LabError(
            f"γ is {gamma}, but a round drafts at least 1 token (plain decoding is the case without drafts)."
        )
    uniforms = uniforms or Uniforms()
    text = list(prompt)
    cached = begin(target, prompt)
    drafter.start(cached, prompt)
    reason = None
    while reason is None:
        start, room = len(text), target.context - len(text)
        began = time.perf_counter()
        proposal = drafter.propose(text, min(gamma, room - 1), sampler, uniforms)
        drafts = proposal.tokens
        drafted = time.perf_counter()

        rows = cached.extend([[text[-1], *drafts]])
        p = sampler(rows.logits[0])
        q = proposal.distributions(target.vocab_size, p.device)
        target.synchronize()
        verified = time.perf_counter()

        u_accept = [uniforms(start + i, ACCEPT) for i in range(len(drafts))]
        u_resample = [uniforms(start + i, RESAMPLE) for i in range(len(drafts) + 1)]
        verdict = verify(p, q, drafts, u_accept, u_resample)
        new = [*drafts[: verdict.accepted], verdict.token]
        kept, reason = stops.cut(text[len(prompt) :], new, room)

        text += new[:kept]
        cached.rewind([len(text) - 1])
        drafter.observe(text, rows.hidden[0, :kept])
        described = describe_drafts(proposal, verdict.accepted, kept, p, q, rows.logits[0], u_accept, sampler, keep)
        emitted = None
        if kept == len(new):
            emitted = describe_emitted(
                verdict.token, verdict.kind, p[kept - 1], rows.logits[0, kept - 1], sampler, keep
            )
        yield Round(
            start=start,
            drafted=described,
            emitted=emitted,
            stop=reason,
            seconds=Seconds(
                draft=0.0 if drafter.oracle else drafted - began,
                verify=verified - drafted,
                loop=time.perf_counter() - verified,
            ),
            p_rows=p if keep.rows else None,
            q_rows=q if keep.rows else None,
            after_top=favourites(p[-1], rows.logits[0, -1], sampler, keep),
        )


def describe_drafts(
    proposal: Proposal,
    accepted: int,
    kept: int,
    p: Tensor,
    q: Tensor,
    logits: Tensor,
    u_accept: Sequence[float],
    sampler: Sampler,
    keep: Keep,
) -> tuple[Draft, ...]:
    """The record of each draft of a round of which `kept` tokens entered the text."""
    n = len(proposal.tokens)
    if n == 0:
        return ()
    ids = torch.tensor(proposal.tokens, device=p.device)[:, None]
    p_raw_rows = logits[:n].to(p.device, torch.float32).softmax(-1)
    q_raw_rows = q.float() if proposal.logits is None else proposal.logits.to(p.device, torch.float32).softmax(-1)
    columns = [t.gather(1, ids)[:, 0].tolist() for t in (p[:n], q, p_raw_rows, q_raw_rows)]
    overlaps = torch.minimum(p[:n], q).sum(-1).tolist()
    # Cut before the target's own token: a rejected draft goes with its replacement.
    statuses = [ACCEPTED] * min(accepted, kept)
    if accepted < n and kept == accepted + 1:
        statuses.append(REJECTED)
    statuses += [DISCARDED] * (n - len(statuses))
    q_shown = q_raw_rows if sampler.greedy else q
    return tuple(
        Draft(
            id=token,
            p=columns[0][i],
            q=columns[1][i],
            p_raw=columns[2][i],
            q_raw=columns[3][i],
            overlap=overlaps[i],
            u=None if sampler.greedy else u_accept[i],
            status=statuses[i],
            p_top=favourites(p[i], logits[i], sampler, keep),
            q_top=top(q_shown[i], keep.top) if keep.top else (),
        )
        for i, token in enumerate(proposal.tokens)
    )


def describe_emitted(token: int, kind: str, p: Tensor, logits: Tensor, sampler: Sampler, keep: Keep) -> Emitted:
    """The record of the target's own token, drawn where the target's row is p [V]."""
    p_raw = logits.to(p.device, torch.float32).softmax(-1)
    return Emitted(token, kind, float(p[token]), float(p_raw[token]), favourites(p, logits, sampler, keep))


def favourites(p: Tensor, logits: Tensor, sampler: Sampler, keep: Keep) -> tuple[tuple[int, float], ...]:
    """The top of one target row [V], if it is wanted; when greedy, of the softmax behind the one-hot row."""
    if not keep.top:
        return ()
    return top(logits.to(p.device, torch.float32).softmax(-1) if sampler.greedy else p, keep.top)
