"""Both backends on small random models: cached equals uncached."""

from types import MethodType

import pytest
import torch
from checks import check_caches_often
from small_models import KINDS, V, check_pass, make, near, text, uncached
from transformers import MptConfig, MptForCausalLM

from specdec_lab.drafters import ModelDrafter
from specdec_lab.engine.decode import Stops, plain, speculative
from specdec_lab.errors import LabError
from specdec_lab.models.base import pick_depths
from specdec_lab.models.fast import FastModel
from specdec_lab.models.load import wrapped
from specdec_lab.models.tree import Tree

LLAMAS = ("llama", "fast llama", "replayed llama")


@pytest.mark.parametrize("kind", KINDS)
def test_extend_and_rewind_equal_the_uncached_model(kind):
    cached, tokens = make(kind).cached(), text(40)
    cached.prefill(tokens[:20])
    for begin, end in [(20, 21), (21, 26), (26, 40)]:
        cached.extend([text(end - begin, seed=9)])  # drafts that will be forgotten
        cached.rewind([begin])
        check_pass(cached, tokens[:end])
    assert cached.lengths == [40]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_a_batch_do_not_see_each_other(kind):
    cached, a, b = make(kind).cached(2), text(11, 1), text(14, 2)
    cached.extend([a[:5], b[:12]])
    cached.extend([a[5:6], text(4, 3)])
    cached.rewind([6, 12])
    check_pass(cached, a, b)
    assert cached.lengths == [11, 14]


@pytest.mark.parametrize("kind", ["gpt2", "fast llama"])
def test_padding_may_reach_past_the_context(kind):
    """A row near its end beside a row that takes many tokens."""
    cached, a, b = make(kind).cached(2), text(64, 1), text(9, 2)
    cached.extend([a[:62], b[:1]])
    check_pass(cached, a, b)


@pytest.mark.parametrize("kind", LLAMAS)
def test_a_pass_can_be_done_in_two_ranges_of_layers(kind):
    model, tokens = make(kind), text(20)
    cached = model.cached()
    cached.prefill(tokens[:10])
    half = cached.extend([tokens[10:15]], layers=(0, 2))
    assert half.logits is None
    cached.rewind([10])
    rest = cached.extend(half.hidden, layers=(2, 3))
    assert torch.allclose(rest.logits[0], uncached(model, tokens[:15])[10:], **near(model))
    check_pass(cached, tokens)  # the cache of every layer is complete


@pytest.mark.parametrize("kind", LLAMAS)
def test_rows_at_a_depth_are_those_of_layers(kind):
    """Of one text, of texts of different lengths, of a tree; and of no tree's neighbour. Without being asked, none."""
    model, tokens, other, tree = make(kind), text(20), text(9, 1), Tree((-1, -1, 0, 1))
    depths, size = (2, 0, 1), model.hf.config.hidden_size

    def after(tokens, last):
        return model.cached().extend([tokens], layers=(0, last), logits=False).hidden[0]

    def check(rows, tokens, first=0):
        expected = [after(tokens, 3), after(tokens, 2), model.hf.base_model.embed_tokens(torch.tensor(tokens))]
        expected = torch.cat([*expected, after(tokens, 1)], -1)[first:]
        assert torch.allclose(rows, expected.detach(), **near(model))

    cached = model.cached()
    check(cached.prefill(tokens[:15], depths), tokens[:15])
    check(cached.extend([tokens[15:]], depths=depths).hidden[0], tokens, 15)
    assert cached.extend([[1]]).hidden.shape[-1] == size
    two = model.cached(2)
    two.extend([tokens[:12], other[:7]])
    rows = two.extend([[*tokens[12:15], 3, 4], other[7:]], trees=[(13, tree), None], depths=depths).hidden
    check(rows[1, :2], other, 7)
    for path in ([0, 2], [1, 3]):
        way = [*tokens[:13], *([*tokens[13:15], 3, 4][i] for i in path)]
        check(rows[0, [0, *(i + 1 for i in path)]], way, 12)


@pytest.mark.parametrize("depths", [(), (1,), (2, 0)])
def test_some_of_the_depths_asked_for_are_taken(depths):
    model, tokens = make("llama"), text(5)
    asked = model.cached().extend([tokens], depths=(0, 1, 2)).hidden
    assert torch.equal(pick_depths(asked, (0, 1, 2), depths), model.cached().extend([tokens], depths=depths).hidden)


def test_prefill_returns_the_hidden_rows_of_all_chunks(monkeypatch):
    monkeypatch.setattr("specdec_lab.models.base.PREFILL_CHUNK", 4)
    model, tokens = make("llama"), text(11)
    whole = model.cached().extend([tokens]).hidden[0]
    assert torch.allclose(model.cached().prefill(tokens), whole, **near(model))
    assert model.cached().prefill([]) is None


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


def test_a_part_of_the_layers_needs_a_llama():
    with pytest.raises(LabError, match="Llama-shaped"):
        make("gpt2").cached().extend([[1]], layers=(0, 1))


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


@pytest.mark.parametrize("kind", KINDS)
def test_caches_hold_after_every_kind_of_round(kind):
    target, draft = make(kind, 1), make(kind, 1)
    with torch.no_grad():
        for p in draft.hf.parameters():  # a relative of the target: accepted often, not always
            p += 0.3 * p.std() * torch.randn(p.shape, generator=torch.Generator().manual_seed(1), dtype=p.dtype)
    tolerance = near(target)["atol"]
    kinds = check_caches_often(target, lambda: ModelDrafter(draft), draft, 12, gamma=2, tolerance=tolerance)
    assert kinds >= {"corrected at 0 of 2", "corrected at 1 of 2", "bonus at 2 of 2"}, kinds
