"""Plain and speculative decoding, each a generator of rounds.

`one_round` is a round from end to end, for one text or for many that share a cache: drafts, one pass of the target,
the rule of `verify`, what the text keeps, and the round written down as plain numbers.

Between rounds every token of a text but the last is cached. So a pass over [last, drafts…] returns γ + 1 rows: one for
each draft, and one after the last draft.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import index

import torch
from torch import Tensor

from specdec_lab.clock import Stopwatch
from specdec_lab.engine.confidence import checked
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.lockstep import Drafting, run_in_lockstep
from specdec_lab.engine.processors import Processor, process
from specdec_lab.engine.rules import USUAL, Rule, as_rule
from specdec_lab.engine.sampling import ACCEPT, GREEDY, RESAMPLE, Sampler, Uniforms, argmax_tokens
from specdec_lab.engine.trace import ACCEPTED, DISCARDED, REJECTED, Draft, Emitted, Round, Seconds
from specdec_lab.engine.verify import Verdict, verify_greedy
from specdec_lab.errors import LabError
from specdec_lab.formats import in_digits
from specdec_lab.models.base import MOST_DRAFTS, Cached, Model, Row, Rows, pick_depths
from specdec_lab.models.tree import TEXT, Tree


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
    """One round of each text: draft, score the drafts in one pass of the target, keep what agrees.

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
    scored = score(cached, requests, proposals)
    cached.model.synchronize()
    watch.lap("verify")
    texts = zip(requests, proposals, scored)
    rounds = [request.judge_and_commit(proposal, rows, watch.seconds) for request, proposal, rows in texts]
    cached.rewind([len(request.text) - 1 for request in requests])  # the newest token goes into the next pass
    return rounds


@dataclass
class Scored:
    """What the target says of a text's last token and of each of its γ drafts.

    logits: [γ + 1, V], as the model gave them.
    hidden: [γ + 1, (1 + n) · H], the rows that these logits were made from, and behind each those of the n `depths`.
    choices: the target's own γ + 1 tokens, where these decide (see `Request.argmax_decides`).
    p, q: elsewhere the distributions [γ + 1, V] and [γ, V] that decide.
    """

    logits: Tensor
    hidden: Tensor
    choices: Sequence[int] | None = None
    p: Tensor = torch.empty(0)
    q: Tensor = torch.empty(0)


def score(cached: Cached, requests: Sequence["Request"], proposals: Sequence[Proposal]) -> list[Scored]:
    """One pass of the target, and for each text what follows from its rows."""
    depths = sorted({depth for request in requests for depth in request.depths})
    rows = target_pass(cached, requests, proposals, depths)
    scored, greedy = [], []
    for r, (request, proposal) in enumerate(zip(requests, proposals)):
        own = r, slice(len(proposal.tokens) + 1)  # what lies past it pads up to the widest text
        one = Scored(rows.logits[own], pick_depths(rows.hidden[own], depths, request.depths))
        shaped = process(request.processors, one.logits, request.text, proposal, request.stops.eos)
        if request.argmax_decides(proposal):
            greedy.append((one, shaped))
        else:
            one.p = request.sampler(shaped)
            one.q = proposal.distributions(cached.model.vocab_size, one.p.device)
        scored.append(one)
    # Of all texts at once: a GPU makes us wait for each reading.
    choices = argmax_tokens([shaped for _, shaped in greedy])
    for (one, _), chosen in zip(greedy, choices):
        one.choices = chosen
    return scored


