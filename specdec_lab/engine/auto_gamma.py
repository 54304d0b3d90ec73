"""γ chosen anew each round: from what rounds cost here, and from how many drafts were accepted lately.

The best γ is that with the largest E(γ) / cost(γ): the tokens that a round will emit, over what it
costs. Costs are measured once (`measure.costs`); acceptance is followed as the text goes on. Where no
γ ≥ 1 pays, nothing is drafted, except in a trial round now and then.

A hybrid drafter copies in some rounds and guesses in others. Both costs and acceptance differ between these two parts,
so γ is chosen for each part from its own rounds.
"""

from collections.abc import Mapping, Sequence

from specdec_lab.engine.trace import ACCEPTED, DISCARDED, Round

MEMORY = 0.96  # the weight of a test when the next one at its depth comes: about 25 are remembered
PRIOR = 0.5, 4.0  # the rate of first drafts before any test, and the number of tests that it counts for
TRIAL = 24  # rounds without drafts before a trial; twice as many after each in which a draft was refused
LONGEST_WAIT = 192  # but never more than this


class AutoGamma:
    """Chooses for `decode.speculative`, in one text or in many, one after the other.

    Args:
        costs: for each part of the drafter what `Drafter.round_costs` gives.
    """

    def __init__(self, costs: Mapping[str, Sequence[float]]):
        self.parts = {name: PartGamma(of_part) for name, of_part in costs.items()}

    def choose(self, part: str) -> int:
        """γ for the next round, in which this part would draft."""
        self.asked = self.parts[part]
        return self.asked.choose()

    def observe(self, r: Round) -> None:
        """Learn from the round that `choose` chose γ for."""
        self.asked.observe(r)


class PartGamma:
    """Chooses for the drafts of one part of a drafter, often the only one.

    Args:
        costs: of a round with γ = 0, 1, … drafts, in units of one plain step.
    """

    def __init__(self, costs: Sequence[float]):
        self.costs = list(costs)
        # tested[i]: rounds in which the draft before draft i was kept (for i = 0 all); accepted[i]: draft i as well.
        self.tested = [0.0] * (len(costs) - 1)  # those of older rounds count less
        self.accepted = [0.0] * (len(costs) - 1)
        self.idle, self.patience = 0, TRIAL  # rounds with γ = 0 since the last draft, and how many until a trial
        self.asked, self.trial = 0, False  # the γ that was chosen last, and whether for a trial

    def emitted(self) -> list[float]:
        """E(γ) for γ = 0, 1, …: one token, and for each draft the chance that it is kept.

        That chance is the chance of the draft before it, times a rate: in a chain a draft counts only if the one before
        it was kept, and in a tree the likeliest drafts come first. With few tests a rate is taken to be like the one
        before it.
        """
        rate, weight = PRIOR
        total, reached, out = 1.0, 1.0, [1.0]
        for tested, accepted in zip(self.tested, self.accepted):
            rate = min(1.0, (accepted + weight * rate) / (tested + weight))
            reached *= rate
            total += reached
            out.append(total)
        return out

    def choose(self) -> int:
        """γ for the next round."""
        gains = [e / c for e, c in zip(self.emitted(), self.costs)]
        best = max(range(len(gains)), key=gains.__getitem__)
        self.trial = best == 0 and self.idle >= self.patience and len(gains) > 1
        self.asked = max(range(1, len(gains)), key=gains.__getitem__) if self.trial else best
        return self.asked

    def observe(self, r: Round) -> None:
        """Learn from the round that `choose` chose γ for."""
        if self.asked == 0:
            self.idle += 1
        if not r.drafted:  # a lookup that found nothing to copy: not a failure, and no cost
            return
        if self.trial:
            self.patience = TRIAL if not r.missed else min(2 * self.patience, LONGEST_WAIT)
        self.idle = 0
        kept = [draft.status == ACCEPTED for draft in r.drafted]
        for i, draft in enumerate(r.drafted):
            before = i == 0 or kept[i - 1]
            if (before or kept[i]) and not (r.cut and draft.status == DISCARDED):
                self.tested[i] = MEMORY * self.tested[i] + before
                self.accepted[i] = MEMORY * self.accepted[i] + kept[i]
