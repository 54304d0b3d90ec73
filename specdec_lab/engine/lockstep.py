"""Drafting for many texts at once: what their drafters ask of the same net becomes one pass.

A drafter writes down how it drafts for *one* text, and stops at each `yield` to ask for work: a `Pass` through
a cached model, or `Apply`, any other function of rows. For a single text the work is done at once. For a batch
each text's drafter is run up to its next question, and the questions that go to the same net are answered
together, until all have proposed. Who drafts less, or nothing, does not wait, and no draft depends on the
neighbours but by rounding (see `batch`).
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from specdec_lab.models.base import Row
from specdec_lab.models.tree import TreeInCache


@dataclass(frozen=True)
class Pass:
    """More tokens of one text (ids, or hidden rows [k, H]) through a model. Answered by their hidden rows [k, H].

    Args:
        layers: as in `Cached.extend`.
        tree: the token tree that the text's last slots hold after this, these tokens included; None for a chain.
    """

    row: Row
    new: Sequence[int] | Tensor
    layers: tuple[int, int] | None = None
    tree: TreeInCache | None = None

    @property
    def key(self) -> Hashable:
        return Pass, id(self.row.cached), self.layers

    @staticmethod
    def answer(asked: Sequence["Pass"]) -> list[Tensor]:
        first, cached = asked[0], asked[0].row.cached
        new = [first.new[:0] for _ in cached.lengths]  # a text that does not ask now has no new tokens
        trees: list[TreeInCache | None] = [None for _ in cached.lengths]
        for one in asked:
            new[one.row.at], trees[one.row.at] = one.new, one.tree
        hidden = cached.extend(new, layers=first.layers, logits=False, trees=trees).hidden
        return [hidden[one.row.at, : len(one.new)] for one in asked]


@dataclass(frozen=True, eq=False)
class Apply:
    """A function of tensors whose first dimension is rows, and which treats each row alike. Answered by its rows.

    Args:
        function: called with the rows of all who ask, and with `more`.
        rows: tensors with the same number of rows.
        more: further arguments; only those who have the same ones are served together.
    """

    function: Callable[..., Tensor]
    rows: Sequence[Tensor]
    more: tuple[Hashable, ...] = ()

    @property
    def key(self) -> Hashable:
        return Apply, self.function, self.more

    @staticmethod
    def answer(asked: Sequence["Apply"]) -> list[Tensor]:
        first = asked[0]
        if len(asked) == 1:
            return [first.function(*first.rows, *first.more)]
        rows = map(torch.cat, zip(*(one.rows for one in asked)))
        return list(first.function(*rows, *first.more).split([len(one.rows[0]) for one in asked]))


Drafting = Generator[Pass | Apply, Any, Any]  # answered by tensors; gives a proposal


def as_generator(draft: Any) -> Drafting:
    """What `Drafter.drafting` gave, as a generator, also where it was a proposal already."""
    return (yield from draft) if isinstance(draft, Generator) else draft


@torch.inference_mode()
def run_in_lockstep(drafts: Sequence[Any]) -> list:
    """Run the drafting of several texts side by side to the end.

    Args:
        drafts: for each text a proposal, or a generator that returns it, as `Drafter.drafting` gives.

    Returns:
        The proposals.
    """
    drafting, found = [as_generator(draft) for draft in drafts], [None] * len(drafts)
    answers: dict[int, Tensor | None] = dict.fromkeys(range(len(drafting)))
    while answers:
        asked: dict[Hashable, list[tuple[int, Pass | Apply]]] = defaultdict(list)
        for i, answer in answers.items():
            try:
                question = drafting[i].send(answer)
                asked[question.key].append((i, question))
            except StopIteration as end:
                found[i] = end.value
        answers = {}
        for same in asked.values():
            who, questions = zip(*same)
            answers |= zip(who, questions[0].answer(questions))
    return found
