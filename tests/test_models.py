"""Both backends on small random models: whatever a cache went through, its rows are those of the uncached model."""

from random import Random
from types import MethodType

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import KINDS, V, check_pass, make, near, text
from torch import Tensor
from transformers import MptConfig, MptForCausalLM

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.errors import LabError
from specdec_lab.models import base, fast, reference, tree
from specdec_lab.models.fast import FastModel
from specdec_lab.models.load import wrapped
from specdec_lab.models.tree import TEXT, Tree

LLAMAS = ("llama", "fast llama", "replayed llama")


class Walk:
    """Texts in one cache: they join, are written on in chains and in trees, are cut back, and leave, as the dice say.

    All rows that come back must be those that `transformers` computes for the text alone, without a cache.
    """

    def __init__(self, kind: str, dice: Random):
        self.model, self.dice, self.in_parts = make(kind), dice, kind != "gpt2"
        self.cached, self.texts = self.model.cached(0), []

    def go(self, steps: int) -> None:
        for _ in range(steps):
            if not self.texts or (len(self.texts) < 5 and self.dice.random() < 0.3):
                self.join()
            elif self.dice.random() < 0.2:
                self.drop()
            elif self.dice.random() < 0.2:
                self.level()
            else:
                self.write()
            assert self.cached.lengths == [len(tokens) for tokens in self.texts]

    def tokens(self, n: int) -> list[int]:
        return [self.dice.randrange(V) for _ in range(n)]

    def depths(self) -> tuple[int, ...]:
        return self.dice.choice(((), (1,), (2, 0, 1)))

    def join(self) -> None:
        own, tokens, depths = self.model.cached(), self.tokens(self.dice.choice((1, 5, 20, 60))), self.depths()
        rows = own.prefill(tokens, depths)
        assert len(rows) == len(tokens)
        self.check(rows, tokens, depths)
        self.cached.join(own)
        self.texts.append(tokens)

    def drop(self) -> None:
        row = self.dice.randrange(len(self.texts))
        self.cached.drop(row)
        self.texts[row] = self.texts[-1]
        self.texts.pop()

    def level(self) -> None:
        """All are cut back to the shortest: texts of one length are computed in other ways."""
        self.texts = [tokens[: min(self.cached.lengths)] for tokens in self.texts]
        self.cached.rewind([len(tokens) for tokens in self.texts])

    def write(self) -> None:
        """As in a round: each text has its next token and drafts behind it, in one pass or in two, and keeps some."""
        rooms = [self.model.context - len(tokens) for tokens in self.texts]
        new = [self.tokens(min(room, self.dice.choice((0, 1, 3, 8)))) for room in rooms]
        shapes = [self.shape(len(tokens) - 1) for tokens in new]
        starts, depths, cut = [len(tokens) + 1 for tokens in self.texts], self.depths(), self.dice.choice((0, 1, 4))
        rows = [[] for _ in new]
        for first, last in ((0, cut), (cut, 8)):
            parts = [tokens[first:last] for tokens in new]
            grown = [Tree(shape.parents[: max(0, last - 1)]) for shape in shapes]
            trees = [None if shape.is_chain else (start, shape) for start, shape in zip(starts, grown)]
            if any(parts):
                for known, part, more in zip(rows, parts, self.extend(parts, trees, depths)):
                    known += more[: len(part)]
        for row, (tokens, shape) in enumerate(zip(new, shapes)):
            if tokens:
                self.keep(row, tokens[0], tokens[1:], shape, torch.stack(rows[row]), depths)

    def shape(self, n: int) -> Tree:
        """A chain or a tree of so many drafts."""
        least = self.dice.choice((TEXT, n))  # or each draft follows the one before, or its parent
        return Tree(tuple(self.dice.randint(max(TEXT, min(least, i - 2)), i - 1) for i in range(n)))

    def extend(self, new, trees, depths) -> Tensor:
        """[R, k, H · (1 + depths) + V]: the hidden rows and the logits of one pass, or of one through each half of the layers."""
        if depths or not self.in_parts or self.dice.random() < 0.5:
            rows = self.cached.extend(new, trees=trees, depths=depths)
        else:
            before = list(self.cached.lengths)
            half = self.cached.extend(new, trees=trees, layers=(0, 2))
            assert half.logits is None
            self.cached.rewind(before)
            inner = [row[: len(tokens)] for row, tokens in zip(half.hidden, new)]
            rows = self.cached.extend(inner, trees=trees, layers=(2, 3))
        return torch.cat([rows.hidden, rows.logits], -1)

    def keep(self, row: int, root: int, drafts: list[int], shape: Tree, rows: Tensor, depths) -> None:
        """Check the rows of each way through the drafts, and keep the beginning of one."""
        before = [*self.texts[row], root]
        for i in range(TEXT, len(drafts)):
            if i not in shape.parents:  # no draft follows it
                way = shape.path(i)
                self.check(rows[[0, *(j + 1 for j in way)]], before + [drafts[j] for j in way], depths)
        way = shape.path(self.dice.randrange(TEXT, len(drafts)))
        self.cached.keep(row, len(before), way)
        self.texts[row] = before + [drafts[j] for j in way]

    @torch.no_grad()
    def check(self, rows: Tensor, tokens: list[int], depths) -> None:
        """Rows of the last tokens of a text: hidden ones, and logits where there are any."""
        out = self.model.hf(torch.tensor([tokens]), use_cache=False, output_hidden_states=True)
        wanted = torch.cat([*(out.hidden_states[depth] for depth in (-1, *depths)), out.logits], -1)[0]
        assert torch.allclose(rows, wanted[len(tokens) - len(rows) :, : rows.shape[-1]], **near(self.model))


