"""Many texts in one batch: each pass serves all of them, and each goes on at its own pace.

A round drafts for every row, checks all drafts in one target pass, and lets each row keep what
it accepted, so the rows' lengths drift apart. A row whose text has ended leaves, and a waiting
one takes its place in the next round (*continuous batching*; Yu et al. 2022, Orca).

What a row writes does not depend on its neighbours: drafts, random numbers and γ are its own,
and so is its part of the cache. (Up to rounding: a pass over more rows adds in another order.)
"""

import time
from collections import deque

from specdec_lab import quick
from specdec_lab.engine.decode import Request, Stopwatch
from specdec_lab.engine.trace import Round, Trace
from specdec_lab.errors import LabError
from specdec_lab.models.base import Model


class Batch:
    """Texts that are decoded together, at most `most` at a time; further ones wait.

    After an interrupt its rows are no longer in step: keep the traces, and begin another batch.

    Raises:
        LabError: for `most` < 1.
    """

    def __init__(self, target: Model, most: int = 8):
        if most < 1:
            raise LabError(f"A batch of at most {most} texts holds none: allow at least 1.")
        self.target, self.most = target, quick.texts(most)
        self.cached = target.cached(0)
        self.waiting: deque[tuple[Request, Trace]] = deque()
        self.running: list[tuple[Request, Trace]] = []  # row r of the cache belongs to running[r]

    def submit(self, request: Request) -> Trace:
        """Queue a text. Its trace grows round by round; the last round has a `stop`.

        Raises:
            LabError: for a drafter that works inside the cache of a single text.
        """
        if request.drafter.shares_target_cache:
            raise LabError(
                f"The drafter “{request.drafter.name}” works inside the cache of a single text: choose another one for a batch."
            )
        trace = Trace(list(request.prompt))
        self.waiting.append((request, trace))
        return trace

    def __len__(self) -> int:
        """Texts that the next round will serve."""
        return min(self.most, len(self.running) + len(self.waiting))

    def step(self, gamma: int) -> list[Round]:
        """One round for each text that runs or has just joined; γ = 0 is plain decoding.

        A round's seconds are its own drafts and the pass that all share. The trace's clock has
        what the row waited for: the whole step, its neighbours' drafts and prompts included.

        Raises:
            LabError: for gamma < 0.
        """
        if gamma < 0:
            raise LabError(f"γ is {gamma}, but must be at least 0 (which drafts nothing).")
        begin = time.perf_counter()
        while self.waiting and len(self.running) < self.most:
            self.running.append(self.waiting.popleft())
            self.cached.join(self.running[-1][0].begin())
        if not self.running:
            return []

        requests, proposals, watches = [request for request, _ in self.running], [], []
        for request in requests:
            watches.append(Stopwatch())
            proposals.append(request.propose(gamma))
            self.target.synchronize()
            watches[-1].lap(request.drafting)
        since = time.perf_counter()
        rows = self.cached.extend(
            [[request.text[-1], *proposal.tokens] for request, proposal in zip(requests, proposals)]
        )
        self.target.synchronize()
        shared = time.perf_counter() - since

        rounds = []
        for r, (request, proposal, watch) in enumerate(zip(requests, proposals, watches)):
            watch.skip()
            watch.seconds["verify"] += shared
            used = len(proposal.tokens) + 1  # what lies past it is padding up to the widest row
            rounds.append(request.settle(proposal, rows.logits[r, :used], rows.hidden[r, :used], watch))
        self.cached.rewind([len(request.text) - 1 for request in requests])

        seconds = time.perf_counter() - begin
        for (_, trace), done in zip(self.running, rounds):
            trace.rounds.append(done)
            trace.clock.append(seconds)
        for r in reversed(range(len(self.running))):
            if rounds[r].stop is not None:
                self.cached.drop(r)
                self.running[r] = self.running[-1]  # as the cache does
                self.running.pop()
        return rounds
