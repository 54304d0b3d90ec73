"""Plain and speculative decoding, each a generator of rounds; and the text that they write, from prompt to stop.

The steps of one round: `Request.drafting` asks the drafter, the target scores all drafts in one pass
(here in `speculative`, or in `batch` for many texts), `Request.settle` applies the rule of `verify`,
keeps what agrees, and writes the round down.

Between rounds every token of the text but the last is cached. So a pass over [last, drafts…]
returns γ + 1 rows: one for each draft, and one after the last draft.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature

from torch import Tensor

from specdec_lab.clock import read_clock
from specdec_lab.engine.auto_gamma import AutoGamma
from specdec_lab.engine.branches import TreeVerdict, verify_tree
from specdec_lab.engine.drafter import Drafter, Proposal
from specdec_lab.engine.processors import Processor, process
from specdec_lab.engine.record import record
from specdec_lab.engine.sampling import ACCEPT, GREEDY, RESAMPLE, Sampler, Uniforms, favourites, one_hot
from specdec_lab.engine.together import Drafting, Row, together
from specdec_lab.engine.trace import Round, Seconds
from specdec_lab.engine.verify import Verdict, verify
from specdec_lab.errors import LabError
from specdec_lab.formats import in_digits
from specdec_lab.models.base import Model
from specdec_lab.typed import typed


def plain(target: Model, prompt: Sequence[int], **request) -> Iterator[Round]:
    """Ordinary decoding: one target pass a token. The yardstick for everything else.

    Args:
        request: what `Request` takes, and raises.
    """
    this = Request(target, prompt, **request)
    cached = this.begin().cached
    while this.stop is None:
        watch = Stopwatch()
        rows = cached.extend([this.text[-1:]])
        yield this.settle(Proposal([]), rows.logits[0], rows.hidden[0], watch)


def speculative(
    target: Model, drafter: Drafter, prompt: Sequence[int], *, gamma: int | AutoGamma = 4, **request
) -> Iterator[Round]:
    """Draft, verify, keep what agrees, correct the first miss, discard the rest (Leviathan et al., algorithm 1).

    Args:
        gamma: the most tokens drafted a round, at least 1; or what chooses it anew for each round.
            The drafter may propose fewer, or none.
        request: what `Request` takes, and raises.

    Raises:
        LabError: for gamma < 1, or more than MOST_DRAFTS.
    """
    if isinstance(gamma, int):
        check_gamma(gamma, 1, "plain decoding is the case without drafts")
    this = Request(target, prompt, drafter, **request)
    cached = this.begin().cached
    while this.stop is None:
        watch = Stopwatch()
        most = gamma if isinstance(gamma, int) else gamma.choose(drafter.part(this.text))
        (proposal,) = together([this.drafting(most)])
        target.synchronize()
        watch.lap(this.drafting_time)

        if proposal.started is None:  # else an early exit has run the first layers already
            trees = (len(this.text), proposal.tree) if proposal.tree else None
            rows = cached.extend([[this.text[-1], *proposal.tokens]], trees=[trees])
        else:
            done, hidden = proposal.started
            cached.rewind([len(this.text) - 1])
            rows = cached.extend(hidden[None], layers=(done, target.layers))
        r = this.settle(proposal, rows.logits[0], rows.hidden[0], watch)
        cached.rewind([len(this.text) - 1])
        if not isinstance(gamma, int):
            gamma.observe(r)
        yield r


MOST_DRAFTS = 256  # a round; with more of them a single round would take minutes, and nearly all are thrown away


def check_gamma(gamma: int, least: int, why: str) -> None:
    """Raises LabError for a γ below `least`, or above MOST_DRAFTS. why: what `least` means, for the message."""
    if gamma < least:
        raise LabError(f"γ is {in_digits(gamma)}, but must be at least {least} ({why}).")
    if gamma > MOST_DRAFTS:
        raise LabError(
            f"γ is {in_digits(gamma)}, but must be at most {MOST_DRAFTS}: more drafts of a round are hardly ever kept."
        )


@typed
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
            if len(before) + kept == self.max_new_tokens:
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


class Stopwatch:
    """Where a round's time goes: `lap(part)` counts all time since the lap before as that part's."""

    def __init__(self):
        self.seconds: dict[str, float] = defaultdict(float)
        self._since = read_clock()

    def lap(self, part: str) -> None:
        now = read_clock()
        self.seconds[part] += now - self._since
        self._since = now


@dataclass
class Request:
    """One text being written: a prompt, and how its continuation is drafted, drawn and ended.

    The target's cache is not part of it: `speculative` gives each text one of its own, and
    `batch.Batch` a row of a shared one.

    Args:
        drafter: its own, since it remembers this text; None for plain decoding.
        verify: the rule. Another one can take its place, to see what it breaks.
        processors: shape the target's logits before the sampler does, in this order.
        draft_sampler: what drafts are drawn with; None: with `sampler`, as the target's tokens are. With GREEDY the
            drafter proposes its favourites at any temperature, as many engines do.

    Raises:
        LabError: for an empty prompt, one that leaves no room, ids outside the vocabulary, or processors beside
            a dial.
    """

    target: Model
    prompt: Sequence[int]
    drafter: Drafter | None = None
    sampler: Sampler = GREEDY
    stops: Stops = Stops()
    uniforms: Uniforms | None = None
    verify: Callable[..., Verdict] = verify
    keep: Keep = Keep()
    processors: Sequence[Processor] = ()
    draft_sampler: Sampler | None = None

    def __post_init__(self):
        target, prompt = self.target, self.prompt
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
        if self.processors and self.drafter and self.drafter.oracle:
            raise LabError(
                f"The drafter “{self.drafter.name}” mixes its drafts from the target's distribution, which it knows "
                "only without penalties, biases and masks: choose another drafter."
            )
        self.uniforms = self.uniforms or Uniforms()
        if getattr(self.verify, "needs_fresh_numbers", False):
            self.uniforms = self.uniforms.fresh()
        self.text, self.stop = list(prompt), None
        # Where the time of drafting is counted: an oracle's, which a real drafter would not need, not at all.
        self.drafting_time = "oracle" if self.drafter and self.drafter.oracle else "draft"

    def begin(self) -> Row:
        """Read the prompt. Returns a row, in a cache of its own, that holds all of the prompt but its last token."""
        self.row = Row(self.target.cached())
        hidden = self.row.cached.prefill(self.prompt[:-1])
        if self.drafter:
            self.drafter.start(self.row, self.prompt, hidden)
        self.target.synchronize()  # a GPU may still be reading, and the first round's watch must not wait for that
        return self.row

    def drafting(self, gamma: int) -> Drafting:
        """What makes at most gamma drafts, fewer at the end of the context; for `together`."""
        room = self.target.context - len(self.text)
        sampler = self.sampler if self.draft_sampler is None else self.draft_sampler
        return self.drafter.drafting(self.text, min(gamma, room - 1), sampler, self.uniforms)

    def settle(
        self,
        proposal: Proposal,
        logits: Tensor,
        hidden: Tensor,
        watch: Stopwatch,
        choices: Sequence[int] | None = None,
    ) -> Round:
        """Verify, keep what agrees, and end the text if it ends here: `text` and `stop` are new afterwards.

        Args:
            logits: [γ + 1, V], the target's rows for the last token of the text and the γ drafts.
            hidden: [γ + 1, H], the hidden rows that these logits were made from.
            watch: runs since the round began; its next lap is the time of the verify pass.
            choices: the `favourites` of these rows, where they decide (see `needs_choices`) and are known already.
        """
        start, drafts, tree = len(self.text), proposal.tokens, proposal.shape
        if choices is None:
            shaped = process(self.processors, logits, self.text, drafts, proposal.tree, self.stops.eos)
            columns, p, q = self._distributions(proposal, shaped)
        else:
            columns, p, q = one_hot(choices, drafts)
        self.target.synchronize()
        watch.lap("verify")

        u_accept = [self.uniforms(start + d, ACCEPT, twin) for d, twin in zip(tree.depths, tree.twins)]
        u_resample = [self.uniforms(start + i, RESAMPLE) for i in range(len(drafts) + 1)]
        drafted = [columns.index(token) for token in drafts]  # the rule speaks of columns, the text of tokens
        verdict = self._rule(proposal)(p, q, drafted, u_accept, u_resample)
        way, wanted = getattr(verdict, "way", range(verdict.accepted)), getattr(verdict, "wanted", {})
        verdict = TreeVerdict(verdict.accepted, columns[verdict.token], verdict.kind, way, wanted)
        new = [*(drafts[i] for i in way), verdict.token]
        kept, self.stop = self.stops.cut(self.text[len(self.prompt) :], new, self.target.context - start)
        self.text += new[:kept]
        if proposal.tree:
            self.row.keep(start, way)
            hidden = hidden[[0, *(i + 1 for i in way)]]
        watch.lap("loop")
        if self.drafter:
            self.drafter.observe(self.text, hidden[:kept])
            watch.lap(self.drafting_time)
        r = record(self, proposal, verdict, kept, columns, p, q, logits, u_accept)
        watch.lap("loop")
        return replace(r, seconds=Seconds(*(watch.seconds[part] for part in ("draft", "verify", "loop"))))

    def _rule(self, proposal: Proposal) -> Callable[..., Verdict]:
        """What verifies this proposal. A rule that takes the place of `verify` need not know of trees.

        Raises:
            LabError: for a proposal that is a tree, when the rule does not.
        """
        if not proposal.tree:
            return self.verify
        if self.verify is verify:
            return partial(verify_tree, tree=proposal.tree)
        if "tree" not in signature(self.verify).parameters:
            raise LabError(
                f"The drafter “{self.drafter.name}” drafts trees, but this rule judges chains: choose another of the "
                "two."
            )
        return partial(self.verify, tree=proposal.tree)

    def needs_choices(self, proposal: Proposal) -> bool:
        """Whether the target's favourites decide this round: else all of p and q do.

        So it is in greedy rounds, if the rows are not to be kept, the rule is the usual one, and q is one-hot.
        """
        return self.sampler.greedy and proposal.q is None and self.verify is verify and not self.keep.rows

    def _distributions(self, proposal: Proposal, logits: Tensor) -> tuple[Sequence[int], Tensor, Tensor]:
        """The rows that decide: p [γ + 1, n], q [γ, n], and the token of each of their n columns."""
        if self.needs_choices(proposal):
            (choices,) = favourites(logits[None], [len(logits)])
            return one_hot(choices, proposal.tokens)
        p = self.sampler(logits)
        vocab_size = self.target.vocab_size
        return range(vocab_size), p, proposal.distributions(vocab_size, p.device)
