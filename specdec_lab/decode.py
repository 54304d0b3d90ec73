"""Plain and speculative decoding, each a generator of rounds.

Both keep one invariant between rounds: every token of the text but the last is cached. So a
pass over [last, drafts…] returns γ + 1 rows: one for each draft, and one after the last draft.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from specdec_lab.drafters.base import Drafter, Proposal
from specdec_lab.errors import LabError
from specdec_lab.models.base import Model
from specdec_lab.record import Keep, Stopwatch, record
from specdec_lab.request import Request, Stops, check_prompt
from specdec_lab.sampling import GREEDY, RESAMPLE, Sampler, Uniforms, draw
from specdec_lab.trace import PLAIN, Round
from specdec_lab.verify import Verdict

if TYPE_CHECKING:
    from specdec_lab.auto import AutoGamma


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
    check_prompt(target, prompt)
    cached = target.cached()
    cached.prefill(prompt[:-1])
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
    target: Model, drafter: Drafter, prompt: Sequence[int], *, gamma: "int | AutoGamma" = 4, **request
) -> Iterator[Round]:
    """Draft, verify, keep what agrees, correct the first miss, discard the rest (Leviathan et al., algorithm 1).

    Args:
        gamma: the most tokens drafted a round, at least 1; or what chooses it anew for each round.
            The drafter may propose fewer, or none.
        request: all that `Request` takes.

    Raises:
        LabError: for gamma < 1, or a prompt that `check_prompt` refuses.
    """
    if isinstance(gamma, int) and gamma < 1:
        raise LabError(
            f"γ is {gamma}, but a round drafts at least 1 token (plain decoding is the case without drafts)."
        )
    this = Request(target, prompt, drafter, **request)
    cached = this.begin()
    while this.stop is None:
        watch = Stopwatch()
        proposal = this.propose(gamma if isinstance(gamma, int) else gamma.choose())
        target.synchronize()
        watch.lap(this.drafting)

        begun = proposal.begun
        if begun is None:
            rows = cached.extend([[this.text[-1], *proposal.tokens]])
        else:
            rows = cached.extend(begun.hidden[None], layers=(begun.layers, target.layers))
        done = this.settle(proposal, rows.logits[0], rows.hidden[0], watch)
        cached.rewind([len(this.text) - 1])
        if not isinstance(gamma, int):
            gamma.observe(done)
        yield done
