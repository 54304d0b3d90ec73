"""γ chosen anew each round: from what rounds cost here, and from how many drafts survived lately.

The best γ is that with the largest E(γ) / cost(γ): tokens that a round will emit, over what it
costs. Costs are measured once (`costs.round_costs`); acceptance is followed as the text goes on.
Where no γ ≥ 1 pays, nothing is drafted, but for a trial now and then. (A hybrid's deep drafts are copies only:
when a text stops repeating, what was learned about them is out of date until the next copies fail.)
"""

from collections.abc import Sequence

from specdec_lab.engine.trace import ACCEPTED, Round

MEMORY = 0.96  # how much an observation still counts one round later: about 25 rounds are remembered
PRIOR = 0.5, 4.0  # the acceptance rate at first, and the number of tests that it is worth
TRIAL = 24  # rounds without drafts until one is tried again; twice as long after each that does not pay
LONGEST = 192


class AutoGamma:
    """Give it to `decode.speculative` in place of a number; for one text, or for many after each other.

    Args:
        costs: of a round with γ = 0, 1, … drafts, in units of one plain step.
    """

    def __init__(self, costs: Sequence[float]):
        self.costs = list(costs)
        self.tested = [0.0] * (len(costs) - 1)  # at each depth, with older rounds counting less
        self.accepted = [0.0] * (len(costs) - 1)
        self.idle, self.patience = 0, TRIAL  # rounds in which nothing was asked for, and how many until a trial
        self.asked, self.trial = 0, False  # what was chosen last

    def emitted(self) -> list[float]:
        """E(γ) for γ = 0, 1, …: one token, and for each depth the chance to get that far.

        A depth with few tests is taken to be like the one before it.
        """
        rate, weight = PRIOR
        total, reached, out = 1.0, 1.0, [1.0]
        for tested, accepted in zip(self.tested, self.accepted):
            rate = (accepted + weight * rate) / (tested + weight)
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
        """What became of the round that `choose` chose for."""
        if self.asked == 0:
            self.idle += 1
        if not r.drafted:  # a drafter may also have had nothing to say: that tells nothing, and costs nothing
            return
        if self.trial:
            self.patience = TRIAL if r.accepted == len(r.drafted) else min(2 * self.patience, LONGEST)
        self.idle = 0
        for depth, draft in enumerate(r.tested[: len(self.tested)]):
            self.tested[depth] = MEMORY * self.tested[depth] + 1
            self.accepted[depth] = MEMORY * self.accepted[depth] + (draft.status == ACCEPTED)
