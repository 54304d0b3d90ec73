"""Plain and speculative decoding, each a generator of rounds.

`one_round` is a round from end to end, for one text or for many that share a cache: drafts, one pass of the target,
the rule of `verify`, what the text keeps, and the round written down as plain numbers.

Between rounds every token of a text but the last is cached. So a pass over [last, drafts…] returns γ + 1 rows: one for
each draft, and one after the last draft.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from specdec_lab.clock import Stopwatch
from specdec_lab.engine.confidence import checked
from specdec_lab.engine.drafter import Drafter, Proposal, check_proposal
from specdec_lab.engine.lockstep import Drafting, Row, extend_after_early_exit, run_in_lockstep
from specdec_lab.engine.processors import Processor, process
from specdec_lab.engine.rules import USUAL, Rule, as_rule
from specdec_lab.engine.sampling import ACCEPT, GREEDY, RESAMPLE, Sampler, Uniforms, argmax_tokens
from specdec_lab.engine.settings import Keep, Stops, check_gamma, check_prompt
from specdec_lab.engine.trace import ACCEPTED, DISCARDED, REJECTED, Draft, Emitted, Round, Seconds
from specdec_lab.engine.verify import Verdict
from specdec_lab.errors import LabError
from specdec_lab.models.base import Cached, Model, Rows, at_depths
from specdec_lab.models.tree import TEXT, Tree


def plain(target: Model, prompt: Sequence[int], **request) -> Iterator[Round]:
    """Ordinary decoding: one target pass a token. The yardstick for everything else.

    Args:
        request: what `Request` takes, and raises.
    """
    return rounds_of(Request(target, prompt, **request), 0)


def speculative(
    target: Model, drafter: Drafter, prompt: Sequence[int], *, gamma: int = 4, **request
) -> Iterator[Round]:
    """Draft, verify, keep what agrees, correct the first miss, discard the rest (Leviathan et al., algorithm 1).

    Args:
        gamma: the most tokens drafted a round, at least 1. The drafter may propose fewer, or none.
        request: what `Request` takes, and raises.

    Raises:
        LabError: for gamma < 1, or more than MOST_DRAFTS.
    """
    check_gamma(gamma, 1, "plain decoding is the case without drafts")
    return rounds_of(Request(target, prompt, drafter, **request), gamma)


def rounds_of(request: "Request", gamma: int) -> Iterator[Round]:
    """The rounds of one text, from its prompt to its stop."""
    cached = request.begin().cached
    while request.stop is None:
        yield from one_round(cached, [request], gamma)


def one_round(
    cached: Cached, requests: Sequence["Request"], gamma: int, seconds: Callable[[int], float] | None = None
) -> list[Round]:
    """One round of each text: draft, and check what was drafted.

    Args:
        cached: the target's; text r has row r of it.
        gamma: the most drafts of each text.
        seconds: of the step, by the rows of its pass; given, only drafts that are worth their row are checked.
    """
    watch = Stopwatch()
    for request in requests if seconds else []:
        request.uniforms = request.uniforms.fresh()  # none may decide twice: see `checked`
    proposals = run_in_lockstep([request.drafting(gamma) for request in requests])
    for proposal in proposals:
        check_proposal(proposal, cached.model.vocab_size)
    if seconds:
        proposals = checked(proposals, seconds)
    cached.model.synchronize()
    watch.lap("draft")
    return verify_drafts(cached, requests, proposals, watch)


def verify_drafts(
    cached: Cached, requests: Sequence["Request"], proposals: Sequence[Proposal], watch: "Stopwatch"
) -> list[Round]:
    """One pass of the target over all drafts; each text keeps what agrees, and the cache forgets the rest.

    Args:
        watch: has counted the drafting.
    """
    depths = sorted({depth for request in requests for depth in request.depths})
    rows = score(cached, requests, proposals, depths)
    used = [len(proposal.tokens) + 1 for proposal in proposals]  # what lies past it pads up to the widest row
    greedy = any(request.sampler.greedy for request in requests)
    choices = greedy_choices(requests, proposals, rows.logits, used) if greedy else {}  # pyright: ignore[reportArgumentType] - the pass had a head
    cached.model.synchronize()
    watch.lap("verify")
    rounds = [
        request.verify_and_commit(
            proposal,
            rows.logits[r, :n],
            at_depths(rows.hidden[r, :n], depths, request.depths),
            choices.get(r),
            watch.seconds,
        )
        for r, (request, proposal, n) in enumerate(zip(requests, proposals, used))
    ]
    cached.rewind([len(request.text) - 1 for request in requests])  # the newest token goes into the next pass
    return rounds


def score(cached: Cached, requests: Sequence["Request"], proposals: Sequence[Proposal], depths: Sequence[int]) -> Rows:
    """The target's rows for each text's last token and its drafts, from one pass; padded to the widest.

    Args:
        depths: that are wanted besides; see `Cached.extend`.
    """
    pairs = list(zip(requests, proposals))
    new = [[request.text[-1], *proposal.tokens] for request, proposal in pairs]
    trees = [(len(request.text), proposal.tree) if proposal.tree else None for request, proposal in pairs]
    if any(proposal.started for proposal in proposals):
        known = [len(request.text) - 1 for request in requests]
        if not depths:
            return extend_after_early_exit(cached, known, new, trees, proposals)
        cached.rewind(known)  # what the first layers have done was done without keeping the rows of depths
    return cached.extend(new, trees=trees, depths=depths)


def greedy_choices(
    requests: Sequence["Request"], proposals: Sequence[Proposal], logits: Tensor, used: Sequence[int]
) -> dict[int, list[int]]:
    """By row, the target's argmax tokens for the texts where they decide, all of them read from the device at once."""
    pairs = zip(requests, proposals)
    wanted = [request.argmax_decides(proposal) and not request.processors for request, proposal in pairs]
    if not any(wanted):
        return {}
    found = argmax_tokens(logits, [n if it else 0 for n, it in zip(used, wanted)])
    return {r: found[r] for r, it in enumerate(wanted) if it}


