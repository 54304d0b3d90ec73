"""Passes that are captured once and replayed: what a GPU runs. Here a `Tape` stands in for the CUDA graph."""

import gc
import warnings
from contextlib import nullcontext

import pytest
import torch
from small_models import make, near, text, uncached
from tape import STAND_INS, Graph, Tape

from specdec_lab.clock import read_clock
from specdec_lab.models import fast
from specdec_lab.models.cuda_graph import CapturedPass


def counted(model) -> list:
    """Every capture that `model` makes from now on."""
    made = []

    def capture(do, x):
        made.append(Tape(do, x))
        return made[-1]

    model.capture = capture
    return made


def test_each_width_is_captured_once_and_taken_over_by_the_next_text():
    model, tokens = make("fast llama"), text(40)
    made = counted(model)
    whole = uncached(model, tokens)
    for _ in range(3):  # texts
        cached = model.cached()
        cached.prefill(tokens[:20])
        for begin in range(20, 38, 6):
            for k in (1, 5):
                rows = cached.extend([tokens[begin : begin + k]])
                assert torch.allclose(rows.logits[0], whole[begin : begin + k], **near(model))
                cached.rewind([begin])
            cached.extend([tokens[begin : begin + 6]])
        del cached
        gc.collect()
    assert [tape.x.shape[1] for tape in made] == [20, 1, 5, 6]


def test_two_texts_at_a_time_have_captures_of_their_own():
    model, a, b = make("fast llama"), text(30, 1), text(30, 2)
    made = counted(model)
    caches = [model.cached(), model.cached()]
    for cached, tokens in zip(caches, (a, b)):
        cached.prefill(tokens[:17])
    for i in range(17, 30):
        for cached, tokens in zip(caches, (a, b)):
            row = cached.extend([tokens[i : i + 1]]).logits[0, 0]
            assert torch.allclose(row, uncached(model, tokens[: i + 1])[i], **near(model))
    assert [tape.x.shape[1] for tape in made] == [17, 17, 1, 1]


@pytest.mark.parametrize("captures", [True, False])
def test_a_text_that_outgrows_its_room_keeps_what_it_holds_and_is_captured_anew(monkeypatch, captures):
    monkeypatch.setattr(fast, "FIRST_SIZE", 4)
    model, tokens = make("fast qwen2"), text(40)
    made = counted(model) if captures else []
    for _ in range(2):
        cached = model.cached()
        rows = torch.cat([cached.extend([tokens[i : i + 3]]).logits[0] for i in range(0, 39, 3)])
        assert torch.allclose(rows, uncached(model, tokens[:39]), **near(model))
        del cached
    assert len(made) == 5 * captures  # rooms of 4, 8, 16, 32 and 64, each also for the second text


def test_a_room_is_clean_when_it_is_taken_over():
    """NaN counts even where it has no weight."""
    model, tokens = make("replayed llama"), text(20)
    spoiled = model.cached()
    spoiled.extend([tokens])
    left = spoiled.held
    with torch.inference_mode():
        left.kv.fill_(float("nan"))
    del spoiled
    clean = model.cached()
    assert clean.held is left
    rows = clean.extend([tokens[:5]]).logits[0]
    assert torch.allclose(rows, uncached(model, tokens[:5]), **near(model))


def test_very_wide_passes_are_never_captured(monkeypatch):
    monkeypatch.setattr(fast, "MAX_KEPT_ROWS", 8)
    model, tokens = make("fast llama"), text(30)
    made, whole = counted(model), uncached(model, tokens)
    cached = model.cached()
    for begin, end in [(0, 9), (9, 17), (17, 18), (18, 20), (20, 21), (21, 30)]:
        rows = cached.extend([tokens[begin:end]]).logits[0]
        assert torch.allclose(rows, whole[begin:end], **near(model))
    assert [tape.x.shape[1] for tape in made] == [8, 1, 2]


