"""Two drafters in one: copy where the text repeats itself, and guess where it does not.

(Serving engines combine n-gram and model drafts alike.)
"""

import copy
from collections.abc import Sequence

from torch import Tensor

from specdec_lab.drafters.copying import LookupDrafter
from specdec_lab.engine.drafter import Drafter
from specdec_lab.engine.lockstep import Drafting, as_generator
from specdec_lab.engine.sampling import Sampler, Uniforms
from specdec_lab.models.base import Row


class HybridDrafter(Drafter):
    """Asks lookup first, and `other` where lookup finds nothing. Both follow the whole text.

    Copying costs next to nothing, so a round may have many copies. Drafts of `other` do take time: at most `most`
    a round. Lookup needs two matching tokens here: after a single one `other` guesses better. (On 18 prompts of
    the built-in suite, γ = 8, EAGLE as the other: 1.40 times plain decoding with one, 1.54 with two.)
    """

    name = "hybrid"

    def __init__(self, other: Drafter, most: int = 2):
        self.lookup, self.other, self.most = LookupDrafter(shortest=2), other, most
        self.oracle, self.depths = other.oracle, other.depths

    def start(self, target: Row, prompt: Sequence[int], hidden: Tensor | None) -> None:
        # A shallow copy of a hybrid shares its parts, which remember the text: each text gets its own.
        self.lookup, self.other = copy.copy(self.lookup), copy.copy(self.other)
        self.lookup.start(target, prompt, hidden)
        self.other.start(target, prompt, hidden)

    def rows(self) -> list[Row]:
        return self.other.rows()

    def drafting(self, text: Sequence[int], gamma: int, sampler: Sampler, uniforms: Uniforms) -> Drafting:
        copied = self.lookup.drafting(text, gamma, sampler, uniforms)
        if copied.tokens:
            return copied
        return (yield from as_generator(self.other.drafting(text, min(gamma, self.most), sampler, uniforms)))

    def observe(self, text: Sequence[int], hidden: Tensor) -> None:
        self.other.observe(text, hidden)


class HybridTreeDrafter(HybridDrafter):
    """The same where `other` drafts a tree, and asks its net for several places at once: so it may draft more."""

    name = "hybrid-tree"

    def __init__(self, other: Drafter):
        super().__init__(other, most=8)