@pytest.fixture
def soon_full(monkeypatch):
    """Prompts are read in chunks, and caches grow."""
    monkeypatch.setattr(base, "PREFILL_CHUNK", 16)
    monkeypatch.setattr(fast, "FIRST_SIZE", 4)


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_a_cache_went_through_its_rows_are_those_of_the_uncached_model(kind, soon_full):
    @settings(max_examples=8, deadline=None)
    @given(st.integers(0, 10_000))
    def walk(seed):
        Walk(kind, Random(seed)).go(20)

    walk()


CACHES = reference.ReferenceCached, fast.FastCached


def moving(change) -> list:
    """Both caches move other slots, or to other places, than they are told."""
    return [
        (kind, "_move", lambda self, row, to, slots, move=kind._move: move(self, row, *change(to, slots)))
        for kind in CACHES
    ]


def older_ones_alone(shape: Tree) -> Tensor:
    everyone = range(len(shape.parents))
    return torch.tensor([[j in shape.path(i)[:-1] for j in everyone] for i in everyone])


PLANTED = {
    "sees a cousin": [(tree, "mask_siblings", lambda *_: None)],
    "positions by index": [(module, "positions", lambda slots, trees, lengths: slots) for module in (reference, fast)],
    "moved one off": moving(lambda to, slots: (to + 1, slots)),
    "a sibling's cache": moving(lambda to, slots: (to, slots - 1)),
    "not moved": [(kind, "_move", lambda *_: None) for kind in CACHES],
    "does not see itself": [(Tree, "sees", property(older_ones_alone))],
    "another row leaves": [(kind, "_drop", lambda self, row, drop=kind._drop: drop(self, row - 1)) for kind in CACHES],
    "not cut back": [(base.Cached, "rewind", lambda self, lengths: None)],
}


@pytest.mark.parametrize("kind", LLAMAS)
@pytest.mark.parametrize("bug", PLANTED)
def test_the_walk_notices_what_is_wrong_in_a_backend(monkeypatch, soon_full, kind, bug):
    for place, name, wrong in PLANTED[bug]:
        monkeypatch.setattr(place, name, wrong)
    with pytest.raises(AssertionError):
        for seed in range(5):
            Walk(kind, Random(seed)).go(20)


def test_a_model_that_counts_slots_is_refused():
    """MPT's ALiBi has no positions to be told."""
    torch.manual_seed(0)
    hf = MptForCausalLM(MptConfig(vocab_size=V, d_model=32, n_heads=4, n_layers=2, max_seq_len=64)).double()
    with pytest.raises(LabError, match="computes something that is not written out here"):
        wrapped(hf, "mpt")


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_checked_with_a_tree_and_a_second_text(kind):
    model = make(kind)
    assert model.agrees()
    if isinstance(model, FastModel):
        return
    forward = type(model.hf.base_model).forward

    def by_slots(self, *args, position_ids=None, past_key_values=None, **more):
        """As a model would whose positions are those of its cache, though it can be told others."""
        slots = past_key_values.layers[0].slots if past_key_values else None
        return forward(self, *args, position_ids=slots, past_key_values=past_key_values, **more)

    model.hf.base_model.forward = MethodType(by_slots, model.hf.base_model)
    assert not model.agrees()


@pytest.mark.parametrize("kind", LLAMAS)
def test_growing_past_the_context_is_one_sentence(kind):
    cached = make(kind).cached()
    with pytest.raises(LabError, match="can see only 64"):
        cached.prefill(text(65))


@pytest.mark.parametrize("n", [9, 10, 11, 40])
def test_a_draft_of_a_short_context_drafts_nothing(n):
    """Where it cannot see all of the text."""
    target, draft, prompt = make("llama"), make("fast llama", seed=1), text(n)
    draft.context = 10
    rounds = list(speculative(target, ModelDrafter(draft), prompt, gamma=3, stops=Stops(8)))
    assert [len(r.drafted) for r in rounds if r.start >= 10] == [0] * sum(r.start >= 10 for r in rounds)
    expected = [token for r in plain(target, prompt, stops=Stops(8)) for token in r.tokens]
    assert [token for r in rounds for token in r.tokens] == expected


@pytest.mark.parametrize("kind", LLAMAS)
def test_an_interrupted_pass_leaves_the_cache_as_it_was(monkeypatch, kind):
    model, tokens = make(kind), text(12)
    cached = model.cached()
    cached.prefill(tokens[:6])
    last = (model.hf.model.layers[2], "forward") if kind == "llama" else (model.parts[2], "down")
    with monkeypatch.context() as m:
        m.setattr(*last, lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cached.extend([tokens[6:9]])
    check_pass(cached, tokens)


@pytest.mark.parametrize(
    "failure",
    [torch.OutOfMemoryError("CUDA out of memory."), RuntimeError("[enforce fail] not enough memory: you tried")],
)
def test_running_out_of_memory_is_one_sentence(monkeypatch, failure):
    model = make("llama")

    def fail(*a, **k):
        raise failure

    monkeypatch.setattr(model.hf.model.layers[0], "forward", fail)
    with pytest.raises(LabError, match="Not enough memory to extend llama-0"):
        model.cached().extend([[1, 2]])
