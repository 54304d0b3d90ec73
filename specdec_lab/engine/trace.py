"""What happened: one record a round, and the numbers that follow from a list of them.

Every widget, plot, table and JSON of the course reads these records; none keeps its own.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specdec_lab.clock import read_clock

if TYPE_CHECKING:  # whoever reads traces need not wait for torch
    from torch import Tensor

ACCEPTED, REJECTED, DISCARDED = "accepted", "rejected", "discarded"
CORRECTED, BONUS, PLAIN = "corrected", "bonus", "plain"


@dataclass(frozen=True)
class Draft:
    """One drafted token and what became of it.

    p, q: the probabilities that decided (one-hot at temperature 0).
    p_raw, q_raw: the softmax at temperature 1, nothing cut; None unless they were asked for.
    overlap: Σ min(p, q) over the vocabulary, the chance that a draft drawn here survives.
    u: the uniform that decided; None at temperature 0, where it cannot matter.
    status: accepted; rejected (the first miss: examined and replaced); or discarded (never
        examined, or cut off by a stop).
    p_top, q_top: the most likely (id, probability) pairs of both, if they were asked for.
    parent: which draft of the round it follows; −1 where it follows the text. If siblings before it were rejected, p
        is of the residual that they left (see `verify_tree`).
    after_top: the target's favourites after this draft.
    """

    id: int
    p: float
    q: float
    p_raw: float | None
    q_raw: float | None
    overlap: float
    u: float | None
    status: str
    p_top: tuple[tuple[int, float], ...] = ()
    q_top: tuple[tuple[int, float], ...] = ()
    parent: int = -1
    after_top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Emitted:
    """The token that the target itself adds: corrected, bonus, or plain when nothing was drafted."""

    id: int
    kind: str
    p: float
    p_raw: float | None
    p_top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Seconds:
    """Where a round's wall-clock time went. An oracle drafter's drafting counts as 0."""

    draft: float = 0.0
    verify: float = 0.0
    loop: float = 0.0

    @property
    def total(self) -> float:
        return self.draft + self.verify + self.loop


@dataclass(frozen=True)
class Round:
    """One draft and one verify.

    start: tokens in the text before the round; its first draft is for this position.
    drafted: what was proposed, in order; may be empty.
    emitted: the target's own token, or None when a stop cut the round before it.
    stop: why the text ends with this round (eos, limit, context, stop_string), or None.
    p_rows [γ + 1, V], q_rows [γ, V]: the full distributions, if they were asked for.
    after_top: the target's favourites after the last draft, also where that row was not used.
    """

    start: int
    drafted: tuple[Draft, ...]
    emitted: Emitted | None
    stop: str | None = None
    seconds: Seconds = Seconds()
    p_rows: "Tensor | None" = None
    q_rows: "Tensor | None" = None
    after_top: tuple[tuple[int, float], ...] = ()

    @property
    def accepted(self) -> int:
        return sum(d.status == ACCEPTED for d in self.drafted)

    @property
    def is_tree(self) -> bool:
        """Whether some drafts go on from the same place."""
        return any(d.parent != i - 1 for i, d in enumerate(self.drafted))

    @property
    def last(self) -> int:
        """The last draft that was accepted; −1 for none."""
        return max((i for i, d in enumerate(self.drafted) if d.status == ACCEPTED), default=-1)

    @property
    def tested(self) -> tuple[Draft, ...]:
        """The drafts that were examined: up to and including the first rejection, and in a tree at each place."""
        return tuple(d for d in self.drafted if d.status != DISCARDED)

    @property
    def missed(self) -> bool:
        """Whether the drafts at the place after the accepted ones were all rejected, so that the target corrected."""
        return any(d.status == REJECTED and d.parent == self.last for d in self.drafted)

    @property
    def cut(self) -> bool:
        """Whether a stop ended the text before the target's own token."""
        return self.emitted is None

    @property
    def tokens(self) -> list[int]:
        """What the round added to the text."""
        own = [] if self.emitted is None else [self.emitted.id]
        return [d.id for d in self.drafted if d.status == ACCEPTED] + own