def target_pass(
    cached: Cached, requests: Sequence["Request"], proposals: Sequence[Proposal], depths: Sequence[int]
) -> Rows:
    """One pass of the target over each text's last token and its drafts; padded to the widest.

    Where all texts drafted with the same early exit, the first layers have run already, and only the others do.

    Args:
        depths: that are wanted besides; see `Cached.extend`.
    """
    pairs = list(zip(requests, proposals))
    trees = [(len(request.text), proposal.tree) if proposal.tree else None for request, proposal in pairs]
    cached.rewind([len(request.text) - 1 for request in requests])
    started = [proposal.started for proposal in proposals if proposal.started]
    if len(started) == len(proposals) and len({layers for layers, _ in started}) == 1:
        rest = started[0][0], cached.model.layers
        return cached.extend([hidden for _, hidden in started], layers=rest, trees=trees)
    return cached.extend(
        [[request.text[-1], *proposal.tokens] for request, proposal in pairs], trees=trees, depths=depths
    )


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
    """

    target: Model
    prompt: Sequence[int]
    drafter: Drafter | None = None
    sampler: Sampler = GREEDY
    stops: Stops = Stops()
    uniforms: Uniforms = field(default_factory=Uniforms)
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
        self.rule = as_rule(self.verify)
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
        return self.drafter.drafting(self.text, min(gamma, room - 1), self.draft_sampler or self.sampler, self.uniforms)

    def argmax_decides(self, proposal: Proposal) -> bool:
        """Whether the target's argmax tokens decide this round: else all of p and q do.

        So it is in greedy rounds, if the rows are not to be kept, the rule is the usual one, and q is one-hot.
        """
        return self.sampler.greedy and proposal.q is None and self.rule is USUAL and not self.keep.rows

    def judge_and_commit(self, proposal: Proposal, scored: Scored, seconds: Mapping[str, float]) -> Round:
        """Verify, keep what agrees, and end the text if it ends here: `text` and `stop` are new afterwards.

        Args:
            seconds: of this round's drafting and pass.
        """
        watch = Stopwatch(seconds)
        start, drafts, tree = len(self.text), proposal.tokens, proposal.shape
        u_accept = [self.uniforms(start + d, ACCEPT, rank) for d, rank in zip(tree.depths, tree.ranks)]
        verdict = self.judge(proposal, scored, u_accept)

        # The verdict's token is the target's own: in place of the first miss, or after the last draft.
        new = [*(drafts[i] for i in verdict.path), verdict.token]
        kept, self.stop = self.stops.cut(self.text[len(self.prompt) :], new, self.target.context - start)
        self.text += new[:kept]
        hidden = scored.hidden
        if proposal.tree:
            self.row.keep(start, verdict.path)
            hidden = hidden[[0, *(i + 1 for i in verdict.path)]]
        watch.lap("loop")
        if self.drafter:
            self.drafter.observe(self.text, hidden[:kept])
            watch.lap("draft")
        done = record(self, proposal, scored, verdict, kept, u_accept)
        watch.lap("loop")
        if self.drafter and self.drafter.oracle:  # a real drafter would not need this time
            watch.seconds["draft"] = 0.0
        return replace(done, seconds=Seconds(*(watch.seconds[part] for part in ("draft", "verify", "loop"))))

    def judge(self, proposal: Proposal, scored: Scored, u_accept: Sequence[float]) -> Verdict:
        """What this text's rule decides."""
        start, drafts = len(self.text), proposal.tokens
        if scored.choices is not None:
            return verify_greedy(scored.choices, drafts, proposal.shape)
        u_resample = [self.uniforms(start + i, RESAMPLE) for i in range(len(drafts) + 1)]
        if not proposal.tree:
            verdict = self.rule.chain(scored.p, scored.q, drafts, u_accept, u_resample)
        elif self.rule.tree:
            verdict = self.rule.tree(scored.p, scored.q, drafts, u_accept, u_resample, proposal.tree)
        else:
            raise LabError(
                f"The drafter “{self.drafter.name}” drafts trees, but this rule judges chains (see `Rule.tree`): "
                "choose another of the two."
            )
        if not isinstance(verdict, Verdict):
            raise LabError(f"A rule must return a Verdict; this one returned {verdict!r:.60}.")
        return verdict