@dataclass(frozen=True)
class Decided:
    """The rows that decide a round: probabilities, with a column for each token that matters.

    columns: the token of each of the C columns.
    p: [γ + 1, C], the target's rows. q: [γ, C], the draft's.
    logits: [γ + 1, V], the target's raw rows.
    """

    columns: Sequence[int]
    p: Tensor
    q: Tensor
    logits: Tensor

    @classmethod
    def one_hot(cls, choices: Sequence[int], drafts: Sequence[int], logits: Tensor) -> "Decided":
        """Of a greedy round. It comes out as with one-hot rows over the whole vocabulary, but no other columns are needed
        than those of the γ drafts and of the target's γ + 1 own choices.
        """
        columns = list(dict.fromkeys([*choices, *drafts]))
        rows = torch.eye(len(columns), dtype=torch.float64)
        p, q = (rows[[columns.index(token) for token in tokens]] for tokens in (choices, drafts))
        return cls(columns, p, q, logits)

    def at(self, tokens: Sequence[int]) -> list[int]:
        """The column of each token: the rule speaks of columns, the text of tokens."""
        return [self.columns.index(token) for token in tokens]


@dataclass
class Request:
    """One text being written: a prompt, and how its continuation is drafted, drawn and ended.

    The target's cache is not part of it: `rounds_of` gives each text one of its own, and `batch.Batch` a row of a shared
    one.

    Args:
        drafter: its own, since it remembers this text; None for plain decoding.
        verify: the rule. Another one can take its place, to see what it breaks; a function is one for chains.
        processors: shape the target's logits before the sampler does, in this order.
        draft_sampler: what drafts are drawn with; None: with `sampler`, as the target's tokens are. With GREEDY the
            drafter proposes its argmax tokens at any temperature, as many engines do.

    Raises:
        LabError: for an empty prompt, one that leaves no room, ids outside the vocabulary, or processors beside
            a dial.
    """

    target: Model
    prompt: Sequence[int]
    drafter: Drafter | None = None
    sampler: Sampler = GREEDY
    stops: Stops = Stops()
    uniforms: Uniforms = None  # pyright: ignore[reportAssignmentType] - `__post_init__` makes one
    verify: Rule | Callable[..., Verdict] = USUAL
    keep: Keep = Keep()
    processors: Sequence[Processor] = ()
    draft_sampler: Sampler | None = None

    def __post_init__(self):
        check_prompt(self.target, self.prompt)
        if self.processors and self.drafter and self.drafter.oracle:
            raise LabError(
                f"The drafter “{self.drafter.name}” mixes its drafts from the target's distribution, which it knows "
                "only without penalties, biases and masks: choose another drafter."
            )
        self.uniforms, self.rule = self.uniforms or Uniforms(), as_rule(self.verify)
        if self.rule.fresh:
            self.uniforms = self.uniforms.fresh()
        self.text, self.stop = list(self.prompt), None

    @property
    def depths(self) -> Sequence[int]:
        """Where the drafter reads the target, besides its last rows."""
        return self.drafter.depths if self.drafter else ()

    def begin(self) -> Row:
        """Read the prompt. Returns a row, in a cache of its own, that holds all of the prompt but its last token."""
        self.row = Row(self.target.cached())
        hidden = self.row.cached.prefill(self.prompt[:-1], self.depths)
        if self.drafter:
            self.drafter.start(self.row, self.prompt, hidden)
        self.target.synchronize()  # a GPU may still be reading, and the first round's watch must not wait for that
        return self.row

    @torch.inference_mode()
    def drafting(self, gamma: int) -> Proposal | Drafting:
        """What makes at most gamma drafts, fewer at the end of the context; for `run_in_lockstep`."""
        if self.drafter is None:
            return Proposal([])
        room = self.target.context - len(self.text)
        sampler = self.sampler if self.draft_sampler is None else self.draft_sampler
        return self.drafter.drafting(self.text, min(gamma, room - 1), sampler, self.uniforms)

    def verify_and_commit(
        self,
        proposal: Proposal,
        logits: Tensor,
        hidden: Tensor,
        choices: Sequence[int] | None,
        seconds: Mapping[str, float],
    ) -> Round:
        """Verify, keep what agrees, and end the text if it ends here: `text` and `stop` are new afterwards.

        Args:
            logits: [γ + 1, V], the target's rows for the last token of the text and the γ drafts.
            hidden: [γ + 1, H], the hidden rows that these logits were made from, and behind each those of `depths`.
            choices: the `argmax_tokens` of these rows, where they decide (see `argmax_decides`) and are known already.
            seconds: of this round's drafting and pass.
        """
        watch = Stopwatch(seconds)
        start, drafts, tree = len(self.text), proposal.tokens, proposal.shape
        decided = self._decided(proposal, logits, choices)
        self.target.synchronize()
        watch.lap("verify")

        u_accept = [self.uniforms(start + d, ACCEPT, rank) for d, rank in zip(tree.depths, tree.ranks)]
        u_resample = [self.uniforms(start + i, RESAMPLE) for i in range(len(drafts) + 1)]
        verdict = self._judges(proposal)(decided.p, decided.q, decided.at(drafts), u_accept, u_resample)
        if not isinstance(verdict, Verdict):
            raise LabError(f"A rule must return a Verdict; this one returned {verdict!r:.60}.")
        verdict = replace(verdict, token=decided.columns[verdict.token])

        # The verdict's token is the target's own: in place of the first miss, or after the last draft.
        new = [*(drafts[i] for i in verdict.path), verdict.token]
        kept, self.stop = self.stops.cut(self.text[len(self.prompt) :], new, self.target.context - start)
        self.text += new[:kept]
        if proposal.tree:
            self.row.keep(start, verdict.path)
            hidden = hidden[[0, *(i + 1 for i in verdict.path)]]
        watch.lap("loop")
        if self.drafter:
            self.drafter.observe(self.text, hidden[:kept])
            watch.lap("draft")
        done = record(self, proposal, verdict, kept, decided, u_accept)
        watch.lap("loop")
        if self.drafter and self.drafter.oracle:  # a real drafter would not need this time
            watch.seconds["draft"] = 0.0
        return replace(done, seconds=Seconds(*(watch.seconds[part] for part in ("draft", "verify", "loop"))))

    def _judges(self, proposal: Proposal) -> Callable[..., Verdict]:
        """The rule for this proposal.

        Raises:
            LabError: for a proposal that is a tree, when the rule judges chains.
        """
        if not proposal.tree:
            return self.rule.chain
        if self.rule.tree is None:
            raise LabError(
                f"The drafter “{self.drafter.name}” drafts trees, but this rule judges chains (see `Rule.tree`): "
                "choose another of the two."
            )
        return partial(self.rule.tree, tree=proposal.tree)

    def argmax_decides(self, proposal: Proposal) -> bool:
        """Whether the target's argmax tokens decide this round: else all of p and q do.

        So it is in greedy rounds, if the rows are not to be kept, the rule is the usual one, and q is one-hot.
        """
        return self.sampler.greedy and proposal.q is None and self.rule is USUAL and not self.keep.rows

    def _decided(self, proposal: Proposal, logits: Tensor, choices: Sequence[int] | None) -> Decided:
        """The rows that decide; the arguments are those of `verify_and_commit`."""
        shaped = logits
        if self.processors:
            shaped = process(self.processors, logits, self.text, proposal.tokens, proposal.tree, self.stops.eos)
        if choices is None and self.argmax_decides(proposal):
            (choices,) = argmax_tokens(shaped[None], [len(shaped)])
        if choices is not None:
            return Decided.one_hot(choices, proposal.tokens, logits)
        p, vocab_size = self.sampler(shaped), self.target.vocab_size
        return Decided(range(vocab_size), p, proposal.distributions(vocab_size, p.device), logits)


