"""Which drafts of a batch to check: those that are likely enough to be worth their row of the pass.

A drafter often knows where it is unsure. In a batch each row has a price, so the target need not check every draft
(confidence-scheduled verification; DSpark 2026, arXiv 2607.05147). The rule that accepts drafts does not change.

The text stays the target's only if whether a draft is offered does not depend on which token was drawn for it.
    - A draft's chance is made of its place's row of the draft, and of the rows before it. It does not tell which token
      was drawn there.
    - The drafts are taken from the likeliest on, and the first that makes the step worse ends it. So a draft is taken
      or left by what is likelier than itself. What stands after it in its text is less likely, and depends on it.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the judges simulate servers, and must not wait for torch
    from specdec_lab.engine.drafter import Proposal

Seconds = Callable[[int], float]  # of a step, by the rows of its pass


def survival(proposal: "Proposal") -> list[float]:
    """The chance that each draft survives, as the drafter sees it: falling, since all drafts before it must survive.

    Copies have no chances of their own, and a tree is checked whole: they count as sure.
    """
    if proposal.sure is None or proposal.tree:
        return [1.0] * len(proposal.tokens)
    return list(accumulate(proposal.sure(), mul))


def to_check(chances: Sequence[Sequence[float]], seconds: Seconds) -> list[int]:
    """How many drafts of each text to check.

    Args:
        chances: for each text what `survival` gives.
        seconds: should bend upwards only; else the first draft that makes it worse may hide later ones that pay.
    """
    counts, tokens, rows = [0] * len(chances), float(len(chances)), len(chances)
    slots = [(chance, text) for text, of_text in enumerate(chances) for chance in of_text]
    for chance, text in sorted(slots, key=lambda slot: -slot[0]):
        if (tokens + chance) / seconds(rows + 1) < tokens / seconds(rows):
            break
        counts[text] += 1
        tokens, rows = tokens + chance, rows + 1
    return counts


def checked(proposals: "Sequence[Proposal]", seconds: Seconds) -> "list[Proposal]":
    """What is left of the proposals of a batch. seconds: as in `to_check`.

    The chance of a draft that is left out may decide what is checked of another text, and so what that text drafts next.
    If the same random number drew a draft for this place again, the texts would know of each other: numbers must be fresh.
    """
    counts = to_check(list(map(survival, proposals)), seconds)
    return [p if p.tree else p.first(n) for p, n in zip(proposals, counts)]