@dataclass
class Trace:
    """The rounds of one text. Each verify is one target pass; prefill is not counted."""

    prompt: list[int]
    rounds: list[Round] = field(default_factory=list)
    interrupted: bool = False  # someone pressed stop; what came before is whole
    clock: list[float] = field(default_factory=list)  # wall-clock seconds of each round, prefill in the first

    def collect(self, rounds: Iterator[Round]) -> "Trace":
        """Take rounds until they end. Should that raise, the rounds so far are still here."""
        since = read_clock()
        for r in rounds:
            now = read_clock()
            self.clock.append(now - since)
            self.rounds.append(r)
            since = now
        return self

    @property
    def times(self) -> list[float]:
        """Wall-clock seconds of each round without the prefill: what `clock` says, and for the first round, where the
        clock includes the prefill, the sum of its parts."""
        return [self.rounds[0].seconds.total, *self.clock[1:]] if self.rounds else []

    @property
    def seconds(self) -> float:
        """Wall-clock seconds of all rounds without the prefill."""
        return sum(self.times)

    @property
    def tokens(self) -> list[int]:
        return [t for r in self.rounds for t in r.tokens]

    @property
    def stop(self) -> str | None:
        return self.rounds[-1].stop if self.rounds else None

    @property
    def target_passes(self) -> int:
        return len(self.rounds)

    @property
    def tokens_per_pass(self) -> float | None:
        """New tokens / verify passes: the E of Leviathan et al., measured."""
        return len(self.tokens) / len(self.rounds) if self.rounds else None

    @property
    def alpha(self) -> float | None:
        """Mean of Σ min(p, q) over the rows that were tested. None when nothing was."""
        overlaps = [d.overlap for r in self.rounds for d in r.tested]
        return sum(overlaps) / len(overlaps) if overlaps else None

    @property
    def alpha_by_position(self) -> list[float]:
        """At each draft depth, how often a draft there was accepted: conditional on having got there."""
        by_round = [[True] * r.accepted + [False] * r.missed for r in self.rounds]
        depths = range(max(map(len, by_round), default=0))
        by_depth = [[passed[i] for passed in by_round if len(passed) > i] for i in depths]
        return [sum(passed) / len(passed) for passed in by_depth]

    @property
    def histogram(self) -> list[int]:
        """How many rounds accepted 0, 1, 2, … drafts."""
        counts = Counter(r.accepted for r in self.rounds)
        return [counts[n] for n in range(max(counts, default=0) + 1)]

    def check(self) -> None:
        """Check the identities between the counters, which have an extra term for rounds that a stop cut.

        Raises:
            AssertionError: when one fails; then the engine has a bug.
        """
        rounds = len(self.rounds)
        accepted = sum(r.accepted for r in self.rounds)
        cut = sum(r.cut for r in self.rounds)
        missed = sum(r.missed for r in self.rounds)
        fully = sum(not r.cut and not any(d.parent == r.last for d in r.drafted) for r in self.rounds)
        assert len(self.tokens) == accepted + rounds - cut, "emitted = accepted + rounds − cut"
        assert sum(self.histogram) == rounds, "the histogram counts every round once"
        assert sum(n * c for n, c in enumerate(self.histogram)) == accepted, "accepted = Σ n·histogram[n]"
        assert sum(len(r.drafted) for r in self.rounds) >= accepted, "proposed ≥ accepted"
        assert missed + fully + cut == rounds, "rounds with a miss + full accepts + cut = rounds"
        position = len(self.prompt)
        for i, r in enumerate(self.rounds):
            assert r.start == position, "rounds join without gap or overlap"
            position += len(r.tokens)
            assert not r.cut or (r.stop is not None and i == rounds - 1), "only a stop cuts, and only the last round"
            path = [n for n, d in enumerate(r.drafted) if d.status == ACCEPTED]
            assert [r.drafted[n].parent for n in path] == [-1, *path][: len(path)], (
                "each accepted draft follows another"
            )
            for place, draft in zip([-1, *path], [*path, None]):
                offered = [(n, d.status) for n, d in enumerate(r.drafted) if d.parent == place]
                before = [status for n, status in offered if draft is None or n < draft]
                expected = DISCARDED if draft is None and r.cut else REJECTED
                assert set(before) <= {expected}, "✗…✗ ✓ –…– at each place, in this order"
            tested = {-1, *path}
            assert all(d.parent in tested or d.status == DISCARDED for d in r.drafted), "– after all that is not kept"
            assert r.missed == (r.emitted is not None and r.emitted.kind == CORRECTED)