def record(
    request: Request, proposal: Proposal, verdict: Verdict, kept: int, decided: Decided, u_accept: Sequence[float]
) -> Round:
    """The round in plain numbers, still without its times.

    Args:
        kept: tokens of the round that entered the text.
        u_accept: the γ uniforms that the accept test compared with.
    """
    n, greedy, tree = len(proposal.tokens), request.sampler.greedy, proposal.shape
    p, q = decided.p, decided.q
    at = torch.tensor(decided.at(proposal.tokens), dtype=torch.long, device=p.device)[:, None]
    # What each draft was compared with; for drafts that were not tested, the target's row at their place.
    wanted = (
        p[:n] if not proposal.tree else torch.stack([verdict.wanted.get(i, p[tree.parents[i] + 1]) for i in range(n)])
    )
    p_drafts, q_drafts = wanted.gather(1, at), q.gather(1, at)
    # Σ min(p, q); where q is one-hot, that is p of its token.
    overlaps = p_drafts if proposal.q is None else torch.minimum(wanted, q).sum(-1, keepdim=True)
    # All at once: a GPU makes us wait for each reading.
    compared = torch.cat([p_drafts, q_drafts, overlaps], 1).tolist() if n else []
    raw, p_tops, q_tops, p_raw = [(None, None)] * n, [()] * (n + 1), [()] * n, None
    if request.keep.top:
        p_raw = decided.logits.float().softmax(-1)
        q_raw = proposal.raw(request.target.vocab_size, p_raw.device)
        ids = torch.tensor(proposal.tokens, dtype=torch.long, device=p_raw.device)[:, None]
        at_place = p_raw[[parent + 1 for parent in tree.parents]]
        raw = torch.cat([at_place.gather(1, ids), q_raw.gather(1, ids)], 1).tolist()
        # A one-hot row has no second choice worth showing; the softmax behind it has.
        p_tops, q_tops = (tops(rows, request.keep.top) for rows in ((p_raw, q_raw) if greedy else (p, q)))
    drafted = tuple(
        Draft(token, p_x, q_x, raw_p, raw_q, overlap, u, status, p_tops[parent + 1], q_top, parent, after)
        for token, (p_x, q_x, overlap), (raw_p, raw_q), u, status, parent, q_top, after in zip(
            proposal.tokens,
            compared,
            raw,
            [None] * n if greedy else u_accept,
            statuses(tree, verdict.path, kept),
            tree.parents,
            q_tops,
            p_tops[1:],
        )
    )
    emitted = None
    if kept == verdict.accepted + 1:  # no stop has cut the target's own token off
        row, token = ([TEXT, *verdict.path][-1] + 1), verdict.token
        p_token = float(p[row, decided.at([token])[0]])
        p_raw_token = None if p_raw is None else float(p_raw[row, token])
        emitted = Emitted(token, verdict.kind, p=p_token, p_raw=p_raw_token, p_top=p_tops[row])
    rows = (p, q) if request.keep.rows else (None, None)
    return Round(len(request.text) - kept, drafted, emitted, request.stop, Seconds(), *rows, after_top=p_tops[n])


def statuses(tree: Tree, path: Sequence[int], kept: int) -> list[str]:
    """What became of each draft: accepted, rejected or discarded.

    Args:
        path: the drafts that the rule kept.
        kept: tokens that entered the text. Where that is no more than the drafts of `path`, a stop has cut off the
            target's own token, and the drafts that it would replace count as discarded.
    """
    found = [DISCARDED] * len(tree.parents)
    for place, accepted in zip([TEXT, *path], [*path[:kept], None]):
        for i in tree.children[place]:
            if i == accepted:
                found[i] = ACCEPTED
                break
            if accepted is not None or kept > len(path):
                found[i] = REJECTED
    return found


def tops(rows: Tensor, n: int) -> list[tuple[tuple[int, float], ...]]:
    """For each row of [R, V] its n most likely (id, probability) pairs, without those of probability 0."""
    values, ids = rows.topk(min(n, rows.shape[1]))
    return [tuple((i, v) for i, v in zip(*row) if v > 0) for row in zip(ids.tolist(), values.tolist())]
