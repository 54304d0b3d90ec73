"""The rules by which a round can be judged, and what each of them needs.

`verify` is the usual one; `branches` has the same rule for trees, and `block` another exact one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from specdec_lab.engine.block import verify_block
from specdec_lab.engine.branches import verify_tree
from specdec_lab.engine.verify import Verdict, verify


@dataclass(frozen=True)
class Rule:
    """A rule of verification.

    chain: judges drafts that follow one another; takes and returns what `verify` does.
    tree: judges drafts in a tree, as `verify_tree` does; None where the rule judges chains only.
    fresh: whether the random numbers must be new in every round (see `verify_block`).
    """

    chain: Callable[..., Verdict]
    tree: Callable[..., Verdict] | None = None
    fresh: bool = False


USUAL = Rule(verify, verify_tree)
BLOCK = Rule(verify_block, fresh=True)


def as_rule(rule: Rule | Callable[..., Verdict]) -> Rule:
    """A function is the rule above that it belongs to; another one judges chains."""
    if isinstance(rule, Rule):
        return rule
    return next((known for known in (USUAL, BLOCK) if known.chain is rule), Rule(rule))