def record(
    request: Request, proposal: Proposal, scored: Scored, verdict: Verdict, kept: int, u_accept: Sequence[float]
) -> Round:
    """The round in plain numbers, still without its times.

    Args:
        kept: tokens of the round that entered the text.
        u_accept: the γ uniforms that the accept test compared with.
    """
    n, greedy, tree, last = len(proposal.tokens), request.sampler.greedy, proposal.shape, [TEXT, *verdict.path][-1]
    raw, p_tops, q_tops, p_raw_token = [(None, None)] * n, [()] * (n + 1), [()] * n, None
    if request.keep.top:
        p_raw = scored.logits.float().softmax(-1)
        q_raw = proposal.raw(request.target.vocab_size, p_raw.device)
        ids = torch.tensor(proposal.tokens, dtype=torch.long, device=p_raw.device)[:, None]
        at_place = p_raw[[parent + 1 for parent in tree.parents]]
        raw = torch.cat([at_place.gather(1, ids), q_raw.gather(1, ids)], 1).tolist()
        p_raw_token = float(p_raw[last + 1, verdict.token])
        # A one-hot row has no second choice worth showing; the softmax behind it has.
        shown = (p_raw, q_raw) if greedy else (scored.p, scored.q)
        p_tops, q_tops = (tops(rows, request.keep.top) for rows in shown)
    drafted = tuple(
        Draft(token, p, q, p_raw, q_raw, overlap, u, status, p_tops[parent + 1], q_top, parent, after)
        for token, (p, q, overlap), (p_raw, q_raw), u, status, parent, q_top, after in zip(
            proposal.tokens,
            compared(proposal, scored, verdict),
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
        p_token = 1.0 if scored.choices is not None else float(scored.p[last + 1, verdict.token])
        emitted = Emitted(verdict.token, verdict.kind, p_token, p_raw_token, p_tops[last + 1])
    rows = (scored.p, scored.q) if request.keep.rows else (None, None)
    return Round(len(request.text) - kept, drafted, emitted, request.stop, Seconds(), *rows, after_top=p_tops[n])


def compared(proposal: Proposal, scored: Scored, verdict: Verdict) -> Sequence[Sequence[float]]:
    """For each draft p, q and Σ min(p, q) of the row that it was compared with; of the target's row at its place, if it
    was not tested.
    """
    drafts, parents = proposal.tokens, proposal.shape.parents
    if scored.choices is not None:  # the target's own choices have p = 1, and all other tokens 0
        right = [float(draft == scored.choices[parent + 1]) for draft, parent in zip(drafts, parents)]
        return [(p, 1.0, p) for p in right]
    if not drafts:
        return []
    p, q = scored.p, scored.q
    wanted = p[: len(drafts)]
    if proposal.tree:
        wanted = torch.stack([verdict.wanted.get(i, p[parent + 1]) for i, parent in enumerate(parents)])
    at = torch.tensor(drafts, dtype=torch.long, device=p.device)[:, None]
    p_drafts, q_drafts = wanted.gather(1, at), q.gather(1, at)
    # Where q is one-hot, Σ min(p, q) is p of its token.
    overlaps = p_drafts if proposal.q is None else torch.minimum(wanted, q).sum(-1, keepdim=True)
    return torch.cat([p_drafts, q_drafts, overlaps], 1).tolist()  # all at once: a GPU makes us wait for each reading


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


def check_proposal(proposal: object, vocab_size: int) -> None:
    """Raises LabError for what is no `Proposal`, or holds what is no id of the vocabulary."""
    if not isinstance(proposal, Proposal):
        raise LabError(f"A drafter must return a Proposal; this one returned {proposal!r:.60}.")
    with suppress(TypeError):  # `index` refuses what is no whole number
        if all(0 <= index(token) < vocab_size for token in proposal.tokens):
            return
    raise LabError(f"A drafter proposed {list(proposal.tokens)!r:.60}: not all of them are ids of the vocabulary.")


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
        raise LabError(f"The prompt has a token id outside 0…{target.vocab_size - 1}, the vocabulary of {target.name}.")