def test_the_clock_stands_still_while_a_pass_is_captured(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    model, waited = make("fast llama"), []

    class Slow(Tape):
        def __init__(self, do, x):
            now[0] += 5
            super().__init__(do, x)

        def __call__(self, x):
            now[0] += 1
            return super().__call__(x)

    model.capture, model.synchronize = Slow, lambda: waited.append(now[0])
    cached, begin = model.cached(), read_clock()
    for seconds in (1, 2):
        cached.extend([[1]])
        assert read_clock() - begin == seconds
    assert now[0] == 7 and waited == [0]  # before the capture: what runs on the device still counts


def test_rows_are_filled_up_so_that_few_numbers_of_texts_are_captured():
    model, n = make("fast llama"), 5
    made, shared = counted(model), model.cached(0)
    for i in range(n):
        one = model.cached()
        one.prefill(text(9, i)[: 3 + i])
        shared.join(one)
        rows = shared.extend([text(9, j)[3 + j : 5 + j] for j in range(i + 1)]).logits
        shared.rewind([3 + j for j in range(i + 1)])
        for j, row in enumerate(rows):
            assert torch.allclose(row[:2], uncached(model, text(9, j)[: 5 + j])[3 + j :], **near(model))
    assert {tape.x.shape[0] for tape in made if tape.x.shape[1] == 2} == {1, 2, 4, 8}


def test_a_device_that_cannot_record_runs_on_and_says_so():
    model, tokens = make("fast llama"), text(8)

    def fails(do, x):
        raise RuntimeError("operation not permitted\nmore")

    model.capture = fails
    cached = model.cached()
    with pytest.warns(UserWarning, match=r"cannot be captured \(operation not permitted\): they run slower"):
        first = cached.extend([tokens[:4]]).logits[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = cached.extend([tokens[4:]]).logits[0]
    assert torch.allclose(torch.cat([first, second]), uncached(model, tokens), **near(model))


@pytest.mark.parametrize("bug", ["position", "waits"])
def test_what_must_not_be_captured_is_caught(monkeypatch, bug):
    """The stand-in is strict enough for the tests above to mean something."""
    model, tokens = make("replayed llama"), text(4)
    fused = fast.FastCached._fused

    def wrong(self, first, last, slots, at, places, *rest):
        if bug == "position":  # known to Python: frozen
            begin = self.lengths[0]
            at, places = slice(begin, begin + slots.shape[1]), None
        else:
            int(slots.max())
        return fused(self, first, last, slots, at, places, *rest)

    monkeypatch.setattr(fast.FastCached, "_fused", wrong)
    cached = model.cached()
    with nullcontext() if bug == "position" else pytest.warns(UserWarning, match="waits for the device"):
        rows = torch.cat([cached.extend([[token]]).logits[0] for token in tokens])
    assert torch.allclose(rows, uncached(model, tokens), **near(model)) == (bug == "waits")


def test_loading_notices_a_capture_that_is_frozen_and_goes_on_without():
    """The check at loading makes passes of one width at several positions."""

    class Frozen(Tape):
        def __call__(self, x):
            super().__call__(x)
            return self.first

        def __init__(self, do, x):
            self.first = do(x)
            super().__init__(do, x)

    model = make("fast llama")
    model.capture = Frozen
    with pytest.warns(UserWarning, match="a replay is not the pass itself"):
        model.check()
    assert model.capture is None
    model = make("replayed llama")
    model.check()
    assert model.capture is Tape


def test_rooms_that_wait_for_a_text_give_way_when_memory_runs_out(monkeypatch):
    model = make("replayed llama")
    model.cached().extend([[1]])
    assert model.unused[fast.FIRST_SIZE]
    key_values, tries = fast.KeyValues, []

    def full(*a):
        tries.append(bool(model.unused))
        if model.unused:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return key_values(*a)

    monkeypatch.setattr(fast, "KeyValues", full)
    model.cached(2).extend([[1], [2]])
    assert tries == [True, False]


@pytest.fixture
def without_cuda(monkeypatch):
    for name, stand_in in STAND_INS.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)


def test_a_captured_pass_gives_rows_that_later_ones_leave_alone(without_cuda):
    model, tokens = make("fast llama"), text(30)
    model.capture = CapturedPass
    cached, whole = model.cached(), uncached(model, tokens)
    rows = torch.cat([cached.extend([tokens[i : i + 3]], logits=False).hidden[0] for i in range(0, 30, 3)])
    held = [cached.extend([[i]], logits=False).hidden for i in (5, 6)]
    assert not torch.equal(*held)
    assert len(cached.held.captured) == 2  # a width each, and not given up
    kept, given = torch.randn(2, 3), CapturedPass(lambda x: 2 * x, torch.ones(2, 3))
    first, second = given(kept), given(-kept)
    assert torch.equal(first, 2 * kept) and torch.equal(second, -first)
    with torch.inference_mode():
        assert torch.allclose(model.head(rows), whole, **near(model))
    zero = CapturedPass(lambda x: 2 * x, torch.zeros(2, 3))  # of which no share can differ
    assert torch.equal(zero(torch.ones(2, 3)), torch.full((2, 3), 2.0))


def test_a_replay_may_round_otherwise_and_no_more(without_cuda, monkeypatch):
    """A pass that changes what it reads: the replay is two steps from what was expected. And one that holds nothing."""

    def captured(step):
        scale = torch.ones(1)
        return CapturedPass(lambda x: scale.add_(step) * x, torch.ones(2, 3))

    captured(0.005)
    with pytest.raises(RuntimeError, match="a replay differs by"):
        captured(0.03)
    monkeypatch.setattr(Graph, "replay", lambda self: None)
    with pytest.raises(RuntimeError, match="a replay differs by nan"):
        captured(0)
