"""Many texts in one batch: each pass serves all of them, and each goes on at its own pace.

`decode.one_round` drafts for all rows together, checks all drafts in one target pass, and lets each row keep what it
accepted, so the rows' lengths drift apart. A row whose text has ended leaves, and a waiting
one takes its place in the next round (*continuous batching*; Yu et al. 2022, Orca).

What a row writes does not depend on its neighbours: drafts, random numbers and γ are its own, and so is its part of the
cache. Rounding may: where a model does not compute each row by itself, and in drafts of 8 bits (see `linear.EightBits`). A
greedy text is the same all the same, where the target's rows are.
"""

from collections import deque
from collections.abc import Callable

from specdec_lab.clock import read_clock
from specdec_lab.engine.decode import Request, check_gamma, one_round
from specdec_lab.engine.trace import Round, Trace
from specdec_lab.errors import LabError
from specdec_lab.models.base import Model, Shared


class Batch:
    """Texts that are decoded together, at most `most` at a time; further ones wait.

    After an interrupt its rows are no longer in step: keep the traces, and begin another batch.
    """

    def __init__(self, target: Model, most: int = 8):
        if not isinstance(most, int) or most < 1:
            raise LabError(f"A batch of at most {most!r} texts holds none: allow at least 1, a whole number.")
        self.target, self.most = target, most
        self.shared = Shared(target)
        self.drafts: dict[Model, Shared] = {}  # the drafters' own caches, for each model that drafts
        self.waiting: deque[tuple[Request, Trace]] = deque()
        self.running: list[tuple[Request, Trace]] = []  # running[r] has row r of the target's cache

    def submit(self, request: Request) -> Trace:
        """Queue a text. The trace returned grows round by round; the last round has a `stop`."""
        trace = Trace(list(request.prompt))
        self.waiting.append((request, trace))
        return trace

    def __len__(self) -> int:
        """Texts that the next round will serve."""
        return min(self.most, len(self.running) + len(self.waiting))

    def step(self, gamma: int, seconds: Callable[[int], float] | None = None) -> list[Round]:
        """One round for each text that runs or has just joined; γ = 0 is plain decoding.

        All texts share the drafting and the pass, so each round's seconds hold the whole of both. The trace's clock has
        what the text waited for: the whole step, in which the prompts of texts that join are read, too.

        Args:
            seconds: of such a step, by the rows of its pass. Given, each text has γ drafts, but only those that are worth
                their row are checked (see `confidence`).

        Returns:
            The rounds, in the order of `running` as the step found it.
        """
        check_gamma(gamma, 0, "which drafts nothing")
        begin = read_clock()
        while self.waiting and len(self.running) < self.most:
            self._join(self.waiting.popleft())
        if not self.running:
            return []

        rounds = one_round(self.shared.cached, [request for request, _ in self.running], gamma, seconds)
        took = read_clock() - begin
        for (_, trace), done in zip(self.running, rounds):
            trace.rounds.append(done)
            trace.clock.append(took)
        for r in reversed(range(len(self.running))):
            if rounds[r].stop is not None:
                self._leave(r)
        return rounds

    def _join(self, text: tuple[Request, Trace]) -> None:
        request, _ = text
        self.shared.join(request.begin())
        for row in request.drafter.rows() if request.drafter else []:
            self.drafts.setdefault(row.model, Shared(row.model)).join(row)
        self.running.append(text)

    def _leave(self, r: int) -> None:
        request, _ = self.running[r]
        self.shared.drop(request.row)
        for row in request.drafter.rows() if request.drafter else []:
            self.drafts[row.model].drop(row)
        self.running[r] = self.running[-1]  # as the cache does
        self.running.pop()
